"""Wrong positions where a sequence, its heads or its documents are divided: always two shards."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import half, rope, table

__all__ = [
    "counted_in_each_shard",
    "frequencies_go_on_over_the_heads",
    "front_padded_positions",
    "packed_as_one_document",
    "positions_of_the_first_shard",
    "restarted_in_each_shard",
    "zigzag_of_x_alone",
]

Array = NDArray[Any]


def _first(tokens: int) -> int:
    """How many tokens the first shard has: the larger half."""
    return (tokens + 1) // 2


@wrong(
    "B3",
    "Every shard of the sequence is rotated by the positions of the first one.",
    "PAR-1.shards",
    "ROT-19.tokens",
)
def positions_of_the_first_shard(x: Array, positions: Array) -> Array:
    """Slice the positions without the offset of the shard."""
    n = _first(x.shape[1])
    where = np.concatenate([positions[:, :n], positions[:, : x.shape[1] - n]], axis=1)
    return rope(x, where)


@wrong(
    "local positions",
    "Each shard of the sequence counts its own tokens from 0.",
    "PAR-1.shards",
    "ROT-19.tokens",
    "PAR-4.documents",
)
def counted_in_each_shard(x: Array, positions: Array) -> Array:
    """Count local tokens."""
    n = _first(x.shape[1])
    where = np.concatenate([np.arange(n), np.arange(x.shape[1] - n)])
    return rope(x, np.broadcast_to(where, positions.shape))


@wrong(
    "local positions",
    "Positions start again at 0 where the second shard of the sequence begins.",
    "PAR-1.shards",
    "ROT-19.tokens",
)
def restarted_in_each_shard(x: Array, positions: Array) -> Array:
    """Subtract the position of the first token of the shard, but in the first shard."""
    n = _first(x.shape[1])
    rest = positions[:, n:] - positions[:, n : n + 1]
    return rope(x, np.concatenate([positions[:, :n], rest], axis=1))


@wrong(
    "odd lengths",
    "With an odd number of tokens the positions of the second shard are padded at the front.",
    "PAR-1.shards",
    "ROT-19.tokens",
)
def front_padded_positions(x: Array, positions: Array) -> Array:
    """Make the shards of the positions equally long, on the wrong side."""
    tokens, n = x.shape[1], _first(x.shape[1])
    pad = np.zeros((len(positions), 2 * n - tokens), dtype=positions.dtype)
    shards = np.concatenate([positions[:, :n], pad, positions[:, n:]], axis=1)
    return rope(x, shards[:, :tokens])


@wrong(
    "positions not reordered",
    "Tokens are dealt out in zigzag order and put back, their positions are not dealt out.",
    "PAR-2.order",
    "PAR-1.shards",
)
def zigzag_of_x_alone(x: Array, positions: Array) -> Array:
    """Give each of two shards a chunk from the front and one from the back, for balance."""
    a, b, c, d = np.array_split(np.arange(x.shape[1]), 4)
    dealt = np.concatenate([a, d, b, c])
    return rope(x[:, dealt], positions)[:, np.argsort(dealt)]


@wrong(
    "counted from the first position",
    "A row of several documents is rotated as one, from its first position on.",
    "PAR-4.documents",
    "PAR-6.tree",
    "ROT-9.rows",
)
def packed_as_one_document(x: Array, positions: Array) -> Array:
    """Ignore the positions given wherever they do not go up."""
    one = positions[:, :1] + np.arange(x.shape[1])
    several = (np.diff(positions, axis=1) <= 0).any(axis=1, keepdims=True)
    return rope(x, np.where(several, one, positions))


@wrong(
    "heads rotated differently",
    "The second half of the heads takes the frequencies that would follow those of the first.",
    "PAR-3.heads",
    "ROT-19.heads",
)
def frequencies_go_on_over_the_heads(x: Array, positions: Array) -> Array:
    """Cut one table of twice the width in two, a part for each group of heads."""
    n, pairs = _first(x.shape[2]), x.shape[-1] // 2
    cos, sin = table(positions, 2 * x.shape[-1])
    y = rope(x, positions)
    y[:, :, n:] = half(x[:, :, n:], cos[..., pairs:], sin[..., pairs:])
    return y
