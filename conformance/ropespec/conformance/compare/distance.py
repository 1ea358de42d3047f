"""Both sides asked the same, B through a change where there is one, and how far apart they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.compare.inputs import Setting, Terms, make_x
from ropespec.conformance.compare.result import Band, Drift, Held, Worst
from ropespec.conformance.compare.sides import Answer, Side, frame_of
from ropespec.conformance.compare.turn import Change, Exact, channel_list, into_a, into_b
from ropespec.conformance.judge.precision import (
    NORMAL,
    PRECISIONS,
    UNIT_ROUNDOFF,
    Precision,
    ladder,
    legitimate,
)
from ropespec.conformance.judge.rotation import error_ratios

__all__ = ["Both", "Held2", "Measured", "Sample", "bands", "hold", "logit_drift", "worst"]

Float = NDArray[np.float64]
Held2 = tuple[Held, Held]

_RANK = {name: index for index, name in enumerate(PRECISIONS)}
_BANDS = (16, 256, 4096, 65536, 2**20, 2**24)
_HEADS = 8  # of the logits


@dataclass(frozen=True, slots=True)
class Sample:
    """One input, and what both sides made of it.

    Attributes
    ----------
    case : mapping
        The input in words and numbers.
    x, positions : ndarray
        (B, S, H, D) and (B, S), or (B, S, n) where the n numbers of a token differ.
    answers : tuple of Answer
        Of A and B, in the terms of A.
    frames : tuple of Exact or None
        What each should return, by conventions that are known.
    """

    case: Mapping[str, Any]
    x: NDArray[Any]
    positions: NDArray[np.int64]
    answers: tuple[Answer, Answer]
    frames: tuple[Exact | None, Exact | None]

    @property
    def places(self) -> NDArray[np.int64]:
        """The position of each token (B, S): of several numbers the one farthest from 0."""
        numbers = self.positions.reshape(*self.x.shape[:2], -1)
        farthest = np.abs(numbers).argmax(axis=-1)[..., None]
        return np.asarray(np.take_along_axis(numbers, farthest, axis=-1)[..., 0])

    @property
    def results(self) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """What both returned; None unless both did."""
        first, second = (one.y for one in self.answers)
        return None if first is None or second is None else (first, second)

    @property
    def refused(self) -> bool:
        """Whether a side gave no answer."""
        return self.results is None


@dataclass(frozen=True, slots=True)
class Measured:
    """The distance of two results, component by component (B, S, H, D).

    Attributes
    ----------
    sample : Sample
        The input.
    results : tuple of ndarray
        What both returned.
    joint, strict : ndarray
        Over the sum of both budgets: each under its own class, each under the better one of both.
    ulp : ndarray
        In units of the last place at the length of the pair: spacing of x's dtype there.
    """

    sample: Sample
    results: tuple[NDArray[Any], NDArray[Any]]
    joint: Float
    strict: Float
    ulp: Float


@dataclass(frozen=True, slots=True)
class Both:
    """A and B, as they are or with B changed.

    Attributes
    ----------
    sides : tuple of Side
        A and B.
    terms : Terms
        What both take.
    change : Change or None
        What is changed for B; only for conventions that are known.
    """

    sides: tuple[Side, Side]
    terms: Terms
    change: Change | None = None

    def ask(self, setting: Setting, case: Case) -> Sample:
        """Give both sides the input of a case."""
        positions = case.make_positions()
        return self.ask_arrays(setting, case.as_dict(), case.make_x(positions), positions)

    def ask_arrays(
        self,
        setting: Setting,
        case: Mapping[str, Any],
        x: NDArray[Any],
        positions: NDArray[np.int64],
    ) -> Sample:
        """Give both sides x (B, S, H, D) and positions (B, S), or (B, S, n)."""
        change, (a, b) = self.change, self.sides
        if change is not None and change.offset < 0 and not self.terms.negative:
            positions = positions - change.offset
        first = a.answer(x, positions, setting[0])
        ours, theirs = (
            side.turn_under(words) for side, words in zip(self.sides, setting, strict=True)
        )
        exact = frame_of(ours, x, positions)
        if change is None or ours is None or exact is None:
            second = b.answer(x, positions, setting[1])
            other = frame_of(theirs, x, positions)
            return Sample(case, x, positions, (first, second), (exact, other))
        keywords, rebased = dict(setting[1]), exact
        if change.base is not None and b.takes("base"):
            keywords["base"] = change.base[0]
        elif change.base is not None:
            rebased = replace(ours, frequencies=replace(ours.frequencies, base=change.base[1])).of(
                x, positions
            )
        if change.rotary_dim is not None:
            keywords["rotary_dim"] = change.rotary_dim
        theirs = b.turn_under(keywords)
        assert theirs is not None  # a change is only found between known conventions
        before, after = channel_list(ours, theirs, x.shape[-1])
        second = b.answer(into_b(x, before), positions + change.offset, keywords)
        if second.y is not None:
            y = into_a(second.y, after)
            if rebased is not exact:
                # It cannot be called with another base: what it errs by is carried over to that.
                y = y.astype(np.float64) - rebased.y + exact.y
            second = replace(second, y=y)
        return Sample(case, x, positions, (first, second), (exact, rebased))

    def apart(self, sample: Sample, held: Held2) -> Measured | None:
        """Return how far apart the answers are; None unless there are two."""
        if (results := sample.results) is None:
            return None
        first, second = (one.astype(np.float64) for one in results)
        known = sample.frames[0] or sample.frames[1]
        if known is None:
            differs = np.where(
                (first == second) | (np.isnan(first) & np.isnan(second)), 0.0, np.inf
            )
            return Measured(sample, results, differs, differs, differs)
        joint = self.allowed(sample, [one.precision for one in held])
        strict = self.allowed(sample, [_better(*held)] * 2)
        longest = np.maximum(known.length, (sample.frames[1] or known).length)
        dtype = sample.x.dtype.name
        places = 2 * UNIT_ROUNDOFF[dtype] * _power_below(longest, dtype)
        found = (error_ratios(first, second, bound) for bound in (joint, strict, places))
        return Measured(sample, results, *found)

    def allowed(self, sample: Sample, classes: Sequence[Precision]) -> Float:
        """Return the sum of both budgets under these classes; one frame stands in for another."""
        known = sample.frames[0] or sample.frames[1]
        total = np.zeros(sample.x.shape)
        for side, one, frame in zip(self.sides, classes, sample.frames, strict=True):
            if exact := frame or known:
                total += exact.allowed(one, side.machine)
        return total


def hold(side: Side, index: int, dtype: str, samples: Sequence[Sample]) -> Held:
    """Return the class a side claims, or the best that holds for every sample.

    Parameters
    ----------
    side : Side
        Whose answers are judged.
    index : int
        0 for A, 1 for B.
    dtype : str
        Of x.
    samples : sequence of Sample
        All of this dtype, of sides that are not changed.
    """
    if (claimed := side.profile.precision) is not None:
        return Held(PRECISIONS[claimed], "claimed")
    answered = [(one.frames[index], one.answers[index].y) for one in samples]
    known = [(exact, y) for exact, y in answered if exact is not None and y is not None]
    for one in ladder(dtype) if known else ():
        ratios = (error_ratios(y, exact.y, exact.allowed(one, side.machine)) for exact, y in known)
        if all(bool(ratio.max(initial=0.0) <= 1.0) for ratio in ratios):
            return Held(one, "measured")
    likely = legitimate(dtype)
    return Held(likely[min(1, len(likely) - 1)], "assumed")


def _better(first: Held, second: Held) -> Precision:
    """Return the more precise class of two; one that is only assumed never decides."""
    known = [one for one in (first, second) if one.source != "assumed"] or [first]
    return min((one.precision for one in known), key=lambda item: _RANK[item.name])


def _power_below(length: Float, dtype: str) -> Float:
    """Return the largest power of two that is not above, from the smallest normal number on."""
    _, exponent = np.frexp(np.maximum(np.nan_to_num(length), NORMAL[dtype]))
    return np.asarray(np.ldexp(1.0, exponent - 1))


def worst(measured: Sequence[Measured]) -> Worst | None:
    """Return the largest difference of several samples; None if there are none."""
    some = [one for one in measured if one.joint.size]
    if not some:
        return None
    top = max(some, key=lambda one: float(one.joint.max()))
    at = np.unravel_index(int(np.argmax(top.joint)), top.joint.shape)
    return Worst(
        joint=float(top.joint[at]),
        strict=max(float(one.strict.max()) for one in some),
        ulp=max(float(one.ulp.max()) for one in some),
        case=top.sample.case,
        element=f"y[{', '.join(str(int(i)) for i in at)}]",
        position=int(top.sample.places[at[0], at[1]]),
        a=float(top.results[0][at]),
        b=float(top.results[1][at]),
    )


def bands(one: Measured) -> tuple[Band, ...]:
    """Return how the difference grows with the positions of one row."""
    positions = np.abs(one.sample.positions[0])
    first, second = (result.astype(np.float64) for result in one.results)
    values = [part.max(axis=(0, 2, 3)) for part in (np.abs(first - second), one.ulp, one.joint)]
    largest = int(positions.max())
    return tuple(
        Band(limit, *(float(part[positions <= limit].max(initial=0.0)) for part in values))
        for limit in [*(limit for limit in _BANDS if limit < largest), largest]
    )


def logit_drift(both: Both, dtype: str, held: Held2, limit: int, seed: int) -> Drift | None:
    """Measure the drift of logits over distances; None where a side gives no answer.

    The query stands at `limit`, the largest position, where angles err most. With e_A and e_B the
    budgets of a key, abs(q_A . k_B - q_A . k_A) <= sum_i abs(q_A)_i (e_A + e_B)_i.
    """
    doubling = [0, *(2**i for i in range(limit.bit_length()) if 2**i < limit), limit]
    distances = tuple(dict.fromkeys(doubling))
    where = (limit - np.array(distances, dtype=np.int64))[None]
    q_in, k_in = (
        make_x(both.terms, "normal", _HEADS, dtype, where, 2 * seed + which) for which in (0, 1)
    )
    setting = both.terms.settings[0]
    query = both.ask_arrays(setting, {}, q_in, np.full_like(where, limit)).answers[0].y
    keys = both.ask_arrays(setting, {}, k_in, where)
    if query is None or keys.results is None:
        return None
    q, k_a, k_b = (one.astype(np.float64) for one in (query, *keys.results))
    scale = np.sqrt(q.shape[-1])
    each = np.abs(np.sum(q * k_b, -1) - np.sum(q * k_a, -1)) / scale
    # The products and sums are the judge's own, in float64.
    own = np.abs(q) * (np.abs(k_a) + np.abs(k_b)) * (q.shape[-1] + 8) * 2.0**-52
    allowed = both.allowed(keys, [one.precision for one in held])
    most = np.sum(np.abs(q) * allowed + own, -1) / scale
    drift, bound = each.max(axis=(0, 2)), most.max(axis=(0, 2))
    top = int(np.argmax(drift))
    return Drift(
        dtype=dtype,
        head_dim=q.shape[-1],
        query=limit,
        distances=distances,
        drift=tuple(float(one) for one in drift),
        bound=tuple(float(one) for one in bound),
        largest=float(drift[top]),
        ratio=float(error_ratios(each, np.zeros_like(each), most).max()),
        at=distances[top],
    )
