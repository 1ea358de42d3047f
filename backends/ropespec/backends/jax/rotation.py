"""The sparse form of the rotation R_m x as a program (chapter `rotation`).

One loop over x. Its gradient is the same loop with the angle negated, and needs x no more;
derivatives of any order, forward and reverse, and mapping over x and positions are allowed
(ROT-20). On a CPU `jax.jit` with `donate_argnums` returns the result in the memory of x; on a GPU
the loop of adjacent pairs reads neighbours too, and XLA decides.
"""

import jax

from ropespec.backends.jax.arrays import Array, Limbs, arithmetic, traced
from ropespec.backends.jax.frequencies import unit_circle
from ropespec.backends.jax.turn import turn, turned

__all__ = ["rotate", "rotate_at"]


def rotate(x: Array, *tables: Array, interleaved: bool) -> Array:
    """R_m x for x (..., S, H, D) of any float dtype, without any check; tables as `turn` has them.

    What is differentiated is rotated by the program that rotates, whose tables are all it keeps.
    """
    if any(isinstance(array, jax.core.Tracer) for array in (x, *tables)):
        return turn(x, *tables, interleaved=interleaved)
    return turned(x, *tables, interleaved=interleaved, backwards=False)


@traced("interleaved")
def rotate_at(x: Array, positions: Limbs | Array, steps: Limbs, *, interleaved: bool) -> Array:
    """R_m x with its tables in one program, which takes longer to compile than `rotate` does."""
    return turn(x, unit_circle(positions, steps, arithmetic(x.dtype)), interleaved=interleaved)
