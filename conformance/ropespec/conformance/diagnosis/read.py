"""Numbers read off what failed: by what each pair was multiplied, and the position that fits it."""

from typing import NamedTuple

import numpy as np

from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.mistakes.chain import Chain
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["Places", "multipliers", "places", "snapped", "unwrapped"]


def multipliers(seen: Seen, chain: Chain) -> Array:
    """Return by which complex number each pair was multiplied, (B, S, H, n)."""
    pairs = chain.pairing(seen.given)
    x = seen.given.x.astype(np.float64)
    with np.errstate(all="ignore"):
        before = x[..., pairs.first] + 1j * x[..., pairs.second]
        after = seen.y[..., pairs.to_first] + 1j * seen.y[..., pairs.to_second]
        return np.asarray(after / before)


class Places(NamedTuple):
    """Positions as they were decoded, (B, S, H), and where they explain every pair."""

    found: Array
    fits: Array


def places(seen: Seen, chain: Chain) -> Places:
    """Decode the position by which each token and head was turned.

    From the slowest pair, which has not gone round yet, to the fastest, which tells most digits.
    """
    given: Given = seen.given
    factor = multipliers(seen, chain)
    theta = chain.frequency(given)
    order = np.argsort(np.abs(theta))
    phase = np.angle(factor)
    with np.errstate(all="ignore"):
        found = phase[..., order[0]] / theta[order[0]]
        for i in order[1:]:
            turns = np.round((theta[i] * found - phase[..., i]) / (2 * np.pi))
            found = (phase[..., i] + 2 * np.pi * turns) / theta[i]
        gain = np.median(np.abs(factor), axis=-1, keepdims=True)
        off = np.abs(factor - gain * np.exp(1j * theta * found[..., None]))
        fits = off.max(axis=-1, initial=0.0) <= _NEAR.get(given.dtype, 0.05) * gain[..., 0]
    return Places(np.asarray(found), np.asarray(fits & np.isfinite(found)))


_NEAR = {"float64": 1e-3, "float32": 1e-3, "float16": 2e-2, "bfloat16": 1e-1}


def unwrapped(phase: Array, steps: Array) -> tuple[Array, Array]:
    """Follow phases over growing steps.

    Parameters
    ----------
    phase : ndarray
        (K, n): phases at `steps` from where they began.
    steps : ndarray
        (K,): growing, each at most three times the one before.

    Returns
    -------
    tuple of ndarray
        The frequency of each pair, and how far the last step was from what the others said.
    """
    speed = phase[0] / steps[0]
    off = np.zeros_like(speed)
    for turned, step in zip(phase[1:], steps[1:], strict=True):
        turns = np.round((speed * step - turned) / (2 * np.pi))
        better = (turned + 2 * np.pi * turns) / step
        off = np.maximum(off, np.abs(better - speed) * step)
        speed = better
    return speed, off


def snapped(value: float, tolerance: float = 2e-5) -> float:
    """Return the number with the fewest digits within a relative tolerance."""
    for digits in range(1, 12):
        short = float(f"{value:.{digits}g}")
        if abs(short - value) <= tolerance * abs(value):
            return short
    return value
