"""One product of each number of an array: what little arithmetic takes JAX itself."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.jax_base import JaxSubject

__all__ = ["ProductJax"]


class ProductJax(JaxSubject):
    """`-1.0 * x`, and its gradient: no rotation, but what one may be held against."""

    rotates = False

    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """None: the factor is a number."""
        del case, positions
        return ()

    def function(self, case: Case) -> Callable[..., Any]:
        """Return the product, in whichever pairs."""
        del case
        return _product


def _product(x: jax.Array) -> jax.Array:
    return -1.0 * x
