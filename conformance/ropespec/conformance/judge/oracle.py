"""cos and sin of m * theta_i to about one unit in the last place of float64, at any position.

The angle never becomes a large floating-point number. theta_i / (2 pi) is kept as a fraction of a
turn with 128 bits, the product with m is taken modulo one turn in integers, and only the distance
to the nearest quarter turn, at most an eighth of a turn, is turned into radians, as the unevaluated
sum of two floats. Shares no code with the reference or the backends (clause JDG-1).
"""

import functools
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ORACLE_ERROR", "cos_sin", "frequencies"]

ORACLE_ERROR = 2.0**-52
"""Bound on the absolute error of one value of `cos_sin`: two roundings of a number below 1."""

# pi by its decimal digits (OEIS A000796): the one constant that cannot be derived in `decimal`.
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")

_U32 = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_SPLITTER = 134217729.0  # 2^27 + 1 halves the 53 bits of a float64


class _Turns(NamedTuple):
    """theta_i / (2 pi) as (high * 2^-64 + low * 2^-128) of a turn."""

    high: NDArray[np.uint64]
    low: NDArray[np.uint64]


def frequencies(dim: int, base: float) -> NDArray[np.float64]:
    """theta_i = base^(-2i/dim), correctly rounded to float64 (FREQ-2).

    Parameters
    ----------
    dim : int
        Even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Radians per position.
    """
    return np.array([float(theta) for theta in _thetas(dim, base)])


def cos_sin(
    positions: NDArray[np.integer], dim: int, base: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cos and sin of m * base^(-2i/dim), each within `ORACLE_ERROR` (FREQ-9).

    Parameters
    ----------
    positions : ndarray of integers, any shape
        Below 2^63 in absolute value.
    dim : int
        Even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    tuple of ndarray of float64
        cos and sin, of shape positions.shape + (dim/2,).
    """
    m = np.asarray(positions).astype(np.int64)[..., None]
    magnitude = np.abs(m).astype(np.uint64)
    high, low = _multiply(magnitude, _turns(dim, float(base)))
    # The nearest quarter turn: add an eighth, keep the top two bits.
    quarter = (high + np.uint64(1 << 61)) >> np.uint64(62)
    rest = (high - (quarter << np.uint64(62))).astype(np.int64)
    angle, tail = _radians(rest, low)
    c, s = np.cos(angle), np.sin(angle)
    c, s = c - tail * s, s + tail * c
    cos = np.choose(quarter.astype(np.intp), [c, -s, -c, s])
    sin = np.choose(quarter.astype(np.intp), [s, c, -s, -c])
    return cos, np.where(m < 0, -sin, sin)


@functools.lru_cache(maxsize=256)
def _thetas(dim: int, base: float) -> tuple[Decimal, ...]:
    with localcontext(Context(prec=70, rounding=ROUND_HALF_EVEN)):
        log_base = Decimal(base).ln()
        return tuple((-2 * i * log_base / dim).exp() for i in range(dim // 2))


@functools.lru_cache(maxsize=256)
def _turns(dim: int, base: float) -> _Turns:
    with localcontext(Context(prec=70, rounding=ROUND_HALF_EVEN)):
        scale = Decimal(2**128) / (2 * _PI)
        fixed = [int((theta * scale).to_integral_value()) for theta in _thetas(dim, base)]
    mask = 2**64 - 1
    return _Turns(
        np.array([value >> 64 for value in fixed], dtype=np.uint64),
        np.array([value & mask for value in fixed], dtype=np.uint64),
    )


def _multiply(
    m: NDArray[np.uint64], turns: _Turns
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """M * turns modulo one turn: the low 128 bits of a 64 x 128 bit product."""
    low = m * turns.low
    high = m * turns.high + _high_word(m, turns.low)
    return high, low


def _high_word(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Bits 64 to 127 of a * b, by four products of 32-bit halves."""
    a1, a0, b1, b0 = a >> _32, a & _U32, b >> _32, b & _U32
    middle = a1 * b0 + ((a0 * b0) >> _32)
    cross = a0 * b1 + (middle & _U32)
    return a1 * b1 + (middle >> _32) + (cross >> _32)


def _radians(
    high: NDArray[np.int64], low: NDArray[np.uint64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """2 pi (high * 2^-64 + low * 2^-128) as a float and a correction far below its last place."""
    top = (high >> np.int64(32)).astype(np.float64) * 2.0**-32
    middle = (high & np.int64(0xFFFFFFFF)).astype(np.float64) * 2.0**-64
    bottom = (low >> _32).astype(np.float64) * 2.0**-96
    turn = top + middle
    rest = (top - turn) + middle + bottom
    two_pi = float(2 * _PI)
    two_pi_rest = float(2 * _PI - Decimal(two_pi))
    product, error = _two_product(turn, two_pi)
    tail = error + (turn * two_pi_rest + rest * two_pi)
    return product, tail


def _two_product(
    a: NDArray[np.float64], b: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A * b as product plus exact error (Dekker), without a fused multiply-add."""
    product = a * b
    a_big = _SPLITTER * a
    a_high = a_big - (a_big - a)
    b_big = _SPLITTER * b
    b_high = b_big - (b_big - b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error
