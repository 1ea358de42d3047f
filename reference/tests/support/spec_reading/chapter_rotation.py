"""What the symbols of the chapter `rotation` stand for: values of the reference functions."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ropespec.reference import (
    apply_rotary,
    apply_rotary_complex,
    apply_rotary_cos_sin,
    apply_rotary_dense,
    cos_sin,
    interleaved_to_half,
    inv_freq,
    rotation_matrix,
)
from ropespec.reference.frequencies import duplicate_half, duplicate_interleaved
from ropespec.reference.rotation import (
    rotate_half_half,
    rotate_half_interleaved,
    rotate_rows,
)
from ropespec.reference.rotation_dense import permutation_matrix
from ropespec.reference.rotation_plane import (
    rotate_complex,
    rotate_components,
    rotate_matrix,
    rotation_matrix_2d,
)

__all__ = ["BINDINGS", "rotations", "vector"]

Environment = Mapping[str, Any]

_BASE = 50.0
_M, _N = 5, -3
_THETA = 0.3


def vector(size: int, seed: int = 0) -> np.ndarray:
    """Draw a vector."""
    return np.random.default_rng(seed).standard_normal(size)


def rotations(dim: int, *, interleaved: bool) -> Callable[[float], np.ndarray]:
    """Give the matrix of a position, an integer, or the 2x2 matrix of an angle, a float."""

    def matrix(at: float) -> np.ndarray:
        if isinstance(at, int):
            return rotation_matrix(at, dim, interleaved=interleaved, base=_BASE)
        return rotation_matrix_2d(at)

    return matrix


def _rotated(x: np.ndarray, m: int, *, interleaved: bool, **options: Any) -> np.ndarray:
    """Rotate one vector."""
    y = apply_rotary(x.reshape(1, 1, -1), [m], interleaved=interleaved, base=_BASE, **options)
    return y.ravel()


def _setting(dim: int, i: int, *, interleaved: bool, m: int = _M) -> dict[str, Any]:
    """One vector at one position, and pair i of it."""
    return {
        "d": dim,
        "base": _BASE,
        "i": i,
        "m": m,
        "n": _N,
        "θ": inv_freq(dim, _BASE),
        "x": vector(dim),
        "y": _rotated(vector(dim), m, interleaved=interleaved),
        "R": rotations(dim, interleaved=interleaved),
        "f": lambda x, p: _rotated(x, p, interleaved=interleaved),
        "I": np.eye(dim),
    }


def _settings(dim: int = 4, **options: Any) -> list[dict[str, Any]]:
    return [_setting(dim, i, **options) for i in range(dim // 2)]


def _one_pair() -> Environment:
    q = vector(2)
    z = complex(*q)
    return {
        "q_1": q[0],
        "q_2": q[1],
        "z": z,
        "q": z,
        "k": complex(*vector(2, 1)),
        "m": _M,
        "n": _N,
        "θ": _THETA,
        "f": lambda value, p: complex(rotate_complex(value, p, _THETA)),
    }


def _two_by_two() -> list[Environment]:
    """The matrix itself, and the function that multiplies by it."""
    common = {**_one_pair(), "α": _M * _THETA}
    return [
        {**common, "R": rotation_matrix_2d},
        {**common, "R": lambda angle: _columns(lambda q: rotate_matrix(q, 1, angle))},
        {**common, "R": lambda angle: _columns(lambda q: rotate_components(q, 1, angle))},
    ]


def _columns(function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Give the matrix of a linear function of two components."""
    return np.stack([function(unit) for unit in np.eye(2)], axis=-1)


def _dense(*, interleaved: bool) -> list[Environment]:
    """The matrix as it is built, and as `apply_rotary_dense` shows it column by column."""

    def shown(at: int) -> np.ndarray:
        units = np.eye(4)[:, np.newaxis]
        y = apply_rotary_dense(units, [at] * 4, interleaved=interleaved, base=_BASE)
        return y[:, 0].T

    found: list[Environment] = []
    for setting in _settings(interleaved=interleaved):
        m, theta = setting["m"], setting["θ"]
        cos, sin = np.cos(m * theta), np.sin(m * theta)
        blocks = {"M": rotation_matrix_2d(m * theta), "Θ": theta}
        blocks |= {"C": np.diag(cos), "S": np.diag(sin)}
        found += [setting | blocks, setting | blocks | {"R": shown}]
    return found


def _layouts() -> list[Environment]:
    setting = {"I": np.eye(6), "d": 6, "x": vector(6), "P": permutation_matrix(6)}
    setting |= {
        name: rotation_matrix(_M, 6, interleaved=interleaved, base=_BASE)
        for name, interleaved in (("R_int", True), ("R_half", False))
    }
    permuted = np.stack([interleaved_to_half(unit) for unit in np.eye(6)], axis=-1)
    return [setting | {"i": i, "P": P} for i in range(3) for P in (setting["P"], permuted)]


def _sparse(*, interleaved: bool) -> list[Environment]:
    duplicate = duplicate_interleaved if interleaved else duplicate_half
    companion = rotate_half_interleaved if interleaved else rotate_half_half
    cos, sin = cos_sin(_M, 4, _BASE)
    tables = {"c": duplicate(cos), "s": duplicate(sin), "u": companion(vector(4))}
    tables |= {"rotate_half": companion}
    settings = _settings(interleaved=interleaved)
    as_applied = {"R": _applied(4, interleaved=interleaved)}
    return [s | tables | also for s in settings for also in ({}, as_applied)]


