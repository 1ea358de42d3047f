"""`ropespec spec`: read the specification."""

import difflib
import re
import sys
from collections.abc import Iterable

import click
from rich.console import Console
from rich.markdown import Markdown

from ropespec.conformance.cli.configured import config_options, read_config
from ropespec.conformance.cli.frequencies import frequencies
from ropespec.conformance.cli.status import CONFORMS, FAILS, Unusable
from ropespec.conformance.report.formulas import without_latex
from ropespec.conformance.traceability import Entry, Trace, Traced, entries, trace
from ropespec.spec.api import CHAPTERS
from ropespec.spec.clauses import Clause, chapter_text, chapter_title, clauses, find

__all__ = ["spec_command"]

READABLE_WIDTH = 100

_DISAGREEMENT = re.compile(r"^d-0*(\d{1,2})$", re.IGNORECASE)
_ENTRY = re.compile(r"^([FEP])-?(\d{1,3})$", re.IGNORECASE)


@click.command("spec", short_help="Read the specification: chapters, clauses, errata.")
@click.argument("name", required=False, metavar="[CLAUSE|CHAPTER|ENTRY|CHECK|MISTAKE]")
@click.option("--map", "show_map", is_flag=True, help="Who answers for which formula.")
@config_options
@click.option("--markdown", is_flag=True, help="Print the text as it is written, LaTeX included.")
def spec_command(
    name: str | None,
    *,
    show_map: bool,
    markdown: bool,
    config: str | None,
    layer_type: str | None,
    length: int | None,
) -> int:
    """Read the specification.

    \b
    ropespec spec             the chapters and their clauses
    ropespec spec ROT-6       a clause: rule, formula, sources, errata, functions, checks
    ropespec spec rotation    a chapter
    ropespec spec E-04        a formula F-, erratum E- or property P- of the documents: where it
                              stands, its clause, reference function, tests, checks and the wrong
                              implementations that these kill; D-03 is a disagreement of theirs
    ropespec spec --map       all of these, a line each
    ropespec spec --config config.json   the exact frequencies of a model, its gain, the clauses

    Exit status: 0; 1 if the map has a hole; 2 if there is nothing of that name.
    """  # noqa: D301  # click reads the character \b as "keep these lines"
    if config is not None:
        if name is not None or show_map:
            raise Unusable("--config prints frequencies; give it without a name")
        click.echo("\n".join(frequencies(read_config(config, layer_type, length))))
        return CONFORMS
    if show_map:
        if name is not None:
            raise Unusable("--map prints the whole map; give it without a name")
        return _map(trace())
    _show(_found(name), markdown=markdown)
    return CONFORMS


def _found(name: str | None) -> str:
    """Return the Markdown of whatever has this name."""
    if name is None:
        return _contents()
    if clause := find(_DISAGREEMENT.sub(r"DIS-\1", name)):
        return _clause(clause)
    if name.lower() in (*CHAPTERS, "documents"):
        return chapter_text(name.lower())
    # Only what comes now needs the checks, and NumPy with them.
    from ropespec.conformance.cli.named import check_text, mistake_text

    if text := mistake_text(name):
        return text
    if entry := _entry(name):
        return _answers(entry)
    if text := check_text(name):
        return text
    raise Unusable(_unknown(name))


def _show(text: str, *, markdown: bool) -> None:
    """Lay Markdown out on a terminal; elsewhere it stays as it is but for its formulas."""
    console = Console(file=sys.stdout)
    plain = text if markdown else without_latex(text)
    if console.is_terminal and not markdown:
        width = min(console.width, READABLE_WIDTH)
        console.print(Markdown(plain, hyperlinks=False), width=width)
    else:
        click.echo(plain.rstrip())


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
    # Only this needs the checks, and NumPy with them.
    from ropespec.conformance.registry import all_checks

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
    answering = [clause for clause in clauses().values() if entry.id in clause.documents]
    lines += [f"- **{clause.id}** {clause.title}: {clause.rule}" for clause in answering]
    return "\n".join([*lines, *_chain(trace().traced[entry.id])])


def _chain(item: Traced) -> list[str]:
    """Return the links of one id, each with what is missing in words."""
    if item.entry.reason:
        return [f"No clause answers for it: {item.entry.reason}."]
    missing = f"none: {item.reach}, {item.entry.unchecked}"
    general = "none of its own: these checks fail with almost any mistake"
    return [
        _link("Reference", item.functions, "none: a property"),
        _link("Tests", item.tests, "none"),
        _link("Checks", item.checks, missing),
        _link("Wrong implementations", item.wrong, general if item.general else "none"),
    ]


def _link(title: str, names: Iterable[str], missing: str) -> str:
    found = ", ".join(f"`{name}`" for name in names)
    return f"- {title}: {found or missing}"


def _in_errata(id_: str) -> list[str]:
    """Return the section of the chapter `errata` below the heading of this erratum."""
    text = chapter_text("errata")
    section = re.search(rf"^### {id_}\b.*?\n(.*?)(?=^###? |\Z)", text, re.MULTILINE | re.DOTALL)
    return [section[1].strip(), ""] if section else []


def _unknown(name: str) -> str:
    from ropespec.conformance.cli.named import known_names  # as in `_found`

    known = [*clauses(), *entries(), *CHAPTERS, "documents"]
    same_case = name.lower() if name.islower() and "-" not in name else name.upper()
    close = difflib.get_close_matches(same_case, known, n=4, cutoff=0.5)
    close = difflib.get_close_matches(name, known_names(), n=2, cutoff=0.7) + close
    hint = f"did you mean {', '.join(close)}?" if close else "`ropespec spec` lists them"
    return f"there is no clause, chapter, entry, check or mistake {name!r}; {hint}"


def _map(found: Trace) -> int:
    click.echo("id\twhere\tclause\treference\ttest\tcheck\twrong")
    for item in found.traced.values():
        click.echo(_map_line(item))
    click.echo()
    for kind, counts in found.counts().items():
        reaches = ", ".join(f"{n} {word}" for word, n in counts.items() if word != "all" and n)
        click.echo(f"{counts['all']} {kind}: {reaches}")
    if not found.holes:
        click.echo("no holes")
        return CONFORMS
    click.echo(f"{len(found.holes)} holes:")
    for line in found.holes:
        click.echo(f"  {line}")
    return FAILS


def _map_line(item: Traced) -> str:
    """One id with the first of each of its links, and how many more there are."""
    entry = item.entry
    if entry.reason:
        return f"{entry.id}\t{entry.where}\tbackground: {entry.reason}"
    missing = f"{item.reach}: {entry.unchecked}" if entry.unchecked else "MISSING"
    cells = (
        entry.id,
        entry.where,
        _first(item.clauses) or "MISSING",
        _first(item.functions) or ("property" if entry.id.startswith("P") else "MISSING"),
        _first(tuple(test.rpartition("/")[2] for test in item.tests)) or "MISSING",
        _first(item.checks) or missing,
        _first(item.wrong) or ("any mistake" if item.general else "-"),
    )
    return "\t".join(cells)


def _first(names: tuple[str, ...]) -> str:
    more = f" +{len(names) - 1}" if len(names) > 1 else ""
    return names[0] + more if names else ""
