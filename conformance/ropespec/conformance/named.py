"""Which id of the documents is named where: in docstrings of the reference, and in tests.

The part about tests needs nothing but the standard library, for the wheel is built with it: tests
are not installed, so a list of what they name is.
"""

import ast
import functools
import importlib
import inspect
import json
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

__all__ = ["LIST", "ids_in", "in_reference", "in_tests", "scan_tests"]

LIST = "named_in_tests.json"
"""Where a wheel keeps what the tests name, beside this module."""

_RANGE = re.compile(r"\b([DEFP])-(\d{2,3})(?: to |\.\.|–)(?:\1-)?(\d{2,3})\b")
_ID = re.compile(r"\b[DEFP]-\d{2,3}\b")
_PATTERNS = (
    "reference/tests/test_*.py",
    "backends/tests/test_*.py",
    "conformance/tests/test_checks_*.py",
    "conformance/tests/test_reference_faults.py",
)

Named = Mapping[str, tuple[str, ...]]


def ids_in(text: str) -> tuple[str, ...]:
    """Return the ids in a text, in order, each once; `F-206 to F-218` stands for all of them."""
    found = _ID.findall(text)
    for letter, first, last in _RANGE.findall(text):
        width = len(first)
        found += [f"{letter}-{n:0{width}d}" for n in range(int(first), int(last) + 1)]
    return tuple(dict.fromkeys(found))


@functools.cache
def in_reference() -> Named:
    """Return the functions and classes of the reference whose docstring names an id, by id."""
    package = importlib.import_module("ropespec.reference")
    named: dict[str, list[str]] = defaultdict(list)
    for item in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(item.name)
        stem = item.name.removeprefix(f"{package.__name__}.")
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if callable(value) and value.__module__ == item.name:
                for id_ in ids_in(_docstrings(value)):
                    named[id_].append(f"{stem}.{name}")
    return {id_: tuple(names) for id_, names in named.items()}


def _docstrings(value: object) -> str:
    methods = vars(value).values() if inspect.isclass(value) else ()
    texts = [value.__doc__, *(method.__doc__ for method in methods if inspect.isfunction(method))]
    return "\n".join(text for text in texts if text)


@functools.cache
def in_tests() -> Named:
    """Return the tests that name an id, by id: from the checkout, or from the list of the wheel."""
    here = Path(__file__).parent
    installed = here / LIST
    if installed.exists():
        listed = json.loads(installed.read_text(encoding="utf-8"))
        return {id_: tuple(tests) for id_, tests in listed.items()}
    return scan_tests(here.parents[2])


def scan_tests(root: Path) -> Named:
    """Read what the tests of a checkout name, each in its own name, docstring or parameters.

    What stands in a body is data as often as it is the subject, and tests of the map and of the
    text are about neither.

    Parameters
    ----------
    root : Path
        The folder that holds `spec/`, `reference/`, `backends/` and `conformance/`.

    Returns
    -------
    mapping of str to tuple of str
        Tests as `folder/tests/file.py::test`, by id.
    """
    named: dict[str, list[str]] = defaultdict(list)
    for pattern in _PATTERNS:
        for path in sorted(root.glob(pattern)):
            source = path.read_text(encoding="utf-8")
            for test in _tests(ast.parse(source)):
                where = f"{path.relative_to(root).as_posix()}::{test.name}"
                for id_ in ids_in(_said(source, test)):
                    named[id_].append(where)
    return {id_: tuple(tests) for id_, tests in sorted(named.items())}


def _tests(tree: ast.Module) -> Iterable[ast.FunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node


def _said(source: str, test: ast.FunctionDef) -> str:
    # test_e04_... and test_f206_... name an id as well
    spelled = re.sub(r"_([efp])(\d{2,3})(?=_)", lambda m: f" {m[1].upper()}-{m[2]} ", test.name)
    parameters = (ast.get_source_segment(source, item) or "" for item in test.decorator_list)
    return "\n".join([spelled, ast.get_docstring(test) or "", *parameters])
