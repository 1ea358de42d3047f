"""What the symbols of the chapter `axes` stand for: angles of the reference."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ropespec.reference import apply_rotary, cos_sin_axes, inv_freq
from ropespec.reference.axes import followed_in_sections, followed_in_turn
from ropespec.reference.axes_ends import (
    apply_rotary_deinterleaved,
    apply_rotary_trailing,
    xpos_centre,
    xpos_scale,
)
from ropespec.reference.rotation_dense import permutation
from ropespec.spec.axes import Axes, Axial, Mixed, Sections, Woven

__all__ = ["BINDINGS"]

Environment = Mapping[str, Any]

_D, _BASE = 16, 50.0
_P = np.array([2, -3, 5])
_THETA = inv_freq(_D, _BASE)
_MIXED = ((0.3, 0.1), (0.2, -0.4), (0.5, 0.7))


def _angle(axes: Axes, dim: int = _D) -> np.ndarray:
    """Angles within half a turn, from the tables."""
    cos, sin = cos_sin_axes(_P, dim, _BASE, axes=axes)
    return np.arctan2(sin, cos)


def _turns(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Add the turns that tables do not show."""
    return found + math.tau * np.round((expected - found) / math.tau)


def _one(axes: Sections | Woven, followed: list[int], i: int) -> Environment:
    phi = _turns(_angle(axes), _P[followed] * _THETA)
    rows = np.array(
        [[t * (f == a) for t, f in zip(_THETA, followed, strict=True)] for a in range(3)]
    )
    count = dict(enumerate(axes.sections))
    return {
        "φ": phi, "θ": lambda *at: rows[at] if len(at) == 2 else _THETA[at[0]], "p": _P, "i": i,
        "a": lambda i: followed[i], "n": 3, "r": _D, "n_0": count[0], "n_1": count[1],
        "n_a": lambda a: count[a],
    }  # fmt: skip


def _sections(i: int) -> Environment:
    axes = Sections((2, 3, 3))
    found = dict(_one(axes, followed_in_sections((2, 3, 3)), i))
    return found | {"n": lambda a: axes.sections[a]}


def _woven(i: int) -> Environment:
    axes = Woven((4, 2, 2))
    followed = followed_in_turn((4, 2, 2))
    return dict(_one(axes, followed, i)) | {"n_a": axes.sections[followed[i]]}


def _axial(a: int, j: int) -> Environment:
    sections = (2, 4, 2)
    alone = np.zeros(3, dtype=int)
    alone[a] = 1
    cos, sin = cos_sin_axes(alone, _D, _BASE, axes=Axial(sections))
    block = np.split(np.arctan2(sin, cos), np.cumsum(sections)[:-1])[a]
    theta = {(a, j): block[j]}
    return {
        "θ": lambda *at: theta[at], "base": _BASE, "a": a, "j": j,
        "d_a": 2 * sections[a], "n_a": sections[a],
    }  # fmt: skip


def _mixed(i: int) -> Environment:
    rows = np.array(_MIXED)
    return {
        "φ": _turns(_angle(Mixed(_MIXED), 4), _P @ rows), "θ": rows, "p": _P, "i": i, "n": 3
    }  # fmt: skip


def _every(i: int) -> Environment:
    return dict(_one(Sections((2, 3, 3)), followed_in_sections((2, 3, 3)), i))


def _trailing() -> Environment:
    x = np.arange(1.0, 13.0) ** 2
    y = apply_rotary_trailing(x.reshape(1, 1, -1), [3], interleaved=False, rotary_dim=4, base=_BASE)

    def rotated(part: np.ndarray, m: int) -> np.ndarray:
        return apply_rotary(part.reshape(1, 1, -1), [m], interleaved=False, base=_BASE).ravel()

    return {"x": x, "y": y.ravel(), "D": 12, "r": 4, "m": 3, "f": rotated}


def _apart() -> Environment:
    x = np.arange(1.0, 9.0) ** 2
    order = permutation(8)
    y = apply_rotary_deinterleaved(x.reshape(1, 1, -1), [3], base=_BASE).ravel()

    def rotation(m: int) -> np.ndarray:
        rows = np.eye(8).reshape(8, 1, 8)
        return apply_rotary(rows, [m] * 8, interleaved=True, base=_BASE)[:, 0].T

    return {"x": x, "y": y, "P": np.eye(8)[order], "I": np.eye(8), "m": 3, "R": rotation}


def _xpos(i: int) -> Environment:
    gamma, slow, centre = 0.4, 512, 7

    def factor(m: int, i: int) -> float:
        return float(xpos_scale(m, _D, centre=centre, scale_base=slow)[i])

    zeta = xpos_scale(centre + slow, _D, centre=centre, scale_base=slow)
    return {
        "ζ": zeta, "i": i, "d": _D, "γ": gamma, "B": slow, "c": centre, "m": 40, "n": -9,
        "Z": factor,
    }  # fmt: skip


def _centre(length: int) -> Environment:
    return {
        "l": length, "c": xpos_centre(length, ceiling=True),
        "e": xpos_centre(length, ceiling=False), "ceil": math.ceil,
    }  # fmt: skip


BINDINGS: dict[str, Callable[[], Any]] = {
    "AXES-1": lambda: [_every(i) for i in (0, 3, 6)],
    "AXES-2": lambda: [_sections(i) for i in (0, 3, 6)],
    "AXES-3": lambda: [_woven(i) for i in (0, 1, 5)],
    "AXES-4": lambda: [_axial(a, j) for a, j in ((0, 1), (1, 3), (2, 1))],
    "AXES-5": lambda: [_mixed(i) for i in (0, 1)],
    "AXES-6": _trailing,
    "AXES-7": _apart,
    "AXES-8": lambda: [_xpos(i) for i in (0, 5)],
    "AXES-9": lambda: [_centre(n) for n in (10, 11)],
}
