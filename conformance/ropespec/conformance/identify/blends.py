"""Schemes that keep fast pairs and divide slow ones, read off what was kept of each pair."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.angles import Rung
from ropespec.conformance.identify.numbers import lengths, rounder
from ropespec.conformance.identify.probe import Float
from ropespec.spec.scaling import Llama3, NtkByParts, Scaling, Yarn

__all__ = ["blends"]

_FACTORS = (2.0, 4.0, 8.0, 16.0, 32.0, 40.0, 64.0)
_ENDS = ((32.0, 1.0), (16.0, 1.0), (64.0, 1.0), (8.0, 1.0), (128.0, 1.0), (32.0, 2.0))
"""Turns at which the blend of YaRN begins and ends, the usual ones first."""

_USUAL_TURNS: tuple[float, ...] = (
    4.0,
    32.0,
)  # of Llama 3 and of the paper of YaRN, where slow pairs turn once


def blends(rungs: Sequence[Rung], bases: Sequence[float]) -> Iterator[tuple[float, Scaling]]:
    """Return bases with schemes that may have the frequencies measured.

    Parameters
    ----------
    rungs : sequence of Rung
        Measured.
    bases : sequence of float
        Tried beside the one that the fast pairs have.
    """
    speeds = [np.abs(rung.speed) for rung in rungs]
    if any(len(one) < 4 or abs(one[0] - 1) > 1e-5 or one.min() < 1e-9 for one in speeds):
        return
    for base in dict.fromkeys((*_of_fast_pairs(speeds[0]), *bases)):
        plain = [base ** (-np.arange(len(one)) / len(one)) for one in speeds]
        ratios = [one / theta for one, theta in zip(speeds, plain, strict=True)]
        if max(one.max() for one in ratios) > 1 + 1e-4 or abs(ratios[0][1] - 1) > 0.9:
            continue
        for factor in _factors(ratios):
            kept = [(one - 1 / factor) / (1 - 1 / factor) for one in ratios]
            yield from ((base, one) for one in _by_turns(factor, kept, plain))
            yield from ((base, one) for one in _by_index(factor, kept, base))


def _of_fast_pairs(speed: Float) -> Iterator[float]:
    """Return the base of the pairs that are kept, which form a ladder with the first."""
    i = np.arange(1, len(speed))
    roots = -np.log(speed[1:]) / i
    if roots[0] <= 0:
        return
    last = int(np.argmax(np.abs(roots / roots[0] - 1) > 1e-5)) or len(roots)
    yield from rounder(float(np.exp(roots[last - 1] * len(speed))), 1e-4, 6)


def _factors(ratios: Sequence[Float]) -> Iterator[float]:
    """Return by what the slowest pairs are divided: a plateau, or what is usual."""
    for one in ratios:
        if abs(one[-1] / one[-2] - 1) < 1e-5 and one[-1] < 1 - 1e-4:
            yield from rounder(1 / float(one[-1]), 2e-5, 6)
            return
    least = min(float(one.min()) for one in ratios)
    yield from (factor for factor in _FACTORS if 1 / factor <= least * (1 + 1e-5) < 1)


def _between(kept: Float) -> NDArray[np.intp]:
    return np.flatnonzero((kept > 1e-3) & (kept < 1 - 1e-3))


def _by_turns(factor: float, kept: Sequence[Float], plain: Sequence[Float]) -> Iterator[Scaling]:
    """Return blends that are linear in the turns; only the ratio of both ends and L count.

    The share kept is (L theta / 2 pi - 1)/(q - 1) where slow pairs turn once and fast ones q times.
    """
    share = np.concatenate([one[_between(one)] for one in kept])
    theta = np.concatenate([of[_between(one)] for one, of in zip(kept, plain, strict=True)])
    quotients = _USUAL_TURNS if len(share) else (*_USUAL_TURNS, 1.0)
    if len(set(np.round(theta, 9))) > 1:
        slope, first = np.polyfit(theta, share, 1)
        if first < -1e-6 and np.abs(share - first - slope * theta).max() < 1e-3:
            quotients = (*quotients, *rounder(1 - 1 / float(first), 1e-3, 4))
    for quotient in dict.fromkeys(quotients):
        for length in _turning(share, theta, quotient, kept, plain):
            if quotient == 32.0:
                yield NtkByParts(factor, length)
            elif quotient >= 1:
                yield Llama3(factor, 1.0, quotient, length)


def _turning(
    share: Float, theta: Float, quotient: float, kept: Sequence[Float], plain: Sequence[Float]
) -> Iterator[int]:
    """Return L, by pairs that are blended, or so that none is."""
    if len(share):
        each = 2 * np.pi * (1 + share * (quotient - 1)) / theta
        if np.ptp(each) < 1e-3 * each[0]:
            middle = float(np.median(each))
            yield from lengths(middle * (1 - 2e-4), middle * (1 + 2e-4))
        return
    whole = [float(of[one > 0.5].min()) for one, of in zip(kept, plain, strict=True)]
    least = [float(of[one < 0.5].max(initial=0.0)) for one, of in zip(kept, plain, strict=True)]
    if max(least) > 0:
        yield from lengths(2 * np.pi * quotient / min(whole), 2 * np.pi / max(least))


def _by_index(factor: float, kept: Sequence[Float], base: float) -> Iterator[Scaling]:
    """Return blends that are linear in the index: YaRN as its code has it."""
    found = [(*_ends(one), 2 * len(one)) for one in kept if len(_between(one)) > 1]
    if not found:
        return
    whole = all(abs(end - round(end)) < 0.02 for *ends, _ in found for end in ends)
    for fast, slow in _ENDS if whole else ():
        low, high = 0.0, np.inf
        for begin, end, dim in found:
            first, last = round(begin), round(end)
            steps = base ** (2 * np.array([first, first + 1, last - 1, last]) / dim)
            spans = 2 * np.pi * np.array([fast, fast, slow, slow]) * steps
            low = max(low, spans[2], spans[0] if first > 0 else 0.0)
            high = min(high, spans[1], spans[3] if last < dim - 1 else np.inf)
        if low < high < np.inf:
            yield from (Yarn(factor, one, fast, slow) for one in lengths(low, high))
    if whole:
        return
    begin, end, dim = found[0]
    length = 2 * np.pi * base ** (2 * end / dim)
    for fast in rounder(base ** (2 * (end - begin) / dim), 1e-3, 4):
        for one in lengths(length * (1 - 1e-3), length * (1 + 1e-3)):
            yield Yarn(factor, one, fast, 1.0, truncate=False)


def _ends(kept: Float) -> tuple[float, float]:
    """Return at which indices the line through the pairs that are blended is 1 and 0."""
    i = _between(kept)
    slope, first = np.polyfit(i, 1 - kept[i], 1)
    return float(-first / slope), float((1 - first) / slope)
