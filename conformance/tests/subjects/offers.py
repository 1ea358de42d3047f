# ruff: noqa: ARG001, ARG002  # arguments and claims of a subject are its own
"""Offers several functions of the API, in several ways."""

import functools

import numpy as np

PROFILE = {"interleaved": True}
LIMIT = 3.5


def inv_freq(dim, base=10000.0):
    """Return the frequencies."""
    return base ** (-np.arange(0, dim, 2) / dim)


def cos_sin(positions, dim, **options):
    """Return cos and sin, with whatever options."""
    angle = positions[..., None] * inv_freq(dim, **options)
    return np.cos(angle), np.sin(angle)


def apply_rotary(x, positions, *, interleaved, base=10000.0, rotary_dim=None):
    """Return what it was given, as a number."""
    return x + np.float32(interleaved) + np.float32(base) + np.float32(rotary_dim or 0)


def apply_rotary_vjp(cotangent, positions, *, base=10000.0):
    """Return three times the cotangent."""
    return 3 * cotangent


def bare(x, positions, base=10000.0):
    """Take one keyword."""
    return x * np.float32(base)


def anything(x, positions, **options):
    """Take anything, and say how much."""
    return x + np.float32(len(options))


class Holder:
    """Holds functions of the API."""

    PROFILE = {"interleaved": False, "dtypes": ("float32",), "head_dims": range(2, 6, 2)}

    def apply_rotary(self, x, positions, *, rotary_dim=None):
        """Return a copy."""
        return x.copy()

    class Inner:
        """A callable object."""

        def __call__(self, x, positions):
            """Return a copy."""
            return x.copy()


class Needy:
    """Cannot be made without an argument."""

    def __init__(self, dim):
        self.dim = dim


class Claims:
    """Claims something unreadable."""

    PROFILE = "half"

    def __call__(self, x, positions):
        """Return a copy."""
        return x.copy()


holder = Holder()
partly = functools.partial(bare, base=2.0)


def attention(q, k, v, *, query_positions, key_positions, mask=None):
    """Return a mixture of all that arrives."""
    return q + k, v * (0 if mask is None else mask.sum())
