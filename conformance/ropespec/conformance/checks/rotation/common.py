"""What the checks of the rotation share: what they draw from and what they need."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.judge.finding import Call, Finding, compare
from ropespec.conformance.judge.rotation import from_pairs, pairs_of, rest_of
from ropespec.conformance.trial import Trial

__all__ = [
    "EVERYTHING",
    "alike",
    "as_i",
    "basis",
    "both_layouts",
    "called",
    "columns",
    "differentiable",
    "elsewhere",
    "is_writable",
    "negative_positions",
    "own_pair",
]

Float = NDArray[np.float64]

EVERYTHING = ("normal", "ones", "basis", "null", "heavy", "subnormal", "signed_zero")
"""Every pattern of values."""


def both_layouts(trial: Trial) -> str | None:
    """Need an implementation of both layouts."""
    return None if len(set(trial.profile.layouts)) == 2 else "only one layout claimed"


def negative_positions(trial: Trial) -> str | None:
    """Need positions below zero."""
    return None if trial.profile.negative_positions else "negative positions not claimed"


def differentiable(trial: Trial) -> str | None:
    """Need a gradient: of the framework, or of the subject."""
    if trial.profile.framework.has_gradients or "apply_rotary_vjp" in trial.session.offers:
        return None
    return f"{trial.profile.array} has no gradients, and apply_rotary_vjp is not offered"


def is_writable(trial: Trial) -> str | None:
    """Need arrays that can be written to."""
    room = trial.profile.framework
    return None if room.is_writable else f"{room.title} arrays are not written to"


def basis(case: Case, component: int) -> NDArray[np.floating]:
    """Return x with 1 in one component and 0 elsewhere."""
    x = np.zeros(case.shape)
    x[..., component] = 1.0
    return x.astype(case.numpy_dtype)


def columns(
    trial: Trial, case: Case, m: int, bound: Callable[[NDArray[Any], NDArray[np.int64]], Float]
) -> tuple[Float, Float, Call]:
    """Return R_m e_j for every rotating component j, what `bound` says of each, and a call.

    Where each shape is compiled they are spread over calls of the shape of the case.
    """
    rows = case.shape[:3] if trial.profile.compiles else (1, case.dim, 1)
    x = np.zeros((math.ceil(case.dim / math.prod(rows)), *rows, case.head_dim), case.numpy_dtype)
    x.reshape(-1, case.head_dim)[np.arange(case.dim), np.arange(case.dim)] = 1.0
    positions = np.full(rows[:2], m, dtype=np.int64)
    y = np.stack([trial.rotate(case, part, positions) for part in x])
    off = np.stack([bound(part, positions) for part in x])
    turned = y.reshape(-1, case.head_dim)[: case.dim].astype(np.float64)
    return turned, off.reshape(-1)[: case.dim], called(case, x[0], positions)


def as_i(x: NDArray[np.floating], case: Case) -> NDArray[np.floating]:
    """Multiply every pair by i: (x1, x2) becomes (-x2, x1), without rounding."""
    first, second = pairs_of(x, case.convention)
    return from_pairs(-second, first, rest_of(x, case.convention), case.convention)


def own_pair(case: Case, component: int) -> NDArray[np.bool_]:
    """Return which components make a pair with one that rotates, itself among them."""
    pair = np.arange(case.dim // 2)
    pairs = from_pairs(pair, pair, np.full(case.head_dim - case.dim, -1), case.convention)
    return np.asarray(pairs == pairs[component])


def called(case: Case, x: NDArray[np.floating], positions: NDArray[np.int64]) -> Call:
    """Return the call of a rotation, for the report."""
    return Call("apply_rotary", (x, positions), case.keywords)


def elsewhere(positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return other positions, one nearer to 0; 0 becomes 1."""
    return np.where(positions == 0, 1, positions - np.sign(positions))


def alike(
    trial: Trial,
    case: Case,
    x: NDArray[np.floating],
    positions: NDArray[np.int64],
    y: NDArray[np.floating],
    other: NDArray[np.floating],
    message: str,
) -> Finding:
    """Compare two results for one input: each may err by its own budget."""
    allowed = 2 * trial.allowed(case, x, positions)
    finding = compare(y, other.astype(np.float64), allowed, message=message)
    return finding.after(called(case, x, positions))
