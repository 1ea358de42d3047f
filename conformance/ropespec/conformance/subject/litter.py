"""Memory holds a pattern when a subject gets it: what it returns and never wrote to shows.

The GNU C library fills what it hands out, if told so; NumPy keeps small pieces for itself, and
there the pattern is left. Elsewhere such memory holds whatever it held.
"""

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy import full  # bound before a subject can put others in their place

__all__ = ["holds_litter", "littered"]

PATTERN = 0xFE
"""In every byte: -1.7e38 in float32, which no rotation of ordinary numbers makes."""

_M_PERTURB = -6
"""That of <malloc.h>; the byte that is handed out is the complement of the one that is told."""

_KEPT = 1024
"""Bytes below which NumPy keeps what is freed."""

_PIECES = 8
"""One more than it keeps of each size."""


def _perturbing() -> Callable[[int, int], int]:
    try:
        found: Callable[[int, int], int] = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # another library, another system
        return lambda _, __: 0
    return found if sys.platform == "linux" else lambda _, __: 0


_told = _perturbing()


@contextmanager
def littered(x: np.ndarray) -> Iterator[None]:
    """Let new memory hold the pattern, arrays as large as x in any dtype above all."""
    sizes = [x.size * size for size in (2, 4, 8) if x.size * size < _KEPT]
    pieces = [full(size, PATTERN, np.uint8) for size in sizes for _ in range(_PIECES)]
    del pieces
    _told(_M_PERTURB, PATTERN ^ 0xFF)
    try:
        yield
    finally:
        _told(_M_PERTURB, 0)


def holds_litter(value: np.ndarray) -> bool:
    """Whether a number of an array holds the pattern in all its bytes."""
    bits = np.ascontiguousarray(value)
    if bits.dtype.kind not in "fV" or bits.itemsize not in (2, 4, 8):
        return False
    pattern = np.full(1, PATTERN, np.uint8).repeat(bits.itemsize).view(f"u{bits.itemsize}")
    return bool((bits.view(pattern.dtype) == pattern).any())
