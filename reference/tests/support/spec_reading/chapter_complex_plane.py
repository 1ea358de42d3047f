"""What the symbols of the chapter `complex_plane` stand for."""

from collections.abc import Callable, Mapping

import ml_dtypes
import numpy as np

from ropespec.reference import complex_plane as plane

__all__ = ["BINDINGS", "TABLES"]

_A, _B, _C, _D = 1.5, -2.0, 0.5, 3.0
_Z, _W = complex(_A, _B), complex(_C, _D)
_M, _N, _THETA = 3, -2, 0.7


def _numbers() -> dict[str, object]:
    return {"a": _A, "b": _B, "c": _C, "d": _D, "z": _Z, "w": _W}


def _plane() -> Mapping[str, object]:
    functions = {"modulus": plane.modulus, "argument": plane.argument}
    return {**_numbers(), **functions}


def _conjugates() -> Mapping[str, object]:
    mirrored = {"z^*": complex(plane.conjugate(_Z)), "w^*": complex(plane.conjugate(_W))}
    return {**_numbers(), **mirrored, "n": _N, "θ": _THETA, "x": 1.1}


def _unit() -> Mapping[str, object]:
    return {**_numbers(), "times_i": plane.times_i, "x": np.array([2.0, 5.0])}


def _euler() -> list[Mapping[str, object]]:
    steps = (plane.euler_substituted, plane.euler_reduced, plane.euler_series)
    cuts = [
        *(lambda z, step=step: step(z.imag, 5) for step in steps),
        lambda z: plane.exp_series(z, 5),
    ]
    common = {"x": 1.1, "m": _M, "n": _N, "θ": _THETA, "ω": 0.3, "t": 4.0, "euler": plane.euler}
    phase = {"phase_difference": lambda m, n: plane.phase_difference(m, n, theta=_THETA)}
    return [{**common, **phase, "cut": cut} for cut in cuts]


def _series() -> list[Mapping[str, object]]:
    partial = {
        "exp_series": plane.exp_series,
        "sin_series": plane.sin_series,
        "cos_series": plane.cos_series,
    }
    found: list[Mapping[str, object]] = []
    for x, degree in ((0.5, 4), (1.7, 4), (-0.5, 5), (-1.7, 5)):
        power = abs(plane.exp_series(x, degree + 1) - plane.exp_series(x, degree))
        found.append({**partial, "x": x, "N": degree, "next": float(power), "k ∈": range(25)})
    return found


def _halves() -> Mapping[str, object]:
    return {"θ": _THETA, "cos_from_exp": plane.cos_from_exp, "sin_from_exp": plane.sin_from_exp}


def _pairs() -> Mapping[str, object]:
    x = np.array([2.0, 3.0, 5.0, 7.0, 11.0, 13.0])
    return {"x": x, "z": plane.to_complex(x), "i": 2}


def _dtypes(rows: list[dict[str, str]]) -> list[str]:
    """Send a pair of each dtype there and back."""
    names = ["float16", "bfloat16", "float32", "float64"]
    found = [] if [row["x"] for row in rows] == names else ["other dtypes"]
    for row in rows:
        z = plane.to_complex(np.ones(2, getattr(ml_dtypes, row["x"], row["x"])))
        right = (z.dtype.name, plane.from_complex(z).dtype.name)
        if (row["z"], row["back"]) != right:
            found.append(f"{row['x']} becomes {right}")
    return found


BINDINGS: dict[str, Callable[[], Mapping[str, object] | list[Mapping[str, object]]]] = {
    "intro": lambda: {"x": 1.1},
    "CPLX-1": _plane,
    "CPLX-2": _conjugates,
    "CPLX-3": _unit,
    "CPLX-4": _euler,
    "CPLX-5": _series,
    "CPLX-6": _halves,
    "CPLX-7": lambda: {**_numbers(), "product": plane.product},
    "CPLX-8": _pairs,
}

TABLES = {"CPLX-8": _dtypes}
