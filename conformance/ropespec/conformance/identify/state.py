"""History: what a call leaves behind for later ones."""

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.blocks import NEAR
from ropespec.conformance.identify.calling import constant
from ropespec.conformance.identify.digits import on_grid
from ropespec.conformance.identify.operator import (
    Blocks,
    Channels,
    Reader,
    read_blocks,
    read_channels,
)
from ropespec.conformance.identify.probe import Probe

__all__ = [
    "after_far",
    "after_other_dtype",
    "baked_length",
    "follows_first_width",
    "repeated",
]

Float = NDArray[np.float64]

_LENGTHS = (3, 4, 6, 12, 40)
_OTHER = {"float32": ("bfloat16", "float16"), "float64": ("float32",)}


def _others(probe: Probe) -> tuple[str, ...]:
    """Return coarser dtypes that are claimed; one for a compiler that pays for each."""
    claimed = probe.session.profile.dtypes
    found = tuple(dtype for dtype in _OTHER.get(probe.dtype, ()) if dtype in claimed)
    return found[:1] if probe.session.profile.framework.compiles else found


def after_other_dtype(
    probe: Probe, reader: Reader, channels: Channels, before: Blocks, used: tuple[int, ...]
) -> str | None:
    """Return what a call in another dtype leaves: `dtype`, `other`, `width n`, or None.

    `width n` is left by no call: at that head_dim the table is coarse from the start.

    At a length that has not been used before, at one longer than any so far, and at a head_dim
    that is not among those `used`.
    """
    dim = channels.head_dim
    near = tuple(int(p) for p in before.positions)
    fresh: tuple[int, ...] = (*near, 5, 7)
    longest = min(300, probe.session.profile.max_position + 1)
    for dtype in _others(probe):
        for places in (fresh, tuple(range(longest))):
            x = np.ones((2, len(places), 2, dim))
            where = np.broadcast_to(np.array(places), (2, len(places)))
            if probe.rotate(x, where, dtype=dtype).y is None:
                return None
            again = read_blocks(reader, channels, fresh)
            if again is None:
                return None
            known = again.matrix[: len(near)]
            if np.abs(known - before.matrix).max() > 1e-4:
                coarse = on_grid(again.matrix[..., 0].ravel())
                return "dtype" if coarse and not on_grid(before.matrix[..., 0].ravel()) else "other"
        fresh = (*fresh, 11)
    found = _table_of_first_dtype(probe, reader, used)
    again = read_blocks(reader, channels, near)
    if found is None and again is not None:
        return "other" if np.abs(again.matrix - before.matrix).max() > 1e-4 else None
    return found


def _table_of_first_dtype(probe: Probe, reader: Reader, used: tuple[int, ...]) -> str | None:
    """Let a call in another dtype be the first at a head_dim, and read the table behind it."""
    claimed = probe.session.profile.head_dims
    fresh = [dim for dim in (16, 80, 8, 24, *claimed) if dim in claimed and dim not in used]
    for dtype, dim in zip(_others(probe), dict.fromkeys(fresh), strict=False):
        x = np.ones((2, len(NEAR), 2, dim))
        where = np.broadcast_to(np.array(NEAR), (2, len(NEAR)))
        if probe.rotate(x, where, dtype=dtype).y is None:
            return None
        channels = read_channels(reader, dim)
        if channels is None or not len(channels.inputs):
            return None
        blocks = read_blocks(reader, channels, NEAR)
        if blocks is not None and on_grid(blocks.matrix[..., 0].ravel()):
            return "dtype" if _fine_alone(probe, reader, channels) else f"width {dim}"
    return None


def _fine_alone(probe: Probe, reader: Reader, channels: Channels) -> bool:
    """Whether a fresh subject that was called in this dtype alone is fine at this head_dim."""
    if not hasattr(probe.session, "refresh"):
        return True
    probe.session.refresh()
    blocks = read_blocks(reader, channels, NEAR)
    return blocks is not None and not on_grid(blocks.matrix[..., 0].ravel())


