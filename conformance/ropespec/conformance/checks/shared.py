"""What the checks of several chapters share: bounds of this trial, replies, scores of two sides."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.judge.bounds import Bounded, Rules, dot
from ropespec.conformance.judge.budget import Machine
from ropespec.conformance.judge.finding import Call, Finding, broken, compare
from ropespec.conformance.judge.precision import PRECISIONS, Precision
from ropespec.conformance.judge.rotation import Rotation, from_pairs
from ropespec.conformance.subject.layout import positions_for_subject
from ropespec.conformance.subject.session import Reply
from ropespec.conformance.trial import Trial
from ropespec.spec.arguments import FLOAT_DTYPES

__all__ = [
    "BASE",
    "LITERAL",
    "NEAR",
    "STEPS",
    "Compared",
    "Scored",
    "against",
    "answer",
    "as_claimed",
    "based",
    "beside",
    "conventions",
    "draw",
    "gradients_claimed",
    "literal_error",
    "of_two_dtypes",
    "places",
    "real_dtype",
    "rotate",
    "rules",
    "scores",
    "takes_rotary_dim",
    "ten_thousand",
    "two_sides",
    "unchanged",
]

Float = NDArray[np.float64]

LITERAL = Rules(PRECISIONS["float64-angles"], "float64", Machine())
"""What the literal reference, fed with float64, may be off by."""

BASE = 10000.0
"""The base of the documents, and the default of the reference."""

NEAR = 4096
"""Positions below which even float32 angles leave no room for a wrong formula."""

STEPS = 2.0**-48
"""What 32 roundings of float64 cost; no printed form of a pair takes more."""

_COMPLEX = {"complex64": "float32", "complex128": "float64"}
_NEIGHBOURHOOD = 64


def rules(trial: Trial, dtype: str) -> Rules:
    """Return what a result of this dtype may lose: the least precise class that still passes."""
    return Rules(trial.loosest(dtype), dtype, trial.machine)


def real_dtype(name: str) -> str | None:
    """Return the dtype of a number or of its parts: float64 for complex128; None for another."""
    name = _COMPLEX.get(name, name)
    return name if name in FLOAT_DTYPES else None


def answer(reply: Reply, call: Call, *, dtypes: tuple[str, ...] = ("",)) -> Finding | None:
    """Return the finding that a reply is not made of arrays of these dtypes, or None.

    Parameters
    ----------
    reply : Reply
        What the subject returned.
    call : Call
        The call, for the report.
    dtypes : tuple of str
        The dtype of each result; empty where any real or complex one will do.
    """
    found = ", ".join(reply.descriptions) or "nothing"
    if len(reply.values) != len(dtypes) or not all(reply.is_array):
        many = "one array" if len(dtypes) == 1 else f"{len(dtypes)} arrays"
        return broken(f"{call.function} must return {many}; got {found}", call=call)
    for got, wanted in zip(reply.dtypes, dtypes, strict=True):
        if wanted and got != wanted:
            return broken(f"{call.function} must return dtype {wanted}; got {found}", call=call)
        if real_dtype(got) is None:
            return broken(
                f"{call.function} must return floating-point numbers; got {found}", call=call
            )
    return None


def against(
    got: NDArray[Any], exact: Bounded, call: Call, *, name: str = "", message: str = ""
) -> Finding:
    """Compare a result with exact values within their bounds."""
    label = name or call.function
    return compare(got, exact.value, exact.allowed, name=label, message=message).after(call)


def as_claimed(trial: Trial, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return positions (B, S) as the subject takes them."""
    return positions_for_subject(positions, trial.profile)


def draw(case: Case, shape: tuple[int, ...], salt: int) -> NDArray[Any]:
    """Return normal numbers in the dtype of the case, by its seed; `salt` tells several apart."""
    rng = np.random.default_rng([case.seed, 7, salt])
    return rng.standard_normal(shape).astype(case.numpy_dtype)


def based(case: Case, *names: str) -> dict[str, Any]:
    """Return keywords of a function of the reference, and the base; the printed one is default."""
    base = {} if case.frequencies.base == BASE else case.only("base")
    return case.only(*names) | base


def conventions(trial: Trial, case: Case, function: str) -> dict[str, Any]:
    """Return the conventions of a case that a function takes; the others stay as claimed."""
    taken = trial.keywords(function)
    return {name: value for name, value in case.keywords.items() if name in taken}


def literal_error(rotation: Rotation, precision: Precision = LITERAL.precision) -> Float:
    """Bound what a printed form of R_m x may be off by in float64, (B, S, H, D); 0 in the tail."""
    own = replace(rotation, dtype="float64").allowed(precision, LITERAL.machine)
    pairs = rotation.pairs
    length = STEPS * pairs.reach * np.hypot(pairs.x1, pairs.x2)
    steps = from_pairs(length, length, np.zeros_like(rotation.tail), rotation.by)
    return np.asarray(own + steps)


