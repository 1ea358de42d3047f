"""Implementations in MLX, right and wrong; imported by a worker only, listed in `frameworks`."""

import mlx.core as mx

__all__ = ["mlx_fast_counts_on", "mlx_half"]


def mlx_half(x: mx.array, positions: mx.array) -> mx.array:
    """Rotate halves in float32."""
    theta = 1.0 / 10000.0 ** (mx.arange(0, x.shape[-1], 2) / x.shape[-1])
    angle = positions.astype(mx.float32)[..., None, None] * theta
    c, s = mx.cos(angle), mx.sin(angle)
    a, b = mx.split(x.astype(mx.float32), 2, axis=-1)
    return mx.concatenate([a * c - b * s, b * c + a * s], axis=-1).astype(x.dtype)


def mlx_fast_counts_on(x: mx.array, positions: mx.array) -> mx.array:
    """Give the first position of each row as the offset, from which the kernel counts on."""
    if 0 in x.shape:
        return x * 1
    first = positions[:, 0].astype(mx.int32)
    options = {"traditional": False, "base": 10000.0, "scale": 1.0, "offset": first}
    return mx.fast.rope(x.swapaxes(1, 2), x.shape[-1], **options).swapaxes(1, 2)
