"""Patterns of positions, of (B, S) and at most as large as is claimed."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.given import Array

__all__ = ["PATTERNS"]


def _arange(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    del rng, most
    return np.broadcast_to(np.arange(s), (b, s)).copy()


def _from(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    return _arange(rng, b, s, most) + int(rng.integers(3, 60))


def _ragged(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    return _arange(rng, b, s, most) + rng.integers(0, 90, (b, 1))


def _scattered(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    return rng.integers(0, min(400, most + 1), (b, s))


def _falling(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    return np.array(_ragged(rng, b, s, most)[:, ::-1])


def _gaps(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    del most
    return np.cumsum(rng.integers(1, 5, (b, s)), axis=1)


def _packed(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    """Return documents that begin at 0 one after the other."""
    del most
    out = np.zeros((b, s), dtype=np.int64)
    for row in out:
        starts = np.sort(rng.integers(0, s, 2))
        for t in range(1, s):
            row[t] = 0 if t in starts else row[t - 1] + 1
    return out


def _padded(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    """Return rows that begin with some zeros."""
    return np.maximum(_arange(rng, b, s, most) - rng.integers(0, max(s // 2, 1) + 1, (b, 1)), 0)


def _one(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    del most
    return np.full((b, s), int(rng.integers(1, 50)))


def _zero(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    del rng, most
    return np.zeros((b, s), dtype=np.int64)


def _far(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    """Return positions of all magnitudes."""
    return np.exp(rng.uniform(0, np.log(most + 1), (b, s))).astype(np.int64)


def _negative(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    return np.asarray(-_scattered(rng, b, s, most) - (most > 0))


def _signs(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    size = _far(rng, b, s, most)
    size[:, 1::4] = 2 ** np.log2(np.maximum(size[:, 1::4], 1)).astype(np.int64)  # powers of two too
    return np.asarray(np.minimum(size, most) * rng.choice([-1, 1], (b, s)))


def _across_zero(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    """Return runs that begin below zero, or at its neighbours if they are short."""
    return _arange(rng, b, s, most) - np.minimum(rng.integers(1, 5, (b, 1)), most)


PATTERNS: dict[str, Callable[[np.random.Generator, int, int, int], Array]] = {
    "scattered": _scattered,
    "ragged": _ragged,
    "arange": _arange,
    "from": _from,
    "far": _far,
    "gaps": _gaps,
    "packed": _packed,
    "falling": _falling,
    "padded": _padded,
    "one": _one,
    "zero": _zero,
    "negative": _negative,
    "signs": _signs,
    "across zero": _across_zero,
}
"""By name, the most usual ones first."""
