"""The sparse form of the rotation R_m x (chapter `rotation`)."""

import numpy as np
from numpy.typing import ArrayLike

from ropespec.backends.cpu.machine import is_able
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
    m, call = read_call(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    reused = out is not None
    out = np.empty(x.shape, x.dtype) if out is None else check_target(out, x, m)

    options = m, call.rotary_dim, call.base
    if call.dtypes is not None and is_able():
        compiled.rotate_positions(
            x, out, *options, interleaved=call.interleaved, dtype=call.dtypes[0], reused=reused
        )
    else:
        plain.rotate_positions(x, out, *options, interleaved=call.interleaved)
    return out


@writes_into_out()
def apply_rotary_cos_sin(
    x: Array, cos: Array, sin: Array, *, interleaved: bool, out: Array | None = None
) -> Array:
    call = read_tables(x, cos, sin, interleaved=interleaved)
    reused = out is not None
    out = np.empty(x.shape, x.dtype) if out is None else check_target(out, x, cos, sin)
    if call.dtypes is not None and is_able():
        how = {"interleaved": call.interleaved, "reused": reused}
        compiled.rotate_tables(x, out, cos, sin, dtypes=call.dtypes, **how)
    else:
        plain.rotate_tables(x, out, cos, sin, interleaved=call.interleaved)
    return out
