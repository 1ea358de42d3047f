"""What operators and built-in functions do with numbers, vectors, matrices and open vectors."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spec_reading.tokens import FormulaError
from spec_reading.values import Open, paired, scalar

__all__ = ["ASSOCIATED", "FUNCTIONS", "beside", "norm", "operate", "power"]


def operate(operator: str, left: Any, right: Any) -> Any:
    """Compute `left operator right`, entry by entry; shapes must agree unless one is a number."""
    if isinstance(left, Open) or isinstance(right, Open):
        number = not isinstance(left, Open) and np.ndim(left) == 0
        if number:
            return Open(*(operate(operator, left, part) for part in (right.head, right.tail)))
        if not isinstance(right, Open) and np.ndim(right) == 0:
            return Open(*(operate(operator, part, right) for part in (left.head, left.tail)))
        return Open(*(operate(operator, *pair) for pair in paired(left, right)))
    if np.ndim(left) and np.ndim(right) and np.shape(left) != np.shape(right):
        raise FormulaError(f"{operator!r} between shapes {np.shape(left)} and {np.shape(right)}")
    return scalar(_OPERATORS[operator](left, right))


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "·": lambda a, b: a * b,
    "⊙": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "mod": lambda a, b: a % b,
}


def beside(left: Any, right: Any) -> Any:
    """Multiply what stands side by side: matrices as matrices, everything else entry by entry."""
    if 2 in {np.ndim(left), np.ndim(right)} and np.ndim(left) and np.ndim(right):
        if np.ndim(left) == 1 and np.shape(right)[0] == 1:
            return np.outer(left, right)
        found = np.asarray(left) @ np.asarray(right)
        return scalar(found.reshape(()) if found.size == 1 else found)
    return operate("·", left, right)


def power(base: Any, exponent: Any) -> Any:
    """Raise to a power; a square matrix to an integer one, as a matrix."""
    if np.ndim(base) == 2:
        return np.linalg.matrix_power(base, exponent)
    return scalar(base**exponent)


def norm(mark: str, value: Any) -> Any:
    """Take the modulus of a number, the length of a vector, or with `⌊` the floor."""
    if mark == "⌊":
        return math.floor(value)
    if np.ndim(value) > 1:
        raise FormulaError("a matrix between bars")
    return float(np.linalg.norm(value)) if np.ndim(value) else abs(value)


def _transpose(value: Any) -> Any:
    return np.asarray(value)[np.newaxis] if np.ndim(value) == 1 else np.swapaxes(value, -1, -2)


def _conjugate(value: Any) -> Any:
    return (lambda *x: np.conj(value(*x))) if callable(value) else scalar(np.conj(value))


def _diagonal(*parts: Any) -> NDArray[Any]:
    blocks = [np.atleast_2d(part) for part in parts]
    if len(parts) == 1 and np.ndim(parts[0]) == 1:
        return np.diag(parts[0])
    return np.block(
        [[b if k == n else np.zeros((len(b), len(c[0]))) for k, c in enumerate(blocks)]
         for n, b in enumerate(blocks)]
    )  # fmt: skip


def _rounded(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let a function of NumPy take exact fractions too."""
    return lambda value: function(float(value) if isinstance(value, Fraction) else value)


def _over_all(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *parts: scalar(function(np.concatenate([np.ravel(part) for part in parts])))


ASSOCIATED: dict[str, Callable[[Any], Any]] = {
    "⊤": lambda value: value if np.ndim(value) == 0 else _transpose(value),
    "*": _conjugate,
    "!": math.factorial,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cos": _rounded(np.cos),
    "sin": _rounded(np.sin),
    "tan": _rounded(np.tan),
    "exp": _rounded(np.exp),
    "ln": _rounded(np.log),
    "log": _rounded(np.log),
    "sqrt": _rounded(np.sqrt),
    "Re": np.real,
    "Im": np.imag,
    "arg": np.angle,
    "max": _over_all(np.max),
    "min": _over_all(np.min),
    "mean": _over_all(np.mean),
    "det": np.linalg.det,
    "diag": _diagonal,
    "floor": np.floor,
    "abs": np.abs,
    "round": round,
    "sign": np.sign,
    "tr": np.trace,
}
