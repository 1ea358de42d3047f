"""The report on a range that was proved, and its certificate as a JSON document."""

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

from rich.console import Console

from ropespec.conformance.certify.found import Element, Tally, nearest
from ropespec.conformance.certify.plan import HALVES
from ropespec.conformance.certify.prove import Certificate
from ropespec.conformance.report.document import plain, version
from ropespec.conformance.report.page import Grid, Page

__all__ = [
    "CERTIFICATE_SCHEMA",
    "certificate_document",
    "certificate_schema",
    "headline",
    "print_certificate",
]

CERTIFICATE_SCHEMA = "urn:ropespec:certificate:1"
"""The id of the schema; it changes when a reader of the old form could be misled."""

MOST_TROUBLES = 5


def headline(found: Certificate) -> str:
    """Say in one line what was proved, or what stands against it."""
    plan = found.plan
    range_ = f"positions {plan.start}..{plan.stop - 1}"
    if count := max(len(one.numbers) for one in plan.settings):
        range_ = f"{range_} of {count} numbers, each and together"
    elements = sum(tally.elements for tally in found.tallies)
    if found.holds:
        return f"{plan.target}: proved at all {range_}: {elements:,} components, none off"
    wrong = sum(tally.wrong for tally in found.tallies)
    lost = sum(len(tally.troubles) for tally in found.tallies)
    first = nearest(*(tally.first for tally in found.tallies))
    said = [f"{wrong:,} of {elements:,} components are off, first at {first}"] if wrong else []
    said += [f"{lost:,} of {sum(plan.sizes()):,} blocks gave no result"] if lost else []
    return f"{plan.target}: not proved at {range_}: {', '.join(said) or 'nothing was judged'}"


def print_certificate(console: Console, found: Certificate) -> None:
    """Print what was found.

    Parameters
    ----------
    console : Console
        Where to.
    found : Certificate
        What was found.
    """
    page = Page(console)
    page.add(headline(found), hang=2, style="bold green" if found.holds else "bold red")
    page.add()
    page.print()
    grid = Grid(
        *("setting", "precision", "components", "off", "worst", "at"),
        right=("components", "off", "worst"),
        folded=("at",),
    )
    for setting, tally in zip(found.plan.settings, found.tallies, strict=True):
        worst = "-" if tally.worst is None else f"{tally.worst.ratio:.3g}"
        where = "-" if tally.worst is None else _where(tally.worst)
        grid.add(
            *(setting.words, setting.precision, f"{tally.elements:,}", f"{tally.wrong:,}"),
            *(worst, where),
        )
    grid.print(console)
    page = Page(console)
    for line in _below(found):
        page.add(line, hang=2, style="dim")
    page.print()


def _where(worst: Element) -> str:
    digits = 9 if f"{worst.got:.9g}" != f"{worst.expected:.9g}" else 17
    numbers = f"{worst.got:.{digits}g}, exactly {worst.expected:.{digits}g}"
    return f"position {worst.position}, component {worst.component}, {worst.x}: {numbers}"


def _below(found: Certificate) -> Iterator[str]:
    plan = found.plan
    yield ""
    yield "worst: largest error over what its precision class allows; above 1 is off"
    for setting, tally in zip(plan.settings, found.tallies, strict=True):
        yield f"{setting.words}: largest error by position: {_decades(tally)}"
    troubles = [words for tally in found.tallies for words in tally.troubles.values()]
    for words in troubles[:MOST_TROUBLES]:
        yield f"no result at {words}"
    if any(one.numbers for one in plan.settings):
        yield (
            "of several position numbers all were equal, as in text, and each alone took every "
            "value p while the others stood still at the numbers shown; other combinations were "
            "not asked"
        )
    if any(one.dtype in HALVES for one in plan.settings):
        yield (
            "every number of a 16-bit dtype up to max/sqrt(2) was turned too, in 4 pairs, "
            f"at positions {', '.join(map(str, plan.angles))}"
        )
    yield _pace(found)


def _decades(tally: Tally) -> str:
    rows = sorted((int(digits), error) for digits, (_, error) in tally.decades.items())
    return ", ".join(f"{error:.1e} below {10**digits:,}" for digits, error in rows)


def _pace(found: Certificate) -> str:
    blocks = sum(found.plan.sizes())
    done = f"{blocks - found.done_before:,} blocks in {found.seconds:.1f} s"
    before = f", {found.done_before:,} done before" if found.done_before else ""
    workers = f"{found.workers} worker{'s' if found.workers != 1 else ''}"
    return f"{done} on {workers}{before}; {found.machine}"


def certificate_document(found: Certificate) -> dict[str, Any]:
    """Turn a certificate into plain JSON values, valid under the schema."""
    plan = found.plan
    settings = [
        {
            **one.as_dict(),
            "holds": tally.holds,
            "components": tally.elements,
            "off": tally.wrong,
            "first_off": tally.first,
            "worst": plain(_element(tally.worst)),
            "by_digits": {
                digits: {"ratio": plain(ratio), "error": plain(error)}
                for digits, (ratio, error) in sorted(tally.decades.items())
            },
            "troubles": list(tally.troubles.values()),
            "digest": tally.digest,
        }
        for one, tally in zip(plan.settings, found.tallies, strict=True)
    ]
    return {
        "schema": CERTIFICATE_SCHEMA,
        "ropespec": version(),
        "subject": plan.target,
        "holds": found.holds,
        "positions": {"start": plan.start, "stop": plan.stop},
        "values_at": list(plan.angles),
        "claims": plain(plan.claims),
        "environment": dict(plan.environment),
        "machine": found.machine,
        "blocks": sum(plan.sizes()),
        "blocks_done_before": found.done_before,
        "workers": found.workers,
        "seconds": found.seconds,
        "settings": settings,
    }


def _element(worst: Element | None) -> dict[str, Any] | None:
    return None if worst is None else {name: getattr(worst, name) for name in worst.__slots__}


def certificate_schema() -> dict[str, Any]:
    """Return the published JSON Schema (2020-12) of a certificate."""
    path = resources.files("ropespec.conformance.report") / "certificate.schema.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
