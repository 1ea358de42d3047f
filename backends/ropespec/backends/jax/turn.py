"""The rotation by given tables as one loop over x, differentiable any number of times (ROT-22).

Plain operations would do, but for two things: the integer arithmetic below has no gradient, and
the loop that JAX derives for the gradient is not the loop of the rotation. So the rotation is a
primitive of its own, linear in x, whose transpose is the rotation by the opposite angle (ROT-20).
Unlike `jax.custom_vjp` it allows forward mode, and unlike `linear_call` mapping. Gradients need
the tables and never x.
"""

from typing import Any, cast

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ropespec.backends.jax.arrays import Array, arithmetic, traced
from ropespec.backends.jax.loop import turned_pairs
from ropespec.backends.jax.tables import row

__all__ = ["turn", "turned"]

_turn_p: Any = Primitive("ropespec_turn")


def turn(x: Array, *tables: Array, interleaved: bool) -> Array:
    """R_m x by tables, without any check; to be called while JAX traces or differentiates.

    Parameters
    ----------
    x : jax.Array of float, shape (..., S, H, D)
        Queries or keys.
    *tables : jax.Array
        cos and sin, of shape (S, r/2) or (..., S, r/2), or both in one with an axis of two before;
        no gradient flows into them.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.

    Returns
    -------
    jax.Array, shape and dtype of `x`
        Rounded once; components from r on pass through bit for bit.
    """
    result: Array = _turn_p.bind(
        *_varying_alike(x, *tables), interleaved=interleaved, backwards=False
    )
    return result


def _turned(x: Array, *tables: Array, interleaved: bool, backwards: bool) -> Array:
    cos, sin = tables if len(tables) == 2 else (row(tables[0], k) for k in range(2))
    cos, sin = (lax.convert_element_type(table, arithmetic(x.dtype)) for table in (cos, sin))
    return turned_pairs(x, cos, sin, interleaved=interleaved, backwards=backwards)


turned = traced("interleaved", "backwards")(_turned)
"""`turn`, or the rotation by the opposite angle, as one program: for arrays that have values."""


def _varying_alike(*arrays: Array) -> list[Array]:
    """Mark all as varying over the same axes of a mesh, as `jax.shard_map` wants of operands."""
    axes: list[frozenset[str]] = [
        getattr(jax.typeof(array), "vma", frozenset()) for array in arrays
    ]
    union = frozenset[str]().union(*axes)
    return [
        _vary(array, tuple(sorted(union - own))) if union - own else array
        for array, own in zip(arrays, axes, strict=True)
    ]


def _vary(array: Array, axes: tuple[str, ...]) -> Array:
    if hasattr(lax, "pcast"):
        return cast("Array", lax.pcast(array, axes, to="varying"))
    pvary = getattr(lax, "pvary")  # noqa: B009  # its name before JAX 0.9, unknown to types now
    return cast("Array", pvary(array, axes))


def _jvp(primals: Any, tangents: Any, **how: bool) -> Any:  # noqa: ANN401  # a rule of JAX
    x, *tables = primals
    tangent = tangents[0]  # whatever those of the tables are
    y = _turn_p.bind(x, *tables, **how)
    return y, tangent if type(tangent) is ad.Zero else _turn_p.bind(tangent, *tables, **how)


def _transpose(cotangent: Any, x: Any, *tables: Array, interleaved: bool, backwards: bool) -> Any:  # noqa: ANN401  # a rule of JAX
    how = {"interleaved": interleaved, "backwards": not backwards}
    if type(cotangent) is ad.Zero:
        back = ad.Zero(x.aval)
    else:
        back = _turn_p.bind(cotangent, *tables, **how)
    return back, *(None for _ in tables)


def _batch(arrays: Any, axes: Any, *, interleaved: bool, backwards: bool) -> Any:  # noqa: ANN401  # a rule of JAX
    return _mapped(*arrays, axes=tuple(axes), interleaved=interleaved, backwards=backwards), 0


@traced("axes", "interleaved", "backwards")
def _mapped(
    x: Array, *tables: Array, axes: tuple[int | None, ...], interleaved: bool, backwards: bool
) -> Array:
    """Put the mapped axis first; tables that have it get every axis of x but that of the heads."""
    at, *places = axes
    x, *both = (
        a if axis is None else jnp.moveaxis(a, axis, 0)
        for a, axis in zip((x, *tables), axes, strict=True)
    )
    size = next(len(a) for a, axis in zip((x, *both), axes, strict=True) if axis is not None)
    if at is None:
        x = jnp.broadcast_to(x, (size, *x.shape))
    if len(both) == 1:  # cos and sin in one
        both = list(both[0] if places[0] is None else jnp.moveaxis(both[0], 1, 0))
        places *= 2
    cos, sin = jnp.broadcast_arrays(  # as the loop wants them, where one of them alone is mapped
        *(
            t if axis is None else t.reshape(size, *(1,) * (x.ndim - 1 - t.ndim), *t.shape[1:])
            for t, axis in zip(both, places, strict=True)
        )
    )
    result: Array = _turn_p.bind(x, cos, sin, interleaved=interleaved, backwards=backwards)
    return result


_turn_p.def_impl(turned)
_turn_p.def_abstract_eval(lambda x, *_, **__: x)
ad.primitive_jvps[_turn_p] = _jvp
ad.primitive_transposes[_turn_p] = _transpose
batching.primitive_batchers[_turn_p] = _batch
mlir.register_lowering(_turn_p, mlir.lower_fun(_turned, multiple_results=False))
