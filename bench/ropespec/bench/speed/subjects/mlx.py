"""mlx: `mx.fast.rope`, both layouts, on (B, H, S, D) views of (B, S, H, D)."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.base import Subject
from ropespec.bench.speed.timing import Operation

__all__ = ["MLX"]


class MLX(Subject):
    """The function with an offset; it evaluates on its CPU device."""

    def __init__(self, device: str) -> None:  # noqa: ARG002  # its CUDA device is not tried
        self._mx = importlib.import_module("mlx.core")
        self._mx.set_default_device(self._mx.cpu)

    def operation(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Operation:
        """Return the evaluation of the rotation, or of it and its vector-Jacobian product."""
        mx, own = self._mx, self._array(case, x)
        offset, dims = int(positions[0]), case.shape[-1]

        def rotate(value: Any) -> Any:  # noqa: ANN401  # no types
            turned = mx.fast.rope(
                value.transpose(0, 2, 1, 3),
                dims,
                traditional=case.interleaved,
                base=10000.0,
                scale=1.0,
                offset=offset,
            )
            return turned.transpose(0, 2, 1, 3)

        if case.direction == "forward":
            return Operation(self._evaluated(lambda: rotate(own)))

        def both() -> Any:  # noqa: ANN401  # no types
            results, gradients = mx.vjp(rotate, [own], [own])
            return results[0], gradients[0]

        return Operation(self._evaluated(both), tensors=2)

    def copy(self, case: Case, x: NDArray[Any]) -> tuple[str, Operation]:
        """Change every sign: mlx shares the memory of what is merely copied."""
        own = self._array(case, x)
        work = self._evaluated(lambda: self._mx.negative(own))
        return "mlx negative", Operation(work)

    def read(self, result: Any, tokens: NDArray[np.intp]) -> NDArray[np.float64]:  # noqa: ANN401  # as Subject
        """Return tokens as float64."""
        last = result[-1] if isinstance(result, tuple) else result
        chosen = last[:, self._mx.array(tokens)].astype(self._mx.float32)
        return np.array(chosen).astype(np.float64)

    def _array(self, case: Case, x: NDArray[Any]) -> Any:  # noqa: ANN401  # no types
        own = self._mx.array(x.astype(np.float32)).astype(getattr(self._mx, case.dtype))
        self._mx.eval(own)
        return own

    def _evaluated(self, make: Callable[[], Any]) -> Callable[[], Any]:
        """Return a call that makes a value and evaluates it at once."""

        def call() -> Any:  # noqa: ANN401  # no types
            value = make()
            self._mx.eval(value)
            return value

        return call
