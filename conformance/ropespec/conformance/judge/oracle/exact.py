"""pi, cos and sin in integers: any number of bits, one angle at a time."""

import functools
import itertools
import math
from collections.abc import Callable, Sequence

__all__ = ["pi", "rounded", "sine_cosine"]

_START = 256  # bits; 64 go with m, and up to about 64 more where cos or sin is nearly zero


@functools.lru_cache(maxsize=16)
def pi(bits: int) -> int:
    """Pi in units of 2^-bits, within one unit.

    Machin's formula: pi = 16 arctan(1/5) - 4 arctan(1/239). Each of the at most bits + 32 terms of
    the two series is floored twice, which 32 guard bits absorb.

    Parameters
    ----------
    bits : int
        The number of bits after the binary point.

    Returns
    -------
    int
        floor(pi * 2^bits), or one less or more.
    """
    one = 1 << (bits + 32)

    def arctan_of_inverse(n: int) -> int:
        total, power = 0, one // n
        for k in itertools.count():
            if power == 0:
                break
            total += (-power if k % 2 else power) // (2 * k + 1)
            power //= n * n
        return total

    return (16 * arctan_of_inverse(5) - 4 * arctan_of_inverse(239)) >> 32


def sine_cosine(turn: int, bits: int) -> tuple[int, int]:
    """Sine and cosine of 2 pi turn / 2^bits, in units of 2^-bits, each within `bits` units.

    The angle in radians r is within 2 units, and so is each term of the series of sin r: a floored
    product of the term before, which is less than half as wrong afterwards. For 256 bits or more
    the series has at most bits/8 terms, so the sine is within bits/4 + 2 units. The cosine follows
    from it as sqrt(1 - sin^2), and is wrong by |tan r| <= 1 times as much, and one unit.

    Parameters
    ----------
    turn : int
        The angle in units of 2^-bits of a turn, at most an eighth of a turn in absolute value.
    bits : int
        At least 256.

    Returns
    -------
    tuple of int
        Sine and cosine.
    """
    r = (turn * pi(bits)) >> (bits - 1)
    square = (r * r) >> bits
    term = sine = r
    for k in itertools.count(2, 2):
        term = -((term * square) >> bits) // (k * (k + 1))
        if -1 <= term <= 0:  # where the floors of a negative series come to rest
            break
        sine += term
    return sine, math.isqrt((1 << (2 * bits)) - sine * sine)


def rounded(m: int, turns: Callable[[int], Sequence[int]], index: int) -> tuple[float, float]:
    """Cos and sin of m theta_index, correctly rounded, for m > 0.

    The product m theta / (2 pi) is reduced modulo one turn and then to an eighth of a turn from a
    quarter turn. It is within 2m units of the exact one, which is at most 4 pi m units of cos and
    sin, and `sine_cosine` adds `bits` units. If both ends of that interval have the same nearest
    float64, it is the answer (Ziv's test); if not, the number of bits is doubled. Division of
    integers rounds correctly in Python, for subnormal numbers too.

    Parameters
    ----------
    m : int
        The position, below 2^64.
    turns : callable
        From a number of bits to all theta_i / (2 pi) in units of 2^-bits, each within 2 units.
    index : int
        Which frequency.

    Returns
    -------
    tuple of float
        cos and sin.
    """
    bits = _START
    while True:
        one, quarter = 1 << bits, bits - 2
        fraction = (m * turns(bits)[index]) % one
        quarters = (fraction + (one >> 3)) >> quarter
        s, c = sine_cosine(fraction - (quarters << quarter), bits)
        cos, sin = ((c, s), (-s, c), (-c, -s), (s, -c))[quarters % 4]
        error = 13 * m + bits
        low = (cos - error) / one, (sin - error) / one
        high = (cos + error) / one, (sin + error) / one
        if low == high:
            return low
        bits *= 2
