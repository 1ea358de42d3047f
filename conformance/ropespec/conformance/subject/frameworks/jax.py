"""Arrays of JAX, and its transforms."""

import contextlib
import functools
import importlib
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ropespec.conformance.frameworks.jax import FRAMEWORK
from ropespec.conformance.subject.errors import NotDifferentiable
from ropespec.conformance.subject.frameworks.base import Array, Arrays, Function, Request

__all__ = ["ARRAYS"]


class _Jax(Arrays):
    about = FRAMEWORK

    def __init__(self, device: str | None) -> None:
        self._device = None
        if device is not None:
            platform, _, index = device.partition(":")
            self._device = jax.devices(platform)[int(index or 0)]
        found = self._device or jax.devices()[0]
        self.device = f"{found.platform}:{found.id}"
        self._compiled: dict[object, Callable[..., Any]] = {}

    @staticmethod
    def where(array: jax.Array) -> str:
        return ", ".join(sorted(f"{device.platform}:{device.id}" for device in array.devices()))

    def array(self, values: np.ndarray) -> jax.Array | np.ndarray:
        if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and not _x64():
            # Outside x64 JAX wraps integers beyond 32 bits without a word.
            narrow = np.dtype(np.int32 if values.dtype.kind == "i" else np.uint32)
            limits = np.iinfo(narrow)
            if values.size and not limits.min <= values.min() <= values.max() <= limits.max:
                return values
            values = values.astype(narrow)
        # A copy, since JAX may share memory with NumPy; `jax.numpy.array` would compile one for
        # every new shape.
        made: jax.Array = jax.device_put(values.copy(), self._device)
        return made

    def scope(self, arrays: Sequence[np.ndarray]) -> AbstractContextManager[Any]:
        wide = any(array.dtype.name in ("float64", "complex128") for array in arrays)
        if not wide or _x64():
            return contextlib.nullcontext()
        enable = getattr(jax, "enable_x64", None)
        if enable is None:
            enable = importlib.import_module("jax.experimental").enable_x64
        found: AbstractContextManager[Any] = enable(True)
        return found

    def finish(self, result: Array) -> None:
        jax.block_until_ready(result)  # type: ignore[no-untyped-call]  # it says no types

    def gradient(self, function: Function, x: jax.Array, cotangent: jax.Array) -> jax.Array:
        errors = jax.errors
        untraceable = (errors.ConcretizationTypeError, errors.TracerArrayConversionError)
        try:
            y, pull = jax.vjp(function, x)
        except untraceable as error:
            raise NotDifferentiable(f"JAX cannot trace it ({type(error).__name__})") from error
        if not isinstance(y, jax.Array):
            raise NotDifferentiable(f"the result is no JAX array but {type(y).__name__}")
        found: jax.Array = pull(cotangent.astype(y.dtype))[0]
        return found

    # Transforms

    def jvp(self, request: Request) -> Sequence[jax.Array]:
        y, tangent = jax.jvp(request.of_x, (request.given[0],), (request.extra[0],))
        return y, tangent

    def second(self, request: Request) -> Sequence[jax.Array]:
        def back(x: jax.Array, c: jax.Array) -> jax.Array:
            found: jax.Array = jax.vjp(request.of_x, x)[1](c)[0]
            return found

        c, u = request.extra
        dx, dc = jax.vjp(back, request.given[0], c)[1](u)
        return dc, dx

    def vmap(self, request: Request) -> jax.Array:
        mapped: jax.Array = jax.vmap(request.of, in_axes=request.axes)(*request.given)
        return mapped

    def compiled(self, request: Request) -> Sequence[jax.Array]:
        key = (request.function, json.dumps(request.named, sort_keys=True))
        if key not in self._compiled:
            traced = functools.partial(_both, request.function, request.named)
            self._compiled[key] = jax.jit(traced)
        found: Sequence[jax.Array] = self._compiled[key](request.given, request.extra)
        return found

    def constants(self, request: Request) -> Sequence[jax.Array]:
        _, pull = jax.vjp(request.of, *request.given)
        found = pull(request.extra[0])[1:]
        return [item for item in found if jnp.issubdtype(item.dtype, jnp.floating)]

    def two_calls(self, request: Request) -> Sequence[jax.Array]:
        c, d, n = request.extra
        x, m, *rest = request.given
        _, pull = jax.vjp(lambda x: (request.of(x, m, *rest), request.of(x, n, *rest)), x)
        (found,) = pull((c, d))
        return (found,)


def _x64() -> bool:
    return bool(jax.config.jax_enable_x64)  # type: ignore[attr-defined]  # made at run time


def _both(
    function: Function, named: dict[str, Any], given: Sequence[jax.Array], c: Sequence[jax.Array]
) -> Sequence[jax.Array]:
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


ARRAYS = _Jax
