"""Who answers for what, id by id: clause, reference, test, check and wrong implementation."""

import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from ropespec.conformance import named
from ropespec.spec.api import FUNCTIONS
from ropespec.spec.clauses import Clause, chapter_text, clauses
from ropespec.spec.errata import Place, errata

__all__ = ["Entry", "Links", "Trace", "Traced", "entries", "holes", "trace", "trace_of"]

KINDS = {"F": "formulas", "E": "errata", "P": "properties"}

_ROW = re.compile(r"^\| ([FEP]-\d{2,3}) \|(.*)\|$")
_CELL = re.compile(r"(?<!\\)\|")
_REASON = "no clause because"
_UNCHECKED = "not checked because"


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
    def names(self) -> Sequence[str]:
        """Ids of the documents whose statements it looks at."""
        ...

    @property
    def general(self) -> bool:
        """Whether it fails with almost any mistake."""
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
    unchecked : str
        Why no check looks at it; empty if one does.
    """

    id: str
    title: str
    where: str
    reason: str = ""
    unchecked: str = ""


@dataclass(frozen=True, slots=True)
class Links:
    """What is read off the code.

    Attributes
    ----------
    reference, tests : mapping of str to tuple of str
        By id: functions of the reference, and tests, that name it.
    checks : sequence
        All checks.
    wrong : mapping of str to tuple of str
        By check: the wrong implementations that are there because of it.
    """

    reference: Mapping[str, tuple[str, ...]]
    tests: Mapping[str, tuple[str, ...]]
    checks: Sequence[CheckLike]
    wrong: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Traced:
    """An entry with everything that names this very id.

    Attributes
    ----------
    entry : Entry
        The row.
    clauses : tuple of str
        Clauses that name it.
    functions : tuple of str
        Functions of the reference whose docstring names it, as `module.function`.
    tests : tuple of str
        Tests that name it, as `folder/tests/file.py::test`.
    checks : tuple of str
        Checks that look at its statement.
    wrong : tuple of str
        Wrong implementations that are there because of one of these checks.
    general : bool
        Whether all these checks fail with almost any mistake, and so have none of their own.
    """

    entry: Entry
    clauses: tuple[str, ...]
    functions: tuple[str, ...]
    tests: tuple[str, ...]
    checks: tuple[str, ...]
    wrong: tuple[str, ...]
    general: bool

    @property
    def reach(self) -> str:
        """How far the chain goes: `checked`, `reference only`, or `background`."""
        if self.entry.reason:
            return "background"
        return "checked" if self.checks else "reference only"


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

    def counts(self) -> dict[str, dict[str, int]]:
        """Count per kind how many there are, and how far their chains reach."""
        found = {}
        for letter, kind in KINDS.items():
            rows = [item for id_, item in self.traced.items() if id_.startswith(letter)]
            reaches = [item.reach for item in rows]
            words = ("checked", "reference only", "background")
            found[kind] = {"all": len(rows)} | {word: reaches.count(word) for word in words}
        return found


def entries(text: str | None = None) -> Mapping[str, Entry]:
    """Read the list of entries.

    Parameters
    ----------
    text : str or None
        Markdown tables whose first column is an id, and one of groups of ids that are not checked
        and the reason; None for the chapter `documents`.

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
    lines = (chapter_text("documents") if text is None else text).splitlines()
    unchecked = _unchecked(lines)
    header: list[str] = []
    for line in lines:
        if line.startswith("| id |"):
            header = _cells(line)
        elif _ROW.match(line) and header:
            row = dict(zip(header, _cells(line), strict=True))
            id_ = row["id"]
            if id_ in found:
                raise RuntimeError(f"an entry must be listed once; {id_} is listed twice")
            title = row.get("entry") or row.get("what is wrong") or row.get("statement") or ""
            where = row.get("where") or row.get("document") or row.get("source") or ""
            if text is None and id_ in errata():
                where = _lines(errata()[id_].places)
            found[id_] = Entry(id_, title, where, row.get(_REASON, ""), unchecked.get(id_, ""))
        elif not line.startswith("|"):
            header = []
    return MappingProxyType(found)


def _lines(places: Sequence[Place]) -> str:
    """Write places as the list of formulas does: `001 L24, L37; 004 L241-243`."""
    by_document: dict[str, list[str]] = {}
    for place in places:
        span = f"L{place.first}" + (f"–{place.last}" if place.last > place.first else "")
        by_document.setdefault(place.document, []).append(span)
    return "; ".join(f"{name} {', '.join(spans)}" for name, spans in by_document.items())


