"""What the fields of a clause name exists, and says the same of the clause."""

import ast
import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import ropespec.reference
from ropespec.spec.api import FUNCTIONS
from ropespec.spec.clauses import FIELDS, Clause, parse
from spec_reading.places import documents_of_errata, listed, places
from spec_reading.sections import SPAN

__all__ = ["check"]

_API = frozenset(f"{chapter}.{name}" for chapter, names in FUNCTIONS.items() for name in names)


def check(chapter: str, text: str) -> list[str]:
    """List fields in the wrong order, and what they say differently from code or documents."""
    found = []
    for clause in parse(chapter, text):
        problems = [*_order(clause), *_functions(clause), *_signatures(clause), *_ids(clause)]
        problems += [*places(clause), *documents_of_errata(clause)]
        found += [f"{clause.id}: {problem}" for problem in problems]
    return found


def _order(clause: Clause) -> Iterator[str]:
    names = [name for name in FIELDS if name in clause.fields]
    if list(clause.fields) != names:
        yield f"fields stand in the order {', '.join(clause.fields)}"
    written = re.findall(r"^- \*\*([^*]+):\*\*", clause.text, re.MULTILINE)
    yield from (f"no field is called {name}" for name in written if name not in FIELDS)


def _functions(clause: Clause) -> Iterator[str]:
    named, listed = _named_by_docstrings().get(clause.id, set()), set(clause.functions)
    yield from (f"{name} names it, but is not listed" for name in sorted(named - listed))
    yield from (f"{name} is listed, but does not name it" for name in sorted(listed - named))


@functools.cache
def _named_by_docstrings() -> dict[str, set[str]]:
    """Clause -> the public functions and classes of the reference whose docstring names it."""
    found: dict[str, set[str]] = {}
    folder = Path(ropespec.reference.__path__[0])
    for path in folder.rglob("*.py"):
        stem = path.relative_to(folder).with_suffix("").parts[0]
        for thing in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(thing, ast.FunctionDef | ast.ClassDef) and not thing.name.startswith("_"):
                for id_ in re.findall(r"\b[A-Z]{2,}-\d+\b", ast.get_docstring(thing) or ""):
                    found.setdefault(id_, set()).add(f"{stem}.{thing.name}")
    return found


def _signatures(clause: Clause) -> Iterator[str]:
    written = SPAN.findall(clause.fields.get("Signature", ""))
    right = [_signature(name) for name in clause.functions if name in _API]
    yield from (f"Signature lacks `{line}`" for line in right if line not in written)
    yield from (f"Signature has `{line}`" for line in written if line not in right)


def _signature(name: str) -> str:
    module, function = name.split(".")
    found = inspect.signature(
        getattr(importlib.import_module(f"ropespec.reference.{module}"), function)
    )
    bare = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    return f"{function}{found.replace(parameters=bare, return_annotation=found.empty)}"


def _ids(clause: Clause) -> Iterator[str]:
    for name in ("Sources", "Errata", "Properties"):
        for id_ in re.findall(r"\b[FEP]-\d+\b", clause.fields.get(name, "")):
            if id_ not in listed():
                yield f"{name} names {id_}, which the documents do not have"
