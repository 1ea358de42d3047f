"""cos and sin of the oracle, kept: a check asks for the angles of its case several times."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge import oracle

__all__ = ["cos_sin"]

_MOST = 2**16  # angles that are kept; no drawn case has more

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


def cos_sin(positions: NDArray[np.integer[Any]], dim: int, base: float) -> Pair:
    """Return `oracle.cos_sin`, in arrays of the caller's own."""
    if positions.size * dim > _MOST:
        return oracle.cos_sin(positions, dim, base)
    cos, sin = _kept(positions.tobytes(), positions.dtype.str, positions.shape, dim, base)
    return cos.copy(), sin.copy()


@functools.lru_cache(maxsize=128)
def _kept(positions: bytes, kind: str, shape: tuple[int, ...], dim: int, base: float) -> Pair:
    return oracle.cos_sin(np.frombuffer(positions, kind).reshape(shape), dim, base)
