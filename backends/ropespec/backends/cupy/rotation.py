"""The sparse form of the rotation R_m x in one CUDA kernel (chapter `rotation`).

It runs on the current stream of the device of x, and more than once where batch axes have strides
that cannot be read as those of one axis. Nothing of the size of x is allocated beside the result.
"""

import functools
from typing import NamedTuple

import cupy

from ropespec.backends.cupy.arrays import (
    Array,
    check_floats,
    device_of,
    name_of_dtype,
    on_device,
    positions_of,
)
from ropespec.backends.cupy.launch import Turn, launch
from ropespec.backends.cupy.overlap import check_target
from ropespec.backends.derived.out import writes_into_out
from ropespec.backends.glance import is_plain_turn
from ropespec.backends.namespace import arithmetic
from ropespec.backends.phase import turns
from ropespec.spec.arguments import (
    FLOAT_DTYPES,
    check_base,
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    check_tables,
    facts,
)

__all__ = ["apply_rotary", "apply_rotary_cos_sin", "apply_rotary_vjp"]


@writes_into_out("Nothing else of the size of `x` is allocated.")
def apply_rotary(
    x: Array,
    positions: Array,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
    out: Array | None = None,
) -> Array:
    call = _read(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    return _by_positions(x, call, out, inverse=False)


def apply_rotary_vjp(
    cotangent: Array,
    positions: Array,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
    out: Array | None = None,
) -> Array:
    """Pull a cotangent of `apply_rotary` back to `x`: the same kernel, turning back (ROT-20).

    Parameters, result and errors as in `apply_rotary`, with `cotangent` for `x`.
    """
    call = _read(cotangent, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    return _by_positions(cotangent, call, out, inverse=True)


@writes_into_out()
def apply_rotary_cos_sin(
    x: Array, cos: Array, sin: Array, *, interleaved: bool, out: Array | None = None
) -> Array:
    found = check_floats("x", x, ndim=3)
    check_floats("cos", cos, ndim=1)
    check_floats("sin", sin, ndim=1)
    interleaved = check_flag("interleaved", interleaved)
    dim = check_tables(cos, sin, found)
    with device_of(x):
        out = _target(x, out, cos, sin)
        if x.size:
            shape = (*x.shape[:-2], dim // 2)
            work = arithmetic(cupy, x.dtype)
            tables = tuple(
                cupy.broadcast_to(cupy.ascontiguousarray(on_device(table), dtype=work), shape)
                for table in (cos, sin)
            )
            turn = Turn(dim // 2, interleaved=interleaved, inverse=False, turns=None)
            launch(x, out, tables, turn)
    return out


class _Call(NamedTuple):
    """The checked arguments of one rotation."""

    positions: Array
    interleaved: bool
    base: float
    rotary_dim: int


def _read(
    x: Array, positions: Array, *, interleaved: bool, base: float, rotary_dim: int | None
) -> _Call:
    if rotary_dim is None and type(interleaved) is bool and _clearly_turns(x, positions, base):
        return _Call(positions, interleaved, base, x.shape[-1])
    shape = check_floats("x", x, ndim=3).shape
    m = positions_of(positions)
    interleaved, base = check_flag("interleaved", interleaved), check_base(base)
    dim = check_rotary_dim(rotary_dim, shape[-1])
    check_positions_fit(facts(m), shape[:-2])
    return _Call(m, interleaved, base, dim)


def _clearly_turns(x: Array, positions: Array, base: float) -> bool:
    """Whether the commonest call is plainly right; when in doubt, the checks take their time."""
    return (
        type(x) is cupy.ndarray
        and type(positions) is cupy.ndarray
        and type(base) is float
        and name_of_dtype(x.dtype) in FLOAT_DTYPES
        and name_of_dtype(positions.dtype) == "int64"
        and is_plain_turn(x.shape, positions.shape, base)
    )


def _target(x: Array, out: Array | None, *others: Array) -> Array:
    """Return where to write: `out`, if it is allowed, or a new array."""
    if out is None:
        return cupy.empty(x.shape, dtype=x.dtype)
    check_target(out, facts(x), x, *others)
    return out


def _by_positions(x: Array, call: _Call, out: Array | None, *, inverse: bool) -> Array:
    with device_of(x):
        out = _target(x, out, call.positions)
        if x.size:
            m = cupy.broadcast_to(on_device(call.positions), x.shape[:-2])
            table = _turns_on_device(call.rotary_dim, call.base, x.device.id)
            turn = Turn(call.rotary_dim // 2, call.interleaved, inverse, table)
            launch(x, out, (m,), turn)
    return out


@functools.cache
def _turns_on_device(dim: int, base: float, device: int) -> Array:
    """Copy T_i to one device; kept, since a table on its way out could still be in use."""
    with cupy.cuda.Device(device):
        table = cupy.asarray(turns(dim, base))
        cupy.cuda.get_current_stream().synchronize()  # other streams will read it too
    return table
