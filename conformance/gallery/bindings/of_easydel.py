"""easydel: frequencies of `compute_*_frequencies` and `apply_basic_rope`."""

import functools
from collections.abc import Callable
from typing import Any

import jax
from below import below

__all__ = ["llama3", "plain", "yarn"]

module = below("easydel.layers.rotary._compute_fns")

Array = jax.Array


def _made(kind: str, base: int = 10000, **more: Any) -> Callable[..., Array]:  # noqa: ANN401  # numbers
    table = functools.cache(
        lambda head_dim: getattr(module, f"compute_{kind}_frequencies")(
            base=base, rotary_dim=head_dim, **more
        )
    )

    def rotate(x: Array, positions: Array, *, interleaved: bool) -> Array:
        """Rotate x as the query is."""
        with jax.ensure_compile_time_eval():
            rows = table(x.shape[-1])
        return _applied(x, positions, rows, is_neox=not interleaved)

    return rotate


@functools.partial(jax.jit, static_argnames="is_neox")
def _applied(x: Array, positions: Array, rows: Array, *, is_neox: bool) -> Array:
    """Rotate by rows of a table, compiled as in a model."""
    words = (positions, rows, x.shape[-1], is_neox, None, x.dtype)
    return module.apply_basic_rope(x, x, *words)[0]


plain = _made("basic", max_position_embeddings=32768)
llama3 = _made(
    "llama3",
    500000,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    scaling_factor=8.0,
    max_position_embeddings=8192,
)
yarn = _made(
    "yarn",
    beta_fast=32.0,
    beta_slow=1.0,
    max_position_embeddings=4096,
    scaling_factor=8.0,
    extrapolation_factor=1.0,
    attn_factor=1.0,
)
