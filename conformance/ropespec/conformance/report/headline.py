"""The first line on two subjects compared: how they stand to each other, and why."""

from collections.abc import Sequence

from ropespec.conformance.compare.result import ByDtype, Comparison, Outcome, Relation
from ropespec.conformance.judge.precision import PRECISIONS

__all__ = ["change_words", "headline", "list_words"]

_CLASSES = {
    "float64-angles": "float64 angles",
    "float32-angles": "float32 angles",
    "float32-recurrence": "float32 frequencies by recurrence",
    "fast-sincos": "fast sines",
    "float16-table": "a float16 table",
    "bf16-table": "a bfloat16 table",
    "float16-arithmetic": "float16 arithmetic",
    "bf16-arithmetic": "bfloat16 arithmetic",
}
_SHOWN = 3  # channels of a run, and runs
_FEW = 8


def headline(found: Comparison) -> str:
    """Say in one line how two sides stand to each other."""
    match found.relation:
        case Relation.INTERCHANGEABLE:
            return "interchangeable"
        case Relation.AFTER_CHANGE:
            assert found.changed is not None
            line = f"not interchangeable: they agree after {change_words(found)}"
            return line if found.changed.agrees else f"{line}, but {_parting(found, found.changed)}"
        case Relation.PART:
            said = _less_precise(found.direct) or _parting(found, found.direct)
            return f"not interchangeable: {_schemes(found)}{said}"
    return f"not interchangeable: {_schemes(found)}{_difference(found)}"


def _schemes(found: Comparison) -> str:
    """Name both schemes where frequencies are scaled by two."""
    a, b = found.a.scaling, found.b.scaling
    return f"A has {a}, B has {b}: " if a and b and a != b else ""


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
    parts = []
    for label, side in (("A", 0), ("B", 1)):
        lesser = [one for one in others if _lesser(one) == side]
        if lesser:
            ulp = max(one.worst.ulp for one in lesser if one.worst is not None)
            dtypes = _listed([one.dtype for one in lesser])
            names = ", ".join(one.held[side].name for one in lesser)
            parts.append(f"in {dtypes} {label} is less precise ({names}), up to {ulp:.3g} ulp away")
    options = [f"--dtype {one.dtype} --precision {one.held[_lesser(one)].name}" for one in others]
    agreed = f"they agree in {_listed(kept)}, but {'; '.join(parts)}"
    return f"{agreed}; to accept that: {' or '.join(options)}"


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
    return f"{label} has {_CLASSES.get(order[0].name, 'no precision class')}"


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


def change_words(found: Comparison) -> str:
    """Return what has to be done for both to agree, to follow "after"."""
    change, permutation = found.change, found.permutation
    assert change is not None
    parts = []
    if permutation is not None and permutation.order != tuple(range(len(permutation.order))):
        parts.append(f"permuting channels {list_words(permutation.order)}")
    elif permutation is not None:
        parts.append(f"reordering rotated vectors {list_words(permutation.result)}")
    if change.offset:
        parts.append(f"adding {change.offset} to the positions of B")
    if change.base is not None:
        parts.append(f"giving B the base {change.base[0]:g} instead of {change.base[1]:g}")
    if change.rotary_dim is not None:
        parts.append(f"giving B the rotary_dim {change.rotary_dim}")
    return " and ".join(parts) if len(parts) < 3 else ", ".join(parts[:-1]) + f" and {parts[-1]}"


def list_words(order: tuple[int, ...]) -> str:
    """Return a list of channels, shortened: `(0, 2, 4, ... 1, 3, 5, ...)`."""
    if len(order) <= _FEW:
        return f"({', '.join(map(str, order))})"
    runs = _runs(order)
    if len(runs) > _SHOWN:
        runs = runs[:2]
        return "(" + " ".join(_run(run) for run in runs) + " ...)"
    return "(" + " ".join(_run(run) for run in runs).rstrip(",") + ")"


def _run(run: list[int]) -> str:
    if len(run) <= _SHOWN + 1:
        return ", ".join(map(str, run)) + ","
    return ", ".join(map(str, run[:_SHOWN])) + ", ..."


def _runs(order: tuple[int, ...]) -> list[list[int]]:
    """Split into arithmetic progressions."""
    runs: list[list[int]] = []
    for channel in order:
        last = runs[-1] if runs else []
        if last and (len(last) < 2 or channel - last[-1] == last[1] - last[0]):
            last.append(channel)
        else:
            runs.append([channel])
    return runs
