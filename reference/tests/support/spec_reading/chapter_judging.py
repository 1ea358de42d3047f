"""What the symbols of the chapter `judging` stand for: the numbers of the judge itself."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.budget import (
    STAGES,
    Budget,
    Machine,
    Pairs,
    angle_error,
    budget,
)
from ropespec.conformance.judge.precision import (
    DEFECTS,
    PRECISIONS,
    UNIT_ROUNDOFF,
    Precision,
    arithmetic_dtype,
    legitimate,
)
from ropespec.reference import cos_sin
from ropespec.spec.convention import Frequencies
from spec_reading.chapter_rotation import rotations, vector
from spec_reading.evaluate import evaluate
from spec_reading.grammar import parse
from spec_reading.relations import disagreements
from spec_reading.sections import SPAN, states
from spec_reading.tokens import FormulaError

__all__ = ["BINDINGS", "TABLES"]

Environment = Mapping[str, Any]
Rows = list[dict[str, str]]

_BASE, _DIM = 50.0, 8
_THETA = oracle.frequencies(_DIM, Frequencies(_BASE))
_CPU, _CUDA = Machine(), Machine.of("torch", "cuda", subnormals=True)
_UNITS = {"u_64": "float64", "u_32": "float32", "u_16": "float16", "u_8": "bfloat16"}
_POSITIONS = (3, -1000, 2**24, 2**24 + 1, 2**40)


# --- values of the judge


def _eta(kind: str, m: int, i: int, *, work: str = "float32", machine: Machine = _CPU) -> float:
    """Give the bound of the error of the angle of pair i at position m."""
    position = np.array([abs(float(m))])
    return float(angle_error(kind, position, _THETA, arithmetic=work, machine=machine)[i])


def _stages(numbers: tuple[float, ...], precision: Precision, dtype: str) -> Budget:
    """Budget of one pair: x1, x2, cos, sin, position, frequency."""
    return budget(Pairs(*(np.array([n]) for n in numbers)), precision, dtype, _CPU)


def _entry_errors(precision: Precision, dtype: str) -> tuple[float, float]:
    """Relative and absolute error of a table entry, read off the stage of the table.

    At position 0, x = (1, 0) costs both parts with a cosine of 1, and the absolute one with 0.
    """
    both, absolute = (
        float(_stages((1.0, 0.0, c, 0.0, 0.0, 1.0), precision, dtype).of("table")[0, 0])
        for c in (1.0, 0.0)
    )
    return both - absolute, absolute


def _floor(precision: Precision, dtype: str) -> float:
    """What is left of the store where x is zero."""
    return float(_stages((0.0, 0.0, 1.0, 0.0, 0.0, 1.0), precision, dtype).of("store")[0, 0])


def _pair(name: str, dtype: str, m: int, i: int) -> Environment:
    """One pair, rotated by one class, with every term of its budget."""
    precision, work = PRECISIONS[name], arithmetic_dtype(dtype)
    arithmetic = precision.arithmetic or work
    x_1, x_2 = 3.0, -0.75
    c, s = (float(table[i]) for table in oracle.cos_sin(np.array(m), _DIM, Frequencies(_BASE)))
    allowed = _stages((x_1, x_2, c, s, abs(float(m)), float(_THETA[i])), precision, dtype)
    size, y_1 = abs(x_1) + abs(x_2), x_1 * c - x_2 * s
    relative, absolute = _entry_errors(precision, dtype)
    unit, of_result = UNIT_ROUNDOFF[arithmetic], UNIT_ROUNDOFF[dtype]
    own = oracle.ORACLE_ERROR * size
    own += 2 * UNIT_ROUNDOFF["float64"] * (abs(x_1 * c) + abs(x_2 * s) + abs(y_1))
    return {
        "x_1": x_1,
        "x_2": x_2,
        "y_1": y_1,
        "y_2": x_1 * s + x_2 * c,
        "φ": m * float(_THETA[i]),
        "c": c,
        "s": s,
        "ρ": math.hypot(x_1, x_2),
        "η": _eta(precision.angle, m, i, work=work),
        "ε_r": relative,
        "ε_a": absolute,
        "u_c": unit,
        "u_o": of_result,
        "u_64": UNIT_ROUNDOFF["float64"],
        "u_x": unit if of_result < unit else 0.0,
        "u_s": of_result if dtype != arithmetic else 0.0,
        "σ": (float(allowed.of("table")[0, 0]) - absolute * size) / relative,
        "δ_judge": own,
        "δ_least": _floor(precision, dtype),
        "δ": float(allowed.total[0, 0]),
        **{f"δ_{stage}": float(allowed.of(stage)[0, 0]) for stage in STAGES},
    }


def _budgets() -> list[Environment]:
    """Small and large angles, where Taylor's step and the chord are smaller, in all precisions."""
    return [
        _pair("float32-angles", "float32", 1000, 2),
        _pair("float32-angles", "bfloat16", 7, 1),
        _pair("float32-angles", "float32", 2**31, 0),
        _pair("float64-angles", "float64", 1000, 1),
        _pair("float64-angles", "float16", 70000, 3),
        _pair("fast-sincos", "float32", 1000, 3),
        _pair("float16-table", "float16", 12, 1),
        _pair("float16-arithmetic", "float16", 12, 1),
        _pair("bf16-arithmetic", "float32", 1000, 1),
        _pair("bf16-arithmetic", "bfloat16", 40000, 2),
    ]


