"""onnx and onnxruntime: the operator `RotaryEmbedding`, on tables of exact angles."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["microsoft", "reference", "runtime"]

Array = NDArray[Any]


@functools.cache
def _tables(head_dim: int, dtype: str) -> tuple[Array, Array]:
    theta = 10000.0 ** (-np.arange(0, head_dim, 2) / head_dim)
    angles = np.outer(np.arange(32768), theta)
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def reference(x: Array, positions: Array, *, interleaved: bool) -> Array:
    """Rotate x (B, H, S, D) by the NumPy form that the standard comes with."""
    from onnx.reference.ops.op_rotary_embedding import rotary_embedding  # noqa: PLC0415  # or the other

    cos, sin = _tables(x.shape[-1], str(x.dtype))
    return rotary_embedding(x, cos, sin, positions, interleaved=interleaved)


@functools.cache
def _session(domain: str, dtype: str, *, interleaved: bool) -> Any:  # noqa: ANN401  # its class has no types
    import onnxruntime  # noqa: PLC0415  # as above
    from onnx import TensorProto, helper  # noqa: PLC0415  # as above

    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    x, y = (helper.make_tensor_value_info(name, number, [None] * 4) for name in ("x", "y"))
    names = ["x", "ids", "cos", "sin"] if domain else ["x", "cos", "sin", "ids"]
    node = helper.make_node("RotaryEmbedding", names, ["y"], domain=domain, interleaved=interleaved)
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [None] * 2)
    tables = [helper.make_tensor_value_info(one, number, [None] * 2) for one in ("cos", "sin")]
    graph = helper.make_graph([node], "rope", [x, ids, *tables], [y])
    domains = [helper.make_opsetid("", 23)]
    domains += [helper.make_opsetid(domain, 1)] if domain else []
    model = helper.make_model(graph, opset_imports=domains, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def _run(domain: str, x: Array, positions: Array, *, interleaved: bool) -> Array:
    cos, sin = _tables(x.shape[-1], str(x.dtype))
    given = {"x": np.ascontiguousarray(x), "ids": positions, "cos": cos, "sin": sin}
    session = _session(domain, str(x.dtype), interleaved=interleaved)
    return session.run(None, given)[0]


def runtime(x: Array, positions: Array, *, interleaved: bool) -> Array:
    """Rotate x by onnxruntime: the operator of the standard, opset 23."""
    return _run("", x, positions, interleaved=interleaved)


def microsoft(x: Array, positions: Array, *, interleaved: bool) -> Array:
    """Rotate x by onnxruntime: its own operator."""
    return _run("com.microsoft", x, positions, interleaved=interleaved)
