"""ibm-fms: `RotaryEmbedding.adjusted_qk`, with frequencies of 32768 positions."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from below import below

__all__ = ["llama3", "plain"]

module = below("fms.modules.positions")

Array = torch.Tensor


def _made(base: float = 10000.0, **scaling: Any) -> Callable[[Array, Array], Array]:  # noqa: ANN401  # numbers
    @functools.cache
    def embedding(head_dim: int) -> Any:  # noqa: ANN401  # its class has no types here
        words = {"scaling": scaling} if scaling else {}
        made = module.RotaryEmbedding(head_dim, ratio=base, max_seq_len=32768, **words)
        made.compute_freqs_cis(torch.device("cpu"), 32768)
        return made

    def rotate(x: Array, positions: Array) -> Array:
        """Rotate x as q is."""
        return embedding(x.shape[-1]).adjusted_qk(x, x, positions)[0]

    return rotate


plain = _made()
llama3 = _made(
    500000.0,
    rope_type="llama3",
    factor=8.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=8192,
)
