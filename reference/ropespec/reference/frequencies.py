"""Frequencies theta_i, angles m * theta_i, and their cosines and sines (chapter `frequencies`).

Everything is float64 and literal: an angle is the float64 product of the position and theta_i.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import Floats, as_float64, as_positions
from ropespec.spec.arguments import check_array_type, check_base, check_dim, check_inv_freq
from ropespec.spec.device import check_host_device

__all__ = [
    "angles",
    "cos_sin",
    "div_term",
    "duplicate_half",
    "duplicate_interleaved",
    "even_indices",
    "inv_freq",
    "pow_via_exp",
    "theta_from_arange",
    "theta_llama",
    "theta_one_based",
    "theta_pow",
    "theta_step2",
]


def inv_freq(dim: int, base: float = 10000.0, *, device: str | None = None) -> NDArray[np.float64]:
    """theta_i = base^(-2i/dim), i = 0..dim/2-1, the set Theta (FREQ-1, FREQ-2, FREQ-5; F-001).

    Components are rotated in pairs, so dim is even (F-020; E-44). The first pair is the fastest
    (F-021). i starts at 0 and ends before dim/2 (E-23), also where the blocks of a matrix are
    counted from 1 (F-005; E-26). Theta is a vector of numbers and no matrix (F-022; E-01), and
    none of them is outside (1/base, 1], however large dim is (F-015; E-34).

    Parameters
    ----------
    dim : int
        Even, at least 2: the number of components that are rotated.
    base : float
        Above 1.
    device : {None, "cpu"}
        Where the result lies: in the memory of the host, the only device of NumPy.

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Radians per position, strictly falling from 1.

    Raises
    ------
    ArgumentTypeError
        If `dim` is not an integer, `base` not a real number, or `device` no string.
    ArgumentValueError
        If `dim` is odd or below 2, `base` not finite or not above 1, or `device` not "cpu".
    """
    dim, base = check_dim(dim), check_base(base)
    check_host_device(device)
    i = np.arange(dim // 2)
    return base ** (-2.0 * i / dim)


def theta_one_based(dim: int, base: float = 10000.0) -> dict[int, float]:
    """theta_i = base^(-2(i-1)/dim), i = 1..dim/2, under its printed labels (FREQ-3; F-002, F-004).

    A matrix that is labelled from 0 needs `inv_freq` (E-45).
    Parameters and errors as in `inv_freq`.

    Returns
    -------
    dict of int to float
        theta_1, ..., theta_{dim/2} in radians per position.
    """
    dim, base = check_dim(dim), check_base(base)
    return {i: base ** (-2 * (i - 1) / dim) for i in range(1, dim // 2 + 1)}


def theta_step2(dim: int, base: float = 10000.0) -> dict[int, float]:
    """theta_i = base^(-i/dim), i = 0, 2, ..., dim-2, under its printed labels (FREQ-3).

    Sources: F-003, F-012.

    Parameters and errors as in `inv_freq`.

    Returns
    -------
    dict of int to float
        theta_0, theta_2, ..., theta_{dim-2} in radians per position.
    """
    dim, base = check_dim(dim), check_base(base)
    return {i: base ** (-i / dim) for i in range(0, dim, 2)}


def even_indices(dim: int) -> NDArray[np.int64]:
    """0, 2, ..., dim-2: the progression inside the bracket of `div_term` (FREQ-3; F-011).

    Returns
    -------
    ndarray of int64, shape (dim/2,)
        The last entry is dim-2, not dim-1 (E-36).
    """
    return np.arange(0, check_dim(dim), 2)


def theta_from_arange(dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """1.0 / base ** (arange(0, dim, 2) / dim), the line of document 000 (FREQ-4; F-006).

    What the line ends in, "float()", is left out, and base, which it does not say, is 10000 (E-12).
    Parameters, result and errors as in `inv_freq`.
    """
    dim, base = check_dim(dim), check_base(base)
    return 1.0 / base ** (np.arange(0, dim, 2).astype(np.float64) / dim)


def theta_llama(dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """1.0 / base ** (arange(0, dim, 2)[: dim // 2] / dim), the LLaMA line (FREQ-4; F-007).

    The slice would matter for odd `dim` only, which is refused.
    Parameters, result and errors as in `inv_freq`.
    """
    dim, base = check_dim(dim), check_base(base)
    return 1.0 / base ** (np.arange(0, dim, 2)[: dim // 2].astype(np.float64) / dim)


def theta_pow(dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """pow(base, -2 * ids / dim), ids = 0..dim/2-1, the line with torch.pow (FREQ-4; F-008).

    Parameters, result and errors as in `inv_freq`.
    """
    dim, base = check_dim(dim), check_base(base)
    ids = np.arange(0, dim // 2, dtype=np.float64)
    return np.power(base, -2 * ids / dim)


def div_term(dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """exp(arange(0, dim, 2) * -(ln(base) / dim)), the form by exp and log (FREQ-4; F-009, F-010).

    Parameters, result and errors as in `inv_freq`.
    """
    dim, base = check_dim(dim), check_base(base)
    theta: NDArray[np.float64] = np.exp(np.arange(0, dim, 2) * -(math.log(base) / dim))
    return theta


def pow_via_exp(a: float, x: ArrayLike) -> NDArray[np.float64]:
    """a^x = e^(x ln a), the natural logarithm (FREQ-4; F-013, F-014; E-37).

    Parameters
    ----------
    a : float
        Above 0.
    x : array_like of float
        Real exponents.

    Returns
    -------
    ndarray of float64
        The shape of `x`.
    """
    return np.asarray(np.exp(np.asarray(x, dtype=np.float64) * math.log(a)))


def angles(positions: ArrayLike, inv_freq: Floats) -> NDArray[np.float64]:
    """Angles m * theta_i for every position m and frequency theta_i (FREQ-6, FREQ-7).

    Sources: F-017; F-019 for the positions.

    Parameters
    ----------
    positions : array_like of int
        Any shape; either sign.
    inv_freq : ndarray of float, shape (dim/2,)
        Radians per position.

    Returns
    -------
    ndarray of float64, shape positions.shape + (dim/2,)
        Radians, not reduced to one turn.

    Raises
    ------
    ArgumentTypeError
        If `positions` are not integers, or `inv_freq` is no float array of NumPy.
    ArgumentValueError
        If `inv_freq` does not have exactly one axis.
    """
    m = as_positions(positions)
    check_array_type("inv_freq", inv_freq, np.ndarray, "numpy.ndarray")
    check_inv_freq(inv_freq)
    return np.multiply.outer(m.astype(np.float64), as_float64(inv_freq))


def cos_sin(
    positions: ArrayLike, dim: int, base: float = 10000.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """cos(m theta_i) and sin(m theta_i) (FREQ-9).

    Literal: the angle is the float64 product, without reduction to one turn beforehand.

    Parameters
    ----------
    positions : array_like of int
        Any shape; either sign.
    dim, base
        As in `inv_freq`.

    Returns
    -------
    cos, sin : ndarray of float64, shape positions.shape + (dim/2,)
        Two new arrays.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `angles` and `inv_freq` do.
    """
    m = as_positions(positions)
    angle = angles(m, inv_freq(dim, base))
    return np.cos(angle), np.sin(angle)


def duplicate_interleaved(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(a_0, a_0, a_1, a_1, ...): each entry of the last axis listed twice (FREQ-8; F-018; E-10).

    Parameters
    ----------
    values : ndarray of float64, shape (..., dim/2)
        Angles, cosines or sines.

    Returns
    -------
    ndarray of float64, shape (..., dim)
        The table that goes with interleaved pairs.
    """
    return np.repeat(values, 2, axis=-1)


def duplicate_half(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(a_0, a_1, ..., a_0, a_1, ...): the last axis listed twice in a row (FREQ-8).

    Parameters
    ----------
    values : ndarray of float64, shape (..., dim/2)
        Angles, cosines or sines.

    Returns
    -------
    ndarray of float64, shape (..., dim)
        The table that goes with half-split pairs.
    """
    return np.concatenate([values, values], axis=-1)