def _applied(dim: int, *, interleaved: bool) -> Callable[[int], np.ndarray]:
    """Give the matrix that `apply_rotary` multiplies by, without building one."""
    return lambda p: np.stack(
        [_rotated(unit, p, interleaved=interleaved) for unit in np.eye(dim)], axis=-1
    )


def _complex() -> list[Environment]:
    x = vector(6)
    y = apply_rotary_complex(x.reshape(1, 1, 6), [_M], base=_BASE).ravel()
    settings = _settings(6, interleaved=True)
    return [one for s in settings for one in (s, s | {"y": y})]


def _rows() -> list[Environment]:
    found: list[Environment] = []
    for interleaved in (True, False):
        layout = {"interleaved": interleaved, "base": _BASE}
        Q, K = vector(12).reshape(3, 4), vector(8, 1).reshape(2, 4)
        p, of_keys = np.array([_N, 0, _M]), np.array([2, 7])
        j, row = 2, 1
        setting: dict[str, Any] = {
            "Q": Q,
            "K": K,
            "p": p,
            "j": j,
            "l": row,
            "q": Q[j],
            "k": K[row],
            "m": int(p[j]),
            "n": int(of_keys[row]),
            "R": rotations(4, interleaved=interleaved),
            "f": lambda X, Q=Q, p=p, of=of_keys, layout=layout: rotate_rows(
                X, p if X is Q else of, **layout
            ),
        }
        found += [setting, setting | {"n": int(of_keys[0]), "l": 0, "k": K[0]}]
    return found


def _laws() -> list[Environment]:
    """Both layouts; the matrix of a position as it is built, and as `apply_rotary` shows it."""
    more = {"α": 0.7, "β": -1.9, "a": 0.75, "b": -3.0, "y": vector(6, 3)}
    found: list[Environment] = []
    for interleaved in (True, False):
        setting = _setting(6, 1, interleaved=interleaved) | more
        applied = _applied(6, interleaved=interleaved)
        found += [setting, setting | {"R": _shown(applied)}]
    return found


def _at_one_position() -> list[Environment]:
    return [{name: s[name] for name in s if name != "n"} for s in _laws()]


def _shown(of_position: Callable[[int], np.ndarray]) -> Callable[[float], np.ndarray]:
    return lambda at: of_position(at) if isinstance(at, int) else rotation_matrix_2d(at)


def _partial() -> list[Environment]:
    return [
        _with_tail(interleaved=interleaved, dense=dense)
        for interleaved in (True, False)
        for dense in (False, True)
    ]


def _with_tail(*, interleaved: bool, dense: bool) -> Environment:
    function = apply_rotary_dense if dense else apply_rotary

    def f(x: np.ndarray, p: int) -> np.ndarray:
        x = x.reshape(1, 1, -1)
        return function(x, [p], interleaved=interleaved, base=_BASE, rotary_dim=4).ravel()

    return {
        **_setting(4, 1, interleaved=interleaved),
        "D": 7,
        "r": 4,
        "x": vector(7),
        "I": np.eye(3),
        "f": f,
    }


def _tokens() -> list[Environment]:
    x, p = vector(2 * 3 * 2 * 4).reshape(2, 3, 2, 4), np.array([[0, _M, _N], [7, 7, 1]])
    found: list[Environment] = []
    for interleaved in (True, False):
        y = apply_rotary(x, p, interleaved=interleaved, base=_BASE)
        R = rotations(4, interleaved=interleaved)
        found += [
            {"x": x, "y": y, "p": p, "R": R, "b": b, "s": s, "h": h}
            for b, s, h in ((0, 1, 0), (1, 0, 1), (1, 2, 0))
        ]
    return found


def _tables() -> list[Environment]:
    x = vector(3 * 2 * 4).reshape(3, 2, 4)
    cos, sin = vector(6, 4).reshape(3, 2), vector(6, 5).reshape(3, 2)
    found: list[Environment] = []
    for interleaved in (True, False):
        first = (..., slice(0, 4, 2)) if interleaved else (..., slice(0, 2))
        second = (..., slice(1, 4, 2)) if interleaved else (..., slice(2, 4))
        y = apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
        found.append(
            {
                "x_1": x[first],
                "x_2": x[second],
                "y_1": y[first],
                "y_2": y[second],
                "C": np.stack([cos, cos], axis=1),  # all heads of a token share a row
                "S": np.stack([sin, sin], axis=1),
            }
        )
    return found


BINDINGS: dict[str, Callable[[], Any]] = {
    "ROT-1": _two_by_two,
    "ROT-2": _one_pair,
    "ROT-3": lambda: _dense(interleaved=True),
    "ROT-4": lambda: _dense(interleaved=False),
    "ROT-5": _layouts,
    "ROT-6": lambda: _sparse(interleaved=True),
    "ROT-7": lambda: _sparse(interleaved=False),
    "ROT-8": _complex,
    "ROT-9": _rows,
    "ROT-10": _at_one_position,
    "ROT-11": _at_one_position,
    "ROT-12": _laws,
    "ROT-13": _laws,
    "ROT-14": _partial,
    "ROT-15": _laws,
    "ROT-16": lambda: _settings(interleaved=True),
    "ROT-19": _tokens,
    "ROT-22": _tables,
}
