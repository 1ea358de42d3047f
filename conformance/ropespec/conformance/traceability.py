"""Who answers for what: documents to clauses to reference functions to checks, and the holes."""

import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from ropespec.spec.api import FUNCTIONS
from ropespec.spec.clauses import Clause, chapter_text, clauses

__all__ = ["Entry", "Trace", "Traced", "entries", "holes", "trace"]

KINDS = {"F": "formulas", "E": "errata", "P": "properties"}

_ROW = re.compile(r"^\| ([FEP]-\d{2,3}) \|(.*)\|$")
_CELL = re.compile(r"(?<!\\)\|")
_REASON = "no clause because"


class CheckLike(Protocol):
    """What is read of a check."""

    @property
    def id(self) -> str:
        """Id of the check."""
        ...

    @property
    def clause(self) -> str:
        """Clause it belongs to."""
        ...

    @property
    def properties(self) -> Sequence[str]:
        """Properties of the documents it covers."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the list of everything found in the documents.

    Attributes
    ----------
    id : str
        `F-` a formula, `E-` an erratum, `P-` a property.
    title : str
        What it is.
    where : str
        Where it stands.
    reason : str
        Why no clause answers for it; empty if one does.
    """

    id: str
    title: str
    where: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Traced:
    """An entry with everything that answers for it.

    Attributes
    ----------
    entry : Entry
        The row.
    clauses : tuple of str
        Clauses that name it.
    functions : tuple of str
        Reference functions of these clauses, as `module.function`.
    checks : tuple of str
        Checks of these clauses; of a property only those that name it, where there are any.
    """

    entry: Entry
    clauses: tuple[str, ...]
    functions: tuple[str, ...]
    checks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """The whole map.

    Attributes
    ----------
    traced : mapping of str to Traced
        Every entry by id, in the order of the list.
    holes : tuple of str
        One line for everything that nobody answers for; empty when the map is complete.
    """

    traced: Mapping[str, Traced]
    holes: tuple[str, ...]

    def counts(self) -> dict[str, tuple[int, int, int]]:
        """Count per kind: entries, those with a clause, those with a reason instead."""
        found = {}
        for letter, kind in KINDS.items():
            rows = [item for id_, item in self.traced.items() if id_.startswith(letter)]
            with_clause = sum(bool(item.clauses) for item in rows)
            with_reason = sum(bool(item.entry.reason) and not item.clauses for item in rows)
            found[kind] = (len(rows), with_clause, with_reason)
        return found


def entries(text: str | None = None) -> Mapping[str, Entry]:
    """Read the list of entries.

    Parameters
    ----------
    text : str or None
        Markdown tables whose first column is an id; None for the chapter `documents`.

    Returns
    -------
    mapping of str to Entry
        By id, in reading order.

    Raises
    ------
    RuntimeError
        If an id is listed twice.
    """
    found: dict[str, Entry] = {}
    header: list[str] = []
    for line in (chapter_text("documents") if text is None else text).splitlines():
        if line.startswith("| id |"):
            header = _cells(line)
        elif _ROW.match(line):
            row = dict(zip(header, _cells(line), strict=True))
            id_ = row["id"]
            if id_ in found:
                raise RuntimeError(f"an entry must be listed once; {id_} is listed twice")
            title = row.get("entry") or row.get("what is wrong") or row.get("statement") or ""
            where = row.get("where") or row.get("document") or row.get("source") or ""
            found[id_] = Entry(id_, title, where, row.get(_REASON, ""))
    return MappingProxyType(found)


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(line)[1:-1]]


def trace() -> Trace:
    """Trace the specification that is installed: its list of entries, clauses and checks."""
    from ropespec.conformance.registry import all_checks  # noqa: PLC0415  # Hypothesis is slow to load

    return trace_of(entries(), clauses(), all_checks())


def holes() -> tuple[str, ...]:
    """Return one line for everything that nobody answers for; empty when nothing is missing."""
    return trace().holes


