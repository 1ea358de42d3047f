"""What models do at the ends of a head, and xPos (chapter `axes`)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import Floats, as_float64, as_positions, check_floats
from ropespec.reference.frequencies import angles, inv_freq
from ropespec.reference.rotation import apply_rotary, apply_rotary_cos_sin, interleaved_to_half
from ropespec.spec.arguments import check_dim, check_rotary_dim

__all__ = [
    "apply_rotary_deinterleaved",
    "apply_rotary_trailing",
    "apply_xpos",
    "xpos_centre",
    "xpos_scale",
]

Float = NDArray[np.float64]


def apply_rotary_trailing(
    x: Floats,
    positions: ArrayLike,
    *,
    interleaved: bool,
    rotary_dim: int,
    base: float = 10000.0,
) -> Floats:
    """Rotate the last `rotary_dim` components; those before pass through (AXES-6).

    Parameters, result and errors as in `apply_rotary`.
    """
    check_floats("x", x, ndim=3)
    start = x.shape[-1] - check_rotary_dim(rotary_dim, x.shape[-1])
    turned = apply_rotary(x[..., start:], positions, interleaved=interleaved, base=base)
    return np.concatenate([x[..., :start], turned], axis=-1)


def apply_rotary_deinterleaved(x: Floats, positions: ArrayLike, *, base: float = 10000.0) -> Floats:
    """P R_m x: interleaved pairs go in, and their members come out in two halves (AXES-7).

    Parameters, result and errors as in `apply_rotary`.
    """
    return interleaved_to_half(apply_rotary(x, positions, interleaved=True, base=base))


def xpos_centre(length: int, *, ceiling: bool) -> int:
    """The position from which xPos counts: l/2, rounded up or down (AXES-9).

    Parameters
    ----------
    length : int
        l, that of the whole sequence, and not of a part of it.
    ceiling : bool
        Rounded up, as in torchscale; down, as in flash-attn and others.
    """
    return -(-length // 2) if ceiling else length // 2


def xpos_scale(
    positions: ArrayLike, dim: int, *, centre: int, scale_base: float, gamma: float = 0.4
) -> Float:
    """zeta_i^((m - c) / scale_base), zeta_i = (2i/d + gamma) / (1 + gamma) (AXES-8).

    Parameters
    ----------
    positions : array_like of int
        m, of any shape.
    dim : int
        d, even.
    centre : int
        c.
    scale_base, gamma : float
        How slowly it grows, and how much less for later pairs.

    Returns
    -------
    ndarray of float64, shape positions.shape + (dim/2,)
        Factors for the pairs of a query; those of a key are the reciprocals.
    """
    zeta = (np.arange(0, check_dim(dim), 2) / dim + gamma) / (1 + gamma)
    power = (as_positions(positions).astype(np.float64) - centre) / scale_base
    return np.asarray(zeta ** power[..., np.newaxis])


def apply_xpos(
    x: Floats,
    positions: ArrayLike,
    *,
    interleaved: bool,
    keys: bool,
    centre: int,
    base: float = 10000.0,
    scale_base: float = 512.0,
) -> Floats:
    """The rotation of a query times `xpos_scale`, that of a key divided by it (AXES-8).

    Parameters
    ----------
    x, positions, interleaved, base
        As in `apply_rotary`.
    keys : bool
        Whether x are keys.
    centre, scale_base
        As in `xpos_scale`.
    """
    m = as_positions(positions)
    scale = xpos_scale(m, x.shape[-1], centre=centre, scale_base=scale_base)
    scale = 1 / scale if keys else scale
    angle = angles(m, inv_freq(x.shape[-1], base))
    cos, sin = (as_float64(scale * part) for part in (np.cos(angle), np.sin(angle)))
    return apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
