# ruff: noqa: ARG005  # a key may ask for nothing
"""What caches are kept by: some of what a call depends on."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["KEYS", "Key", "like"]

Key = Callable[[Given], object]


def like(read: Callable[[Array], Array]) -> Key:
    """Return a key of what positions have alike, beside the shape of all."""

    def key(g: Given) -> object:
        p = g.positions
        return (p.shape, g.x.shape[-1], read(p).tobytes() if p.size else b"")

    return key


KEYS: tuple[tuple[str, Key], ...] = (
    ("call", lambda g: 0),
    ("call of this length", lambda g: g.x.shape[1]),
    ("call of these rows and tokens", lambda g: g.x.shape[:2]),
    ("call of this shape", lambda g: g.x.shape),
    ("call of this length and head_dim", lambda g: (g.x.shape[1], g.x.shape[-1])),
    ("call of these rows, tokens and head_dim", lambda g: (g.x.shape[:2], g.x.shape[-1])),
    ("call of this head_dim", lambda g: g.x.shape[-1]),
    ("call of this number of rows", lambda g: g.x.shape[0]),
    ("call of this dtype", lambda g: g.dtype),
    ("call of this shape and dtype", lambda g: (g.x.shape, g.dtype)),
    ("call with this largest position", lambda g: (g.x.shape[1], int(g.positions.max(initial=0)))),
    ("call with these ends", like(lambda p: p.ravel()[[0, -1]])),
    ("call with these first positions", like(lambda p: p[:, 0])),
    ("call with these last positions", like(lambda p: p[:, -1])),
    ("call with these ends of each row", like(lambda p: p[:, [0, -1]])),
    ("call with this sum of positions", like(lambda p: p.sum(keepdims=True))),
    ("call with this largest and smallest position", like(lambda p: np.array([p.min(), p.max()]))),
    ("call with these positions in the first row", like(lambda p: p[0])),
    ("call with these positions in any order", like(lambda p: np.sort(p, axis=None))),
    ("call of this shape of positions and parity", lambda g: (len(g.past) % 2, g.positions.shape)),
)
"""What may be kept by, in words."""
