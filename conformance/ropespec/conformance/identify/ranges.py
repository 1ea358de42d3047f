"""Far and negative positions: rounded, clamped, wrapped, refused."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.digits import fast_reduction, nearest_position, rounded
from ropespec.conformance.identify.operator import Blocks, Channels, Reader, read_blocks

__all__ = ["Far", "negative_positions", "read_far"]

Float = NDArray[np.float64]

_FAR = (
    *(129, 130, 200, 255, 256, 257, 258, 259, 260, 500, 511, 512, 513, 1000, 1023, 1024, 1025),
    *(1500, 2047, 2048, 2049, 2050, 2051, 3000, 4095, 4096, 4097, 6001, 8191, 8192, 8193, 12345),
    *(16383, 16385, 20001, 32767, 32768, 32769, 40001, 50003, 65535, 65536, 65537, 100003, 131071),
)
_BAD = 0.01  # 1 - cos of 0.14 radians; float32 angles are off by 0.03 at most up to 2^17
_SEARCH = np.arange(-70000, 140000)


@dataclass(frozen=True, slots=True)
class Far:
    """What happens far from zero.

    Attributes
    ----------
    policy : str
        `right`, `rounded`, `clamped`, `wraps`, `wraps signed`, `identity`, `raises`, `range`,
        `fast` or `garbage`.
    detail : str
        dtype of rounded positions.
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
        return _refused(reader, channels, places)
    gains = np.abs(blocks.gain).max(axis=1)
    usual = float(np.median(gains))
    if not np.isfinite(gains).all() or gains.max() > usual * 1.05:
        return Far("range", "", int(blocks.positions[int(np.argmax(gains > usual * 1.05))]))
    return _policy(blocks, speed, offset)


def _policy(blocks: Blocks, speed: Float, offset: float) -> Far:
    where = blocks.positions.astype(np.float64)
    angle = blocks.angle

    def off(effective: Float) -> Float:
        expected = (effective + offset)[:, None] * speed
        return np.asarray((1 - np.cos(angle - expected)).max(axis=1))

    bad = off(where) > _BAD
    last = int(where[-1])
    if not bad.any():
        fast = offset == 0 and fast_reduction(blocks, speed)
        return Far("fast" if fast else "right", "", last)
    first = int(where[int(np.argmax(bad))])
    if (name := _rounding(where, off)) is not None:
        return Far("rounded", name, first)
    chosen = np.flatnonzero(bad)[np.linspace(0, bad.sum() - 1, min(4, int(bad.sum()))).astype(int)]
    taken = []
    for k in chosen:
        place, worst = nearest_position(angle[k] - offset * speed, speed, _SEARCH)
        if worst > _BAD:
            return Far("garbage", "", first)
        taken.append(place)
    jumps = where[chosen].astype(np.int64) - np.array(taken)
    if len(set(taken)) == 1 and len(taken) > 1:
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
    for name in ("bfloat16", "float16", "tf32"):
        held = off(rounded(where, name)) <= _BAD
        # What float16 does beyond its largest number is its own affair.
        if held[where < 65504].mean() > 0.9:
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
    """Return `right`, `clamped`, `absolute`, `raises` or `other`."""
    blocks = read_blocks(reader, channels, (-1, -2, -17, -100))
    if blocks is None:
        return "raises"
    where = blocks.positions.astype(np.float64)
    for name, effective in (("right", where), ("clamped", 0 * where), ("absolute", -where)):
        expected = (effective + offset)[:, None] * speed
        if (1 - np.cos(blocks.angle - expected)).max() < 2e-3:
            return name
    return "other"
