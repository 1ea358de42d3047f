"""Numbers of schemes: what they must be, and as exact decimals."""

import itertools
import math
import numbers
import operator
from decimal import Decimal

import numpy as np

from ropespec.spec.arguments import check_base, check_dim
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

__all__ = ["TWO_PI", "check_length", "check_number", "exact", "logarithm", "powers"]

TWO_PI = Decimal(
    "6.28318530717958647692528676655900576839433879875021164194988918461563281257241799725606965"
    "0684234135964296173026564613294"
)
"""2 pi to 120 digits (OEIS A019692)."""


def check_number(
    name: str,
    value: object,
    *,
    least: float = -math.inf,
    above: bool = False,
    most: float = math.inf,
) -> None:
    """Require a finite real number of at least `least`, or above it, and at most `most`.

    Raises
    ------
    ArgumentTypeError
        If it is no real number.
    ArgumentValueError
        If it is not finite or out of range.
    """
    must = "a finite number"
    must += f" {'above' if above else 'of at least'} {least:g}" if least > -math.inf else ""
    must += f" and at most {most:g}" if most < math.inf else ""
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, np.integer, np.floating)):
        raise ArgumentTypeError(name, must, value)
    number = float(value)
    low = number > least if above else number >= least
    if not (math.isfinite(number) and low and number <= most):
        raise ArgumentValueError(name, must, value)


def check_length(name: str, value: object) -> None:
    """Require a number of tokens: an integer of at least 1.

    Raises
    ------
    ArgumentTypeError
        If it is no integer.
    ArgumentValueError
        If it is below 1.
    """
    must = "an integer of at least 1"
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ArgumentTypeError(name, must, value)
    if value < 1:
        raise ArgumentValueError(name, must, value)


def exact(value: float) -> Decimal:
    """Return the number that a float is, without rounding."""
    return Decimal(float(value))


def logarithm(value: float) -> Decimal:
    """ln of a number above 0."""
    return exact(value).ln()


def powers(base: Decimal | float, dim: int) -> tuple[Decimal, ...]:
    """base^(-2i/dim), i = 0..dim/2-1 (FREQ-2), in the decimal context in force.

    They are the powers of theta_1, each from the one before. One rounding to p digits costs
    e = 10^(1-p)/2. The exponent -2 ln(base)/dim has three, and i times it is below 710 in size, so
    the exponent of theta_i is within 2200 e; `exp` and the product of each of the i < dim/2 steps
    cost 2 e.

    Parameters
    ----------
    base : float or Decimal
        Above 1; a Decimal is not checked.
    dim : int
        Even, at least 2.
    """
    dim = check_dim(dim)
    if not isinstance(base, Decimal):
        base = exact(check_base(base))
    step = (-2 * base.ln() / dim).exp()
    steps = itertools.repeat(step, dim // 2 - 1)
    return tuple(itertools.accumulate(steps, operator.mul, initial=Decimal(1)))
