"""Comparison of two subjects: as they are, and after the change that identification suggests."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.compare.distance import (
    Both,
    Held2,
    Measured,
    Sample,
    bands,
    hold,
    logit_drift,
    worst,
)
from ropespec.conformance.compare.inputs import Terms, drawn_cases, make_x, settle, usual
from ropespec.conformance.compare.result import (
    ByDtype,
    Comparison,
    Outcome,
    Permutation,
    Relation,
    SideReport,
)
from ropespec.conformance.compare.search import Parting, part_from, reach, spread
from ropespec.conformance.compare.sides import Side
from ropespec.conformance.compare.turn import (
    Change,
    Turn,
    change_between,
    channel_list,
    permutation_words,
)
from ropespec.conformance.diagnosis import diagnose
from ropespec.conformance.identify import Name
from ropespec.conformance.subject.errors import TargetUnusable

__all__ = ["compare"]

_MOST_PROBLEMS = 3


def compare(a: Side, b: Side, seed: int = 0) -> Comparison:
    """Find out whether one subject can stand for another.

    They are interchangeable if, on the same inputs, no component differs by more than the sum of
    both error budgets, each taken under the better one of the two precision classes; a class that
    is worse shows as the position from which on they part.

    Parameters
    ----------
    a, b : Side
        Open.
    seed : int
        The same seed gives the same inputs.

    Raises
    ------
    TargetUnusable
        If they have no dtype or head_dim in common, or one of them gives no result at all.
    """
    began = time.perf_counter()
    found = _compare(a, b, seed)
    if _relation(found) is not Relation.INTERCHANGEABLE and any([a.look(), b.look()]):
        found = _compare(a, b, seed)
    reports = [_report(side, turn) for side, turn in zip((a, b), found.turns, strict=True)]
    for side in (a, b):
        side.session.refresh()  # what outlived a side is known when its process has ended
    first, second = (
        replace(report, stragglers=dict(side.session.stragglers))
        for report, side in zip(reports, (a, b), strict=True)
    )
    took = time.perf_counter() - began
    _, direct, change, permutation, changed = found
    how = _relation(found)
    return Comparison(first, second, how, direct, change, permutation, changed, seed, took)


class _Found(NamedTuple):
    """What was found of two sides together, and what each of them does."""

    turns: tuple[Turn | None, Turn | None]
    direct: Outcome
    change: Change | None
    permutation: Permutation | None
    changed: Outcome | None


def _compare(a: Side, b: Side, seed: int) -> _Found:
    terms = settle(a, b)
    first, second = (side.turn_under(terms.settings[0][i]) for i, side in enumerate((a, b)))
    change = _change(first, second, terms, b)
    if change is not None:
        terms = replace(terms, max_position=max(terms.max_position - abs(change.offset), 1))
    held: dict[str, Held2] = {}
    direct = _outcome(Both((a, b), terms), seed, held)
    changed = permutation = None
    if change is not None and change.needed and not direct.agrees:
        one_setting = replace(terms, settings=terms.settings[:1])
        changed = _outcome(Both((a, b), one_setting, change), seed, held)
    if changed is None or not changed.near:
        change = changed = None
    elif first is not None and second is not None:
        permutation = _permutation(first, second, change, usual(terms))
    return _Found((first, second), direct, change, permutation, changed)


def _change(first: Turn | None, second: Turn | None, terms: Terms, b: Side) -> Change | None:
    """Return what would make B do what A does, as far as conventions are known."""
    if first is None or second is None:
        return None
    taken = b.takes("rotary_dim")
    found = {change_between(first, second, n, b_takes_rotary_dim=taken) for n in terms.head_dims}
    return found.pop() if len(found) == 1 else None


def _relation(found: _Found) -> Relation:
    if found.direct.agrees:
        return Relation.INTERCHANGEABLE
    if found.changed is not None:
        return Relation.AFTER_CHANGE
    return Relation.PART if found.direct.near else Relation.DIFFER


def _permutation(a: Turn, b: Turn, change: Change | None, dim: int) -> Permutation | None:
    if change is None or not change.permutes:
        return None
    if change.rotary_dim is not None:
        b = replace(b, fixed=change.rotary_dim)
    order, result = channel_list(a, b, dim)
    return Permutation(dim, order, result, permutation_words(a, b, order))


def _report(side: Side, turn: Turn | None) -> SideReport:
    facts = [side.found.fact(name) for name in (Name.PAIRING, Name.ROTATION, Name.BESIDE)]
    said = " ".join(fact.sentence for fact in facts if fact is not None)
    unknown = f"no plain RoPE that could be identified. {said}".rstrip()
    explained = side.found.explained
    doubt = "" if explained is None or explained.is_whole else f"; not confirmed: it {explained}"
    return SideReport(
        target=side.session.target,
        profile=side.profile.as_dict(),
        convention=unknown if turn is None else f"{turn}{doubt}",
        scaling="" if turn is None else turn.scaling or "no scaling",
        environment=dict(side.session.environment),
        remarks=tuple(
            f"{one.id} {one.name}: {one.sentence}".strip()
            for one in diagnose(side.session.under(side.claimed, side.session.timeout))
        ),
        lacks=side.session.lacks,
    )


def _outcome(both: Both, seed: int, known: dict[str, Held2]) -> Outcome:
    """Compare both at every dtype they have in common; precision classes found are added."""
    by_dtype = tuple(_by_dtype(both, dtype, seed, known) for dtype in both.terms.dtypes)
    drifts = (
        logit_drift(both, one.dtype, one.held, one.reach, seed) for one in by_dtype if one.reach
    )
    return Outcome(by_dtype, tuple(one for one in drifts if one is not None))


def _by_dtype(both: Both, dtype: str, seed: int, known: dict[str, Held2]) -> ByDtype:
    sweep, limit, problem = _swept(both, dtype, seed)
    within = replace(both, terms=replace(both.terms, max_position=max(limit, 1)))
    swept = [sweep, *_below_zero(within, dtype, seed)]
    samples = [*swept, *_drawn(within, dtype, seed)]
    _require_answers(both, samples)
    if dtype not in known:
        a, b = both.sides
        known[dtype] = (hold(a, 0, dtype, samples), hold(b, 1, dtype, samples))
    held = known[dtype]
    found = [both.apart(one, held) for one in samples]
    measured = [one for one in found if one is not None]
    parting = None
    for one, negative in zip(found, [False, True][: len(swept)], strict=False):
        if parting is None and one is not None:
            parting = _parting(within, one, held, seed, negative=negative)
    parting = _earlier(parting, measured)
    if problem and (parting is None or parting.position > limit):
        parting = Parting(limit + 1, False, limit, 1.0, problem)
    return ByDtype(
        dtype=dtype,
        cases=len(measured),
        reach=max(limit, 0),
        held=held,
        worst=worst(measured),
        parting=parting,
        bands=() if found[0] is None else bands(found[0]),
        unexplained=max((_before(parting, one) for one in measured), default=0.0),
        problems=_problems(samples),
    )


def _sweep(both: Both, dtype: str, seed: int, where: NDArray[np.int64]) -> Sample:
    """Ask for many positions, a head of ordinary values and one that hides nothing."""
    positions, terms = where[None], both.terms
    x = [make_x(terms, kind, 1, dtype, positions, seed) for kind in ("normal", "null")]
    what = {"positions": "sweep", "from": int(where.min()), "to": int(where.max()), "dtype": dtype}
    return both.ask_arrays(terms.settings[0], what, np.concatenate(x, axis=2), positions)


def _swept(both: Both, dtype: str, seed: int) -> tuple[Sample, int, str]:
    """Ask up to the largest position that both answer; return it, and what one does beyond."""

    def up_to(position: int) -> Sample:
        return _sweep(both, dtype, seed, spread(position, seed))

    limit = both.terms.max_position
    sample = up_to(limit)
    if not sample.refused or any(one.lost for one in sample.answers):
        return sample, limit, ""
    limit = reach(lambda position: not up_to(position).refused, limit)
    if limit < 0:
        return sample, limit, ""
    said = [one.problem if one.y is None else "" for one in up_to(limit + 1).answers]
    # Where both stop there is nothing to compare, and nothing that differs.
    return up_to(limit), limit, "" if all(said) else _named(said)


def _below_zero(both: Both, dtype: str, seed: int) -> list[Sample]:
    if not both.terms.negative:
        return []
    sample = _sweep(both, dtype, seed, -spread(both.terms.max_position, seed))
    return [] if all(one.y is None for one in sample.answers) else [sample]


def _drawn(both: Both, dtype: str, seed: int) -> Iterator[Sample]:
    for setting in both.terms.settings:
        for case in drawn_cases(both.terms, setting[0], dtype, seed):
            sample = both.ask(setting, case)
            yield sample
            if any(one.lost for one in sample.answers):
                return


def _parting(
    both: Both, one: Measured, held: Held2, seed: int, *, negative: bool
) -> Parting | None:
    sign = -1 if negative else 1

    def ratios_at(positions: NDArray[np.int64]) -> NDArray[np.float64] | None:
        again = _sweep(both, one.sample.x.dtype.name, seed, sign * positions)
        found = both.apart(again, held)
        return None if found is None else found.strict.max(axis=(0, 2, 3))

    ratios, positions = one.strict.max(axis=(0, 2, 3)), sign * one.sample.positions[0]
    return part_from(ratios_at, positions, ratios, negative=negative, seed=seed)


def _earlier(parting: Parting | None, measured: Sequence[Measured]) -> Parting | None:
    """Take account of what other inputs show of the precision classes before that position."""
    none = 2**63 - 1
    limit = none if parting is None or parting.negative else parting.position
    first = limit
    for one in measured:
        loose, strict = (part.max(axis=(2, 3)) for part in (one.joint, one.strict))
        shown = np.abs(one.sample.places)[(loose <= 1.0) & (strict > 1.0)]
        first = min(first, int(shown.min(initial=none)))
    if first >= limit:
        return parting
    agree_to = first - 1 if parting is None else min(parting.agree_to, first - 1)
    return Parting(first, False, agree_to, 1.0 if parting is None else parting.share)


def _before(parting: Parting | None, one: Measured) -> float:
    """Return the largest difference over the joint budget where positions do not explain it."""
    joint, where = one.joint.max(axis=(2, 3), initial=0.0), one.sample.places
    if parting is not None:
        joint = joint[where >= 0 if parting.negative else np.abs(where) < parting.position]
    return float(joint.max(initial=0.0))


def _problems(samples: Sequence[Sample]) -> tuple[str, ...]:
    """Say what one side does where the other answers, each thing once."""
    said: dict[str, None] = {}
    for sample in samples:
        told = [one.problem for one in sample.answers]
        if told[0] != told[1] and not all(one.y is None for one in sample.answers):
            said[_named(told)] = None
    return tuple(said)[:_MOST_PROBLEMS]


def _named(problems: Sequence[str]) -> str:
    return ", ".join(f"{label} {told}" for label, told in zip("AB", problems, strict=True) if told)


def _require_answers(both: Both, samples: Sequence[Sample]) -> None:
    """Refuse to compare what never answers."""
    for index, side in enumerate(both.sides):
        answers = [sample.answers[index] for sample in samples]
        if all(one.y is None for one in answers):
            raise TargetUnusable(f"{side.session.target} gives no result: it {answers[0].problem}")