def _angle(m: int, i: int, *, work: str = "float32") -> dict[str, Any]:
    """The symbols of the tables of classes."""
    units = {name: UNIT_ROUNDOFF[dtype] for name, dtype in _UNITS.items()}
    return {
        **units,
        "m": m,
        "i": i,
        "d": _DIM,
        "base": _BASE,
        "θ": _THETA,
        "φ": abs(m) * float(_THETA[i]),
        "t": -math.log(_THETA[i]),
        "u_c": UNIT_ROUNDOFF[work],
        "u_m": units["u_32"] if abs(m) > 2**24 else 0.0,
        "ν": 0.0 if work == "float64" else 2 * units["u_32"],
    }


def _law() -> list[Environment]:
    found: list[Environment] = []
    for interleaved in (True, False):
        R = rotations(4, interleaved=interleaved)
        found.append({"x": vector(4), "m": 5, "n": -3, "f": lambda x, p, R=R: R(p) @ x})
    return found


BINDINGS: dict[str, Callable[[], Any]] = {
    "JDG-2": _budgets,
    "JDG-3": lambda: [_angle(m, i) for m in _POSITIONS for i in range(_DIM // 2)],
    "JDG-5": _law,
}


# --- tables


def _value(cell: str, environment: Environment) -> float:
    """Compute what stands in a cell; what cannot be computed is no number."""
    try:
        (statement,) = parse(f"0 = {cell.strip('`')}", environment)
        return float(evaluate(statement.members[1], environment))
    except (FormulaError, ValueError):
        return math.nan


def _differs(cell: str, environment: Environment, right: float) -> bool:
    return not math.isclose(_value(cell, environment), right, rel_tol=1e-9, abs_tol=1e-300)


def _measured(rows: Rows) -> list[str]:
    """The errors of the literal reference, and that of one rounding."""
    heading, *columns = rows[0]
    base, dim = (int(number) for number in re.findall(r"\d+", heading))
    found = [] if [row[heading] for row in rows] == ["literal reference", "oracle"] else ["rows"]
    if dim % 2:
        return [f"d is {dim}"]
    for column in columns:
        count, start = column.split(" positions from ")
        first = int(_value(start, {}))
        m = np.arange(first, first + int(count))
        exact = oracle.cos_sin(m, dim, Frequencies(float(base)))
        ours = cos_sin(m, dim, float(base))
        error = max(float(abs(a - b).max()) for a, b in zip(ours, exact, strict=True))
        for row in rows:
            said, is_reference = float(row[column]), row[heading] == "literal reference"
            of_oracle = said == float(f"{oracle.ORACLE_ERROR:.1e}")
            right = said / 2 <= error <= said if is_reference else of_oracle
            found += [f"{row[heading]}, {column}: {row[column]}"] * (not right)
    return found


def _symbols(rows: Rows) -> list[str]:
    """Every symbol has a value, and what the table says of it holds."""
    found: list[str] = []
    environments = _budgets()
    for row in rows:
        for name in SPAN.findall(row["symbol"]):
            found += [f"{name} has no value"] * (name not in environments[0])
        for formula in filter(states, SPAN.findall(row["is"])):
            left = formula.partition(" = ")[0]
            found += [f"{left} stands at {row['symbol']}"] * (f"`{left}`" not in row["symbol"])
            for environment in environments:
                for statement in parse(formula, environment):
                    found += disagreements(statement, environment)
    formulas = [f for row in rows for f in SPAN.findall(row["is"]) if states(f)]
    defined = [formula.partition(" = ")[0] for formula in formulas]
    if defined != ["c", "s", "y_1", "y_2", "ρ"]:
        found.append(f"the table defines {defined}")
    listed = {name for row in rows for name in SPAN.findall(row["symbol"])}
    stages = {"δ", "δ_angle", "δ_table", "δ_arithmetic", "δ_store"}
    return found + [f"{name} is not listed" for name in set(environments[0]) - listed - stages]


def _classes(rows: Rows) -> list[str]:
    names = [row["class"].strip("`") for row in rows]
    if names != list(PRECISIONS):
        return [f"classes are {names}"]
    return [
        f"{row['class']}: {problem}"
        for row, precision in zip(rows, PRECISIONS.values(), strict=True)
        for problem in _class(row, precision)
    ]


def _class(row: Mapping[str, str], precision: Precision) -> Iterator[str]:
    right = precision.arithmetic or "float32, float64 for float64 x"
    if row["arithmetic"] != right:
        yield f"the arithmetic is {right}"
    for work in ("float32",) if precision.arithmetic else ("float32", "float64"):
        table = _entry_errors(precision, work)
        for m, i in ((m, i) for m in _POSITIONS for i in range(_DIM // 2)):
            environment = _angle(m, i, work=work)
            right_angle = _eta(precision.angle, m, i, work=work)
            if _differs(row["error η of the angle"], environment, right_angle):
                yield f"the angle at position {m} in {work}"
            for column, error in zip(("ε_r of the table", "ε_a of the table"), table, strict=True):
                if _differs(row[column], environment, error):
                    yield f"{column} is {error}"


def _within(units: float) -> float:
    """Unit roundoffs of a function that errs by so many units in the last place."""
    return 2 * units


_ROUNDED = 0.5  # of a unit in the last place: what the correctly rounded result errs by
_STEPS: dict[str, Callable[[float], tuple[float, float, float]]] = {
    "the exponent 2i/d": lambda t: (t, t, t),
    "the logarithm of the base": lambda t: (t, t, _within(2) * t),
    "the product of the two": lambda t: (t, t, t),
    "the power or exponential of it": lambda _: (
        _within(1 + _ROUNDED),
        _within(4 + _ROUNDED),
        _within(2),
    ),
    "the reciprocal": lambda _: (1, 1, 1),
    "the product with the position": lambda _: (1, 1, 1),
    "the reduction of the angle": lambda _: (0, 0, 2),
}
"""On a CPU, on CUDA, and of the fast functions there: the errors that are known of each step."""


def _sums(rows: Rows) -> list[str]:
    """The known steps, and a reserve that completes them to what the judge allows."""
    columns = ("on a CPU", "on CUDA", "`fast-sincos`")
    labels = [row["step"] for row in rows]
    if labels != [*_STEPS, "in reserve", "sum"]:
        return [f"steps are {labels}"]
    found: list[str] = []
    for i in (1, 3):
        t = -math.log(_THETA[i])
        known = {label: steps(t) for label, steps in _STEPS.items()}
        kinds = (("float32", _CPU), ("float32", _CUDA), ("fast", _CPU))
        unit = UNIT_ROUNDOFF["float32"] * float(_THETA[i])
        total = [_eta(kind, 1, i, machine=machine) / unit for kind, machine in kinds]
        parts = [sum(step[k] for step in known.values()) for k in range(3)]
        known["in reserve"] = tuple(a - b for a, b in zip(total, parts, strict=True))
        known["sum"] = tuple(total)
        for row in rows:
            for column, right in zip(columns, known[row["step"]], strict=True):
                if not math.isclose(_value(row[column], {"t": t}), right, abs_tol=1e-9):
                    found.append(f"{row['step']}, {column}: {row[column]} is not {right}")
    return found


def _unclaimed(rows: Rows) -> list[str]:
    found = [] if [r["x"] for r in rows] == ["float64", "float32", "float16", "bfloat16"] else ["x"]
    for row in rows:
        right = [precision.name for precision in legitimate(row["x"])]
        if SPAN.findall(row["classes"]) != right:
            found.append(f"{row['x']} passes under {right}")
    return found


_FORMATS = {
    "tf32-angles": ("tf32", "tf32", "float32"),
    "float16-inv_freq": ("float32", "float16", "float32"),
    "bf16-inv_freq": ("float32", "bfloat16", "float32"),
    "float16-angles": ("float16", "float16", "float16"),
    "bf16-angles": ("bfloat16", "bfloat16", "bfloat16"),
}
"""What position, frequency and angle of a defect are rounded to."""


def _defects(rows: Rows) -> list[str]:
    names = [row["defect"].strip("`") for row in rows]
    if names != list(DEFECTS):
        return [f"defects are {names}"]
    found: list[str] = []
    for row, (name, defect) in zip(rows, DEFECTS.items(), strict=True):
        for part, format_ in zip(("position", "frequency", "angle"), _FORMATS[name], strict=True):
            if int(row[f"bits of the {part}"]) != -math.log2(UNIT_ROUNDOFF[format_]):
                found.append(f"{name}: bits of the {part}")
        for m, i in ((3, 1), (-1000, 3), (2**20, 2)):
            added = _eta(defect.angle, m, i) - _eta("float32", m, i)
            value = _value(row["added to η"], _angle(m, i))
            if not math.isclose(value, added, rel_tol=1e-9):
                found.append(f"{name}: {added} at position {m}, not {value}")
    return found


TABLES: dict[str, Callable[[Rows], list[str]]] = {
    "JDG-1": _measured,
    "JDG-2": _symbols,
    "JDG-3": _classes,
    "JDG-3#2": _sums,
    "JDG-3#3": _unclaimed,
    "JDG-3#4": _defects,
}
NUMBERS = {"JDG-3": ("64",)}  # chosen; test_profile_chapter.py holds it against the check
