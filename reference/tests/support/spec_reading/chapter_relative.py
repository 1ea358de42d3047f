"""What the symbols of the chapter `relative` stand for."""

import functools
from collections.abc import Callable, Mapping

import numpy as np

from ropespec.reference import relative_plane as plane
from ropespec.reference.frequencies import inv_freq
from ropespec.reference.relative import complex_pairs, relative_score, score
from ropespec.reference.rotation import apply_rotary, rotation_matrix
from ropespec.reference.rotation_plane import rotation_matrix_2d

__all__ = ["BINDINGS"]

_BASE = 50.0
_POSITIONS = ((5, 2), (-3, 4))
_LAYOUTS = (True, False)
_THETA = 0.3


def _pair(z: complex) -> list[float]:
    return [z.real, z.imag]


def _vectors(m: int, n: int, *, interleaved: bool, dim: int = 6) -> dict[str, object]:
    """Two vectors, their score in the words of the chapter, and the offset that gives it."""
    layout = {"interleaved": interleaved, "base": _BASE}
    q, k = np.random.default_rng(dim).standard_normal((2, dim))
    wanted = score(q, k, m, n, **layout)
    fits = [d for d in range(-9, 10) if abs(relative_score(q, k, d, **layout) - wanted) < 1e-9]
    return {
        "m": m,
        "n": n,
        "s": 7,
        "q": q,
        "k": k,
        "Δ": 4,
        "d": dim,
        "offset": fits[0],
        "R": lambda p: rotation_matrix(p, dim, **layout),
        "f": lambda x, p: apply_rotary(x[None, None], [p], **layout)[0, 0],
        "g": lambda q, k, difference: relative_score(q, k, -difference, **layout),
        "M": rotation_matrix_2d,
        "θ": _THETA,
    }


def _all_vectors() -> list[Mapping[str, object]]:
    return [
        _vectors(m, n, interleaved=interleaved) for m, n in _POSITIONS for interleaved in _LAYOUTS
    ]


def _complex() -> list[Mapping[str, object]]:
    q, k = 1.0 + 2.0j, 3.0 - 1.0j

    def on_pairs(form: Callable[..., object]) -> Callable[..., object]:
        return lambda q, k, difference: form(_pair(q), _pair(k), difference, theta=_THETA)

    return [
        {
            "m": m,
            "n": n,
            "q": q,
            "k": k,
            "θ": _THETA,
            "g": on_pairs(plane.g_real_part),
            "g_c": on_pairs(plane.g_c),
        }
        for m, n in _POSITIONS
    ]


def _real_product() -> Mapping[str, object]:
    return {**dict(zip("abcd", (2.0, 3.0, 5.0, -7.0), strict=True)), "inner": plane.inner_product}


def _terms() -> list[Mapping[str, object]]:
    q, k = (1.0, 2.0), (3.0, -1.0)
    entries = {"q1": q[0], "q2": q[1], "k1": k[0], "k2": k[1]}
    return [
        {
            "m": m,
            "n": n,
            "θ": _THETA,
            "q": q,
            "k": k,
            "A": 2.0,
            "B": 3.0,
            "C": 5.0,
            "D": -7.0,
            **entries,
            **{f"{name[0]}_{name[1]}": value for name, value in entries.items()},
            **_numbered(plane.eight_terms(q, k, m, n, theta=_THETA)),
            "g": functools.partial(plane.g_expanded, theta=_THETA),
            "inner": plane.inner_product,
        }
        for m, n in _POSITIONS
    ]


def _numbered(terms: np.ndarray) -> dict[str, object]:
    """The terms counted from 1, as the document counts them."""
    return {f"t_{number}": float(term) for number, term in enumerate(terms, 1)}


def _anchor() -> list[Mapping[str, object]]:
    """The standard data of the sign: d = 2, so that the base has no part in it."""
    q, k = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    return [
        {
            "d": 2,
            "θ": inv_freq(2)[0],
            "q": q,
            "k": k,
            "m": m,
            "n": n,
            "R": lambda p: rotation_matrix(p, 2, interleaved=True),
            "score": lambda m, n: score(q, k, m, n, interleaved=True),
        }
        for m, n in _POSITIONS
    ]


def _sums() -> list[Mapping[str, object]]:
    found = []
    for m, n in _POSITIONS:
        for interleaved in _LAYOUTS:
            call = _vectors(m, n, interleaved=interleaved, dim=8)
            layout = {"interleaved": interleaved, "base": _BASE}
            q, k = (call[name] for name in "qk")
            found.append(
                {
                    "m": m,
                    "n": n,
                    "d": 8,
                    "θ": inv_freq(8, _BASE),
                    "q": complex_pairs(q, interleaved=interleaved),
                    "k": complex_pairs(k, interleaved=interleaved),
                    "score": lambda m, n, q=q, k=k, layout=layout: score(q, k, m, n, **layout),
                    "g": lambda q, k, difference, theta: plane.g_of_rotated(
                        _pair(q), _pair(k), difference, 0, theta=theta
                    ),
                }
            )
    return found


BINDINGS = {
    "REL-1": _all_vectors,
    "REL-2": _complex,
    "REL-3": _real_product,
    "REL-4": _terms,
    "REL-5": _all_vectors,
    "REL-6": _anchor,
    "REL-7": _all_vectors,
    "REL-8": _all_vectors,
    "REL-9": _sums,
}
