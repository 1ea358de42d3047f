"""Arrays of MLX, and its transforms."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx
import numpy as np

from ropespec.conformance.frameworks.mlx import FRAMEWORK
from ropespec.conformance.subject.errors import NotDifferentiable
from ropespec.conformance.subject.frameworks.base import Array, Arrays, Function, Request

__all__ = ["ARRAYS"]


class _Mlx(Arrays):
    about = FRAMEWORK

    def __init__(self, device: str | None) -> None:
        if device is not None:
            kind, _, index = device.partition(":")
            if kind not in ("cpu", "gpu"):
                raise ValueError("its devices are cpu and gpu")
            mx.set_default_device(mx.Device(getattr(mx, kind), int(index or 0)))
        self.device = "gpu" if mx.default_device().type == mx.gpu else "cpu"
        self._compiled: dict[object, Callable[..., Any]] = {}

    @staticmethod
    def host(array: mx.array) -> np.ndarray:
        if array.dtype == mx.bfloat16:
            import ml_dtypes  # noqa: PLC0415  # only bfloat16 needs it

            bits: np.ndarray = np.asarray(array.view(mx.uint16))
            return bits.view(ml_dtypes.bfloat16)
        return np.asarray(array)

    def array(self, values: np.ndarray) -> mx.array:
        if values.dtype.name == "bfloat16":
            return mx.array(values.view(np.uint16)).view(mx.bfloat16)
        return mx.array(values, dtype=mx.float64 if values.dtype == np.float64 else None)

    def finish(self, result: Array) -> None:
        items = result if isinstance(result, (tuple, list)) else (result,)
        mx.eval([item for item in items if isinstance(item, mx.array)])

    def gradient(self, function: Function, x: mx.array, cotangent: mx.array) -> mx.array:
        def of_x(x: mx.array) -> mx.array:
            y = function(x)
            if not isinstance(y, mx.array):
                raise NotDifferentiable(f"the result is no MLX array but {type(y).__name__}")
            return y.astype(cotangent.dtype)

        return mx.vjp(of_x, [x], [cotangent])[1][0]

    # Transforms

    def jvp(self, request: Request) -> Sequence[mx.array]:
        (y,), (tangent,) = mx.jvp(request.of_x, [request.given[0]], [request.extra[0]])
        return y, tangent

    def second(self, request: Request) -> Sequence[mx.array]:
        def back(x: mx.array, c: mx.array) -> mx.array:
            return mx.vjp(request.of_x, [x], [c])[1][0]

        c, u = request.extra
        _, (dx, dc) = mx.vjp(back, [request.given[0], c], [u])
        return dc, dx

    def vmap(self, request: Request) -> mx.array:
        return mx.vmap(request.of, in_axes=request.axes)(*request.given)

    def compiled(self, request: Request) -> Sequence[mx.array]:
        key = (request.function, json.dumps(request.named, sort_keys=True))
        if key not in self._compiled:
            self._compiled[key] = mx.compile(_both(request.function, request.named))
        found: Sequence[mx.array] = self._compiled[key](request.given, request.extra)
        return found

    def constants(self, request: Request) -> Sequence[mx.array]:
        given = request.given
        sought = [i for i in range(1, len(given)) if mx.issubdtype(given[i].dtype, mx.floating)]

        def of(*items: mx.array) -> mx.array:
            put = dict(zip(sought, items, strict=True))
            return request.of(*(put.get(i, item) for i, item in enumerate(given)))

        found: Sequence[mx.array] = mx.vjp(of, [given[i] for i in sought], request.extra)[1]
        return found

    def two_calls(self, request: Request) -> Sequence[mx.array]:
        c, d, n = request.extra
        x, m, *rest = request.given
        both = mx.vjp(lambda x: (request.of(x, m, *rest), request.of(x, n, *rest)), [x], [c, d])
        found: Sequence[mx.array] = both[1]
        return found


def _both(function: Function, named: dict[str, Any]) -> Function:
    """Return what gives f(x), and J^T c where there is one."""

    def of(given: Sequence[mx.array], c: Sequence[mx.array]) -> Sequence[mx.array]:
        x, *rest = given
        y = function(x, *rest, **named)
        if not c:
            return (y,)
        try:
            back = mx.vjp(lambda x: function(x, *rest, **named), [x], list(c))[1][0]
        except Exception:  # noqa: BLE001  # the gradient is the business of ROT-20
            return (y,)
        return y, back

    return of


ARRAYS = _Mlx
