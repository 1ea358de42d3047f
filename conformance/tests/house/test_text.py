"""A file is read in one sitting, a test says in words what is so, and no path is private."""

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GIT = shutil.which("git")
LONGEST = 500
LISTS = {"errata.md": 1500, "rotation.md": 550}
"""Chapters that are lists: one reads an entry, not the file."""
WRITTEN = {".cu", ".cuh", ".md", ".py", ".toml", ".yaml"}
PRIVATE = re.compile(r"(?<![\w.-])/(?:work|home|root|Users|tmp)/\w|[A-Z]:\\Users\\")


def texts():
    """Return the text of every file that is written by hand."""
    folders = ("spec", "reference", "backends", "conformance", "bench", ".ci", ".github")
    files = [file for name in folders for file in (ROOT / name).rglob("*") if file.is_file()]
    files += [file for file in ROOT.iterdir() if file.is_file()]
    return {
        str(file.relative_to(ROOT)): file.read_text(encoding="utf-8")
        for file in files
        if file.suffix in WRITTEN or file.parent.name == ".ci"
    }


def long(found):
    """List the files that are too long."""
    lines = {name: text.count("\n") for name, text in found.items()}
    most = {name: LISTS.get(Path(name).name, LONGEST) for name in found}
    return [f"{name}: {lines[name]} lines" for name in found if lines[name] > most[name]]


def private(found):
    """List the places that lie on one machine alone."""
    return [f"{name}: {one[0]}" for name, text in found.items() for one in PRIVATE.finditer(text)]


def unsaid(name, text):
    """List the tests that do not say in a sentence what is so."""
    tests = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test")
    ]
    said = {node.name: (ast.get_docstring(node) or "").partition("\n\n")[0] for node in tests}
    return [f"{name}::{test}" for test, words in said.items() if not re.search(r" .*\.$", words)]


def test_no_file_is_longer_than_one_reads():
    """What is longer has two subjects."""
    assert long(texts()) == []


def test_a_long_file_is_seen():
    """The test above can fail, by one line."""
    assert long({"a.py": "\n" * LONGEST}) == []
    assert long({"a.py": "\n" * (LONGEST + 1)}) == ["a.py: 501 lines"]


def test_no_text_names_a_place_on_one_machine():
    """A reader has other folders."""
    assert private(texts()) == []


@pytest.mark.parametrize("place", ["home/me/rope.py", "work/a", "tmp/found.json"])
def test_a_place_on_one_machine_is_seen(place):
    """The test above can fail, and knows a relative path from an absolute one."""
    assert private({"a.md": f"see `/{place}`"}) != []
    assert private({"a.md": f"see `../{place}` and https://example.org/{place}"}) == []


def test_every_test_says_a_sentence():
    """Names of tests are shown by pytest; what they stand for is read in their first line."""
    tests = {name: text for name, text in texts().items() if Path(name).name.startswith("test_")}

    assert len(tests) > 100
    assert [one for name, text in tests.items() for one in unsaid(name, text)] == []


@pytest.mark.parametrize("body", ["pass", '"""Works."""', '"""It says much"""', "x = 'It is so.'"])
def test_a_test_without_a_sentence_is_seen(body):
    """The test above can fail: for want of words, of more than one, and of an end."""
    assert unsaid("test_a.py", f"def test_a():\n    {body}") == ["test_a.py::test_a"]
    assert unsaid("test_a.py", 'def test_a():\n    """It is so."""') == []


@pytest.mark.skipif(not (GIT and (ROOT / ".git").exists()), reason="not a checkout of git")
def test_what_git_knows_is_what_is_read():
    """No folder of the house is left out."""
    done = subprocess.run([GIT, "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    named = (Path(name) for name in done.stdout.splitlines())
    written = {str(one) for one in named if one.suffix in WRITTEN and (ROOT / one).is_file()}

    assert written <= set(texts())
