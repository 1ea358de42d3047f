"""Correctly rounded cos and sin of m * theta_i at any position (clause JDG-1).

The angle never becomes a floating-point number of radians.

1. `powers`: theta_i / (2 pi) as a fixed-point number of turns, from `decimal`.
2. `phase`: its product with m modulo one turn, exact in 32-bit limbs, split into the nearest of
   2048 directions and the rest of the angle.
3. `expansion`: cos and sin as the sum of two floats, from a table (`table`) and a short Taylor
   series, with a bound of their error.
4. `evaluate`: both ends of the error interval are rounded. Where they give the same float64, that
   is the correctly rounded value, whatever the error was.
5. Where they differ (about one angle in ten thousand), `exact` decides in integers of as many bits
   as it takes.

Small angles take a shorter way: `small` goes from theta_i in two floats to an expansion, and steps
4 and 5 follow.

Step 5 always ends: base^(-2i/dim) is algebraic, so for m != 0 cos and sin of m theta_i are
transcendental (Lindemann-Weierstrass), and never halfway between two floats. Where a scheme makes
theta_i zero there is nothing to decide.

Only NumPy and the standard library are used, and nothing of the reference or the backends.
"""

from ropespec.conformance.judge.oracle.evaluate import cos_sin
from ropespec.conformance.judge.oracle.powers import frequencies

__all__ = ["ORACLE_ERROR", "cos_sin", "frequencies"]

ORACLE_ERROR = 2.0**-54
"""Bound on the absolute error of a value of `cos_sin`.

Neighbouring floats in [1/2, 1] are 2^-53 apart and closer below, so rounding a number of [-1, 1] to
the nearest float64 moves it by at most half of that.
"""
