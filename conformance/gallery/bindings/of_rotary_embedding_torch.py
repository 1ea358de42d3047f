"""rotary-embedding-torch: `RotaryEmbedding`, in one call and in two."""

import functools
import itertools

import torch
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

embedding = functools.cache(RotaryEmbedding)


def angles(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x by the angles of given positions."""
    return apply_rotary_emb(embedding(x.shape[-1])(positions.float()), x)


def rotate(x: torch.Tensor, offset: int) -> torch.Tensor:
    """Rotate x by a run of positions: `rotate_queries_or_keys`."""
    return embedding(x.shape[-1]).rotate_queries_or_keys(x, offset=offset)


def rotate_each(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x by the runs that its positions are made of."""
    cuts = [0, *((positions.diff() != 1).nonzero().flatten() + 1).tolist(), len(positions)]
    runs = [
        rotate(x[:, :, start:stop], int(positions[start]))
        for start, stop in itertools.pairwise(cuts)
        if start < stop
    ]
    return torch.cat(runs, dim=2)
