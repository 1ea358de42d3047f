"""Far and negative positions: rounded, clamped, wrapped, refused."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.digits import (
    fast_reduction,
    nearest_position,
    rounded,
    short_turn,
)
from ropespec.conformance.identify.operator import Blocks, Channels, Reader, read_blocks

__all__ = ["Far", "negative_positions", "read_far"]

Float = NDArray[np.float64]

_FAR = (
    *(127, 128, 129, 130, 200, 255, 256, 257, 258, 259, 260, 500, 511, 512, 513, 1000, 1023),
    *(1024, 1025, 1500, 2047, 2048, 2049, 2050, 2051, 3000, 4095, 4096, 4097, 6001, 8191, 8192),
    *(8193, 12345, 16383, 16385, 20001, 32767, 32768, 32769, 40001, 50003, 65535, 65536, 65537),
    *(100003, 110017, 120011, 131071),
)
_BAD = 0.01  # 1 - cos of 0.14 radians; float32 angles are off by 0.03 at most up to 2^17
_LEVEL = 0.03  # what lengths may differ by; in half precision they are off by 0.006
_SEARCH = np.arange(-70000, 140000)


@dataclass(frozen=True, slots=True)
class Far:
    """What happens far from zero.

    Attributes
    ----------
    policy : str
        `right`, `rounded`, `clamped`, `wraps`, `wraps signed`, `identity`, `filled`, `holes`,
        `gain`, `company`, `raises`, `range`, `fast` or `garbage`.
    detail : str
        dtype of rounded positions; factor on lengths; what a table is filled with.
    limit : int
        The first position that goes wrong; for `right` and `raises` the last that does not.
    """

    policy: str
    detail: str
    limit: int


def read_far(
    reader: Reader, channels: Channels, speed: Float, offset: float, largest: int
) -> Far | None:
    """Turn far positions and find out which position each is taken for.

    Parameters
    ----------
    reader : Reader
        The subject.
    channels : Channels
        Its pairs.
    speed : ndarray
        Its frequencies as it holds them, with the sign of the turn.
    offset : float
        Added to every position.
    largest : int
        The largest position to try.
    """
    places = tuple(p for p in (*_FAR, largest) if p <= largest and p <= _FAR[-1])
    if not places:
        return None
    blocks = read_blocks(reader, channels, places)
    if blocks is None:
        return _refused(reader, channels, places) if reader.probe.seen.error else None
    found = _lengths(blocks, speed, offset) or _policy(blocks, speed, offset)
    if found.policy in ("right", "fast", "rounded"):
        bits = _bits(reader, channels, largest) if found.policy == "right" else 0
        return Far("wraps", "", 2**bits) if bits else found
    sound = _off(blocks, speed, offset) <= _BAD
    sound &= (np.abs(blocks.gain / blocks.gain[0] - 1) < _LEVEL).all(axis=1)
    first = int(blocks.positions[int(np.argmax(~sound))])
    pair = None if sound.all() else read_blocks(reader, channels, (first - 1, first))
    if pair is not None and np.isfinite(pair.matrix).all():
        level = (np.abs(pair.gain / blocks.gain[0] - 1) < _LEVEL).all()
        if level and (_off(pair, speed, offset) <= _BAD).all():
            return Far("company", "", first)
    return found


def _off(blocks: Blocks, speed: Float, offset: float, taken: Float | None = None) -> Float:
    """Return max(1 - cos) of what the angles are off by, if positions are taken for others."""
    where = blocks.positions.astype(np.float64) if taken is None else taken
    return np.asarray((1 - np.cos(blocks.angle - (where + offset)[:, None] * speed)).max(axis=1))


def _lengths(blocks: Blocks, speed: Float, offset: float) -> Far | None:
    """Look for places that come out with another length: no number, zero, longer."""
    gain = np.abs(blocks.gain)
    usual = float(np.median(gain[0]))
    bare = np.asarray(~np.isfinite(blocks.matrix).all(axis=(1, 2, 3)))
    empty = np.asarray(~bare & (np.abs(blocks.matrix).max(axis=(1, 2, 3)) < 1e-6))
    for lost, what in ((bare, "no number"), (empty, "zero")):
        if not lost.any():
            continue
        first = int(np.argmax(lost))
        if first and (before := _policy(blocks.cut(slice(first)), speed, offset)).policy not in (
            "right",
            "fast",
        ):
            return before
        return Far("filled" if lost[first:].all() else "holes", what, int(blocks.positions[first]))
    other = np.asarray(np.abs(gain / usual - 1).max(axis=1) > _LEVEL)
    if not other.any():
        return None
    first = int(np.argmax(other))
    place = int(blocks.positions[first])
    factor = float(np.median(gain[first:])) / usual
    apart = np.abs(gain[first:] / usual / factor - 1)
    level = len(apart) > 1 and bool((apart < _LEVEL).all())
    if level and (_off(blocks, speed, offset) <= _BAD).all():
        return Far("gain", f"{factor:.4g}", place)
    longer = gain.max(axis=1) > usual * 1.05
    return Far("range", "", int(blocks.positions[int(np.argmax(longer))])) if longer.any() else None


def _bits(reader: Reader, channels: Channels, largest: int) -> int:
    """Return n if positions beyond 2^n give, to the last bit or so, what their remainder gives.

    Angles of float32 are lost out there, yet a position that is held is never taken for a small
    one.
    """
    tried = [n for n in range(17, 31) if 2**n + 11 <= largest]
    if not tried:
        return 0
    blocks = read_blocks(reader, channels, (5, 11, *(2**n + p for n in tried for p in (5, 11))))
    if blocks is None or not np.isfinite(blocks.matrix).all():
        return 0
    small = blocks.matrix[:2]
    for k, n in enumerate(tried):
        if np.abs(blocks.matrix[2 + 2 * k : 4 + 2 * k] - small).max() < 1e-5:
            return n
    return 0


def _policy(blocks: Blocks, speed: Float, offset: float) -> Far:
    where = blocks.positions.astype(np.float64)
    angle = blocks.angle

    def off(effective: Float) -> Float:
        return _off(blocks, speed, offset, effective)

    bad = off(where) > _BAD
    last = int(where[-1])
    if not bad.any():
        plain = offset == 0 and abs(np.abs(speed).max() - 1.0) < 1e-9
        return Far("fast" if plain and fast_reduction(blocks, speed) else "right", "", last)
    first = int(where[int(np.argmax(bad))])
    if (name := _rounding(where, off)) is not None:
        return Far("rounded", name, first)
    if short_turn(blocks, speed, offset):
        return Far("fast", "", last)
    chosen = np.flatnonzero(bad)[np.linspace(0, bad.sum() - 1, min(4, int(bad.sum()))).astype(int)]
    taken = []
    for k in chosen:
        place, worst = nearest_position(angle[k] - offset * speed, speed, _SEARCH)
        if worst > _BAD:
            return Far("garbage", "", first)
        taken.append(place)
    jumps = where[chosen].astype(np.int64) - np.array(taken)
    if len(set(taken)) == 1 and len(taken) > 1:
        if not bad[int(np.argmax(bad)) :].all():
            return Far("garbage", "", first)
        return Far(
            "identity" if taken[0] == 0 else "clamped", "", taken[0] + 1 if taken[0] else first
        )
    step = int(np.gcd.reduce(np.abs(jumps)))
    if step <= 1:
        return Far("garbage", "", first)
    # A signed integer goes wrong at half of the length at which it wraps.
    return Far("wraps signed" if first < step else "wraps", "", step)


def _rounding(where: Float, off: Callable[[Float], Float]) -> str | None:
    """Return the dtype to which positions are rounded, or None."""
    share = {}
    plain = float((off(where) <= _BAD).mean())
    for name in ("bfloat16", "float16", "tf32"):
        held = off(rounded(where, name)) <= _BAD
        # What float16 does beyond its largest number is its own affair.
        if held[where < 65504].mean() > 0.9 and held.mean() > plain:
            share[name] = float(held.mean())
    return max(share, key=lambda name: share[name]) if share else None


def _refused(reader: Reader, channels: Channels, places: tuple[int, ...]) -> Far:
    """Find the last position that does not raise."""
    low, high = 0, len(places)
    while low < high:
        middle = (low + high) // 2
        if read_blocks(reader, channels, (places[middle],)) is None:
            high = middle
        else:
            low = middle + 1
    return Far("raises", "", places[low - 1] if low else 128)


def negative_positions(
    reader: Reader, channels: Channels, speed: Float, offset: float
) -> str | None:
    """Return `right`, `clamped`, `absolute`, `zeroed`, `raises` or `other`; None if unknown."""
    blocks = read_blocks(reader, channels, (-1, -2, -17, -100))
    if blocks is None:
        return "raises" if reader.probe.seen.error else None
    if (np.abs(blocks.matrix).max(axis=(1, 2, 3)) < 1e-6).any():
        return "zeroed"
    where = blocks.positions.astype(np.float64)
    for name, effective in (("right", where), ("clamped", 0 * where), ("absolute", -where)):
        expected = (effective + offset)[:, None] * speed
        if (1 - np.cos(blocks.angle - expected)).max() < 2e-3:
            return name
    return "other"