def follows_first_width(reader: Reader, other: Channels) -> bool | None:
    """Whether the angles at another head_dim are others if a fresh subject meets it first.

    Returns None where the subject cannot be started afresh.
    """
    session = reader.probe.session
    if not hasattr(session, "refresh"):
        return None
    before = read_blocks(reader, other, NEAR)
    session.refresh()
    after = read_blocks(reader, other, NEAR)
    if before is None or after is None:
        return None
    return bool(np.abs(after.matrix - before.matrix).max() > 1e-3)


def repeated(probe: Probe, dim: int) -> str | None:
    """Return what a repeated call shows: `offset grows`, `rotated again`, `differs`, or None."""
    count = 48
    x = constant((1, count, 2, dim), seed=3)
    where = np.arange(count)[None]
    one, two = probe.rotate(x, where).y, probe.rotate(x, where).y
    if one is None or two is None or np.abs(one - two).max() < 1e-5:
        return None
    if np.abs(two[:, : count // 2] - one[:, ::2]).max() < 1e-3:
        return "rotated again"
    for k in range(1, count - 4):
        ahead = np.abs(two[:, :-k] - one[:, k:]).max()
        back = np.abs(two[:, k:] - one[:, :-k]).max()
        if min(ahead, back) < 1e-3:
            return "offset grows"
    return "differs"


def baked_length(probe: Probe, dim: int) -> str | None:
    """Return which tokens are turned otherwise in a longer call; None if all are turned alike.

    They are compared with calls of two tokens. `length` are all those beyond a length that stays
    the same from call to call, `last` is the last one always, `odd` are some of an odd number of
    tokens alone, `some` any others; `other` if the calls of two tokens are wrong themselves.
    """
    few: list[Float] = []
    for p in range(0, _LENGTHS[-1], 2):
        y = probe.rotate(constant((1, 2, 5, dim), 7), np.array([[p, p + 1]])).y
        if y is None:
            return None
        few.append(y)
    right = np.concatenate(few, axis=1)
    wrong: dict[int, list[int]] = {}
    for count in _LENGTHS:
        y = probe.rotate(constant((1, count, 5, dim), 7), np.arange(count)[None]).y
        if y is None:
            return None
        off = np.abs(y - right[:, :count]).max(axis=(0, 2, 3))
        limit = 1e-3 if probe.dtype in ("float32", "float64") else 6e-2
        wrong[count] = [int(s) for s in np.flatnonzero(~(off < limit))]
    odd = {count: bad for count, bad in wrong.items() if bad}
    if not odd:
        return None
    if any(np.array_equal(few[k], few[j]) for k in range(len(few)) for j in range(k)):
        return "other"  # calls at other positions came out alike: they are not right themselves
    start = min(min(bad) for bad in odd.values())
    if (
        start
        and len(odd) > 1
        and all(bad == list(range(start, count)) for count, bad in wrong.items() if count > start)
    ):
        return "length"
    if all(count % 2 for count in odd):
        return "odd"
    return "last" if all(bad == [count - 1] for count, bad in wrong.items()) else "some"


def after_far(probe: Probe, reader: Reader, channels: Channels, before: Blocks) -> str | None:
    """Return what far positions and a long sequence leave: `frequencies`, `other` or `none`.

    None if the calls after them give no numbers.
    """
    dim = channels.head_dim
    longest = min(4100, probe.session.profile.max_position)
    long = np.ones((1, longest, 1, dim))
    probe.rotate(long, np.arange(longest)[None])
    again = read_blocks(reader, channels, tuple(int(p) for p in before.positions))
    if again is None:
        return None
    if np.abs(again.matrix - before.matrix).max() <= 1e-4:
        return "none"
    start = np.abs(again.angle[0] - before.angle[0]).max() < 1e-3
    first = np.abs(again.angle[1] - before.angle[1])
    return "frequencies" if start and first[0] < 1e-3 < first.max() else "other"
