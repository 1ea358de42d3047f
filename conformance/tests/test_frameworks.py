"""All that is known of a framework stands in its room, and nowhere else."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ropespec.conformance import frameworks
from ropespec.conformance.cli import command
from ropespec.conformance.frameworks import ARRAYS, BUILTIN, FRAMEWORKS
from ropespec.conformance.frameworks.base import TRANSFORMS
from ropespec.conformance.profile import CLAIMS
from ropespec.conformance.report.document import schema
from ropespec.conformance.subject import frameworks as made

SOURCE = Path(frameworks.__file__).parents[1]
ROOMS = Path(frameworks.__file__).parent, Path(made.__file__).parent
ENTRIES = {"zoo/frameworks.py"} | {
    path.relative_to(SOURCE).as_posix()
    for path in (SOURCE / "zoo").glob("*.py")
    if path.stem.partition("_")[0] in ARRAYS
}
"""Implementations written in a framework, and the list of them."""

EXAMPLES = {"cli/check.py", "cli/compare.py", "cli/identify.py", "pytest_entry.py"}
"""Texts that show a user a whole command."""

LIBRARIES = {"styles/known/flax.py", "styles/known/mlx.py"}
"""How libraries are called that have one framework alone."""

# NumPy is what everything here is written in: its name is a framework's where it is a value.
_NAMES = "|".join(name for name in ARRAYS if name != frameworks.DEFAULT)
_NAMED = re.compile(rf"\b({_NAMES})\b|[\"']{frameworks.DEFAULT}[\"']", re.IGNORECASE)


def named():
    """Return the files outside the rooms that name a framework, with the lines."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        lines = [line for line in path.read_text("utf-8").splitlines() if _NAMED.search(line)]
        if lines and not {*ROOMS} & {*path.parents}:
            found[path.relative_to(SOURCE).as_posix()] = lines
    return found


def test_no_framework_is_named_outside_its_room():
    """Who needs to know something of a framework asks its room; each exception is needed."""
    assert set(named()) == ENTRIES | EXAMPLES | LIBRARIES


@pytest.mark.parametrize(
    "line",
    [
        'if profile.array == "jax":',
        'return str(dtype).removeprefix("torch.")',
        'told = array if array != "numpy" else ""',
        "import cupy as cp",
        "# MLX has no addresses",
    ],
)
def test_a_name_is_noticed(line):
    """In code, in text and in comments."""
    assert _NAMED.search(line)


def test_a_framework_is_two_files():
    """What is known before it is imported, and what imports it; nothing else is in the rooms."""
    helpers = {"__init__", "base"}

    for room in ROOMS:
        assert {path.stem for path in room.glob("*.py")} == {*ARRAYS, *helpers}


def test_a_room_that_is_added_is_found(tmp_path, monkeypatch):
    """No list has to be changed for it."""
    room = (
        "from ropespec.conformance.frameworks.numpy import _NumPy\n"
        "FRAMEWORK = type('Added', (_NumPy,), {'name': 'added', 'rank': 99})()\n"
    )
    (tmp_path / "added.py").write_text(room, encoding="utf-8")
    monkeypatch.setattr(frameworks, "__path__", [*frameworks.__path__, str(tmp_path)])
    monkeypatch.setitem(sys.modules, f"{frameworks.__name__}.added", None)
    del sys.modules[f"{frameworks.__name__}.added"]

    assert list(frameworks._rooms()) == [*ARRAYS, "added"]


def test_option_and_schema_have_the_list_of_the_rooms():
    """What can be claimed, and what a verdict may say, are the frameworks there are."""
    assert CLAIMS["array"].choices == ARRAYS
    assert schema()["$defs"]["profile"]["properties"]["array"]["enum"] == list(ARRAYS)
    assert set(BUILTIN) < set(ARRAYS)


def test_the_help_names_every_backend():
    """The list in the help is that of the rooms."""
    said = " ".join(CliRunner().invoke(command, ["check", "--help"]).stdout.split())

    assert f"{', '.join(BUILTIN[:-1])} or {BUILTIN[-1]} (the built-in backends)" in said
    assert f"--array [{'|'.join(ARRAYS)}]" in said


@pytest.mark.parametrize("code", ["import ropespec.conformance", "main(['--help'])"])
def test_no_framework_is_imported_to_know_of_it(code):
    """Neither by the package nor by the command."""
    modules = [room.module for room in FRAMEWORKS.values() if room.extra]
    source = (
        f"import sys\nfrom ropespec.conformance.cli import main\n{code}\n"
        f"from ropespec.conformance.frameworks import FRAMEWORKS\n"
        f"print([name for name in {modules} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "[]"


def test_a_command_imports_no_other():
    """Whoever checks waits for nothing that other commands need, and help knows them all."""
    names = command.list_commands(click.Context(command))
    source = (
        "import sys\nfrom ropespec.conformance.cli import main\nmain(['check', '--help'])\n"
        f"print([one for one in {names} if 'ropespec.conformance.cli.' + one in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "['check']"
    said = CliRunner().invoke(command, ["--help"]).stdout
    assert re.findall(r"^  ([a-z]+)  ", said, re.MULTILINE) == names
    assert CliRunner().invoke(command, ["chekc"]).exit_code == 2


@pytest.mark.parametrize("name", ARRAYS)
def test_the_transforms_that_are_promised_are_there(name):
    """The worker's side has a method for each of them, and for no other."""
    pytest.importorskip(FRAMEWORKS[name].module, exc_type=ImportError)
    kind = made._arrays(name)

    assert [one for one in TRANSFORMS if hasattr(kind, one)] == [
        one for one in TRANSFORMS if one in FRAMEWORKS[name].transforms
    ]
    assert ("gradient" in vars(kind)) == FRAMEWORKS[name].has_gradients
    assert kind.about is FRAMEWORKS[name]


def test_a_framework_without_a_backend_is_no_target(capsys):
    """What is meant is a function of the user's own."""
    from ropespec.conformance.cli import main  # noqa: PLC0415  # beside the test that needs it

    assert main(["check", "mlx"]) == 2
    assert "there is no backend in mlx here; a target is numpy" in capsys.readouterr().err
