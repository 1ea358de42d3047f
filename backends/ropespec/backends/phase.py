"""Turns per position as 64-bit fractions, computed once in exact arithmetic (FREQ-9).

An angle is a fraction of a turn. With T_i = round(theta_i / (2 pi) * 2^64), the fraction at
position m is (m * T_i) mod 2^64, exact in integers however large m is; int64 and uint64 wrap by
themselves. cos and sin then see an angle within half a turn, so their error does not grow with m:
it is below |m| * 2^-65 turns, 3.7e-10 radians at position 2^31.
"""

import functools
from decimal import Context, Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

__all__ = ["TWO_PI", "turns"]

TWO_PI = Decimal("6.283185307179586476925286766559005768394338798750211641949889")
"""2 pi to 60 decimals (OEIS A019692)."""


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
        step = -Decimal(base).ln() * 2 / dim
        scale = Decimal(2**64) / TWO_PI
        values = [int(((step * i).exp() * scale).to_integral_value()) for i in range(dim // 2)]
    table = np.array(values, dtype=np.uint64)
    table.flags.writeable = False
    return table
