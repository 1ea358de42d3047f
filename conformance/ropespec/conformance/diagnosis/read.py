"""Numbers read off what failed: by what each pair was multiplied, and the position that fits it."""

from typing import NamedTuple

import numpy as np

from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.mistakes.chain import Chain, Product, as_made, counter_clockwise
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["Places", "multipliers", "places", "snapped", "unwrapped"]


def multipliers(seen: Seen, chain: Chain) -> Array:
    """Return by which complex number each pair was multiplied, (B, S, H, n).

    That is cosine and sine as they are read off the product of the chain, of components that its
    store has moved; NaN where they cannot be.
    """
    pairs = chain.pairing(seen.given)
    x = seen.given.x.astype(np.float64)
    a, b = x[..., pairs.first], x[..., pairs.second]
    y = _unmoved(seen, chain)
    u, v = y[..., pairs.to_first], y[..., pairs.to_second]
    with np.errstate(all="ignore"):
        if chain.product is counter_clockwise:
            return np.asarray((u + 1j * v) / (a + 1j * b))
        return _solved(chain.product, np.stack([a, b]), np.stack([u, v]))


def _unmoved(seen: Seen, chain: Chain) -> Array:
    """Return what came with every component where it was before it was moved; NaN for the lost."""
    if chain.store is as_made:
        return seen.y
    number = np.arange(1.0, seen.y.size + 1).reshape(seen.y.shape)
    moved = np.abs(chain.store(seen.given, number))
    if not np.isin(moved, number).all() or not (chain.store(seen.given, -number) < 0).all():
        return seen.y
    before = np.full(seen.y.size, np.nan)
    before[moved.astype(np.int64).ravel() - 1] = seen.y.ravel()
    return before.reshape(seen.y.shape)


def _solved(product: Product, x: Array, y: Array) -> Array:
    """Return the cosine and the sine, as one complex number, that a product needs to give y."""
    a, b = x[:, None]  # an axis of one alone, so that no second table is taken for there

    def made(c: float, s: float) -> Array:
        return np.stack(product(a, b, np.full_like(a, c), np.full_like(a, s)))[:, 0]

    try:
        still = made(0, 0)
    except IndexError:  # the members have tables of their own
        return np.full(x[0].shape, np.nan + 0j)
    (cu, cv), (su, sv), (u, v) = made(1, 0) - still, made(0, 1) - still, y - still
    if not np.allclose(made(2, 3), still + np.stack([2 * cu + 3 * su, 2 * cv + 3 * sv])):
        return np.full(x[0].shape, np.nan + 0j)
    return np.asarray(((u * sv - v * su) + 1j * (v * cu - u * cv)) / (cu * sv - cv * su))


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
        angle = theta * found[..., None]
        off = np.abs(factor - gain * np.exp(1j * angle))
        near = _NEAR.get(given.dtype, 0.05) + _OF_ANGLES.get(given.dtype, _SINGLE) * np.abs(angle)
        fits = (off <= near * gain).all(axis=-1)
    return Places(np.asarray(found), np.asarray(fits & np.isfinite(found)))


_SINGLE = 2.0**-22
_OF_ANGLES = {"float64": 2.0**-50}
"""Some units of what angles are made in: where they are large they are off by more."""
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
