"""The JAX backend, under jit or eager."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ropespec.backends.jax as backend
from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.jax_base import JaxSubject
from ropespec.bench.speed.subjects.ours import rotation_of

__all__ = ["OursJax"]


class OursJax(JaxSubject):
    """`apply_rotary`, or `apply_rotary_cos_sin` with its tables made beforehand.

    Parameters
    ----------
    device, eager
        As for every subject in JAX.
    tables : bool
        Pass cos and sin in float32.
    """

    ways: frozenset[tuple[str, str]] = frozenset(
        {("forward", "new"), ("forward", "self"), ("both", "new")}
    )

    def __init__(self, device: str, *, eager: bool = False, tables: bool = False) -> None:
        super().__init__(device, eager=eager)
        if eager:
            self.ways = frozenset({("forward", "new")})
        self._tables = tables

    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """Positions, or cos and sin."""
        m = positions.astype(np.int32)
        return tuple(backend.cos_sin(m, case.shape[-1])) if self._tables else (m,)

    def function(self, case: Case) -> Callable[..., Any]:
        """Return the function of the backend."""
        apply = rotation_of(backend, case._replace(into="new"), tables=self._tables)
        return lambda x, *tables: apply(x, *tables, interleaved=case.interleaved)
