"""What the symbols of the chapter `derivation` stand for."""

import functools
from collections.abc import Callable, Mapping

import numpy as np

from ropespec.reference import derivation as der
from ropespec.reference.frequencies import inv_freq
from ropespec.reference.rotation import rotation_matrix
from ropespec.reference.rotation_plane import rotation_matrix_2d

__all__ = ["BINDINGS"]

_BASE = 50.0
_POSITIONS = ((5, 2), (-3, 4), (11, -7))  # in the last the angles leave (-π, π]
_THETA = 0.7
_Q, _K = 3.0 + 4.0j, 1.0 - 1.0j


def _blocks() -> list[Mapping[str, object]]:
    q, k = np.random.default_rng(0).standard_normal((2, 6))
    return [
        {
            "m": m,
            "n": n,
            "q": q,
            "k": k,
            "d": 6,
            "i": 1,
            "θ": inv_freq(6, _BASE),
            "α": 0.4,
            "β": 1.1,
            "M": rotation_matrix_2d,
            "R": lambda p: rotation_matrix(p, 6, interleaved=True, base=_BASE),
        }
        for m, n in _POSITIONS
    ]


def _polar(m: int, n: int) -> dict[str, object]:
    """The functions of the polar form, for one pair."""
    at = {
        "f": der.f,
        "R_f": der.r_f,
        "Θ_f": der.theta_f,
        "R_g": der.r_g,
        "Θ_g": der.theta_g,
        "g_c": der.g_c,
        "φ": functools.partial(der.phi, _Q),
    }
    bound = {name: functools.partial(function, theta=_THETA) for name, function in at.items()}
    return {
        **bound,
        "m": m,
        "n": n,
        "q": _Q,
        "k": _K,
        "θ": _THETA,
        "Θ": der.theta_of,
        "g": lambda q, k, difference: der.g_c(q, k, difference, theta=_THETA).real,
        "A": functools.partial(_matrix, bound["f"]),
    }


def _matrix(f: Callable[[complex, int], complex], m: int) -> np.ndarray:
    """The matrix of f at one position: its columns are the images of 1 and ⅈ."""
    images = [f(z, m) for z in (1 + 0j, 1j)]
    return np.array([[z.real for z in images], [z.imag for z in images]])


def _all_polar() -> list[Mapping[str, object]]:
    return [_polar(m, n) for m, n in _POSITIONS]


def _mirrored() -> list[Mapping[str, object]]:
    """As `_polar`, and once more with the matrices of the encoding that mirrors."""
    mirrored = {"A": functools.partial(_matrix, der.f_mirrored)}
    return [found | more for found in _all_polar() for more in ({}, mirrored)]


def _solution() -> list[Mapping[str, object]]:
    """The solution; `f_i` is that of the pair with the frequency `θ_i`."""
    rate = float(inv_freq(6, _BASE)[2])
    x = np.random.default_rng(1).standard_normal(6)
    found = []
    for m, n in _POSITIONS:
        y = der.f_of_pairs(x, m, base=_BASE)
        pair = {"q_i": complex(*x[4:]), "y_i": complex(*y[4:]), "θ_i": rate}
        found.append(_polar(m, n) | pair)
    return found


BINDINGS = {
    "DER-1": _blocks,
    "DER-2": _mirrored,
    "DER-3": _all_polar,
    "DER-4": _all_polar,
    "DER-5": _solution,
}
