"""What the symbols of the chapter `decay` stand for, and its table computed again."""

from collections.abc import Mapping

import numpy as np

from ropespec.reference.decay import (
    abel_bound,
    abel_sum,
    cosine_sum,
    decay_bound,
    decay_curve,
    pair_products,
    partial_sums,
    trivial_bound,
)
from ropespec.reference.frequencies import inv_freq
from ropespec.reference.relative import complex_pairs, relative_score, score
from ropespec.reference.rotation import rotation_matrix

__all__ = ["BINDINGS", "TABLES"]

_BASE = 50.0
_DIM = 8
_LAYOUTS = (True, False)


def _bounded(m: int, n: int, *, interleaved: bool) -> dict[str, object]:
    """Two vectors with the products, the partial sums and the bound of their pairs."""
    layout = {"interleaved": interleaved, "base": _BASE}
    q, k = np.random.default_rng(3).standard_normal((2, _DIM))
    pairs = (complex_pairs(x, interleaved=interleaved) for x in (q, k))
    return {
        "m": m,
        "n": n,
        "d": _DIM,
        "i": 1,
        "j": 3,
        "θ": inv_freq(_DIM, _BASE),
        **dict(zip("qk", pairs, strict=True)),
        "h": np.append(pair_products(q, k, interleaved=interleaved), 0),
        "S": np.insert(partial_sums(n - m, _DIM, _BASE), 0, 0),
        "i ∈": range(_DIM // 2),
        "score": lambda m, n: score(q, k, m, n, **layout),
        "abel": lambda m, n: abel_bound(q, k, n - m, **layout),
    }


def _all_bounded() -> list[Mapping[str, object]]:
    return [
        _bounded(m, n, interleaved=interleaved)
        for m, n in ((5, 2), (-3, 40))
        for interleaved in _LAYOUTS
    ]


def _curve() -> Mapping[str, object]:
    ones = np.ones(_DIM)
    return {
        "d": _DIM,
        "Δ": 7,
        "θ": inv_freq(_DIM, _BASE),
        "q": ones,
        "k": ones,
        "B": lambda offset: decay_bound(offset, _DIM, _BASE),
        "C": lambda distance: decay_curve(distance, _DIM, _BASE)[-1],
        "R": lambda p: rotation_matrix(p, _DIM, interleaved=True, base=_BASE),
        "S": lambda j: lambda offset: partial_sums(offset, _DIM, _BASE)[j - 1],
    }


def _counterexamples() -> Mapping[str, object]:
    """The numbers of the clause are those of 128 components."""
    dim = 128
    tapering = np.repeat(np.linspace(1.0, 2 / dim, dim // 2), 2) * np.tile([1.0, 0.0], dim // 2)
    vectors = tapering, np.tile([1.0, 0.0], dim // 2)
    return {
        "d": dim,
        "Δ": 6,
        "θ": inv_freq(dim),
        "h": np.append(pair_products(*vectors, interleaved=True), 0),
        "trivial": trivial_bound(*vectors, interleaved=True),
        "z": abel_sum(*vectors, -256, interleaved=True),
        "abel": lambda m, n: abel_bound(*vectors, n - m, interleaved=True),
        "score": lambda m, n: relative_score(*vectors, n - m, interleaved=True),
        "B": lambda offset: decay_bound(offset, dim),
        "R": lambda p: rotation_matrix(p, dim, interleaved=False),
    }


def _table(rows: list[dict[str, str]]) -> list[str]:
    """Every cell of the curve for 128 components, from its distance."""
    columns = {
        "B(Δ)": lambda offset: decay_bound(offset, 128),
        "B(Δ) / B(0)": lambda offset: decay_bound(offset, 128) / decay_bound(0, 128),
        "Σ cos(Δθ_i)": lambda offset: cosine_sum(offset, 128),
        "abs(S_64)": lambda offset: abs(partial_sums(offset, 128)[63]),
    }
    found = [
        f"{name} at {row['Δ']} is {right}, not {row[name]}"
        for row in rows
        for name, column in columns.items()
        if row[name] != (right := f"{column(int(row['Δ'])):.4f}")
    ]
    distances = [int(row["Δ"]) for row in rows]
    if distances != [0, *(2**k for k in range(13))]:
        found.append(f"the distances are {distances}, and not 0 and the powers of two to 4096")
    return found + [f"no column {name}" for name in rows[0] if name not in {"Δ", *columns}]


BINDINGS = {"DEC-1": _all_bounded, "DEC-2": _curve, "DEC-3": _counterexamples}
TABLES = {"DEC-2": _table}