def _unchecked(lines: Sequence[str]) -> dict[str, str]:
    """Read the table `| ids | not checked because |`."""
    found: dict[str, str] = {}
    inside = False
    for line in lines:
        if line.startswith("| ids |"):
            inside = _UNCHECKED in line
        elif inside and line.startswith("| "):
            ids, reason = _cells(line)
            found |= dict.fromkeys(named.ids_in(ids), reason)
        elif not line.startswith("|"):
            inside = False
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(line)[1:-1]]


def trace() -> Trace:
    """Trace the specification that is installed: its list of entries, clauses, code and checks."""
    from ropespec.conformance.registry import all_checks  # noqa: PLC0415  # NumPy takes a moment to load
    from ropespec.conformance.zoo import Wrong, zoo  # noqa: PLC0415  # as the checks

    wrong: dict[str, tuple[str, ...]] = {}
    for animal in zoo():
        if isinstance(animal, Wrong):
            for id_ in animal.killed_by:
                wrong[id_] = (*wrong.get(id_, ()), animal.name)
    links = Links(named.in_reference(), named.in_tests(), all_checks(), wrong)
    return trace_of(entries(), clauses(), links)


def holes() -> tuple[str, ...]:
    """Return one line for everything that nobody answers for; empty when nothing is missing."""
    return trace().holes


def trace_of(
    listed: Mapping[str, Entry],
    written: Mapping[str, Clause],
    links: Links,
    api: Mapping[str, Sequence[str]] = FUNCTIONS,
) -> Trace:
    """Trace given parts; `trace` is this with the real ones.

    Parameters
    ----------
    listed : mapping
        Entries by id.
    written : mapping
        Clauses by id.
    links : Links
        What the code names.
    api : mapping
        Functions of the shared API by chapter.
    """
    traced = {id_: _traced(entry, written, links) for id_, entry in listed.items()}
    found = (
        *_gaps(traced),
        *_unknown_entries(listed, written, links),
        *_clauses_without_check(written, links.checks),
        *_functions_missing(written),
        *_api_without_clause(written, api),
    )
    return Trace(MappingProxyType(traced), found)


def _traced(entry: Entry, written: Mapping[str, Clause], links: Links) -> Traced:
    naming = [check for check in links.checks if entry.id in check.names]
    animals = dict.fromkeys(name for check in naming for name in links.wrong.get(check.id, ()))
    return Traced(
        entry,
        tuple(clause.id for clause in written.values() if entry.id in clause.documents),
        links.reference.get(entry.id, ()),
        links.tests.get(entry.id, ()),
        tuple(check.id for check in naming),
        tuple(animals),
        bool(naming) and all(check.general for check in naming),
    )


def _gaps(traced: Mapping[str, Traced]) -> Iterable[str]:
    """Say what is missing in the chain of an id, or is given beside a reason to be missing."""
    for id_, item in traced.items():
        entry = item.entry
        if entry.reason:
            if item.clauses:
                yield f"{id_} has a clause, {', '.join(item.clauses)}, and a reason to have none"
            continue
        if not item.clauses:
            yield f"{id_} has neither a clause nor a reason: {entry.title}"
        if not item.functions and not id_.startswith("P"):
            yield f"{id_} is named by no docstring of the reference: {entry.title}"
        if not item.tests:
            yield f"{id_} is named by no test: {entry.title}"
        if not item.checks and not entry.unchecked:
            yield f"{id_} is named by no check, and nothing says why: {entry.title}"
        if item.checks and entry.unchecked:
            yield f"{id_} is checked by {', '.join(item.checks)}, and a reason says why not"


def _unknown_entries(
    listed: Mapping[str, Entry], written: Mapping[str, Clause], links: Links
) -> Iterable[str]:
    by_clause = {clause.id: clause.documents for clause in written.values()}
    by_check = {f"check {check.id}": frozenset(check.names) for check in links.checks}
    for name, ids in (by_clause | by_check).items():
        for id_ in sorted(ids - set(listed)):
            yield f"{name} names {id_}, which is not listed"


def _clauses_without_check(
    written: Mapping[str, Clause], checks: Sequence[CheckLike]
) -> Iterable[str]:
    checked = {check.clause for check in checks}
    for clause in written.values():
        if clause.id not in checked and not clause.not_checked:
            yield f"{clause.id} has neither a check nor a field `Not checked`: {clause.title}"
        if clause.id in checked and clause.not_checked:
            yield f"{clause.id} has a check and a field `Not checked`"
    for check in checks:
        if check.clause not in written:
            yield f"check {check.id} belongs to {check.clause}, which is no clause"


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
    named_functions = {name for clause in written.values() for name in clause.functions}
    for chapter, functions in api.items():
        for function in functions:
            if f"{chapter}.{function}" not in named_functions:
                yield f"the API function {chapter}.{function} is in no clause's Functions"
