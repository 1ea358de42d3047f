"""Half-split rotation in NumPy, with its claims beside it."""

import numpy as np

PROFILE = {"interleaved": False, "array": "numpy", "dtypes": [np.float32, "float64"]}


def apply(x, positions):
    """Rotate x (B, S, H, D) by positions (B, S)."""
    half = x.shape[-1] // 2
    inv_freq = 10000.0 ** (-np.arange(half) / half)
    angle = positions[..., None, None] * inv_freq
    cos, sin = np.cos(angle), np.sin(angle)
    a, b = x[..., :half].astype(np.float64), x[..., half:].astype(np.float64)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)
