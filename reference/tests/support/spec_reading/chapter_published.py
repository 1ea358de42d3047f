"""What the symbols of the chapter `published` stand for, and the numbers of its worked examples."""

from collections.abc import Callable, Mapping

import numpy as np

from ropespec.reference import published
from ropespec.reference.frequencies import angles, inv_freq
from ropespec.reference.rotation import rotation_matrix
from ropespec.reference.sinusoidal import dimension_table
from ropespec.spec.errata import shown, values

__all__ = ["BINDINGS", "TABLES"]

_THETA = inv_freq(8)
_CASES = ((3, 1), (5, 3))


def _matrix(m: int) -> np.ndarray:
    return rotation_matrix(m, 8, interleaved=True)


def _embedding() -> list[Mapping[str, object]]:
    E = published.sinusoidal_position_embedding(2, 3, 6, 8, "cpu")
    return [
        {"E": E, "b": b, "h": 2, "m": m, "i": i, "θ": _THETA} for m, i in _CASES for b in (0, 1)
    ]


def _rope() -> list[Mapping[str, object]]:
    """Bind q and k of several rows, and x, a row of q at position 5."""
    q, k = np.random.default_rng(2).normal(size=(2, 1, 1, 6, 8))
    new_q, new_k = published.RoPE(q, k[:, :, :5])
    table = published.sinusoidal_position_embedding(1, 1, 6, 8, "cpu")
    sin_pos, cos_pos = published.split_pos_emb(table)
    bound = {
        "R": _matrix,
        "q": q[0, 0],
        "k": k[0, 0],
        "q'": new_q[0, 0],
        "k'": new_k[0, 0],
        "x": q[0, 0, 5],
        "x'": new_q[0, 0, 5],
        "C": cos_pos[0, 0, 5],
        "S": sin_pos[0, 0, 5],
        "u": published.quarter_turn(q)[0, 0, 5],
        "d": 8,
    }
    return [{**bound, "m": m, "n": n} for m, n in ((5, 4), (2, 3))]


def _cis() -> list[Mapping[str, object]]:
    F = published.precompute_freqs_cis(8, 9, 50.0)
    bound = {"F": F, "dim": 8, "theta": 50.0, "θ": inv_freq(8, 50.0), "a": 2, "b": 5}
    return [{**bound, "m": m, "i": i} for m, i in _CASES]


def _reshape() -> Mapping[str, object]:
    def shape(found: object) -> tuple[int, ...]:
        S, c = (int(n) for n in np.asarray(found))
        table, x = np.ones((S, c), complex), np.ones((2, S, 5, c), complex)
        return published.reshape_for_broadcast(table, x).shape

    return {"S": 3, "c": 4, "↦": shape}


def _emb() -> list[Mapping[str, object]]:
    x = np.random.default_rng(5).normal(size=(1, 6, 1, 8))
    F = published.precompute_freqs_cis(8, 6)
    y, _ = published.apply_rotary_emb(x, x, F)
    return [{"x": x[0, s, 0], "y": y[0, s, 0], "F": F, "s": s, "i": i} for s, i in ((5, 3), (2, 1))]


def _cache() -> list[Mapping[str, object]]:
    cos, sin = published.cos_sin_cached(range(6), 8)
    bound = {
        "C": cos,
        "S": sin,
        "θ": _THETA,
        "R": _matrix,
        "rot": published.quarter_turn,
        "x": np.random.default_rng(6).normal(size=8),
    }
    return [{**bound, "m": m, "i": i} for m, i in _CASES]


def _q() -> np.ndarray:
    return np.arange(1, 25).reshape(1, 1, 3, 8) / 10


def _k() -> np.ndarray:
    return 0.05 + 0.1 * np.arange(8).reshape(1, 1, 1, 8)


def _ids(d: int) -> np.ndarray:
    pairs = [row.i for row in dimension_table(d)]
    return np.array([pairs[0], pairs[-1], len(set(pairs))])


def _angle(d: int, m: int, i: tuple[int, ...]) -> np.ndarray:
    return angles([m], inv_freq(d))[0, list(i)]


def _pe(d: int, m: int, j: tuple[int, ...] | None = None) -> np.ndarray:
    row = published.sinusoidal_position_embedding(1, 1, m + 1, d, "cpu")[0, 0, m]
    return row if j is None else row[list(j)]


def _shapes(shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    x = np.ones(shape)
    return tuple(np.array(one.shape) for one in published.attention(x, x, x))


_EXAMPLES: Mapping[str, Callable[..., object]] = {
    "F-206": lambda d, j: np.array([dimension_table(d)[one].i for one in j]),
    "F-207": _ids,
    "F-208": lambda d, i: inv_freq(d)[list(i)],
    "F-209": _angle,
    "F-210": lambda d, m, i: np.sin(_angle(d, m, i)),
    "F-211": lambda d, m, i: np.cos(_angle(d, m, i)),
    "F-212": _pe,
    "F-213": lambda d, B, H, L: np.array(
        published.sinusoidal_position_embedding(B, H, L, d, "cpu").shape
    ),
    "F-214": _pe,
    "F-215": lambda m: published.quarter_turn(_q())[0, 0, m],
    "F-216": lambda m: published.quarter_turn(_k())[0, 0, m],
    "F-217": lambda m: published.RoPE(_q(), _k())[0][0, 0, m],
    "F-218": _shapes,
}


def _worked(rows: list[dict[str, str]]) -> list[str]:
    """Compute each row from its data."""
    found = []
    for row in rows:
        try:
            right = shown(_EXAMPLES[row["entry"]](**values(row["of"])))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            right = f"{type(error).__name__}: {error}"
        if right != row["right"]:
            found.append(f"{row['entry']} of {row['of']} is {right}, not {row['right']}")
    listed = list(dict.fromkeys(row["entry"] for row in rows))
    return found + ([] if listed == list(_EXAMPLES) else [f"the entries are {listed}"])


BINDINGS: Mapping[str, Callable[[], object]] = {
    "PUB-1": _embedding,
    "PUB-2": _rope,
    "PUB-3": _cis,
    "PUB-4": _reshape,
    "PUB-5": _emb,
    "PUB-6": _cache,
}
TABLES: Mapping[str, Callable[[list[dict[str, str]]], list[str]]] = {"PUB-7": _worked}
