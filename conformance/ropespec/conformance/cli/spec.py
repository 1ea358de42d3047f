"""`ropespec spec`: read the specification."""

import difflib
import re
import sys
from collections.abc import Iterable

import click
from rich.console import Console
from rich.markdown import Markdown

from ropespec.conformance.cli.status import CONFORMS, FAILS, Unusable
from ropespec.conformance.traceability import Entry, Trace, Traced, entries, trace
from ropespec.spec.api import CHAPTERS
from ropespec.spec.clauses import Clause, chapter_text, chapter_title, clauses, find

__all__ = ["spec_command"]

READABLE_WIDTH = 100

_ENTRY = re.compile(r"^([FEP])-?(\d{1,3})$", re.IGNORECASE)


@click.command("spec", short_help="Read the specification: chapters, clauses, errata.")
@click.argument("name", required=False, metavar="[CLAUSE|CHAPTER|ENTRY]")
@click.option("--map", "show_map", is_flag=True, help="Who answers for which formula.")
def spec_command(name: str | None, *, show_map: bool) -> int:
    """Read the specification.

    \b
    ropespec spec             the chapters and their clauses
    ropespec spec ROT-6       a clause: rule, formula, sources, errata, functions, checks
    ropespec spec rotation    a chapter
    ropespec spec E-04        a formula F-, erratum E- or property P- of the documents
    ropespec spec --map       all of these, and the clause, function and check of each

    Exit status: 0; 1 if the map has a hole; 2 if there is nothing of that name.
    """  # noqa: D301  # click reads the character \b as "keep these lines"
    if show_map:
        if name is not None:
            raise Unusable("--map prints the whole map; give it without a name")
        return _map(trace())
    if name is None:
        _show(_contents())
    elif clause := find(name):
        _show(_clause(clause))
    elif name.lower() in (*CHAPTERS, "documents"):
        _show(chapter_text(name.lower()))
    elif entry := _entry(name):
        _show(_answers(entry))
    else:
        raise Unusable(_unknown(name))
    return CONFORMS


def _show(markdown: str) -> None:
    """Lay out Markdown on a terminal; print it as it is for other readers."""
    console = Console(file=sys.stdout)
    if console.is_terminal:
        width = min(console.width, READABLE_WIDTH)
        console.print(Markdown(markdown, hyperlinks=False), width=width)
    else:
        click.echo(markdown.rstrip())


def _contents() -> str:
    parts = []
    for chapter in CHAPTERS:
        own = [clause for clause in clauses().values() if clause.chapter == chapter]
        lines = [f"- **{clause.id}** {clause.title}" for clause in own]
        parts.append("\n".join([f"## {chapter}: {chapter_title(chapter)}", "", *lines]))
    return "\n\n".join(parts)


def _clause(clause: Clause) -> str:
    listed = entries()
    errata = [listed[id_] for id_ in sorted(clause.documents & set(listed)) if id_[0] == "E"]
    return "\n".join(
        [
            f"## {clause.id} {clause.title}",
            "",
            clause.text,
            "",
            *_section(
                "Errata", (f"- {item.id} (document {item.where}): {item.title}" for item in errata)
            ),
            *_section("Checks", _checks_of(clause.id)),
        ]
    )


def _section(title: str, lines: Iterable[str]) -> list[str]:
    found = list(lines)
    return [f"### {title}", "", *found, ""] if found else []


def _checks_of(clause_id: str) -> list[str]:
    # Only this needs the checks, and Hypothesis with them.
    from ropespec.conformance.registry import all_checks  # noqa: PLC0415  # see above

    return [f"- `{item.id}`: {item.sentence}" for item in all_checks() if item.clause == clause_id]


def _entry(name: str) -> Entry | None:
    if not (match := _ENTRY.match(name)):
        return None
    letter, digits = match[1].upper(), int(match[2])
    return entries().get(f"{letter}-{digits:03d}" if letter == "F" else f"{letter}-{digits:02d}")


def _answers(entry: Entry) -> str:
    lines = [f"## {entry.id} {entry.title}", "", f"Where: {entry.where}", ""]
    if entry.id.startswith("E"):
        lines += _in_errata(entry.id)
    if entry.reason:
        return "\n".join([*lines, f"No clause answers for it: {entry.reason}."])
    answering = [clause for clause in clauses().values() if entry.id in clause.documents]
    for clause in answering:
        lines += [f"- **{clause.id}** {clause.title}: {clause.rule}"]
    return "\n".join(lines)


def _in_errata(id_: str) -> list[str]:
    """Return the section of the chapter `errata` below the heading of this erratum."""
    text = chapter_text("errata")
    section = re.search(rf"^### {id_}\b.*?\n(.*?)(?=^###? |\Z)", text, re.MULTILINE | re.DOTALL)
    return [section[1].strip(), ""] if section else []


def _unknown(name: str) -> str:
    known = [*clauses(), *entries(), *CHAPTERS, "documents"]
    same_case = name.lower() if name.islower() and "-" not in name else name.upper()
    close = difflib.get_close_matches(same_case, known, n=4, cutoff=0.5)
    hint = f"did you mean {', '.join(close)}?" if close else "`ropespec spec` lists them"
    return f"there is no clause, chapter or entry {name!r}; {hint}"


def _map(found: Trace) -> int:
    for item in found.traced.values():
        click.echo(_map_line(item))
    click.echo()
    for kind, (number, with_clause, with_reason) in found.counts().items():
        click.echo(f"{number} {kind}: {with_clause} with a clause, {with_reason} with a reason")
    if not found.holes:
        click.echo("no holes")
        return CONFORMS
    click.echo(f"{len(found.holes)} holes:")
    for line in found.holes:
        click.echo(f"  {line}")
    return FAILS


def _map_line(item: Traced) -> str:
    if not item.clauses:
        return f"{item.entry.id}  no clause: {item.entry.reason or 'MISSING'}"
    functions = ", ".join(item.functions) or "no function"
    checks = ", ".join(item.checks) or "not checked"
    return f"{item.entry.id}  {', '.join(item.clauses)}  {functions}  {checks}"
