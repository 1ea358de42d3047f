"""Compiling: what is compiled for this machine, when, and what is said of it."""

import ctypes
import functools
import importlib.util
import platform
import sys
import threading
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Kernel", "Sharing", "is_able", "kernel_of", "sharing"]

Kernel = Callable[[bytes, int, int], None]
"""Turns tokens of a job, without the interpreter's lock."""

_lock = threading.RLock()


@functools.cache
def is_able() -> bool:
    """Tell whether rotations can be compiled here: Numba, and a processor that it is done for.

    Numba itself is loaded where nothing has been compiled yet.
    """
    if importlib.util.find_spec("numba") is None or sys.byteorder != "little":
        return False
    try:
        from llvmlite.binding import get_host_cpu_features  # noqa: PLC0415  # dear to load

        from ropespec.backends.cpu import kept  # noqa: PLC0415  # as above

        if not kept.is_used():
            import numba  # noqa: F401, PLC0415  # dearer
    except (ImportError, OSError):  # a NumPy that Numba does not know, a library it cannot load
        return False
    if platform.machine().lower() in {"arm64", "aarch64"}:
        return True
    features = get_host_cpu_features()  # of no meaning elsewhere
    return bool(features.get("fma") and features.get("f16c"))


@functools.cache
def kernel_of(dtype: str) -> tuple[Kernel, int]:
    """Return the kernel of a dtype and its address, compiled at the first call.

    Parameters
    ----------
    dtype : str
        float16, bfloat16, float32 or float64.

    Returns
    -------
    kernel : callable
        Takes a job, the first token and the one after the last.
    address : int
        Of its machine code.
    """
    address = _address(dtype, f"for {dtype} ")
    kind = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64)
    return kind(address), address


class Sharing(NamedTuple):
    """The functions of `share`, compiled; the address of the one that others are to call."""

    share: Callable[..., None]
    serve: Callable[[int], None]
    conduct: Callable[..., None]
    helper: int


@functools.cache
def sharing() -> Sharing:
    """Return what threads share jobs by, compiled at the first call."""
    at = {
        name: _address(name, "with threads ") for name in ("share", "serve", "conduct", "help_out")
    }
    number, job = ctypes.c_int64, ctypes.c_char_p
    return Sharing(
        ctypes.CFUNCTYPE(None, number, number, job, number, number)(at["share"]),
        ctypes.CFUNCTYPE(None, number)(at["serve"]),
        ctypes.CFUNCTYPE(None, *[number] * 4, job, number, number)(at["conduct"]),
        at["help_out"],
    )


def _address(name: str, what: str) -> int:
    """Return the address of a function, compiled once for a machine where that can be kept."""
    from ropespec.backends.cpu import kept  # noqa: PLC0415  # loads LLVM

    with _lock:
        code = kept.read(name)
        if code is None:
            if sys.stderr is not None and sys.stderr.isatty():
                said = f"ropespec: compiling the rotation {what}for this machine, once\n"
                sys.stderr.write(said)
            code = kept.emitted(name, *_compiled(name))
            kept.write(name, code)
        return kept.linked(name, code)


def _compiled(name: str) -> tuple[str, str]:
    """Return the module of a function in the language of LLVM, and its name there."""
    from numba import cfunc  # noqa: PLC0415  # dear to load

    from ropespec.backends.cpu import kernels, share  # noqa: PLC0415  # load Numba

    function, signature = {**kernels.FUNCTIONS, **share.FUNCTIONS}[name]
    made = cfunc(signature, error_model="numpy")(function)
    return made.inspect_llvm(), made.native_name
