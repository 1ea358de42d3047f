"""Schemes that keep fast pairs, divide the frequencies of slow ones, and blend between.

They belong to the chapter `scaling`.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ropespec.reference.frequencies import inv_freq

__all__ = [
    "softmax_gain",
    "theta_by_parts",
    "theta_llama3",
    "theta_yarn",
    "turns_within",
    "yarn_gain",
    "yarn_index",
    "yarn_range",
]


def turns_within(length: int, theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """r_i = L theta_i / 2 pi, the turns that each pair completes within L tokens (SCAL-6, SCAL-10).

    Parameters
    ----------
    length : int
        L.
    theta : ndarray of float64, shape (dim/2,)
        Radians per position.
    """
    return length * theta / (2 * math.pi)


def theta_by_parts(
    dim: int, base: float, factor: float, length: int, alpha: float, beta: float
) -> NDArray[np.float64]:
    """(1 - gamma) theta_i / s + gamma theta_i, gamma linear in the turns r_i (SCAL-6).

    Parameters
    ----------
    dim, base
        As in `inv_freq`.
    factor, length : float, int
        s and L.
    alpha, beta : float
        Turns up to which gamma is 0, and from which on it is 1.

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Radians per position.
    """
    theta = inv_freq(dim, base)
    gamma = np.clip((turns_within(length, theta) - alpha) / (beta - alpha), 0, 1)
    return np.asarray((1 - gamma) * theta / factor + gamma * theta)


def yarn_index(turns: float, dim: int, base: float, length: int) -> float:
    """d ln(L / 2 pi n) / 2 ln base: the i at which a pair completes n turns (SCAL-7).

    Parameters
    ----------
    turns : float
        n.
    dim, base
        As in `inv_freq`.
    length : int
        L.
    """
    return dim * math.log(length / (2 * math.pi * turns)) / (2 * math.log(base))


def yarn_range(
    dim: int, base: float, length: int, beta_fast: float, beta_slow: float, *, truncate: bool
) -> tuple[float, float]:
    """Where the ramp of YaRN begins and ends (SCAL-7).

    Parameters
    ----------
    dim, base, length
        As in `yarn_index`.
    beta_fast, beta_slow : float
        Turns at its beginning and at its end.
    truncate : bool
        Whether the ends are rounded away from each other, to whole numbers.
    """
    low, high = (yarn_index(turns, dim, base, length) for turns in (beta_fast, beta_slow))
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    return low, high + 0.001 if high == low else high


def theta_yarn(
    dim: int,
    base: float,
    factor: float,
    length: int,
    beta_fast: float,
    beta_slow: float,
    *,
    truncate: bool,
) -> NDArray[np.float64]:
    """(theta_i / s) ramp_i + theta_i (1 - ramp_i), ramp linear in the index i (SCAL-7).

    Parameters
    ----------
    dim, base, factor, length
        As in `theta_by_parts`.
    beta_fast, beta_slow, truncate
        As in `yarn_range`.

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Radians per position.
    """
    theta = inv_freq(dim, base)
    low, high = yarn_range(dim, base, length, beta_fast, beta_slow, truncate=truncate)
    ramp = np.clip((np.arange(dim // 2) - low) / (high - low), 0, 1)
    return np.asarray((theta / factor) * ramp + theta * (1 - ramp))


def yarn_gain(
    factor: float, mscale: float | None = None, mscale_all_dim: float | None = None
) -> float:
    """g(s, 1), or g(s, mscale) / g(s, mscale_all_dim) where both are given (SCAL-8).

    Parameters
    ----------
    factor : float
        s.
    mscale, mscale_all_dim : float, optional
        0 counts as left out.
    """
    if mscale and mscale_all_dim:
        return _growth(factor, mscale) / _growth(factor, mscale_all_dim)
    return _growth(factor, 1.0)


def softmax_gain(factor: float, mscale_all_dim: float) -> float:
    """g(s, mscale_all_dim)^2, by which some models scale the scores besides (SCAL-12)."""
    return _growth(factor, mscale_all_dim) ** 2


def _growth(factor: float, scale: float) -> float:
    return 1.0 if factor <= 1 else 0.1 * scale * math.log(factor) + 1.0


def theta_llama3(
    dim: int, base: float, factor: float, low: float, high: float, length: int
) -> NDArray[np.float64]:
    """theta_i, theta_i / s, or a blend of them, by the turns r_i (SCAL-10).

    Parameters
    ----------
    dim, base, factor, length
        As in `theta_by_parts`.
    low, high : float
        Turns up to which a frequency is divided, and from which on it is kept.

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Radians per position.
    """
    theta = inv_freq(dim, base)
    for i, turns in enumerate(turns_within(length, theta)):
        if turns > high:
            continue
        if turns < low or low == high:
            theta[i] = theta[i] / factor
        else:
            sigma = (turns - low) / (high - low)
            theta[i] = (1 - sigma) * theta[i] / factor + sigma * theta[i]
    return theta
