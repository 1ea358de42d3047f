"""Comparing two sides on one set of terms, dtype by dtype."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.compare.both import Both
from ropespec.conformance.compare.logits import logit_drift
from ropespec.conformance.compare.measure import Apart, Held, hold, worst
from ropespec.conformance.compare.result import Band, ByDtype, Outcome
from ropespec.conformance.compare.samples import Sample, drawn_cases, inputs_of, sweep_x
from ropespec.conformance.compare.search import Parting, part_from, reach, spread
from ropespec.conformance.subject.errors import TargetUnusable

__all__ = ["outcome"]

_BANDS = (16, 256, 4096, 65536, 2**20, 2**24)
_MOST_PROBLEMS = 3

Held2 = tuple[Held, Held]
_Measured = tuple[Sample, Apart, tuple[NDArray[Any], NDArray[Any]]]


@dataclass(frozen=True, slots=True)
class _Far:
    """How far both answer, and which of them stops there."""

    limit: int
    problem: str = ""


def outcome(both: Both, seed: int, held: dict[str, Held2] | None = None) -> Outcome:
    """Compare both at every dtype they have in common.

    Parameters
    ----------
    both : Both
        The sides, as they are or changed.
    seed : int
        The same seed gives the same inputs.
    held : dict
        Precision classes by dtype that are known already; those measured are added.

    Raises
    ------
    TargetUnusable
        If both sides refuse every input.
    """
    known = {} if held is None else held
    by_dtype = tuple(_by_dtype(both, dtype, seed, known) for dtype in both.terms.dtypes)
    dim = min(both.terms.head_dims, key=lambda one: (abs(one - 64), one))
    drifts = [
        logit_drift(both, one.dtype, one.held, dim, one.reach, seed)
        for one in by_dtype
        if one.reach > 0
    ]
    return Outcome(by_dtype, tuple(one for one in drifts if one is not None))


def _by_dtype(both: Both, dtype: str, seed: int, known: dict[str, Held2]) -> ByDtype:
    sweep, far = _swept(both, dtype, seed)
    within = replace(both, terms=replace(both.terms, max_position=max(far.limit, 1)))
    samples = [sweep, *_below_zero(within, dtype, seed)]
    swept = len(samples)
    samples += _drawn(within, dtype, seed)
    _require_answers(both, samples)
    if dtype not in known:
        a, b = both.sides
        known[dtype] = (hold(a, 0, dtype, samples), hold(b, 1, dtype, samples))
    held = known[dtype]
    found = [(one, both.apart(one, held)) for one in samples]
    measured = [(one, distance, _results(one)) for one, distance in found if distance is not None]
    parting = None
    for index, (one, distance) in enumerate(found[:swept]):
        if parting is None and distance is not None:
            parting = _parting(within, one, distance, held, seed, negative=index > 0)
    parting = _earlier(parting, measured)
    if far.problem and (parting is None or parting.position > far.limit):
        parting = Parting(far.limit + 1, False, far.limit, 1.0, far.problem)
    return ByDtype(
        dtype=dtype,
        cases=len(measured),
        reach=max(far.limit, 0),
        held=held,
        worst=worst(measured),
        parting=parting,
        bands=_bands(sweep, found[0][1]),
        unexplained=max((_before(parting, *one[:2]) for one in measured), default=0.0),
        problems=_problems(samples),
    )


def _earlier(parting: Parting | None, measured: Sequence[_Measured]) -> Parting | None:
    """Take account of what other inputs show of the precision classes before that position."""
    limit = np.inf if parting is None or parting.negative else parting.position
    first = limit
    for sample, distance, _ in measured:
        loose, strict = (one.max(axis=(2, 3)) for one in (distance.joint, distance.strict))
        shown = np.abs(sample.positions)[(loose <= 1.0) & (strict > 1.0)]
        first = min(first, shown.min(initial=2**63 - 1))
    if first >= min(limit, 2**63 - 1):
        return parting
    agree_to = int(first) - 1 if parting is None else min(parting.agree_to, int(first) - 1)
    return Parting(int(first), False, agree_to, 1.0 if parting is None else parting.share)


def _before(parting: Parting | None, sample: Sample, distance: Apart) -> float:
    """Return the largest difference over the joint budget where positions do not explain it."""
    joint = distance.joint.max(axis=(2, 3), initial=0.0)
    if parting is not None:
        where = sample.positions
        early = where >= 0 if parting.negative else np.abs(where) < parting.position
        joint = joint[early]
    return float(joint.max(initial=0.0))


def _results(sample: Sample) -> tuple[NDArray[Any], NDArray[Any]]:
    first, second = (one.y for one in sample.answers)
    assert first is not None
    assert second is not None
    return first, second


def _drawn(both: Both, dtype: str, seed: int) -> list[Sample]:
    samples = []
    for setting in both.terms.settings:
        for case in drawn_cases(both.terms, setting, dtype, seed):
            x, positions = inputs_of(case)
            samples.append(both.ask(setting, asdict(case), x, positions))
            if any(one.lost for one in samples[-1].answers):
                return samples
    return samples


def _swept(both: Both, dtype: str, seed: int) -> tuple[Sample, _Far]:
    """Ask for positions up to the largest that both answer."""
    limit = both.terms.max_position
    sample = _sweep(both, dtype, seed, spread(limit, seed))
    if not _refused(sample):
        return sample, _Far(limit)
    if any(one.lost for one in sample.answers):
        return sample, _Far(limit)

    def answers(position: int) -> bool:
        return not _refused(_sweep(both, dtype, seed, spread(position, seed)))

    limit = reach(answers, limit)
    if limit < 0:
        return sample, _Far(-1)
    beyond = _sweep(both, dtype, seed, spread(limit + 1, seed))
    said = [one.problem if one.y is None else "" for one in beyond.answers]
    # Where both stop there is nothing to compare, and nothing that differs.
    problem = "" if all(said) else _named(said)
    return _sweep(both, dtype, seed, spread(limit, seed)), _Far(limit, problem)


def _sweep(both: Both, dtype: str, seed: int, where: NDArray[np.int64]) -> Sample:
    positions = where[None]
    setting = both.terms.settings[0]
    x = sweep_x(both.terms, setting, dtype, positions, seed)
    what = {"positions": "sweep", "from": int(where.min()), "to": int(where.max()), "dtype": dtype}
    return both.ask(setting, what, x, positions)


def _below_zero(both: Both, dtype: str, seed: int) -> list[Sample]:
    if not both.terms.negative:
        return []
    sample = _sweep(both, dtype, seed, -spread(both.terms.max_position, seed))
    return [] if all(one.y is None for one in sample.answers) else [sample]


def _refused(sample: Sample) -> bool:
    return any(one.y is None for one in sample.answers)


def _parting(
    both: Both, sample: Sample, distance: Apart, held: Held2, seed: int, *, negative: bool
) -> Parting | None:
    sign = -1 if negative else 1

    def ratios_at(positions: NDArray[np.int64]) -> NDArray[np.float64] | None:
        again = _sweep(both, sample.x.dtype.name, seed, sign * positions)
        found = both.apart(again, held)
        return None if found is None else _by_position(found.strict)

    ratios = _by_position(distance.strict)
    return part_from(ratios_at, sign * sample.positions[0], ratios, negative=negative, seed=seed)


def _by_position(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(values.max(axis=(0, 2, 3)))


def _bands(sample: Sample, distance: Apart | None) -> tuple[Band, ...]:
    if distance is None:
        return ()
    positions = np.abs(sample.positions[0])
    first, second = (one.astype(np.float64) for one in _results(sample))
    size = np.abs(first - second).max(axis=(0, 2, 3))
    largest = int(positions.max())
    bands = []
    for limit in [*(one for one in _BANDS if one < largest), largest]:
        near = positions <= limit
        values = (size, _by_position(distance.ulp), _by_position(distance.joint))
        bands.append(Band(limit, *(float(one[near].max(initial=0.0)) for one in values)))
    return tuple(bands)


def _problems(samples: Sequence[Sample]) -> tuple[str, ...]:
    """Say what one side does where the other answers, each thing once."""
    said: dict[str, None] = {}
    for sample in samples:
        told = [one.problem for one in sample.answers]
        if told[0] != told[1] and not all(one.y is None for one in sample.answers):
            said[_named(told)] = None
    return tuple(said)[:_MOST_PROBLEMS]


def _named(problems: Sequence[str]) -> str:
    parts = [f"{label} {told}" for label, told in zip("AB", problems, strict=True) if told]
    return ", ".join(parts)


def _require_answers(both: Both, samples: Sequence[Sample]) -> None:
    """Refuse to compare what never answers."""
    for index, side in enumerate(both.sides):
        answers = [sample.answers[index] for sample in samples]
        if all(one.y is None for one in answers):
            raise TargetUnusable(f"{side.session.target} gives no result: it {answers[0].problem}")
