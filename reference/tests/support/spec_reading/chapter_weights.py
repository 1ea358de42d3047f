"""What the formulas of the chapter `weights` mean."""

from collections.abc import Mapping

import numpy as np

from ropespec.reference.rotation import rotation_matrix
from ropespec.reference.rotation_dense import permutation_matrix
from ropespec.reference.weights import (
    Order,
    component_order,
    fused_rows,
    keys_to_half,
    rms_norm,
    rows_to_half,
)

_draw = np.random.default_rng(3).standard_normal
_D, _R = 8, 6


def _R_int(m: int) -> np.ndarray:
    return rotation_matrix(m, _D, interleaved=True, base=100.0)


def _R_half(m: int) -> np.ndarray:
    return rotation_matrix(m, _D, interleaved=False, base=100.0)


def _rows() -> Mapping[str, object]:
    W = _draw((_D, 5))
    shared = {"P": permutation_matrix(_D), "R_int": _R_int, "R_half": _R_half, "m": 5, "n": -3}
    moved = {"W_int": W, "W_half": rows_to_half(W, 1)}
    return {**shared, **moved, "q": _draw(_D), "k": _draw(_D)}


def _biases() -> Mapping[str, object]:
    b = _draw(_D)
    moved = {"b_int": b, "b": b, "b_half": rows_to_half(b, 1)}
    return {"P": permutation_matrix(_D), "W": _draw((_D, 5)), "x": _draw(5), **moved}


def _heads() -> list[Mapping[str, object]]:
    H = 3
    moved = rows_to_half(np.arange(float(H * _D)), H)
    order = component_order(_D)
    shared = {
        "D": _D,
        "row": lambda h, j: int(moved[h * _D + j]),
        "π": lambda j: int(order[int(j)]),
    }
    return [{**shared, "h": h, "j": j} for h, j in ((0, 3), (1, 1), (2, 6))]


def _partial() -> list[Mapping[str, object]]:
    order = component_order(_D, _R)
    shared = {"D": _D, "r": _R, "π": lambda j: int(order[int(j)])}
    return [{**shared, "j": j, "t": t} for j, t in ((0, 6), (1, 7), (2, 6))]


def _norms() -> Mapping[str, object]:
    weight = _draw(_D)
    return {
        "P": permutation_matrix(_D),
        "norm": lambda x, weight: rms_norm(x, weight, 0.3),
        "mean": np.mean,
        "x": _draw(_D),
        "γ": weight,
        "γ_int": weight,
        "γ_half": rows_to_half(weight, 1),
        "ε": 0.3,
    }


def _adapters() -> Mapping[str, object]:
    made = {"W": _draw((_D, 5)), "B": _draw((_D, 2)), "A": _draw((2, 5)), "s": 0.7}
    return {"P": permutation_matrix(_D), **made}


def _scales() -> Mapping[str, object]:
    return {"P": permutation_matrix(_D), "s": _draw(_D), "N": np.round(50 * _draw((_D, 5)))}


def _keys() -> Mapping[str, object]:
    k = _draw(_D)
    P = permutation_matrix(_D)
    assert np.array_equal(keys_to_half(k), P @ k)
    return {"P": P, "R_int": _R_int, "R_half": _R_half, "n": -7, "k": k}


def _fused(rows: list[dict[str, str]]) -> list[str]:
    """Compute the row of every component of every head from the cell, and from the reference."""
    found = []
    orders: dict[str, tuple[Order, int, int]] = {
        "stacked": ("stacked", 4, 2),
        "per head": ("per head", 3, 3),
        "per group": ("per group", 6, 2),
    }
    if [row["order"] for row in rows] != list(orders):
        return [f"the orders are {', '.join(orders)}"]
    for row in rows:
        order, H, G = orders[row["order"]]
        right = fused_rows(order, H, G, _D)
        cells = ((row["query"], right.q), (row["key"], right.k), (row["value"], right.v))
        for cell, expected in cells:
            head, j = np.meshgrid(np.arange(len(expected)), np.arange(_D), indexing="ij")
            names = {"H": H, "G": G, "D": _D, "n": H // G, "h": head, "g": head, "j": j}
            if not np.array_equal(eval(cell.strip("`"), {}, names), expected):  # noqa: S307
                found.append(f"{order}: {cell} is another row")
    return found


BINDINGS = {
    "WGT-1": _rows,
    "WGT-2": _biases,
    "WGT-3": _heads,
    "WGT-4": _partial,
    "WGT-5": _norms,
    "WGT-7": _adapters,
    "WGT-8": _scales,
    "WGT-9": _keys,
}
TABLES = {"WGT-6": _fused}
RECORDED = {
    "WGT-6": "b4e2158c461f",
}
