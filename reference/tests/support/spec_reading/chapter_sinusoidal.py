"""What the symbols of the chapter `sinusoidal` stand for."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from ropespec.reference import inv_freq, sinusoidal_embedding
from ropespec.reference.frequencies import div_term
from ropespec.reference.sinusoidal import (
    PositionalEncoding,
    dimension_table,
    pair_index,
    pe_entry,
    positional_encoding_table,
)

__all__ = ["BINDINGS"]

_D, _BASE, _M = 8, 100.0, 5


def _embedding() -> list[Mapping[str, object]]:
    def whole(m: int, *j: int) -> object:
        return sinusoidal_embedding(m, _D, _BASE)[j]

    def entry(m: int, *j: int) -> object:
        row = np.array([pe_entry(m, k, _D, _BASE) for k in range(_D)])
        return row[j]

    common = {"m": _M, "i": 3, "d": _D, "base": _BASE, "θ": inv_freq(_D, _BASE)}
    return [{**common, "PE": whole}, {**common, "PE": entry}]


def _pairs() -> list[Mapping[str, object]]:
    table = dimension_table(_D)
    ranges = {"j ∈": [row.j for row in table], "i ∈": {row.i for row in table}}
    return [{"d": _D, "j": j, "i": pair_index(j), **ranges} for j in (4, 5)]


def _table() -> Mapping[str, object]:
    table = positional_encoding_table(_M + 1, _D, _BASE)
    return {"pe": table, "m": _M, "div_term": div_term(_D, _BASE)}


def _sum() -> Mapping[str, object]:
    def added(x: NDArray[np.float64]) -> object:
        words = np.zeros((1, _M + 1, _D))
        words[0, _M] = x
        return PositionalEncoding(_D, 0.5)(words)[0, _M]

    rows = sinusoidal_embedding(range(_M + 1), _D)
    return {"m": _M, "x_m": np.arange(3.0, 3.0 + _D), "PE": rows, "↦": added}


BINDINGS: dict[str, Callable[[], Mapping[str, object] | list[Mapping[str, object]]]] = {
    "SIN-1": _embedding,
    "SIN-2": _pairs,
    "SIN-3": _table,
    "SIN-4": _sum,
}
