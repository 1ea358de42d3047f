"""Printed forms of frequencies and angles that are wrong (chapter `errata`)."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "direct_power_range",
    "printed_doubled_angles",
    "printed_pair_indices",
    "printed_power_by_log10",
    "printed_progression",
    "printed_theta_at_matrix_indices",
    "printed_theta_from_one",
    "printed_theta_line",
]


def printed_theta_from_one(dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """base^(-2i/dim) at i = 1..dim/2, as document 003 numbers its blocks (E-26; F-005).

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Starts at base^(-2/dim) and ends at 1/base; right is `inv_freq(dim, base)`.
    """
    i = np.arange(1, dim // 2 + 1)
    return np.asarray(base ** (-2.0 * i / dim))


def printed_theta_at_matrix_indices(dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """base^(-2(i-1)/dim) at i = 0..dim/2-1, the indices of document 004's matrix (E-45; F-004).

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Starts at base^(2/dim), above 1; right is `inv_freq(dim, base)`.
    """
    i = np.arange(dim // 2)
    return np.asarray(base ** (-2.0 * (i - 1) / dim))


def printed_pair_indices(d_model: int) -> NDArray[np.int64]:
    """Return 0, ..., d_model/2, both ends included, as document 004 prints it (E-32; F-028).

    Returns
    -------
    ndarray of int64, shape (d_model/2 + 1,)
        One too many; right are 0, ..., d_model/2 - 1.
    """
    return np.arange(d_model // 2 + 1)


def printed_progression(d_model: int) -> tuple[int, int, int]:
    """First term, last term and step of the progression as document 004 says it (E-36; F-011).

    Returns
    -------
    tuple of int
        (0, d_model - 1, 2); no even step reaches an odd last term. Right is d_model - 2.
    """
    return 0, d_model - 1, 2


def printed_doubled_angles(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """2 m theta_i: "must be doubled" read as a product instead of a list (E-10; F-018).

    Returns
    -------
    ndarray of float64
        The shape of `angles`, in radians; right is each angle listed twice.
    """
    return 2.0 * angles


def printed_power_by_log10(base: float, x: ArrayLike) -> NDArray[np.float64]:
    """e^(x log10(base)): the printed `log` read as the logarithm to base 10 (E-37; F-014).

    Returns
    -------
    ndarray of float64
        The shape of `x`; right is e^(x ln base) = base^x.
    """
    return np.exp(np.asarray(x, dtype=np.float64) * math.log10(base))


def printed_theta_line(dim: int, base: float = 10000.0) -> tuple[NDArray[np.float64], float]:
    """Evaluate `1.0 / (base ** (arange(0, d, 2) / d)), float()` with its tail (E-12; F-006).

    Returns
    -------
    tuple of ndarray and float
        The right frequencies and the value 0.0 of the dangling `float()`.
    """
    return 1.0 / (base ** (np.arange(0, dim, 2) / dim)), float()  # noqa: UP018  # as printed


def direct_power_range(
    dim: int, base: float = 10000.0, dtype: str = "float64"
) -> tuple[float, float]:
    """Smallest and largest base^(-i/dim), i = 0, 2, ..., dim-2, computed in `dtype` (E-34; F-015).

    Document 004 says that this direct power may overflow or underflow.

    Returns
    -------
    tuple of float
        Inside (1/base, 1] up to rounding, for every dim: the claim is wrong.
    """
    exponents = (-np.arange(0, dim, 2, dtype=np.float64) / dim).astype(dtype)
    powers = np.power(np.asarray(base, dtype=dtype), exponents)
    return float(powers.min()), float(powers.max())
