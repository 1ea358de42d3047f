"""Compiling: what is compiled for this machine, when, and what is said of it."""

import ctypes
import functools
import importlib.util
import platform
import sys
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Kernel", "Sharing", "is_able", "kernel_of", "sharing"]

Kernel = Callable[[bytes, int, int], None]
"""Turns tokens of a job, without the interpreter's lock."""

PATIENCE = 0.5
"""Seconds that loading compiled code from the disk may take; what takes longer is compiled."""

_lock = threading.RLock()


@functools.cache
def is_able() -> bool:
    """Tell whether rotations can be compiled here: Numba, and a processor that it is done for.

    Numba is loaded when the first rotation asks.
    """
    if importlib.util.find_spec("numba") is None or sys.byteorder != "little":
        return False
    try:
        import numba  # noqa: F401, PLC0415  # dear to load
        from llvmlite.binding import get_host_cpu_features  # noqa: PLC0415  # as above
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
    from ropespec.backends.cpu import kernels  # noqa: PLC0415  # loads Numba

    made: dict[str, Callable[..., None]] = kernels.kernels(_source())  # type: ignore[no-untyped-call]  # Numba's
    address = _compiled(made[dtype], kernels.SIGNATURE, f"for {dtype} ")
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
    from ropespec.backends.cpu import share as module  # noqa: PLC0415  # loads Numba

    at = {
        name: _compiled(getattr(module, name), signature, "with threads ")
        for name, signature in module.SIGNATURES.items()
    }
    number, job = ctypes.c_int64, ctypes.c_char_p
    return Sharing(
        ctypes.CFUNCTYPE(None, number, number, job, number, number)(at["share"]),
        ctypes.CFUNCTYPE(None, number)(at["serve"]),
        ctypes.CFUNCTYPE(None, *[number] * 4, job, number, number)(at["conduct"]),
        at["help_out"],
    )


def _source() -> int:
    """Return a number that changes with what the kernels are made of."""
    from ropespec.backends.cpu import vectors  # noqa: PLC0415  # loads Numba

    return 1 + zlib.crc32(Path(vectors.__file__).read_bytes())


_kept: list[Any] = []


def _compiled(function: Callable[..., Any], signature: str, what: str) -> int:
    """Return the address of a compiled function, from Numba's cache on disk where there is one."""
    from numba import cfunc  # noqa: PLC0415  # dear to load

    with _lock, _Notice(f"ropespec: compiling the rotation {what}for this machine, once"):
        try:
            made = cfunc(signature, cache=True)(function)
        except Exception:  # noqa: BLE001  # nowhere to write, a full disk, a broken file
            made = cfunc(signature)(function)
    _kept.append(made)  # the machine code lives as long
    assert made.address is not None
    return made.address


class _Notice:
    """Says on a terminal what takes long."""

    def __init__(self, text: str) -> None:
        self._timer = threading.Timer(PATIENCE, print, [text], {"file": sys.stderr, "flush": True})
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> None:
        if self._shown:
            self._timer.daemon = True
            self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
