"""Transforms of JAX; imported by a worker only."""

import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from ropespec.conformance.subject.errors import NotPossible
from ropespec.conformance.subject.transforms import Request

__all__ = ["transforms"]


class _Jax:
    """See `Transforms`."""

    def __init__(self) -> None:
        self._compiled: dict[object, Callable[..., Any]] = {}

    def jvp(self, request: Request) -> Sequence[Array]:
        y, tangent = jax.jvp(request.of_x, (request.given[0],), (request.extra[0],))
        return y, tangent

    def second(self, request: Request) -> Sequence[Array]:
        def back(x: Array, c: Array) -> Array:
            found: Array = jax.vjp(request.of_x, x)[1](c)[0]
            return found

        c, u = request.extra
        dx, dc = jax.vjp(back, request.given[0], c)[1](u)
        return dc, dx

    def vmap(self, request: Request) -> Array:
        mapped: Array = jax.vmap(request.of, in_axes=request.axes)(*request.given)
        return mapped

    def compiled(self, request: Request) -> Sequence[Array]:
        key = (request.function, json.dumps(request.named, sort_keys=True))
        if key not in self._compiled:
            traced = functools.partial(_both, request.function, request.named)
            self._compiled[key] = jax.jit(traced)
        found: Sequence[Array] = self._compiled[key](request.given, request.extra)
        return found

    def constants(self, request: Request) -> Sequence[Array]:
        _, pull = jax.vjp(request.of, *request.given)
        found = pull(request.extra[0])[1:]
        return [item for item in found if jnp.issubdtype(item.dtype, jnp.floating)]

    def two_calls(self, request: Request) -> Sequence[Array]:
        c, d, n = request.extra
        x, m, *rest = request.given
        _, pull = jax.vjp(lambda x: (request.of(x, m, *rest), request.of(x, n, *rest)), x)
        (found,) = pull((c, d))
        return (found,)

    def unrecorded(self, request: Request) -> Array:
        del request
        raise NotPossible("JAX records nothing")

    def into(self, request: Request) -> Sequence[Array]:
        del request
        raise NotPossible("JAX arrays are not written to")


def _both(
    function: Callable[..., Any], named: dict[str, Any], given: Sequence[Array], c: Sequence[Array]
) -> Sequence[Array]:
    """Return f(x), and J^T c where there is one."""
    x, *rest = given
    y = function(x, *rest, **named)
    if not c:
        return (y,)
    try:
        back = jax.vjp(lambda x: function(x, *rest, **named), x)[1](c[0])[0]
    except Exception:  # noqa: BLE001  # the gradient is the business of ROT-20
        return (y,)
    return y, back


@functools.cache
def transforms() -> _Jax:
    """Return the one instance of this process, which keeps what was compiled."""
    return _Jax()
