"""What the symbols of the chapter `contract` stand for, and what the reference makes of its tables.

What the tables say of the backends, `backends/tests/test_contract_tables.py` holds against them.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np

import ropespec.reference
from ropespec.reference import apply_rotary, apply_rotary_dense, inv_freq
from ropespec.reference.arrays import round_to
from ropespec.spec.api import FUNCTIONS
from ropespec.spec.errors import ArgumentValueError
from spec_reading.chapter_rotation import rotations, vector
from spec_reading.results import calls, dtypes_of, expected, host_array

__all__ = ["BINDINGS", "FACTS", "TABLES"]

Environment = Mapping[str, Any]
Rows = list[dict[str, str]]

_BASE = 50.0
_M = 5


def _rotate(x: np.ndarray, m: int) -> np.ndarray:
    y = apply_rotary(x.reshape(1, 1, -1), [m], interleaved=False, base=_BASE)
    return y.astype(np.float64).ravel()


def _rounded() -> list[Environment]:
    """One rounding at the end, to each dtype, of what float64 gives."""
    found: list[Environment] = []
    for dtype in map(np.dtype, (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)):
        x = vector(4).astype(dtype)
        found.append(
            {
                "m": _M,
                "x": x.astype(np.float64),
                "R": rotations(4, interleaved=False),
                "rounded": lambda y, dtype=dtype: round_to(y, dtype).astype(np.float64),
                "y": _rotate(x, _M),
            }
        )
    return found


def _empty() -> list[Environment]:
    shapes = ((0, 3, 2, 8), (2, 0, 2, 8), (2, 3, 0, 8))
    found: list[Environment] = []
    for shape in shapes:
        x = np.zeros(shape)
        y = apply_rotary(x, np.arange(shape[1]), interleaved=True)
        found.append({"x": x, "y": y, "shape": lambda array: np.array(np.shape(array))})
    return found


def _pulled_back() -> list[Environment]:
    """The matrix of the forward pass is read off its results for the unit vectors."""
    applied = np.stack([_rotate(unit, _M) for unit in np.eye(4)], axis=-1)
    setting = {"ȳ": vector(4, 1), "x": vector(4), "t": vector(4, 2), "m": _M, "f": _rotate}
    return [
        setting | {"R": rotations(4, interleaved=False)},
        setting | {"R_m": applied, "R": _dense},
    ]


def _dense(m: int) -> np.ndarray:
    """Give the matrix that the dense form multiplies by."""
    units = np.eye(4)[:, np.newaxis]
    return apply_rotary_dense(units, [m] * 4, interleaved=False, base=_BASE)[:, 0].T


def _tangent() -> Environment:
    x, t = vector(4), vector(4, 1)
    f = {"f": _rotate, "R": rotations(4, interleaved=False)}
    return f | {"x": x, "t": t, "m": _M, "y": _rotate(x, _M)}


BINDINGS: dict[str, Callable[[], Any]] = {
    "ROT-17": _rounded,
    "ROT-18": _empty,
    "ROT-20": _pulled_back,
    "ROT-24": _tangent,
}

_X = np.ones((2, 5, 3, 8))
_REFUSED: dict[tuple[str, str], list[dict[str, Any]]] = {
    (
        "`x`",
        "no array of the framework, or one of integers, booleans or complex numbers",
    ): [
        {"x": _X.tolist()},
        {"x": _X.astype(np.int32)},
        {"x": _X.astype(bool)},
        {"x": _X.astype(np.complex64)},
    ],
    ("`x`", "an array of fewer than three axes"): [{"x": _X[0, 0]}, {"x": _X[0, 0, 0]}],
    ("`positions`", "no integers"): [
        {"positions": np.arange(5.0)},
        {"positions": [0.5] * 5},
        {"positions": "01234"},
        {"positions": [True] * 5},
    ],
    ("`positions`", "of a shape that does not fit x"): [
        {"positions": 3},
        {"positions": [3]},
        {"positions": np.zeros((3, 5), np.int32)},
    ],
    ("`interleaved`", "left out"): [{"interleaved": ...}],
    ("`interleaved`", "neither True nor False"): [{"interleaved": 1}, {"interleaved": None}],
    ("`base`", "no number"): [{"base": "big"}, {"base": None}],
    ("`base`", "infinite, NaN, or not above 1"): [
        {"base": base} for base in (math.inf, math.nan, 1.0, 0, -5)
    ],
    ("`rotary_dim`", "no integer"): [{"rotary_dim": 4.0}, {"rotary_dim": "4"}],
    ("`rotary_dim`", "odd, below 2 or above D"): [{"rotary_dim": dim} for dim in (3, 0, -2, 10)],
    ("D", "odd or zero, where `rotary_dim` is left out"): [
        {"x": _X[..., :7]},
        {"x": _X[..., :0]},
    ],
}
"""Row of the table -> arguments of `apply_rotary` that it is about; `...` leaves one out."""


def _refusals(rows: Rows) -> list[str]:
    found = [
        f"{' '.join(row)}: no row says this"
        for row in _REFUSED
        if row not in {(one["argument"], one["is refused where it is"]) for one in rows}
    ]
    for one in rows:
        row = one["argument"], one["is refused where it is"]
        if row not in _REFUSED:
            found.append(f"{' '.join(row)}: no call tries this")
        for change in _REFUSED.get(row, ()):
            error = _error_of(change)
            if f"`{error}`" != one["error"]:
                found.append(f"{' '.join(row)}: {change} raises {error}, not {one['error']}")
    return found


def _error_of(change: Mapping[str, Any]) -> str:
    arguments = {"x": _X, "positions": range(5), "interleaved": True, **change}
    try:
        apply_rotary(**{name: value for name, value in arguments.items() if value is not ...})
    except (TypeError, ValueError) as error:
        return type(error).__name__
    return "nothing"


def _dtypes(rows: Rows) -> list[str]:
    """Hold the column of the reference against the reference, and the others against it."""
    listed = [name for names in FUNCTIONS.values() for name in names]
    written = [row["function"].strip("`") for row in rows]
    found = [] if written == listed else [f"functions are {written}, not {listed}"]
    cells = dict(zip(written, (row["reference, NumPy, torch, CuPy"] for row in rows), strict=True))
    for call in calls() if written == listed else ():
        shown = dtypes_of(call, ropespec.reference, host_array)
        if shown != expected(cells[call.function], call, len(shown)):
            found.append(f"{call.function}: {shown} for {call.dtypes}")
    for row, cell in zip(rows, cells.values(), strict=True):
        found += [
            f"{row['function']}: {head} is {row[head]!r}, not {right!r}"
            for head, right in (("JAX with x64", cell), ("JAX", _without_float64(cell)))
            if row[head] != right
        ]
    return found


def _without_float64(cell: str) -> str:
    """Give what is left of a cell where float64 and complex128 do not exist."""
    kept = cell.partition(", of ")[0]
    return kept.replace("float64", "float32").replace("complex128", "complex64")


def _devices(rows: Rows) -> list[str]:
    """Hold the row of the reference against its refusal."""
    found = []
    try:
        inv_freq(4, device="elsewhere")
    except ArgumentValueError as error:
        must = f"device must be None or {rows[0]['`device` is None or']}; got"
        found = [] if str(error).startswith(must) else [f"{must!r} is {str(error)!r}"]
    return found + ["the first row"] * (rows[0]["implementation"] != "reference, NumPy")


TABLES: dict[str, Callable[[Rows], list[str]]] = {
    "ROT-21": _refusals,
    "API-1": _dtypes,
    "API-2": _devices,
}

_ELSEWHERE = "what the backends offer, which backends/tests/test_contract_tables.py computes"
FACTS: dict[str, str] = {"ROT-24": _ELSEWHERE, "API-3": _ELSEWHERE}
RECORDED = {
    "ROT-24": "2c8d742cb774",
    "API-3": "816e86eaf2a0",
}
