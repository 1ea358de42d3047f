"""What the symbols of the chapter `projection` stand for, and how its tables are computed."""

from collections.abc import Mapping

import numpy as np

from ropespec.reference.complex_plane import to_complex
from ropespec.reference.frequencies import inv_freq
from ropespec.reference.projection import (
    f_complex,
    f_dense,
    f_folded,
    f_projected,
    f_row,
    f_v,
    project,
    project_key,
    project_query,
)
from ropespec.reference.rotation import rotation_matrix

__all__ = ["BINDINGS"]

_BASE = 50.0
_M, _N = 5, -3


def _draw(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def _tokens(dim: int, *, interleaved: bool) -> dict[str, object]:
    """Two tokens of five components and three weights, for heads of `dim` components."""
    layout = {"interleaved": interleaved, "base": _BASE}
    W_q, W_k, W_v = _draw(dim, 3, dim, 5)
    x_m, x_n = _draw(dim + 1, 2, 5)
    return {
        "m": _M,
        "n": _N,
        "x_m": x_m,
        "x_n": x_n,
        "W_q": W_q,
        "W_k": W_k,
        "W_v": W_v,
        "R": lambda p: rotation_matrix(p, dim, **layout),
        "f_q": lambda x, p: project_query(x[None], [p], W_q[None], **layout)[0, 0],
        "f_k": lambda x, p: project_key(x[None], [p], W_k[None], **layout)[0, 0],
        "f_v": lambda x, p: f_v(x, p, W_v),
    }


def _projected() -> list[Mapping[str, object]]:
    found = []
    for dim, interleaved in ((2, True), (6, True), (6, False)):
        call = _tokens(dim, interleaved=interleaved)
        W_q, W_k, x_m, x_n = (call[name] for name in ("W_q", "W_k", "x_m", "x_n"))
        layout = {"interleaved": True, "base": _BASE}
        first, second = project(W_q[:2], x_m)
        found.append(
            call
            | {
                "θ": 0.3,
                "z": complex(first, second),
                "f": lambda z, p: f_complex(np.array([z.real, z.imag]), p, np.eye(2), 0.3),
                "z_i": to_complex(project(W_q, x_m))[-1],
                "y_i": to_complex(f_dense(x_m, _M, W_q, **layout))[-1],
                "θ_i": inv_freq(dim, _BASE)[-1],
                "k_n": project(W_k, x_n),
                "f_row": _row(W_q, dim, interleaved=interleaved),
            }
        )
    return found


def _row(weight: np.ndarray, dim: int, *, interleaved: bool) -> object:
    """The row form, which exists for two components alone; elsewhere the column laid down."""
    if dim == 2:
        return lambda x, p: f_row(x, p, weight, 1.0)
    return lambda x, p: f_dense(x, p, weight, interleaved=interleaved, base=_BASE)[None]


def _components() -> Mapping[str, object]:
    W, x = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([7.0, 11.0])
    q = project(W, x)
    entries = {f"W_{r + 1}{c + 1}": W[r, c] for r in range(2) for c in range(2)}
    return {
        "W": W,
        "x": x,
        "q": q,
        "j": 1,
        "q_1": q[0],
        "q_2": q[1],
        "x_1": x[0],
        "x_2": x[1],
        **entries,
    }


def _folded() -> list[Mapping[str, object]]:
    found = []
    W, x, q_m = _draw(1, 6, 5), _draw(2, 5), _draw(3, 6)
    for interleaved in (True, False):
        layout = {"interleaved": interleaved, "base": _BASE}
        found.append(
            {
                "m": _M,
                "W": W,
                "x": x,
                "q_m": q_m,
                "R": lambda p, layout=layout: rotation_matrix(p, 6, **layout),
                "f": lambda x, p, layout=layout: f_folded(x, p, W, **layout),
                "f_projected": lambda q, p, layout=layout: f_projected(q, p, **layout),
            }
        )
    return found


BINDINGS = {
    "PROJ-1": _projected,
    "PROJ-2": lambda: _tokens(6, interleaved=True),
    "PROJ-3": _components,
    "PROJ-4": _folded,
    "PROJ-5": lambda: [_tokens(6, interleaved=flag) for flag in (True, False)],
}
