"""The sparse form in plain NumPy, for machines that cannot compile it."""

import numpy as np

from ropespec.backends.namespace import arithmetic, cos_sin
from ropespec.backends.numpy.arrays import Array, quiet

__all__ = ["rotate_positions", "rotate_tables"]


def rotate_positions(
    x: Array, positions: Array, dim: int, base: float, *, interleaved: bool, out: Array | None
) -> Array:
    """Return R_m x, with cos and sin by exact phase (FREQ-9).

    Parameters
    ----------
    x : ndarray of float, shape (..., S, H, D)
        What is turned.
    positions : ndarray of int
        Broadcasts to (..., S).
    dim : int
        r.
    base : float
        Above 1.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    out : ndarray or None
        Checked: is written to and returned.
    """
    cos, sin = cos_sin(np, positions, dim, base, arithmetic(np, x.dtype))
    return rotate_tables(x, cos, sin, interleaved=interleaved, out=out)


def rotate_tables(
    x: Array, cos: Array, sin: Array, *, interleaved: bool, out: Array | None
) -> Array:
    """Return R_m x, with cos and sin that broadcast to (..., S, r/2)."""
    out = np.empty(x.shape, x.dtype) if out is None else out
    work = arithmetic(np, x.dtype)
    dim = 2 * cos.shape[-1]
    places = (
        (np.s_[..., 0:dim:2], np.s_[..., 1:dim:2])
        if interleaved
        else (np.s_[..., : dim // 2], np.s_[..., dim // 2 : dim])
    )
    with quiet():
        c, s = (table[..., None, :].astype(work) for table in (cos, sin))
        first, second = (x[place].astype(work) for place in places)
        turned = first * c - second * s, second * c + first * s
        if dim != x.shape[-1] and out is not x:  # these pass through bit for bit (ROT-14)
            bits = f"u{x.itemsize}"
            out[..., dim:].view(bits)[...] = x[..., dim:].view(bits)
        for place, value in zip(places, turned, strict=True):
            np.copyto(out[place], value, casting="unsafe")
    return out
