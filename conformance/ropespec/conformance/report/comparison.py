"""The report on two subjects compared: a headline, what each is, and a small table."""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from rich.console import Console

from ropespec.conformance.compare.logits import Drift
from ropespec.conformance.compare.result import ByDtype, Comparison, Outcome, Relation
from ropespec.conformance.compare.words import changes_in_words, class_words
from ropespec.conformance.judge.precision import PRECISIONS
from ropespec.conformance.report.answers import kept_lines
from ropespec.conformance.report.document import plain, version
from ropespec.conformance.report.page import Grid, Page
from ropespec.conformance.report.summary import profile_line

__all__ = [
    "COMPARISON_SCHEMA",
    "comparison_document",
    "comparison_schema",
    "headline",
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


def headline(found: Comparison) -> str:
    """Say in one line how two sides stand to each other."""
    match found.relation:
        case Relation.INTERCHANGEABLE:
            return "interchangeable"
        case Relation.AFTER_CHANGE:
            assert found.changed is not None
            line = f"not interchangeable: they agree after {_change_words(found)}"
            return line if found.changed.agrees else f"{line}, but {_parting(found, found.changed)}"
        case Relation.PART:
            parted = f"not interchangeable: {_parting(found, found.direct)}"
            return _less_precise(found.direct) or parted
    return f"not interchangeable: {_difference(found)}"


def _change_words(found: Comparison) -> str:
    assert found.change is not None
    if found.permutation is None:
        return changes_in_words(found.change)
    return changes_in_words(found.change, found.permutation.order, found.permutation.result)


def _parting(found: Comparison, outcome: Outcome) -> str:
    """Say from which position on they part, and why; the dtype where that is first."""
    parted = [(one.parting, one) for one in outcome.by_dtype if one.parting is not None]
    parting, one = min(parted, key=lambda pair: (pair[0].negative, pair[0].position))
    if parting.problem:
        return f"they part from position {parting.position} on in {one.dtype}: {parting.problem}"
    if parting.negative:
        where = f"at positions from -{parting.position} down"
    else:
        where = f"from position {parting.position} on"
    reason = _reason(found, one)
    return f"they part {where} in {one.dtype}" + (f": {reason}" if reason else "")


def _less_precise(outcome: Outcome) -> str:
    """Say in which dtypes they agree, where one is but less precise, and what accepts that.

    Nothing if they agree in no dtype, or anything else keeps them apart.
    """
    kept = [one.dtype for one in outcome.by_dtype if one.agrees]
    others = [one for one in outcome.by_dtype if not one.agrees]
    if not kept or not all(map(_is_accepted, others)):
        return ""
    parts = [f"interchangeable in {_listed(kept)}"]
    for label, side in (("A", 0), ("B", 1)):
        lesser = [one for one in others if _lesser(one) == side]
        if lesser:
            ulp = max(one.worst.ulp for one in lesser if one.worst is not None)
            dtypes = _listed([one.dtype for one in lesser])
            names = ", ".join(one.held[side].name for one in lesser)
            parts.append(f"in {dtypes} {label} is less precise ({names}), up to {ulp:.3g} ulp away")
    options = [f"--dtype {one.dtype} --precision {one.held[_lesser(one)].name}" for one in others]
    return f"{'; '.join(parts)}; to accept that: {' or '.join(options)}"


def _is_accepted(one: ByDtype) -> bool:
    """Whether they agree if the class of the less precise side is claimed of both."""
    a, b = (held.name for held in one.held)
    refused = bool(one.problems) or (one.parting is not None and bool(one.parting.problem))
    within = one.worst is not None and one.worst.joint <= 1.0
    return within and not refused and "none" not in (a, b) and a != b


def _lesser(one: ByDtype) -> int:
    """Return the index of the less precise side, where the classes are known and not the same."""
    a, b = (held.name for held in one.held)
    return 1 if _is_better(a, b) else 0


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _reason(found: Comparison, one: ByDtype) -> str:
    """Say which side is the less precise one, or what is wrong with it."""
    sides = (("A", found.a, one.held[0]), ("B", found.b, one.held[1]))
    lost = [(label, side) for label, side, held in sides if held.name == "none" and side.remarks]
    if lost:
        return "; ".join(f"{label}: {side.remarks[0]}" for label, side in lost)
    a, b = (held for _, _, held in sides)
    if "none" in (a.name, b.name) or a.name == b.name:
        return ""
    order = (a, b) if _is_better(b.name, a.name) else (b, a)
    label = "A" if order[0] is a else "B"
    return f"{label} has {class_words(order[0].name)}"


def _is_better(first: str, second: str) -> bool:
    names = list(PRECISIONS)
    return names.index(first) < names.index(second)


def _difference(found: Comparison) -> str:
    problems = [problem for one in found.direct.by_dtype for problem in one.problems]
    if problems:
        return problems[0]
    worst = max(found.direct.by_dtype, key=lambda one: one.unexplained)
    remarks = [
        f"{label}: {side.remarks[0]}"
        for label, side in (("A", found.a), ("B", found.b))
        if side.remarks
    ]
    if worst.parting is None and worst.worst is not None:
        what = f"they differ in some calls, at {worst.worst.element} of {worst.dtype}"
    else:
        what = f"they differ in {worst.dtype}"
    if not remarks and found.a.convention != found.b.convention:
        remarks = [f"A is {found.a.convention}", f"B is {found.b.convention}"]
    said = "; ".join(remarks) or "no change of layout, direction, offset or base makes them agree"
    return f"{what}: {said}"


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
        _outcome(console, f"After {_change_words(found)}", found.changed)
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
        "words": _change_words(found),
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
