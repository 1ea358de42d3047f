"""mlx: `mx.fast.rope` on its CPU device, with an offset for each token."""

import mlx.core as mx
import numpy as np
from numpy.typing import NDArray

PROFILE = {
    "layouts": [True, False],
    "dtypes": ["float32", "bfloat16", "float16"],
}


def apply(
    x: NDArray[np.floating], positions: NDArray[np.int64], *, interleaved: bool
) -> NDArray[np.floating]:
    """Rotate x (B, S, H, D), as B S rows of H heads and one token."""
    rows, tokens, heads, head_dim = x.shape
    own = mx.array(x.astype(np.float32)).astype(getattr(mx, x.dtype.name))
    own = own.reshape(rows * tokens, heads, 1, head_dim)
    offset = mx.array(positions.flatten().astype(np.int32))
    y = mx.fast.rope(own, head_dim, traditional=interleaved, base=10000.0, scale=1.0, offset=offset)
    return np.array(y.astype(mx.float32)).astype(x.dtype).reshape(x.shape)
