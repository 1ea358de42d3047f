"""Right numbers, and a contract that is not kept in one way or another."""

import time

import numpy as np

PROFILE = {"interleaved": False}


def right(x, positions, base=10000.0):
    """Rotate halves, exactly."""
    half = x.shape[-1] // 2
    angle = positions[..., None, None] * base ** (-np.arange(half) / half)
    cos, sin = np.cos(angle), np.sin(angle)
    a, b = x[..., :half].astype(np.float64), x[..., half:].astype(np.float64)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)


def refuses_empty(x, positions):
    """Raise without tokens."""
    if x.size == 0:
        raise ValueError("no tokens")
    return right(x, positions)


def promotes(x, positions):
    """Return float64, whatever x is."""
    return right(x, positions).astype(np.float64)


def refuses_empty_and_promotes(x, positions):
    """Raise without tokens, and return float64."""
    return refuses_empty(x, positions).astype(np.float64)


def contiguous(x, positions):
    """Raise where x is no contiguous array."""
    if not x.flags.c_contiguous:
        raise ValueError("x must be contiguous")
    return right(x, positions)


def misreads_strides(x, positions):
    """Read the memory of a view as if it were contiguous."""
    if x.base is not None and not x.flags.c_contiguous:
        x = x.base.reshape(-1)[: x.size].reshape(x.shape)
    return right(x, positions)


def flushes(x, positions):
    """Return zero for what is below the normal range."""
    y = right(x, positions)
    y[abs(y) < np.finfo(y.dtype).tiny] = 0
    return y


def from_sixteen(x, positions):
    """Raise for narrow heads."""
    if x.shape[-1] < 16:
        raise ValueError("head_dim must be at least 16")
    return right(x, positions)


def slow_from_sixteen(x, positions):
    """Raise for narrow heads, and take long for many tokens."""
    if x.size // x.shape[-1] > 30000:
        time.sleep(1)
    return from_sixteen(x, positions)


def powers_of_two(x, positions):
    """Raise for heads whose size is no power of two."""
    if x.shape[-1] & (x.shape[-1] - 1):
        raise ValueError("head_dim must be a power of two")
    return right(x, positions)


def few_tokens(x, positions):
    """Raise for long sequences."""
    if x.shape[1] > 100:
        raise ValueError("more than 100 tokens")
    return right(x, positions)


def positive(x, positions):
    """Take positions below zero for zero."""
    return right(x, np.maximum(positions, 0))


def neighbours(x, positions):
    """Rotate neighbours instead of halves."""
    half = x.shape[-1] // 2
    y = right(np.concatenate([x[..., 0::2], x[..., 1::2]], -1), positions)
    return np.stack([y[..., :half], y[..., half:]], -1).reshape(x.shape)


def backwards(x, positions):
    """Rotate the other way, and raise without tokens."""
    return refuses_empty(x, -positions)


class Moody:
    """Raises at every other call."""

    calls = 0

    def __call__(self, x, positions):
        """Rotate, or raise."""
        type(self).calls += 1
        if self.calls % 2:
            raise ValueError("not now")
        return right(x, positions)


moody = Moody()


def refuses_small(x, positions):
    """Raise for narrow heads, and without tokens."""
    return from_sixteen(x, positions) if x.size else refuses_empty(x, positions)


def table(x, positions):
    """Raise beyond position 63, below zero and without tokens."""
    if positions.min() < 0 or positions.max() > 63:
        raise IndexError(f"index {positions.max()} is out of bounds")
    return right(x, positions)


def other_base(x, positions):
    """Rotate by another base."""
    return right(x, positions, 500000.0)
