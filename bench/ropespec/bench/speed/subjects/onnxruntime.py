"""onnxruntime's RotaryEmbedding of opset 23 on the CPU: both layouts, forward alone."""

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.base import UnavailableError
from ropespec.bench.speed.subjects.numpy_base import NumpySubject
from ropespec.bench.speed.timing import Operation

__all__ = ["OnnxRuntime"]

OPSET = 23


class OnnxRuntime(NumpySubject):
    """One node on (B, S, H D) whose output is bound to given memory.

    Unbound results lie in an arena that keeps its memory: they are no new memory either. The
    tables are an input, here of float32 angles as peers make them.
    """

    ways = frozenset({("forward", "out")})

    def __init__(self, device: str) -> None:
        super().__init__(device)
        self._onnx = importlib.import_module("onnx")
        self._runtime = importlib.import_module("onnxruntime")
        self._kept: tuple[Case, Any] | None = None

    def operation(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Operation:
        """Return a run of the session."""
        batch, length, heads, head_dim = case.shape
        if case.dtype == "bfloat16":
            raise UnavailableError("onnxruntime's CPU has no bfloat16 RotaryEmbedding")
        half = head_dim // 2
        inv_freq = np.float32(10000.0) ** (-np.arange(half, dtype=np.float32) / np.float32(half))
        angles = positions.astype(np.float32)[:, None] * inv_freq
        feed = {
            "x": x.reshape(batch, length, heads * head_dim).copy(),
            "cos": np.cos(angles).astype(x.dtype),
            "sin": np.sin(angles).astype(x.dtype),
            "m": np.broadcast_to(np.arange(length), (batch, length)).copy(),
        }
        session = self._session(case)
        binding = session.io_binding()
        values = {name: self._runtime.OrtValue.ortvalue_from_numpy(a) for name, a in feed.items()}
        for name, value in values.items():
            binding.bind_ortvalue_input(name, value)
        given = self._runtime.OrtValue.ortvalue_from_numpy(np.zeros_like(feed["x"]))
        binding.bind_ortvalue_output("y", given)

        def call() -> Any:  # noqa: ANN401  # no types
            session.run_with_iobinding(binding)
            return given, values, case.shape

        return Operation(call)

    def read(self, result: Any, tokens: NDArray[np.intp]) -> NDArray[np.float64]:  # noqa: ANN401  # as Subject
        """Return tokens as float64."""
        value, _, shape = result
        return super().read(value.numpy().reshape(shape), tokens)

    def _session(self, case: Case) -> Any:  # noqa: ANN401  # no types
        if self._kept is None or self._kept[0] != case:
            self._kept = (case, self._runtime.InferenceSession(self._model(case)))
        return self._kept[1]

    def _model(self, case: Case) -> bytes:
        make, kinds = self._onnx.helper, self._onnx.TensorProto
        batch, length, heads, head_dim = case.shape
        kind = kinds.FLOAT if case.dtype == "float32" else kinds.FLOAT16
        whole, table = (batch, length, heads * head_dim), (length, head_dim // 2)
        node = make.make_node(
            "RotaryEmbedding",
            ["x", "cos", "sin", "m"],
            ["y"],
            interleaved=int(case.interleaved),
            num_heads=heads,
        )
        inputs = [
            make.make_tensor_value_info("x", kind, whole),
            make.make_tensor_value_info("cos", kind, table),
            make.make_tensor_value_info("sin", kind, table),
            make.make_tensor_value_info("m", kinds.INT64, (batch, length)),
        ]
        graph = make.make_graph(
            [node], "rotation", inputs, [make.make_tensor_value_info("y", kind, whole)]
        )
        opset = make.make_opsetid("", OPSET)
        model = make.make_model(graph, opset_imports=[opset], ir_version=10)
        content: bytes = model.SerializeToString()
        return content
