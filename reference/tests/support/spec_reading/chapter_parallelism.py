"""What the symbols of the chapter `parallelism` stand for: tokens rotated by the reference."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ropespec.reference import apply_rotary
from spec_reading.chapter_rotation import rotations, vector

__all__ = ["BINDINGS"]

Environment = Mapping[str, Any]

_BASE = 50.0
_LENGTH = 7


def _rotate(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return apply_rotary(x, p, interleaved=False, base=_BASE)


def _sequence() -> dict[str, Any]:
    """Tokens (S, H, D) at positions that do not count from 0."""
    x = vector(_LENGTH * 3 * 4).reshape(_LENGTH, 3, 4)
    p = np.array([4, 5, 6, 0, 1, -3, 100])
    return {"x": x, "p": p, "S": _LENGTH, "f": _rotate, "y": _rotate(x, p)}


def _shards() -> list[Environment]:
    ends = ((0, 3), (2, 7), (5, 6), (0, _LENGTH))
    return [_sequence() | {"a": a, "b": b} for a, b in ends]


def _dealt() -> list[Environment]:
    setting = _sequence()
    x, p, y = (setting[name] for name in ("x", "p", "y"))
    order = np.array([5, 0, 6, 2, 1, 4, 3])
    dealt = {"x_π": x[order], "p_π": p[order], "y_π": y[order], "π": lambda j: int(order[j])}
    mask = [{"m": 3, "n": n} for n in (3, -1)]
    return [setting | dealt | one | {"j": j} for j in (1, 4) for one in mask]


def _divided() -> Environment:
    setting = _sequence()
    x, p, y = (setting[name] for name in ("x", "p", "y"))
    rows = {"x_b": x[np.newaxis], "p_b": p[np.newaxis], "y_b": y[np.newaxis]}
    return setting | rows | {"x_h": x[:, 1:], "y_h": y[:, 1:]}


def _batch() -> Environment:
    """A batch of two rows with positions of their own, of which a device has the second."""
    x, p = vector(2 * 5 * 3 * 4).reshape(2, 5, 3, 4), np.array([[0, 1, 2, 0, 1], [9, 9, 1, 2, 0]])
    y = _rotate(x, p)
    rows = {"x_b": x[1:], "p_b": p[1:], "y_b": y[1:]}
    x_all, p_all = x[0], p[0]
    heads = {"x_h": x_all[:, :2], "y_h": _rotate(x_all, p_all)[:, :2]}
    return rows | heads | {"x": x_all, "p": p_all, "y": _rotate(x_all, p_all), "f": _rotate}


def _packed() -> Environment:
    x, p = vector(5 * 2 * 4).reshape(5, 2, 4), np.array([0, 1, 2, 0, 1])
    parts = {"x'": x[:3], "x''": x[3:], "p'": p[:3], "p''": p[3:]}
    return parts | {"x": x, "p": p, "f": _rotate}


def _cached() -> list[Environment]:
    q, k = vector(4), vector(4, 1)
    return [
        {
            "q": q,
            "k": k,
            "t": t,
            "n": n,
            "R": rotations(4, interleaved=False),
            "f": lambda x, p: _rotate(x.reshape(1, 1, 4), np.array([p])).ravel(),
        }
        for t, n in ((5, 2), (1, 0), (9, 8))
    ]


def _tree() -> list[Environment]:
    depths = [0, 1, 1, 2]
    p = np.array([5, 6, 6, 7])
    return [{"t": 5, "p": p, "j": j, "depth": lambda j: depths[j]} for j in range(4)]


BINDINGS: dict[str, Callable[[], Any]] = {
    "PAR-1": _shards,
    "PAR-2": _dealt,
    "PAR-3": lambda: [_divided(), _batch()],
    "PAR-4": _packed,
    "PAR-5": _cached,
    "PAR-6": _tree,
}
