"""What the formulas and tables of the chapter `disagreements` mean."""

import re
from collections.abc import Mapping

import numpy as np

from ropespec.reference.frequencies import inv_freq, theta_one_based, theta_step2
from ropespec.reference.projection import f_v, project_query
from ropespec.reference.relative import relative_score
from ropespec.reference.rotation import apply_rotary, rotate_rows, rotation_matrix
from ropespec.spec.clauses import chapter_text

_draw = np.random.default_rng(5).standard_normal
_BASE, _D, _M, _N = 50.0, 8, 5, -3
_PLACE = re.compile(r"\b(00\d)\b|\bL(\d+)(?:-(\d+))?")
_LENGTH = re.compile(r"^\| (00\d) \|.*\| (\d+) \|$", re.MULTILINE)


def _R(m: int) -> np.ndarray:
    return rotation_matrix(m, _D, interleaved=True, base=_BASE)


def _f(x: np.ndarray, m: int) -> np.ndarray:
    return apply_rotary(x[None, None], [m], interleaved=True, base=_BASE)[0, 0]


def _scores() -> Mapping[str, object]:
    def g(q: np.ndarray, k: np.ndarray, m_minus_n: int) -> float:
        return float(relative_score(q, k, np.array(-m_minus_n), interleaved=True, base=_BASE))

    return {"g": g, "q": _draw(_D), "k": _draw(_D), "R": _R, "m": _M, "n": _N}


def _frequencies() -> list[Mapping[str, object]]:
    theta = inv_freq(_D, _BASE)
    return [{"θ": theta, "base": _BASE, "d": _D, "i": i} for i in range(_D // 2)]


def _values() -> Mapping[str, object]:
    W, x = _draw((3, 4)), _draw(4)
    return {"f_v": lambda x, n: f_v(x, n, W), "W_v": W, "x": x, "n": _N}


def _rows() -> Mapping[str, object]:
    X, p = _draw((3, _D)), np.array([4, -1, 7])

    def f(x: np.ndarray, *m: int) -> np.ndarray:
        return _f(x, *m) if m else rotate_rows(x, p, interleaved=True, base=_BASE)

    return {"f": f, "x": _draw(_D), "m": _M, "R": _R, "X": X, "p": p, "j": 2}


def _functions_of_tokens() -> Mapping[str, object]:
    W, x = _draw((_D, 3)), _draw(3)

    def f_q(x_m: np.ndarray, m: int) -> np.ndarray:
        return project_query(x_m[None], [m], W[None], interleaved=True, base=_BASE)[0, 0]

    return {"f": _f, "f_q": f_q, "R": _R, "W_q": W, "x_m": x, "x": _draw(_D), "m": _M}


def _places(rows: list[dict[str, str]]) -> list[str]:
    """Every line that is named lies within its document."""
    lengths = {match[1]: int(match[2]) for match in _LENGTH.finditer(chapter_text("documents"))}
    found, current = [], ""
    for text in (text for row in rows for text in row.values()):
        for match in _PLACE.finditer(text):
            current = match[1] or current
            last = int(match[3] or match[2] or 0)
            if current not in lengths or not last <= lengths[current]:
                found.append(f"{current} L{last} is no line")
    return found


def _labels(rows: list[dict[str, str]]) -> list[str]:
    """The number that each convention calls theta_2, for eight components."""
    late = {i: 10000.0 ** (-2 * i / 8) for i in (1, 2, 3, 4)}  # as document 003 prints it
    values = (inv_freq(8)[2], theta_one_based(8)[2], theta_step2(8)[2], late[2])
    written = [float(row["θ_2 for d = 8"]) for row in rows]
    right = np.allclose(written, values, rtol=1e-12)
    return [*_places(rows), *([] if right else [f"θ_2 is {values}"])]


def _errors(rows: list[dict[str, str]]) -> list[str]:
    """Errors of float32 angles, computed again."""
    theta, found = inv_freq(128), []
    for row in rows:
        m = int(row["position"])
        angle = m * theta
        single = (np.float32(m) * theta.astype(np.float32)).astype(np.float64)
        errors = abs(single - angle).max(), abs(np.cos(single) - np.cos(angle)).max()
        cells = row["largest error of an angle"], row["largest error of a cosine"]
        found += [f"{m}: {e:.1e}" for e, c in zip(errors, cells, strict=True) if f"{e:.1e}" != c]
    return found


BINDINGS = {
    "DIS-1": _scores,
    "DIS-2": _frequencies,
    "DIS-5": _values,
    "DIS-6": _rows,
    "DIS-8": lambda: {"x": np.arange(6.0) + 1, "d": 6},
    "DIS-9": lambda: {"a": _draw(4), "b": _draw(4)},
    "DIS-13": lambda: [{"x": x} for x in (0.7, -4.0)],
    "DIS-16": lambda: [{"d": d} for d in (2, 8, 128)],
    "DIS-17": lambda: [{"d": _D, "i": i} for i in range(_D // 2)],
    "DIS-18": _functions_of_tokens,
}
TABLES = {f"DIS-{n}": _places for n in range(1, 19)}
TABLES |= {"DIS-2": _labels, "DIS-14#2": _errors}
RECORDED = {
    "DIS-1": "90485d25f0e4",
    "DIS-2": "bda51b2902e8",
    "DIS-3": "a47b874b3cca",
    "DIS-4": "a9f993b465e3",
    "DIS-5": "4831b04ef011",
    "DIS-6": "52cd6cb0916e",
    "DIS-7": "9d847f4c9cbe",
    "DIS-8": "7b98d0618338",
    "DIS-9": "2e44ff21a97d",
    "DIS-10": "daf9058bf2a0",
    "DIS-11": "c8dbb8206f40",
    "DIS-12": "7c0790dad604",
    "DIS-13": "8843f9422533",
    "DIS-14": "f8f2f79a60e1",
    "DIS-14#2": "30298e9018c6",
    "DIS-15": "0e88e5ccd342",
    "DIS-16": "86507edc04f9",
    "DIS-17": "bc6cc598ceb0",
    "DIS-18": "f08653652cfa",
}
