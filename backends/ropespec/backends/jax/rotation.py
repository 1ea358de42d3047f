"""The sparse form of the rotation R_m x as a program (chapter `rotation`).

One loop over x. Its gradient is the same loop with the angle negated, and needs x no more;
derivatives of any order, forward and reverse, and mapping over x and positions are allowed
(ROT-20). On a CPU `jax.jit` with `donate_argnums` returns the result in the memory of x; on a GPU
the loop of adjacent pairs reads neighbours too, and XLA decides.
"""

from ropespec.backends.jax.arrays import Array, Limbs, arithmetic, traced
from ropespec.backends.jax.frequencies import Circle, unit_circle
from ropespec.backends.jax.turn import turn

__all__ = ["rotate", "rotate_at"]


@traced("interleaved")
def rotate(x: Array, tables: Circle, *, interleaved: bool) -> Array:
    """R_m x for x (..., S, H, D) of any float dtype, without any check."""
    cos, sin = (table.astype(arithmetic(x.dtype)) for table in tables)
    return turn(x, cos, sin, interleaved=interleaved)


@traced("interleaved")
def rotate_at(x: Array, positions: Limbs | Array, steps: Limbs, *, interleaved: bool) -> Array:
    """R_m x with its tables in one program, which takes longer to compile than `rotate` does."""
    cos, sin = unit_circle(positions, steps, arithmetic(x.dtype))
    return turn(x, cos, sin, interleaved=interleaved)
