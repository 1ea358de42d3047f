"""The CUDA kernels of `apply_rotary`: their source, and how it is compiled.

The `.cuh` files hold the arithmetic and compile on the host as well; `kernels.cu` wraps it in one
kernel per dtype, layout and access.
"""

import functools
from importlib import resources
from typing import Any

import cupy

__all__ = ["OPTIONS", "compile_for", "kernel", "name_of", "source"]

OPTIONS = ("--std=c++17", "--fmad=false")
"""Without fused multiply-add a GPU and the host give the same bits."""


@functools.cache
def source() -> str:
    """Return the CUDA source of all kernels as one text without includes."""
    folder = resources.files("ropespec.backends.cupy")
    names = ("numbers.cuh", "phase.cuh", "rope.cuh", "kernels.cu")
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def compile_for(architecture: str, code: str | None = None) -> bytes:
    """Compile by NVRTC, which needs no GPU.

    Parameters
    ----------
    architecture : str
        For example `sm_90`.
    code : str, optional
        CUDA source; the kernels of this package by default.

    Returns
    -------
    bytes
        Machine code (cubin).

    Raises
    ------
    cupy.cuda.nvrtc.NVRTCError
        If the source does not compile or the architecture is unknown.
    """
    nvrtc = cupy.cuda.nvrtc
    program = nvrtc.createProgram(source() if code is None else code, "rope.cu", (), ())
    try:
        nvrtc.compileProgram(program, (f"--gpu-architecture={architecture}", *OPTIONS))
        return bytes(nvrtc.getCUBIN(program))
    finally:
        nvrtc.destroyProgram(program)


def kernel(dtype: str, *, interleaved: bool, vector: bool) -> Any:  # noqa: ANN401  # CuPy is not typed
    """Return the kernel for one dtype, layout and access; the first call compiles all of them."""
    name = name_of(dtype, interleaved=interleaved, vector=vector)
    return _function(name, cupy.cuda.runtime.getDevice())


def name_of(dtype: str, *, interleaved: bool, vector: bool) -> str:
    """Return the name of a kernel, `vector` for words of 16 bytes and `scalar` for elements."""
    layout = "interleaved" if interleaved else "half"
    return f"rope_{layout}_{dtype}_{'vector' if vector else 'scalar'}"


@functools.cache
def _function(name: str, device: int) -> Any:  # noqa: ANN401, ARG001  # CuPy is not typed; loaded on each
    return _module().get_function(name)


@functools.cache
def _module() -> Any:  # noqa: ANN401  # CuPy is not typed
    return cupy.RawModule(code=source(), options=OPTIONS)