def trace_of(
    listed: Mapping[str, Entry],
    written: Mapping[str, Clause],
    checks: Sequence[CheckLike],
    api: Mapping[str, Sequence[str]] = FUNCTIONS,
) -> Trace:
    """Trace given parts; `trace` is this with the real ones.

    Parameters
    ----------
    listed : mapping
        Entries by id.
    written : mapping
        Clauses by id.
    checks : sequence
        All checks.
    api : mapping
        Functions of the shared API by chapter.
    """
    traced = {id_: _traced(entry, written, checks) for id_, entry in listed.items()}
    found = (
        *_entries_without_answer(traced),
        *_unknown_entries(listed, written),
        *_clauses_without_check(written, checks),
        *_checks_without_clause(listed, written, checks),
        *_properties_without_check(listed, checks),
        *_functions_missing(written),
        *_api_without_clause(written, api),
    )
    return Trace(MappingProxyType(traced), found)


def _traced(entry: Entry, written: Mapping[str, Clause], checks: Sequence[CheckLike]) -> Traced:
    answering = [clause for clause in written.values() if entry.id in clause.documents]
    ids = tuple(clause.id for clause in answering)
    functions = dict.fromkeys(name for clause in answering for name in clause.functions)
    naming = [check.id for check in checks if entry.id in check.properties]
    belonging = [check.id for check in checks if check.clause in ids]
    return Traced(entry, ids, tuple(functions), tuple(naming or belonging))


def _entries_without_answer(traced: Mapping[str, Traced]) -> Iterable[str]:
    for id_, item in traced.items():
        if not item.clauses and not item.entry.reason:
            yield f"{id_} has neither a clause nor a reason: {item.entry.title}"
        if item.clauses and item.entry.reason:
            yield f"{id_} has a clause, {', '.join(item.clauses)}, and a reason to have none"


def _unknown_entries(listed: Mapping[str, Entry], written: Mapping[str, Clause]) -> Iterable[str]:
    for clause in written.values():
        for id_ in sorted(clause.documents - set(listed)):
            yield f"{clause.id} names {id_}, which is not listed"


def _clauses_without_check(
    written: Mapping[str, Clause], checks: Sequence[CheckLike]
) -> Iterable[str]:
    checked = {check.clause for check in checks}
    for clause in written.values():
        if clause.id not in checked and not clause.not_checked:
            yield f"{clause.id} has neither a check nor a field `Not checked`: {clause.title}"
        if clause.id in checked and clause.not_checked:
            yield f"{clause.id} has a check and a field `Not checked`"


def _checks_without_clause(
    listed: Mapping[str, Entry], written: Mapping[str, Clause], checks: Sequence[CheckLike]
) -> Iterable[str]:
    for check in checks:
        if check.clause not in written:
            yield f"check {check.id} belongs to {check.clause}, which is no clause"
        for id_ in check.properties:
            if id_ not in listed:
                yield f"check {check.id} names {id_}, which is not listed"


def _properties_without_check(
    listed: Mapping[str, Entry], checks: Sequence[CheckLike]
) -> Iterable[str]:
    named = {id_ for check in checks for id_ in check.properties}
    for id_, entry in listed.items():
        if id_.startswith("P-") and id_ not in named and not entry.reason:
            yield f"{id_} is named by no check: {entry.title}"


def _functions_missing(written: Mapping[str, Clause]) -> Iterable[str]:
    for clause in written.values():
        for name in clause.functions:
            if not _is_reference_function(name):
                yield f"{clause.id} names `{name}`, which is not in ropespec.reference"


def _is_reference_function(name: str) -> bool:
    module, _, function = name.rpartition(".")
    if not module:
        return False
    try:
        found = importlib.import_module(f"ropespec.reference.{module}")
    except ModuleNotFoundError:
        return False
    return callable(getattr(found, function, None))


def _api_without_clause(
    written: Mapping[str, Clause], api: Mapping[str, Sequence[str]]
) -> Iterable[str]:
    named = {name for clause in written.values() for name in clause.functions}
    for chapter, functions in api.items():
        for function in functions:
            if f"{chapter}.{function}" not in named:
                yield f"the API function {chapter}.{function} is in no clause's Functions"
