# arguments of a subject are its own
"""Half-split rotation in MLX."""

import types

import mlx.core as mx
import numpy as np

PROFILE = {"interleaved": False, "array": "mlx", "dtypes": [mx.float32, mx.bfloat16]}


def apply(x, positions):
    """Rotate x (B, S, H, D) by positions (B, S)."""
    half = x.shape[-1] // 2
    inv_freq = 10000.0 ** (-mx.arange(half) / half)
    angle = positions[..., None, None] * inv_freq
    a, b = x[..., :half], x[..., half:]
    cos, sin = mx.cos(angle), mx.sin(angle)
    return mx.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)


def backwards(x, positions):
    """Rotate the other way."""
    return apply(x, -positions)


def in_place(x, positions):
    """Overwrite x."""
    x[...] = apply(x, positions)
    return x


def as_numpy(x, positions):
    """Return an array of NumPy."""
    return np.array(apply(x, positions))


api = types.SimpleNamespace(PROFILE=PROFILE, apply_rotary=apply)


@mx.custom_function
def rotated(x, positions):
    """Rotate, with a gradient that rotates the same way."""
    return apply(x, positions)


@rotated.vjp
def _same_way(primals, cotangent, _):
    return apply(cotangent, primals[1]), mx.zeros_like(primals[1])


def wrong_gradient(x, positions):
    """Rotate rightly, and back wrongly."""
    return rotated(x, positions)
