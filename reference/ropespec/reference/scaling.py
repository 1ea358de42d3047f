"""Scaled frequencies, and the rotation by them (chapter `scaling`).

Here are the functions of the shared API, and the schemes that take another base or divide pair by
pair; the blends are in `scaling_blends`. All is float64, by the formulas as printed: of a scheme
only its numbers are read.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import Floats, as_positions, check_floats
from ropespec.reference.frequencies import angles, inv_freq
from ropespec.reference.rotation import apply_rotary_cos_sin
from ropespec.reference.scaling_blends import theta_by_parts, theta_llama3, theta_yarn, yarn_gain
from ropespec.spec import scaling as schemes
from ropespec.spec.arguments import (
    check_base,
    check_dim,
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    facts,
)
from ropespec.spec.device import check_host_device
from ropespec.spec.scaling import Scaling, check_scaled_dim, check_scaling

__all__ = [
    "apply_rotary_scaled",
    "base_dynamic",
    "base_dynamic_paper",
    "base_ntk",
    "cos_sin_scaled",
    "factors_by_length",
    "gain_of",
    "inv_freq_scaled",
    "longrope_gain",
    "theta_linear",
    "theta_longrope",
    "theta_proportional",
]


def theta_linear(dim: int, base: float, factor: float) -> NDArray[np.float64]:
    """theta_i / s (SCAL-2).

    Parameters
    ----------
    dim, base
        As in `inv_freq`.
    factor : float
        s.

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Radians per position.
    """
    return inv_freq(dim, base) / factor


def base_ntk(dim: int, base: float, factor: float) -> float:
    """base s^(d/(d-2)), whose last frequency is the old one over s (SCAL-3).

    Parameters as in `theta_linear`; dim is above 2.
    """
    return float(base * factor ** (dim / (dim - 2)))


def base_dynamic_paper(dim: int, base: float, original_length: int, length: int) -> float:
    """`base_ntk` with s = max(1, l/L) (SCAL-4).

    Parameters
    ----------
    dim, base
        As in `inv_freq`.
    original_length, length : int
        L and l.
    """
    return base_ntk(dim, base, max(1.0, length / original_length))


def base_dynamic(dim: int, base: float, factor: float, original_length: int, length: int) -> float:
    """base (s l/L - (s - 1))^(d/(d-2)) with l at least L (SCAL-5).

    Parameters as in `base_dynamic_paper`, and s.
    """
    longer = max(length, original_length)
    return base_ntk(dim, base, factor * longer / original_length - (factor - 1))


def factors_by_length(
    short: Sequence[float], long: Sequence[float], original_length: int, length: int
) -> Sequence[float]:
    """Take the long factors beyond L tokens, the short ones up to L (SCAL-9)."""
    return long if length > original_length else short


def theta_longrope(dim: int, base: float, factors: Sequence[float]) -> NDArray[np.float64]:
    """1 / (e_i base^(2i/d)) (SCAL-9).

    Parameters
    ----------
    dim, base
        As in `inv_freq`.
    factors : sequence of float
        e_i, one for each pair.

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Radians per position.
    """
    i = np.arange(dim // 2)
    return 1.0 / (np.asarray(factors) * base ** (2 * i / dim))


def longrope_gain(factor: float, original_length: int) -> float:
    """sqrt(1 + ln s / ln L), and 1 for s = 1 (SCAL-9)."""
    if factor <= 1:
        return 1.0
    return math.sqrt(1 + math.log(factor) / math.log(original_length))


def theta_proportional(
    dim: int, base: float, proportion: float, factor: float
) -> NDArray[np.float64]:
    """base^(-2i/d) / s for i < floor(p d / 2), and 0 behind (SCAL-11).

    Parameters
    ----------
    dim, base
        As in `inv_freq`; dim is that of the whole head.
    proportion, factor : float
        p and s.

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Radians per position.
    """
    theta = inv_freq(dim, base) / factor
    theta[int(proportion * dim // 2) :] = 0.0
    return theta


def inv_freq_scaled(
    dim: int, base: float = 10000.0, *, scaling: Scaling, device: str | None = None
) -> NDArray[np.float64]:
    """omega_i, the frequencies that a scheme makes of theta_i (SCAL-1, SCAL-13).

    Parameters
    ----------
    dim, base, device
        As in `inv_freq`.
    scaling : Scaling
        A scheme of `ropespec.spec.scaling`.

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Radians per position.

    Raises
    ------
    ArgumentTypeError
        As `inv_freq` does, and if `scaling` is no scheme.
    ArgumentValueError
        As `inv_freq` does, and if the scheme has no frequencies for `dim`.
    """
    dim, base, scaling = check_dim(dim), check_base(base), check_scaling(scaling)
    check_host_device(device)
    check_scaled_dim(scaling, dim)
    match scaling:
        case schemes.Linear(s):
            return theta_linear(dim, base, s)
        case schemes.NtkAware(s):
            return inv_freq(dim, base_ntk(dim, base, s))
        case schemes.PaperDynamicNtk(L, length):
            return inv_freq(dim, base_dynamic_paper(dim, base, L, length))
        case schemes.DynamicNtk(s, L, length):
            return inv_freq(dim, base_dynamic(dim, base, s, L, length))
        case schemes.NtkByParts(s, L, alpha, beta):
            return theta_by_parts(dim, base, s, L, alpha, beta)
        case schemes.Yarn(s, L, fast, slow, truncate):
            return theta_yarn(dim, base, s, L, fast, slow, truncate=truncate)
        case schemes.Llama3(s, low, high, L):
            return theta_llama3(dim, base, s, low, high, L)
        case schemes.LongRope(short, long, _, L, length):
            return theta_longrope(dim, base, factors_by_length(short, long, L, length))
        case schemes.Proportional(p, s):
            return theta_proportional(dim, base, p, s)


def gain_of(scaling: Scaling) -> float:
    """A, by which cos and sin are multiplied (SCAL-1, SCAL-8, SCAL-9).

    Parameters
    ----------
    scaling : Scaling
        A scheme.
    """
    match scaling:
        case schemes.Yarn() | schemes.LongRope() if scaling.attention_factor is not None:
            return float(scaling.attention_factor)
        case schemes.Yarn(s):
            return yarn_gain(s, scaling.mscale, scaling.mscale_all_dim)
        case schemes.LongRope(factor=s, original_length=L):
            return longrope_gain(s, L)
    return 1.0


def cos_sin_scaled(
    positions: ArrayLike, dim: int, base: float = 10000.0, *, scaling: Scaling
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A cos(m omega_i) and A sin(m omega_i) (SCAL-1, SCAL-12).

    Parameters
    ----------
    positions : array_like of int
        Any shape; either sign.
    dim, base, scaling
        As in `inv_freq_scaled`.

    Returns
    -------
    cos, sin : ndarray of float64, shape positions.shape + (dim/2,)
        Two new arrays; the angle is the float64 product.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `angles` and `inv_freq_scaled` do.
    """
    m = as_positions(positions)
    angle = angles(m, inv_freq_scaled(dim, base, scaling=scaling))
    A = gain_of(scaling)
    return A * np.cos(angle), A * np.sin(angle)


def apply_rotary_scaled(
    x: Floats,
    positions: ArrayLike,
    *,
    interleaved: bool,
    scaling: Scaling,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Floats:
    """A R_m x with the frequencies of a scheme (SCAL-1, SCAL-12, SCAL-13).

    Parameters
    ----------
    x, positions, interleaved, base, rotary_dim
        As in `apply_rotary`; what is not rotated has no gain either.
    scaling : Scaling
        A scheme of `ropespec.spec.scaling`.

    Returns
    -------
    ndarray, shape and dtype of `x`
        A new array: float64 arithmetic, rounded once at the end.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `apply_rotary` and `inv_freq_scaled` do.
    """
    check_floats("x", x, ndim=3)
    m = as_positions(positions)
    interleaved, base, scaling = (
        check_flag("interleaved", interleaved),
        check_base(base),
        check_scaling(scaling),
    )
    dim = check_rotary_dim(rotary_dim, x.shape[-1])
    check_positions_fit(facts(m), x.shape[:-2])
    cos, sin = cos_sin_scaled(m, dim, base, scaling=scaling)
    return apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
