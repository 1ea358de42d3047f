"""ggml on the CPU, from the wheel of pywhispercpp: `ggml_rope_ext`, a row at a time."""

import ctypes
import importlib.metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["apply", "yarn"]

Array = NDArray[Any]
Pointer = ctypes.c_void_p
FLOAT, INT = ctypes.c_float, ctypes.c_int
KINDS = {"float32": 0, "float16": 1}
INT32, NEOX, ROOM = 26, 2, 2**20


class _Init(ctypes.Structure):
    """`ggml_init_params`."""

    _fields_ = (("size", ctypes.c_size_t), ("buffer", Pointer), ("no_alloc", ctypes.c_bool))


def _library(part: str) -> ctypes.CDLL:
    """Load a library that lies beside the package."""
    for file in importlib.metadata.files("pywhispercpp") or []:
        if file.name.startswith(f"libggml-{part}") and file.parent.name.endswith(".libs"):
            return ctypes.CDLL(str(file.locate()), mode=ctypes.RTLD_GLOBAL)
    raise ModuleNotFoundError(f"there is no libggml-{part} in pywhispercpp")


BASE, CPU = _library("base"), _library("cpu")
for _name in ("init", "new_tensor_4d", "new_tensor_1d", "rope_ext", "new_graph", "get_data"):
    getattr(BASE, f"ggml_{_name}").restype = Pointer
CPU.ggml_backend_cpu_init.restype = Pointer
BACKEND = Pointer(CPU.ggml_backend_cpu_init())
CPU.ggml_backend_cpu_set_n_threads(BACKEND, 1)


def _memory(tensor: Pointer, shape: tuple[int, ...], dtype: Any) -> Array:  # noqa: ANN401  # as NumPy
    address = BASE.ggml_get_data(tensor)
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.ndarray(shape, dtype, memoryview((ctypes.c_char * size).from_address(address)))


def _row(
    x: Array, positions: Array, mode: int, numbers: tuple[Any, ...], room: Array, out: Array
) -> None:
    """Rotate x (S, H, D), in memory for it that is there."""
    length, heads, head_dim = x.shape
    context = Pointer(BASE.ggml_init(_Init(room.nbytes, room.ctypes.data, False)))
    try:
        shape = (ctypes.c_int64(one) for one in (head_dim, heads, length, 1))
        given = Pointer(BASE.ggml_new_tensor_4d(context, INT(KINDS[str(x.dtype)]), *shape))
        places = Pointer(BASE.ggml_new_tensor_1d(context, INT(INT32), ctypes.c_int64(length)))
        sizes = (INT(head_dim), INT(mode))
        made = BASE.ggml_rope_ext(context, given, places, None, *sizes, *numbers)
        graph = Pointer(BASE.ggml_new_graph(context))
        BASE.ggml_build_forward_expand(graph, Pointer(made))
        _memory(given, x.shape, x.dtype)[...] = x
        _memory(places, positions.shape, np.int32)[...] = positions
        if BASE.ggml_backend_graph_compute(BACKEND, graph):
            raise RuntimeError("ggml_backend_graph_compute failed")
        out[...] = _memory(Pointer(made), x.shape, x.dtype)
    finally:
        BASE.ggml_free(context)


def _rotated(x: Array, positions: Array, mode: int, *numbers: Any) -> Array:  # noqa: ANN401  # numbers of C
    # One room for all rows: a megabyte from the heap for each, with results between, would leave
    # holes of that size.
    room = np.empty(2 * x[:1].nbytes + 4 * x.shape[1] + ROOM, np.uint8)
    y = np.empty(x.shape, x.dtype)
    for one, places, out in zip(x, positions, y, strict=True):
        _row(one, places, mode, numbers, room, out)
    return y


def apply(x: Array, positions: Array, *, interleaved: bool) -> Array:
    """Rotate x (B, S, H, D)."""
    plain = (FLOAT(10000.0), FLOAT(1.0), FLOAT(0.0), FLOAT(1.0), FLOAT(32.0), FLOAT(1.0))
    return _rotated(x, positions, 0 if interleaved else NEOX, INT(0), *plain)


def yarn(x: Array, positions: Array) -> Array:
    """Rotate x by YaRN: factor 8, original length 4096."""
    scaled = (FLOAT(10000.0), FLOAT(0.125), FLOAT(1.0), FLOAT(1.0), FLOAT(32.0), FLOAT(1.0))
    return _rotated(x, positions, NEOX, INT(4096), *scaled)
