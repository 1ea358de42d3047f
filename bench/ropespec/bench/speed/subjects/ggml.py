"""llama.cpp's ggml on the CPU, from a wheel that carries its shared libraries."""

import ctypes
import importlib.metadata
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.base import UnavailableError
from ropespec.bench.speed.subjects.numpy_base import NumpySubject
from ropespec.bench.speed.timing import Operation

__all__ = ["Ggml"]

PACKAGE = "pywhispercpp"
"""Its wheel brings libggml-base and libggml-cpu, built for the features of many processors."""

KINDS = {"float32": 0, "float16": 1}
"""GGML_TYPE_F32, GGML_TYPE_F16; its rope has no bfloat16, and would end the process."""

INT32 = 26
NEOX = 2
ROOM = 2**20
"""Bytes for the graph and the headers of its tensors."""

Pointer = ctypes.c_void_p


class _Init(ctypes.Structure):
    """`ggml_init_params`."""

    _fields_ = (("size", ctypes.c_size_t), ("buffer", Pointer), ("no_alloc", ctypes.c_bool))


class Ggml(NumpySubject):
    """`ggml_rope` into the memory of its graph, or `ggml_rope_inplace`; positions given."""

    ways = frozenset({("forward", "out"), ("forward", "self")})

    def __init__(self, device: str) -> None:
        super().__init__(device)
        self._base, self._cpu = (_library(part) for part in ("base", "cpu"))
        self._backend = self._of(self._cpu, "ggml_backend_cpu_init", Pointer)
        threads = len(os.sched_getaffinity(0))
        self._of(self._cpu, "ggml_backend_cpu_set_n_threads", None, self._backend, threads)

    def operation(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Operation:
        """Return the computation of a graph of one node."""
        if case.dtype not in KINDS:
            raise UnavailableError(f"ggml's rope has no {case.dtype}")
        context = _Context(self._base, 2 * x.nbytes + positions.nbytes + ROOM)
        batch, length, heads, head_dim = case.shape
        given = context("ggml_new_tensor_4d", KINDS[case.dtype], head_dim, heads, length, batch)
        places = context("ggml_new_tensor_1d", INT32, length)
        name = "ggml_rope" if case.into == "out" else "ggml_rope_inplace"
        mode = 0 if case.interleaved else NEOX
        result = context(name, Pointer(given), Pointer(places), head_dim, mode)
        graph = context("ggml_new_graph")
        self._of(self._base, "ggml_build_forward_expand", None, Pointer(graph), Pointer(result))
        context.array(given, x.shape, x.dtype)[...] = x
        context.array(places, positions.shape, np.dtype(np.int32))[...] = positions
        found = context.array(result, x.shape, x.dtype)
        compute, arguments = self._base.ggml_backend_graph_compute, (self._backend, Pointer(graph))

        def call() -> tuple[NDArray[Any], _Context]:
            if compute(*arguments):
                raise RuntimeError("ggml_backend_graph_compute failed")
            return found, context

        return Operation(call)

    def read(self, result: Any, tokens: NDArray[np.intp]) -> NDArray[np.float64]:  # noqa: ANN401  # as Subject
        """Return tokens as float64."""
        return super().read(result[0], tokens)

    @staticmethod
    def _of(library: ctypes.CDLL, name: str, kind: Any, *arguments: Any) -> Any:  # noqa: ANN401  # C
        function = library[name]
        function.restype = kind
        found = function(*arguments)
        return Pointer(found) if kind is Pointer else found


class _Context:
    """A `ggml_context` of its own, freed with the last that refers to it."""

    def __init__(self, library: ctypes.CDLL, size: int) -> None:
        self._library = library
        library.ggml_init.restype = Pointer
        self._context = Pointer(library.ggml_init(_Init(size, None, False)))

    def __call__(self, name: str, *arguments: Any) -> int:  # noqa: ANN401  # numbers and pointers of C
        """Make something in it: dimensions are int64, all else int."""
        function = self._library[name]
        function.restype = Pointer
        kind, *rest = arguments or (None,)
        if name.startswith("ggml_new_tensor"):
            rest = [ctypes.c_int64(one) for one in rest]
        found = function(self._context, *(() if kind is None else (kind, *rest)))
        assert found
        return int(found)

    def array(self, tensor: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """View the memory of a tensor."""
        self._library.ggml_get_data.restype = Pointer
        address = self._library.ggml_get_data(Pointer(tensor))
        size = int(np.prod(shape)) * dtype.itemsize
        memory = (ctypes.c_char * size).from_address(address)
        return np.ndarray(shape, dtype, memoryview(memory))

    def __del__(self) -> None:
        self._library.ggml_free(self._context)


def _library(part: str) -> ctypes.CDLL:
    for file in importlib.metadata.files(PACKAGE) or []:
        if file.name.startswith(f"libggml-{part}") and file.parent.name.endswith(".libs"):
            return ctypes.CDLL(str(file.locate()), mode=ctypes.RTLD_GLOBAL)
    raise UnavailableError(f"no libggml-{part} in {PACKAGE}")
