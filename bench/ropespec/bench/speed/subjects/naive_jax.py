"""The rotation as it is commonly written in JAX, under jit, with tables made beforehand."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.jax_base import JaxSubject

__all__ = ["NaiveJax"]


class NaiveJax(JaxSubject):
    """Split, multiply, join; float32 angles, tables and arithmetic."""

    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """cos and sin (S, 1, D/2)."""
        half = case.shape[-1] // 2
        inv_freq = 10000.0 ** (-jnp.arange(half, dtype=jnp.float32) / half)
        angles = jnp.asarray(positions, dtype=jnp.float32)[:, None, None] * inv_freq
        return jnp.cos(angles), jnp.sin(angles)

    def function(self, case: Case) -> Callable[..., Any]:
        """Return the form of the layout."""
        return _interleaved if case.interleaved else _half


def _interleaved(x: Any, cos: Any, sin: Any) -> Any:  # noqa: ANN401  # JAX arrays
    wide = x.astype(jnp.float32)
    first, second = wide[..., 0::2], wide[..., 1::2]
    joined = jnp.stack((first * cos - second * sin, second * cos + first * sin), axis=-1)
    return joined.reshape(x.shape).astype(x.dtype)


def _half(x: Any, cos: Any, sin: Any) -> Any:  # noqa: ANN401  # JAX arrays
    first, second = jnp.split(x.astype(jnp.float32), 2, axis=-1)
    joined = jnp.concatenate((first * cos - second * sin, second * cos + first * sin), axis=-1)
    return joined.astype(x.dtype)
