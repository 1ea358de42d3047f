"""What is public is listed in the README of its folder; what is printed can be searched for."""

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from ropespec.conformance.registry import all_checks
from ropespec.spec import FUNCTIONS

ROOT = Path(__file__).parents[3]
SHARED = {name for names in FUNCTIONS.values() for name in names}
PACKAGES = {
    "spec": ("spec", set()),
    "reference": ("reference", SHARED),
    "conformance": ("conformance", set()),
    "backends": ("backends", set()),
    "backends.numpy": ("backends", SHARED),
    "backends.torch": ("backends", SHARED),
    "backends.jax": ("backends", SHARED),
    "backends.cupy": ("backends", SHARED),
}
"""By package: the folder with its README, and what it has beside the names that stand there."""

CHECKS = ROOT / "conformance" / "ropespec" / "conformance" / "checks"


def listed(readme):
    """Return the names that a README calls public: those of the list below the heading."""
    section = re.search(r"^## Public names\n\n(.*?)(?:: |\.$)", readme, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"`(\w+)`", section[1]))


def exported(text):
    """Return the `__all__` of a module, as it is written."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return []


def borrowed(module, text):
    """List what a module takes from another that begins with an underscore there."""
    return [
        f"{module} takes {node.module}.{alias.name}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ropespec")
        for alias in node.names
        if alias.name.startswith("_") or "._" in f"{node.module}"
    ]


def literals(texts):
    """Count the lines on which each id of a check stands as one word."""
    return Counter(id_ for text in texts for id_ in re.findall(r'"([A-Z]+-\d+\.[\w-]+)"', text))


def unprinted(ids, texts):
    """List the ids that a search does not lead to the one place where the check is registered."""
    found = literals(texts)
    return [id_ for id_ in ids if found[id_] != 1]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_the_names_that_its_readme_lists(package):
    """No more and no fewer: what is not listed may change in any version."""
    folder, shared = PACKAGES[package]
    path = ROOT / folder / "ropespec" / package.replace(".", "/") / "__init__.py"
    own = listed((ROOT / folder / "README.md").read_text(encoding="utf-8")) if folder else set()
    names = exported(path.read_text(encoding="utf-8"))

    assert set(names) == (shared if "." in package else own | shared)
    assert len(names) == len(set(names))


def test_a_name_that_nobody_listed_is_seen():
    """The test above can fail."""
    readme = "# A\n\n## Public names\n\n`one` and `two`: what `a` exports.\n`three` is another."

    assert listed(readme) == {"one", "two"}
    assert exported('"""A."""\n__all__ = ["one", "two", "three"]') == ["one", "two", "three"]


def test_what_begins_with_an_underscore_stays_in_its_module():
    """Nobody else may rely on it."""
    files = [
        file
        for name in ("spec", "reference", "backends", "conformance", "bench")
        for file in (ROOT / name / "ropespec").rglob("*.py")
    ]

    assert [one for file in files for one in borrowed(file.name, file.read_text("utf-8"))] == []


@pytest.mark.parametrize("line", ["from ropespec.a import _b", "from ropespec._a import b"])
def test_a_borrowed_name_is_seen(line):
    """The test above can fail."""
    assert len(borrowed("c.py", line)) == 1


def test_every_check_is_registered_by_its_printed_id():
    """Whoever searches for `ROT-7.pairing` finds the check that printed it, and nothing else."""
    texts = [file.read_text(encoding="utf-8") for file in CHECKS.rglob("*.py")]

    assert unprinted([item.id for item in all_checks()], texts) == []


def test_an_id_that_is_put_together_or_stands_twice_is_seen():
    """The test above can fail."""
    texts = ['check(f"{clause}.value", "A.")', '@check("ROT-6.pairing")', '"ROT-6.pairing"']

    assert unprinted(["ROT-6.value", "ROT-6.pairing"], texts) == ["ROT-6.value", "ROT-6.pairing"]
    assert unprinted(["ROT-6.pairing"], texts[:2]) == []


def test_what_measures_is_not_installed():
    """A wheel has the four folders, and no contender of theirs."""
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    folders = [Path(one).parent.name for one in built["build"]["targets"]["wheel"]["packages"]]

    assert folders == ["spec", "reference", "backends", "conformance"]
    assert [*folders, "bench"] == built["build"]["dev-mode-dirs"]
