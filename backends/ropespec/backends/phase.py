"""Turns per position as 64-bit fractions, computed once in exact arithmetic (FREQ-9).

An angle is a fraction of a turn. With T_i = round(theta_i / (2 pi) * 2^64), the fraction at
position m is (m * T_i) mod 2^64, exact in integers however large m is; int64 and uint64 wrap by
themselves. cos and sin then see an angle within half a turn, so their error does not grow with m:
it is below |m| * 2^-65 turns, 3.7e-10 radians at position 2^31.
"""

import functools
from collections.abc import Iterable
from decimal import Context, Decimal, localcontext
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.spec.axes import Axes
from ropespec.spec.convention import Frequencies
from ropespec.spec.scaling import Scaling
from ropespec.spec.scaling.numbers import TWO_PI, powers

__all__ = ["Steps", "axial_steps", "scaled_steps", "turns"]


@functools.lru_cache(maxsize=64)
def turns(dim: int, base: float) -> NDArray[np.uint64]:
    """T_i = round(base^(-2i/dim) / (2 pi) * 2^64), i = 0..dim/2-1.

    Parameters
    ----------
    dim : int
        Even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    ndarray of uint64, shape (dim/2,)
        Fractions of a turn per position, in units of 2^-64; not writable.
    """
    with localcontext(Context(prec=60)):
        table = np.array(_units(powers(Decimal(base), dim)), dtype=np.uint64)
    table.flags.writeable = False
    return table


class Steps(NamedTuple):
    """What a step of each position number turns every pair by.

    Attributes
    ----------
    theta : ndarray of float64, shape (r/2,) or (n, r/2)
        Radians; of several position numbers a token, a row for each.
    turns : ndarray of uint64, shape of `theta`
        The same as fractions of a turn, in units of 2^-64, from the exact frequencies.
    gain : float
        The factor on cos and sin.
    """

    theta: NDArray[np.float64]
    turns: NDArray[np.uint64]
    gain: float


def scaled_steps(scaling: Scaling, dim: int, base: float) -> Steps:
    """Return the frequencies of a scheme, for one position number a token (SCAL-1).

    Parameters
    ----------
    scaling : Scaling
        The scheme.
    dim, base
        As in `turns`.

    Returns
    -------
    Steps
        Of one axis; not to be written to.
    """
    return _steps(None, scaling, dim, base)


def axial_steps(axes: Axes, scaling: Scaling | None, dim: int, base: float) -> Steps:
    """Return the frequencies of several position numbers, scaled or not (AXES-1).

    Parameters
    ----------
    axes : Axes
        Which pair follows which number.
    scaling : Scaling or None
        The scheme.
    dim, base
        As in `turns`.

    Returns
    -------
    Steps
        A row for each number; not to be written to.
    """
    return _steps(axes, scaling, dim, base)


# What torch.compiler.assume_constant_result does, which would load the compiler: it calls these
# while it traces, and does not trace what is exact in decimals.
vars(scaled_steps)["_dynamo_marked_constant"] = True
vars(axial_steps)["_dynamo_marked_constant"] = True


@functools.lru_cache(maxsize=64)
def _steps(axes: Axes | None, scaling: Scaling | None, dim: int, base: float) -> Steps:
    frequencies = Frequencies(base, scaling)
    with localcontext(Context(prec=60)):
        rows = (frequencies.theta(dim),) if axes is None else axes.rows(frequencies, dim)
        theta = np.array([[float(one) for one in row] for row in rows])
        fractions = np.array([_units(row) for row in rows], dtype=np.uint64)
        gain = float(frequencies.gain)
    if axes is None:
        theta, fractions = theta[0], fractions[0]
    theta.flags.writeable = fractions.flags.writeable = False
    return Steps(theta, fractions, gain)


def _units(theta: Iterable[Decimal]) -> list[int]:
    """Round radians to units of 2^-64 turn, modulo a turn."""
    scale = Decimal(2**64) / TWO_PI
    return [int((one * scale).to_integral_value()) % 2**64 for one in theta]
