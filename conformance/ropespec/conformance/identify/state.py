"""History: what a call leaves behind for later ones."""

import numpy as np

from ropespec.conformance.identify.blocks import NEAR
from ropespec.conformance.identify.digits import on_grid
from ropespec.conformance.identify.operator import Blocks, Channels, Reader, read_blocks
from ropespec.conformance.identify.probe import Probe

__all__ = ["after_far", "after_other_dtype"]

_OTHER = {"float32": ("bfloat16", "float16"), "float64": ("float32",)}


def after_other_dtype(
    probe: Probe, reader: Reader, channels: Channels, before: Blocks
) -> str | None:
    """Return what a call in another dtype leaves: `dtype`, `other`, or None.

    Once at a length that has not been used before, and once at one longer than any so far.
    """
    dim = channels.head_dim
    fresh = (*NEAR, 5, 7)
    for dtype in _OTHER.get(probe.dtype, ()):
        for places in (fresh, tuple(range(300))):
            x = np.ones((2, len(places), 2, dim))
            where = np.broadcast_to(np.array(places), (2, len(places)))
            if probe.rotate(x, where, dtype=dtype).y is None:
                return None
            again = read_blocks(reader, channels, fresh)
            if again is None:
                return "other"
            known = again.matrix[: len(NEAR)]
            if np.abs(known - before.matrix).max() > 1e-4:
                coarse = on_grid(again.matrix[..., 0].ravel())
                return "dtype" if coarse and not on_grid(before.matrix[..., 0].ravel()) else "other"
        fresh = (*fresh, 11)
    return None


def after_far(probe: Probe, reader: Reader, channels: Channels, before: Blocks) -> str | None:
    """Return what far positions and a long sequence leave: `frequencies`, `other`, or None."""
    dim = channels.head_dim
    longest = min(4100, probe.session.profile.max_position)
    long = np.ones((1, longest, 1, dim))
    probe.rotate(long, np.arange(longest)[None])
    again = read_blocks(reader, channels, NEAR)
    if again is None:
        return "other"
    if np.abs(again.matrix - before.matrix).max() <= 1e-4:
        return None
    start = np.abs(again.angle[0] - before.angle[0]).max() < 1e-3
    first = np.abs(again.angle[1] - before.angle[1])
    return "frequencies" if start and first[0] < 1e-3 < first.max() else "other"