def gradients_claimed(trial: Trial) -> str | None:
    """Need something through which a gradient may be taken."""
    return None if trial.profile.gradients else "no gradients claimed"


def takes_rotary_dim(function: str) -> Callable[[Trial], str | None]:
    """Return what needs a function that takes `rotary_dim`, and room for a tail."""

    def reason(trial: Trial) -> str | None:
        if "rotary_dim" not in trial.keywords(function):
            return f"{function} takes no rotary_dim"
        return None if max(trial.profile.head_dims) > 2 else "no tail claimed"

    return reason


def ten_thousand(function: str) -> Callable[[Trial], str | None]:
    """Return what needs base 10000 of a function, which code of the documents has no choice of."""

    def reason(trial: Trial) -> str | None:
        if "base" in trial.keywords(function) or trial.profile.base == BASE:
            return None
        return "base 10000 not claimed"

    return reason


def two_sides(trial: Trial, case: Case) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return positions m of queries and n of keys, (B, S) each, in both directions."""
    m = case.make_positions()
    rng = np.random.default_rng([case.seed, 5])
    step = rng.integers(-_NEIGHBOURHOOD, _NEIGHBOURHOOD + 1, m.shape[1])
    other = m[:, ::-1] if case.seed % 3 == 0 else m + step
    lowest = -case.limit if trial.profile.negative_positions else 0
    return m, np.clip(other, lowest, case.limit)


def unchanged(before: NDArray[Any], after: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each number came back bit for bit; any NaN is as good as another.

    A conversion to a wider dtype and back may give a NaN another payload and another sign.
    """
    old, new = before.astype(np.float64), after.astype(np.float64)
    same = (old == new) & (np.signbit(old) == np.signbit(new))
    return np.asarray(same | (np.isnan(old) & np.isnan(new)))


class Compared(NamedTuple):
    """A vector rotated by the subject, and exactly.

    Attributes
    ----------
    y : ndarray of float64
        What came back, (B, S, H, D).
    exact : Bounded
        R_m x and the error allowed.
    call : Call
        For the report.
    """

    y: Float
    exact: Bounded
    call: Call


def beside(trial: Trial, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Compared:
    """Let the subject rotate x; what is allowed is its own error and that of the reference."""
    y = trial.rotate(case, x, positions)
    rotation = trial.expect(case, x, positions)
    allowed = rotation.allowed(trial.loosest(case.dtype), trial.machine) + literal_error(rotation)
    call = Call("apply_rotary", (x, positions), case.keywords)
    return Compared(y.astype(np.float64), Bounded(rotation.y, allowed), call)


def rotate(
    trial: Trial,
    case: Case,
    x: NDArray[Any],
    positions: NDArray[np.int64],
    function: str = "apply_rotary",
) -> Compared:
    """Let the subject rotate x, and rotate it exactly."""
    y = trial.rotate(case, x, positions, function=function)
    call = Call(function, (x, positions), case.keywords)
    rotation = trial.expect(case, x, positions)
    allowed = rotation.allowed(trial.loosest(case.dtype), trial.machine)
    return Compared(y.astype(np.float64), Bounded(rotation.y, allowed), call)


class Scored(NamedTuple):
    """Scores of queries and keys rotated by the subject, (B, S, H), and what they must be."""

    got: Float
    exact: Bounded
    call: Call


def scores(  # two sides, each with vector and position
    trial: Trial,
    case: Case,
    q: NDArray[Any],
    k: NDArray[Any],
    m: NDArray[np.int64],
    n: NDArray[np.int64],
) -> Scored:
    """Let the subject rotate q to m and k to n, and take <q, k> token by token in float64."""
    left, right = rotate(trial, case, q, m), rotate(trial, case, k, n)
    got = np.sum(left.y * right.y, axis=-1)
    return Scored(got, dot(left.exact, right.exact), left.call)


def places(trial: Trial, case: Case) -> NDArray[np.int64]:
    """Return one row of the positions that are made exceptions of: small ones, powers of two."""
    powers = (2**k + by for k in range(case.limit.bit_length() + 1) for by in (-1, 0, 1))
    sizes = sorted(one for one in {*range(_SMALL), *powers} if one <= case.limit)
    signs = (1, -1) if trial.profile.negative_positions else (1,)
    row = dict.fromkeys(sign * size for size in sizes for sign in signs)
    return np.array([list(row)[: trial.most_tokens(1)]], dtype=np.int64)


_SMALL = 300


def of_two_dtypes(trial: Trial) -> str | None:
    """Need another dtype than that of a call."""
    return None if len(trial.profile.dtypes) > 1 else "one dtype claimed"
