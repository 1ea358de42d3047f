"""mlx: `mx.fast.rope` on its CPU device, with an offset for each token."""

import mlx.core as mx


def fast(x: mx.array, positions: mx.array, *, interleaved: bool) -> mx.array:
    """Rotate x (B, S, H, D), as B S rows of H heads and one token."""
    rows, tokens, heads, head_dim = x.shape
    own = x.reshape(rows * tokens, heads, 1, head_dim)
    offset = positions.flatten().astype(mx.int32)
    y = mx.fast.rope(own, head_dim, traditional=interleaved, base=10000.0, scale=1.0, offset=offset)
    return y.reshape(x.shape)
