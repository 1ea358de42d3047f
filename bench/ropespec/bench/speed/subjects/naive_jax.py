"""The rotation as it is commonly written in JAX, under jit."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.jax_base import JaxSubject

__all__ = ["NaiveJax"]


class NaiveJax(JaxSubject):
    """Split, multiply, join; float32 angles, tables and arithmetic.

    Parameters
    ----------
    device, eager
        As for every subject in JAX.
    positions : bool
        Take positions and make cos and sin with every call, not beforehand.
    """

    def __init__(self, device: str, *, eager: bool = False, positions: bool = False) -> None:
        super().__init__(device, eager=eager)
        self._positions = positions

    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """cos and sin (S, 1, D/2), or positions."""
        m = positions.astype(np.int32)
        return (m,) if self._positions else _circle(jnp.asarray(m), case.shape[-1] // 2)

    def function(self, case: Case) -> Callable[..., Any]:
        """Return the form of the layout."""
        turn = _interleaved if case.interleaved else _half
        if not self._positions:
            return turn
        return lambda x, positions: turn(x, *_circle(positions, x.shape[-1] // 2))


def _circle(positions: jax.Array, half: int) -> tuple[jax.Array, jax.Array]:
    inv_freq = 10000.0 ** (-jnp.arange(half, dtype=jnp.float32) / half)
    angles = positions[:, None, None].astype(jnp.float32) * inv_freq
    return jnp.cos(angles), jnp.sin(angles)


def _interleaved(x: jax.Array, cos: jax.Array, sin: jax.Array) -> jax.Array:
    wide = x.astype(jnp.float32)
    first, second = wide[..., 0::2], wide[..., 1::2]
    joined = jnp.stack((first * cos - second * sin, second * cos + first * sin), axis=-1)
    return joined.reshape(x.shape).astype(x.dtype)


def _half(x: jax.Array, cos: jax.Array, sin: jax.Array) -> jax.Array:
    first, second = jnp.split(x.astype(jnp.float32), 2, axis=-1)
    joined = jnp.concatenate((first * cos - second * sin, second * cos + first * sin), axis=-1)
    return joined.astype(x.dtype)
