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

from ropespec.backends.jax.arrays import Array, traced
from ropespec.backends.jax.loop import turned_pairs

__all__ = ["turn"]

_turn_p: Any = Primitive("ropespec_turn")


def turn(x: Array, cos: Array, sin: Array, *, interleaved: bool) -> Array:
    """R_m x by tables, without any check; to be called while tracing.

    Parameters
    ----------
    x : jax.Array of float, shape (..., S, H, D)
        Queries or keys.
    cos, sin : jax.Array, shape (S, r/2) or (..., S, r/2)
        In the arithmetic dtype of `x`; no gradient flows into them.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.

    Returns
    -------
    jax.Array, shape and dtype of `x`
        Rounded once; components from r on pass through bit for bit.
    """
    operands = _varying_alike(x, lax.stop_gradient(cos), lax.stop_gradient(sin))
    result: Array = _turn_p.bind(*operands, interleaved=interleaved)
    return result


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


@traced("interleaved")
def _impl(x: Array, cos: Array, sin: Array, *, interleaved: bool) -> Array:
    return turned_pairs(x, cos, sin, interleaved=interleaved)


def _jvp(primals: Any, tangents: Any, *, interleaved: bool) -> Any:  # noqa: ANN401  # a rule of JAX
    x, cos, sin = primals
    tangent = tangents[0]  # no other can be there: the tables' are stopped
    return tuple(_turn_p.bind(one, cos, sin, interleaved=interleaved) for one in (x, tangent))


def _transpose(cotangent: Any, x: Any, cos: Array, sin: Array, *, interleaved: bool) -> Any:  # noqa: ANN401  # a rule of JAX
    if type(cotangent) is ad.Zero:
        return ad.Zero(x.aval), None, None
    return _turn_p.bind(cotangent, cos, -sin, interleaved=interleaved), None, None


def _batch(arrays: Any, axes: Any, *, interleaved: bool) -> Any:  # noqa: ANN401  # a rule of JAX
    """Put the mapped axis first; tables that have it get every axis of x but that of the heads."""
    size = next(a.shape[axis] for a, axis in zip(arrays, axes, strict=True) if axis is not None)
    x, *tables = (
        a if axis is None else jnp.moveaxis(a, axis, 0)
        for a, axis in zip(arrays, axes, strict=True)
    )
    if axes[0] is None:
        x = jnp.broadcast_to(x, (size, *x.shape))
    cos, sin = (
        t if axis is None else t.reshape(size, *(1,) * (x.ndim - 1 - t.ndim), *t.shape[1:])
        for t, axis in zip(tables, axes[1:], strict=True)
    )
    return _turn_p.bind(x, cos, sin, interleaved=interleaved), 0


_turn_p.def_impl(_impl)
_turn_p.def_abstract_eval(lambda x, *_, **__: x)
ad.primitive_jvps[_turn_p] = _jvp
ad.primitive_transposes[_turn_p] = _transpose
batching.primitive_batchers[_turn_p] = _batch
mlir.register_lowering(_turn_p, mlir.lower_fun(turned_pairs, multiple_results=False))
