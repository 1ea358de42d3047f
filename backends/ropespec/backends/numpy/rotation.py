"""The sparse form of the rotation R_m x (chapter `rotation`)."""

import numpy as np
from numpy.typing import ArrayLike

from ropespec.backends.derived.out import writes_into_out
from ropespec.backends.numpy import compiled, plain
from ropespec.backends.numpy.arguments import read_call, read_tables
from ropespec.backends.numpy.arrays import Array
from ropespec.backends.numpy.overlap import check_target

__all__ = ["apply_rotary", "apply_rotary_cos_sin"]


@writes_into_out("With Numba, nothing else of the size of `x` is allocated.")
def apply_rotary(
    x: Array,
    positions: ArrayLike,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
    out: Array | None = None,
) -> Array:
    look = base, rotary_dim
    turned = compiled.turn_at_once(x, positions, look, interleaved=interleaved, out=out)
    if turned is not None:
        return turned
    m, interleaved, base, dim = read_call(
        x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim
    )
    if out is not None:
        check_target(out, x, m)
    wide, look = m.astype(np.int64, copy=False), (base, dim)
    turned = compiled.turn_at_once(x, wide, look, interleaved=interleaved, out=out, is_checked=True)
    if turned is not None:
        return turned
    return plain.rotate_positions(x, m, dim, base, interleaved=interleaved, out=out)


@writes_into_out()
def apply_rotary_cos_sin(
    x: Array, cos: Array, sin: Array, *, interleaved: bool, out: Array | None = None
) -> Array:
    given = sin if isinstance(sin, np.ndarray) else None
    turned = compiled.turn_at_once(x, cos, given, interleaved=interleaved, out=out)
    if turned is not None:
        return turned
    interleaved = read_tables(x, cos, sin, interleaved=interleaved)
    if out is not None:
        check_target(out, x, cos, sin)
    turned = compiled.turn_at_once(x, cos, sin, interleaved=interleaved, out=out, is_checked=True)
    if turned is not None:
        return turned
    return plain.rotate_tables(x, cos, sin, interleaved=interleaved, out=out)
