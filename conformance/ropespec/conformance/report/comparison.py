"""The report on two subjects compared: a headline, what each is, and a small table."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from rich.console import Console

from ropespec.conformance.compare.result import ByDtype, Comparison, Drift, Outcome
from ropespec.conformance.report.answers import kept_lines
from ropespec.conformance.report.document import plain, version
from ropespec.conformance.report.headline import change_words, headline
from ropespec.conformance.report.page import Grid, Page
from ropespec.conformance.report.summary import profile_line

__all__ = [
    "COMPARISON_SCHEMA",
    "comparison_document",
    "comparison_schema",
    "print_comparison",
]

COMPARISON_SCHEMA = "urn:ropespec:comparison:1"
"""The id of the schema; it changes when a reader of the old form could be misled."""


LEGEND = (
    "budget: largest difference over the sum of both error budgets",
    "ulp: largest difference in units of the last place, at the length of a pair",
    "logits: largest change of q . k / sqrt(d) when q comes from A and k from B instead of A",
    "they part: where a difference exceeds what the better precision of both allows",
)


def print_comparison(console: Console, found: Comparison) -> None:
    """Print everything a reader needs to know about one comparison.

    Parameters
    ----------
    console : Console
        Where to; colours and width are its own affair.
    found : Comparison
        What was found.
    """
    page = Page(console)
    page.add(headline(found), hang=2, style="bold green" if found.interchangeable else "bold red")
    page.add()
    for label, side in (("A", found.a), ("B", found.b)):
        page.add(f"{label}  {side.target}", hang=3, style="bold")
        page.add(profile_line(side.profile), indent=3, style="dim")
        page.add(f"convention: {side.convention}", indent=3, hang=2)
        for remark in side.remarks:
            said = f"differs from the specification: {remark}"
            page.add(said, indent=3, hang=2, style="yellow")
        for line in kept_lines(side.lacks, side.stragglers):
            page.add(line, indent=3, hang=2, style="dim")
    _permutation(page, found)
    page.print()
    _outcome(console, "As they are", found.direct)
    if found.changed is not None:
        _outcome(console, f"After {change_words(found)}", found.changed)
    page = Page(console)
    page.add()
    for line in LEGEND:
        page.add(line, hang=2, style="dim")
    seconds = f"{found.seconds:.1f} s"
    page.add(f"seed {found.seed}, {_cases(found)} inputs in {seconds}", style="dim")
    page.print()


def _cases(found: Comparison) -> int:
    return sum(one.cases for one in found.direct.by_dtype)


def _permutation(page: Page, found: Comparison) -> None:
    if found.permutation is None:
        return
    permutation = found.permutation
    page.add()
    title = "Weights of A for B: the rows of W_q and W_k, in each head"
    page.add(title, hang=2, style="bold")
    page.add(f"{permutation.words}; for head_dim {permutation.head_dim}", indent=2, hang=2)
    page.add(f"W_B = W_A[{list(permutation.order)}]", indent=2, hang=2)
    if permutation.result != permutation.order:
        page.add(f"rotated vectors: y_B = y_A[{list(permutation.result)}]", indent=2, hang=2)


def _outcome(console: Console, title: str, outcome: Outcome) -> None:
    page = Page(console)
    page.add()
    page.add(f"{title}:", hang=2, style="bold")
    page.print()
    grid = Grid(
        *("x", "precision of A", "precision of B", "budget", "ulp", "logits", "they part"),
        right=("budget", "ulp", "logits"),
    )
    drifts = {drift.dtype: drift for drift in outcome.logits}
    for one in outcome.by_dtype:
        grid.add(*_row(one, drifts.get(one.dtype)))
    grid.print(console)
    page = Page(console)
    for one in outcome.by_dtype:
        for line in _details(one, drifts.get(one.dtype)):
            page.add(line, indent=2, hang=2)
    page.print()


def _row(one: ByDtype, drift: Drift | None) -> tuple[str, ...]:
    names = (f"{held.name}, {held.source}" if held.name != "none" else "none" for held in one.held)
    worst = ("-", "-") if one.worst is None else (f"{one.worst.joint:.3g}", f"{one.worst.ulp:.3g}")
    logits = "-" if drift is None else f"{drift.largest:.2g}"
    parting = "no" if one.agrees else "in some calls"
    if one.parting is not None:
        parting = f"from {'-' if one.parting.negative else ''}{one.parting.position} on"
    return (one.dtype, *names, *worst, logits, parting)


def _details(one: ByDtype, drift: Drift | None) -> Iterator[str]:
    """Say where the largest difference is, and how it grows with the position."""
    for problem in one.problems:
        yield f"{one.dtype}: {problem}"
    worst = one.worst
    if worst is not None and worst.joint > 0:
        where = f"{worst.element} of {_case(worst.case)}, position {worst.position}"
        yield f"{one.dtype}: worst at {where}: A {worst.a:.9g}, B {worst.b:.9g}"
    if one.parting is not None and one.parting.agree_to > 0 and one.bands:
        steps = ", ".join(f"{band.absolute:.1e} up to {band.up_to}" for band in one.bands)
        yield f"{one.dtype}: largest difference by position: {steps}"
    if drift is not None and drift.largest > 0:
        bound = drift.bound[drift.distances.index(drift.at)]
        yield (
            f"{one.dtype}: logits drift most at distance {drift.at}, where budgets allow "
            f"{bound:.2g}; query at {drift.query}"
        )


def _case(case: Mapping[str, Any]) -> str:
    """Return an input in a few words."""
    if case.get("positions") == "sweep":
        return "the sweep over positions"
    shape = ", ".join(str(case[name]) for name in ("batch", "seq", "heads", "head_dim"))
    layout = "interleaved" if case["interleaved"] else "half-split"
    return f"x ({shape}), {case['values']}, {case['positions']}, {layout}"


def comparison_document(found: Comparison) -> dict[str, Any]:
    """Turn a comparison into plain JSON values, valid under `compare.schema.json`."""
    content = {
        "schema": COMPARISON_SCHEMA,
        "ropespec": version(),
        "interchangeable": found.interchangeable,
        "relation": str(found.relation),
        "headline": headline(found),
        "a": dataclasses.asdict(found.a),
        "b": dataclasses.asdict(found.b),
        "direct": _outcome_document(found.direct),
        "change": _change_document(found),
        "changed": None if found.changed is None else _outcome_document(found.changed),
        "seed": found.seed,
        "seconds": round(found.seconds, 3),
    }
    result: dict[str, Any] = plain(content)
    return result


def _change_document(found: Comparison) -> dict[str, Any] | None:
    if found.change is None:
        return None
    permutation = None if found.permutation is None else dataclasses.asdict(found.permutation)
    return {
        "words": change_words(found),
        **dataclasses.asdict(found.change),
        "permutation": permutation,
    }


def _outcome_document(outcome: Outcome) -> dict[str, Any]:
    return {
        "agrees": outcome.agrees,
        "by_dtype": [_dtype_document(one) for one in outcome.by_dtype],
        "logits": [dataclasses.asdict(one) for one in outcome.logits],
    }


def _dtype_document(one: ByDtype) -> dict[str, Any]:
    content = dataclasses.asdict(one)
    del content["held"]
    content["agrees"] = one.agrees
    content["precision"] = [
        {"name": held.name, "source": held.source, "budget": held.precision.name}
        for held in one.held
    ]
    return content


def comparison_schema() -> dict[str, Any]:
    """Return the published JSON Schema (2020-12) of the document."""
    path = resources.files("ropespec.conformance.report") / "compare.schema.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
