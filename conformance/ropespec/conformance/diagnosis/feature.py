"""A number that every component of a call has, and how a condition on it is said."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ropespec.conformance.grouped import queries
from ropespec.conformance.mistakes.given import Array, Given

__all__ = [
    "Feature",
    "along",
    "calls_with",
    "counted",
    "dtype_of",
    "flag",
    "from_the_end",
    "of_dtypes",
    "of_positions",
    "of_q_or_k",
    "pair_of",
    "per_call",
    "per_token",
]


def per_call(value: Callable[[Given], float]) -> Callable[[Given], Array]:
    """Return a feature of a call from a number of it."""
    return lambda g: np.full((1, 1, 1, 1), float(value(g)))


def per_token(values: Callable[[Given], Array]) -> Callable[[Given], Array]:
    """Return a feature of a token from numbers of (B, S)."""
    return lambda g: np.asarray(values(g), dtype=np.float64)[..., None, None]


def along(axis: int, *, back: bool = False) -> Callable[[Given], Array]:
    """Return the index along an axis, counted from its end if `back`."""

    def values(g: Given) -> Array:
        index = g.index(axis).astype(np.float64)
        return g.x.shape[axis] - 1 - index if back else index

    return values


def of_q_or_k(g: Given) -> tuple[Array, Array]:
    """Return the place of each head within q or k, and how many heads that has (`queries`)."""
    index, heads = g.index(2), g.x.shape[2]
    first = queries(heads)
    of_k = index >= first
    return np.where(of_k, index - first, index), np.where(of_k, heads - first, first)


def pair_of(g: Given) -> Array:
    """Return the pair of each component, and -1 in the tail."""
    r, j = g.turning, np.arange(g.x.shape[-1])
    pair = j // 2 if g.interleaved else j % max(r // 2, 1)
    return np.where(j < r, pair, -1).astype(np.float64).reshape(1, 1, 1, -1)


_DTYPES = ("float32", "float64", "float16", "bfloat16")


def dtype_of(g: Given) -> float:
    """Return the dtype of x as a number."""
    return float(_DTYPES.index(g.dtype))


@dataclass(frozen=True, slots=True)
class Feature:
    """A number that every component of a call has.

    Attributes
    ----------
    name : str
        In words, as a threshold is said of it.
    of : callable
        The number, of a shape that goes with (B, S, H, D).
    words : callable or None
        How one value is said.
    scope : str
        `call`, `token`, `component`.
    """

    name: str
    of: Callable[[Given], Array]
    words: Callable[[str, float], str] | None = None
    scope: str = "call"


def calls_with(what: str) -> Callable[[str, float], str]:
    """Say how many of something calls have."""

    def words(op: str, value: float) -> str:
        n = f"{value:g}"
        said = {"==": n, ">=": f"{n} or more", "<=": f"{n} or fewer"}[op]
        one = value == 1 and op != ">="
        return f"calls with {said} {what}{'' if one else 's'}"

    return words


def counted(what: str, of: str = "") -> Callable[[str, float], str]:
    """Say which of some numbered things."""

    def words(op: str, value: float) -> str:
        if what == "pair" and value < 0:
            return "every component" if op == ">=" else "the tail"
        said = {"==": f"{what} {value:g}", ">=": f"{what}s from {value:g} on"}
        return said.get(op, f"{what}s up to {value:g}") + of

    return words


def from_the_end(what: str, of: str = "") -> Callable[[str, float], str]:
    """Say which of some things that are counted from the end."""

    def words(op: str, value: float) -> str:
        if value == 0 and op in ("==", "<="):
            return f"the last {what}{of}"
        return f"{what}s {op} {value:g} from the end{of}"

    return words


def flag(yes: str, no: str) -> Callable[[str, float], str]:
    """Say that something is so, or that it is not."""

    def words(op: str, value: float) -> str:
        return yes if (value >= 1) == (op != "<=") or (value >= 1 and op == "==") else no

    return words


def of_dtypes(op: str, value: float) -> str:
    """Say which dtypes x has."""
    if op == "==":
        return f"x of {_DTYPES[int(value)]}"
    kept = [d for k, d in enumerate(_DTYPES) if (k >= value if op == ">=" else k <= value)]
    return f"x of {' or '.join(kept)}"


def of_positions(what: str) -> Callable[[str, float], str]:
    """Say which positions, from or up to where."""

    def words(op: str, value: float) -> str:
        said = {"==": f"{what} {value:g}", ">=": f"{what} from {value:.10g} on"}
        return said.get(op, f"{what} up to {value:.10g}")

    return words
