import json
import shutil
from pathlib import Path

from ropespec.conformance import named

ROOT = Path(__file__).parents[2]


def test_tests_name_ids_in_name_docstring_and_parameters(tmp_path):
    """A name, a docstring and parameters count; data of a body and helpers do not."""
    folder = tmp_path / "reference" / "tests"
    folder.mkdir(parents=True)
    (folder / "test_some.py").write_text(
        '"""F-001 of the file is no test\'s."""\n'
        "import pytest\n\n\n"
        '@pytest.mark.parametrize("id_", ["F-002"])\n'
        "def test_e04_first(id_):\n"
        '    """It holds (P-03)."""\n'
        '    assert id_ != "F-004"\n\n\n'
        "def test_second():\n"
        '    """F-005 to F-007."""\n\n\n'
        "def helper():\n"
        '    """F-008."""\n',
        encoding="utf-8",
    )

    found = named.scan_tests(tmp_path)

    first, second = (
        f"reference/tests/test_some.py::test_{name}" for name in ("e04_first", "second")
    )
    assert found == {
        **dict.fromkeys(("E-04", "F-002", "P-03"), (first,)),
        **dict.fromkeys(("F-005", "F-006", "F-007"), (second,)),
    }


def test_the_reference_names_ids_in_its_docstrings():
    """A function, a class and its methods."""
    found = named.in_reference()

    assert "rotation.apply_rotary_dense" in found["F-126"]
    assert all(name.count(".") >= 1 for names in found.values() for name in names)


def test_an_installed_package_reads_the_list_it_was_built_with(tmp_path, monkeypatch):
    """Without a checkout around it the module takes what the wheel brought along."""
    module = tmp_path / "named.py"
    shutil.copy(ROOT / "conformance/ropespec/conformance/named.py", module)
    (tmp_path / named.LIST).write_text(json.dumps({"F-001": ["a.py::b"]}), encoding="utf-8")
    named.in_tests.cache_clear()
    monkeypatch.setattr(named, "__file__", str(module))
    try:
        assert named.in_tests() == {"F-001": ("a.py::b",)}
    finally:
        named.in_tests.cache_clear()
