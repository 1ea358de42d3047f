"""What rotates by another position for no reason that is known: read off, and reproduced so."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ropespec.conformance.diagnosis.read import places
from ropespec.conformance.diagnosis.seen import Seen, agree
from ropespec.conformance.diagnosis.told import fact
from ropespec.conformance.mistakes.chain import Chain, run
from ropespec.conformance.mistakes.given import Array
from ropespec.conformance.results import Diagnosis

__all__ = ["elsewhere"]

_PAIRS = 4
"""Fewer can be turned so by many a position."""
_NEARLY_ALL = 0.9
"""Of the calls, for what is far has too few digits left to be read."""
_TOKENS = 8
_LARGE = 30_000
_BITS = 18
"""By powers of two of how many bits a table may have moved."""
_MOST = 24
"""Calls that are read."""


def elsewhere(wrong: Sequence[Seen], where: str, key: str = "") -> Diagnosis | None:
    """Return that what is wrong is rotated by other whole numbers, if these make all of it.

    In a call in ten they may be too large to be read off.

    Parameters
    ----------
    wrong : sequence of Seen
        Calls with wrong components.
    where : str
        Which they are, in words.
    key : str
        The mistake; else it is told by what the numbers are.
    """
    calls = [one for one in wrong if _tells(one)]
    calls = calls[:: max(len(calls) // _MOST, 1)]
    found = [(one, number) for one in calls if (number := _read(one)) is not None]
    tokens = sum(int(_tokens(one).sum()) for one, _ in found)
    if len(found) < _NEARLY_ALL * len(calls) or tokens < _TOKENS:
        return None
    key = key or _key(found)
    count = sum(int(one.off.sum()) for one, _ in found)
    evidence = (
        f"what was read off makes {count} of {count} wrong components in {len(found)} of"
        f" {len(calls)} calls"
    )
    return fact(key, _example(*found[0]), where, evidence)


def _key(found: Sequence[tuple[Seen, Array]]) -> str:
    """Return what the numbers are that rotate what is wrong."""
    numbers = [at[_tokens(one)] for one, at in found]
    if all(np.array_equal(one.y[_tokens(one)], one.given.x[_tokens(one)]) for one, _ in found):
        return "A3"
    off = [(at - one.given.positions[..., None])[_tokens(one)] for one, at in found]
    for bits in (32, 24, 16):
        if not any((by % 2**bits).any() for by in off):
            return f"positions in {bits} bits"
    inside = all(
        np.isin(at, one.given.positions).all() for (one, _), at in zip(found, numbers, strict=True)
    )
    return "rotated by the position of another" if inside else "position of another source"


def _tells(seen: Seen) -> bool:
    return seen.given.turning >= 2 * _PAIRS and seen.y.size <= _LARGE and not seen.given.axes


def _tokens(seen: Seen) -> Array:
    """Return which tokens and heads are wrong, (B, S, H)."""
    return np.asarray(seen.wrong.any(axis=-1))


def _read(seen: Seen) -> Array | None:
    """Return whole numbers (B, S, H) that make all that is wrong; None if there are none."""
    wrong = _tokens(seen)
    own = np.broadcast_to(seen.given.positions[..., None], wrong.shape).astype(np.float64)
    decoded = places(seen, seen.right)
    number = np.where(wrong & decoded.fits, np.rint(np.nan_to_num(decoded.found)), own)
    left = ~_made(seen, number)
    far = (sign * 2.0**power for power in range(_BITS) for sign in (1, -1))
    for one in (0, *np.unique(seen.given.positions), *(own + by for by in far)):
        if not left.any():
            break
        tried = np.where(left, one, number)
        fits = left & _made(seen, tried)
        number, left = np.where(fits, tried, number), left & ~fits
    return None if left.any() else number


def _made(seen: Seen, number: Array) -> Array:
    """Return which tokens and heads are what they are when rotated by these numbers."""
    chain: Chain = replace(seen.right, place=lambda _: number[..., None])
    return np.asarray(agree(seen.y, run(chain, seen.given)).all(axis=-1))


def _example(seen: Seen, number: Array) -> str:
    b, s, h = np.argwhere(_tokens(seen))[0]
    own, at = int(seen.given.positions[b, s]), int(number[b, s, h])
    shape = " x ".join(map(str, seen.given.shape))
    return (
        f"What is wrong is rotated by another number: of a call of {shape}, token {s} of row {b},"
        f" head {h}, at position {own}, as at {at}."
    )
