"""The inputs that both sides are given, drawn from a seed, and what comes back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.compare.side import Side
from ropespec.conformance.compare.terms import Setting, Terms
from ropespec.conformance.judge.values import make_values
from ropespec.conformance.subject.errors import (
    SubjectCrashed,
    SubjectError,
    SubjectRaised,
    SubjectTimeout,
)
from ropespec.spec.convention import Convention

__all__ = ["Answer", "Sample", "answer", "drawn_cases", "inputs_of", "sweep_x"]

# (batch, seq, heads), which of the head_dims, values, positions: few shapes, for compilers.
_PLAN = (
    (1, 1, 1, 0, "basis", "arange", "near"),
    (2, 3, 2, 1, "normal", "ragged", "near"),
    (2, 8, 4, 2, "normal", "arange", "zero"),
    (2, 8, 4, 2, "null", "spread", "near"),
    (2, 8, 4, 2, "normal", "negative", "near"),
    (2, 8, 4, 2, "heavy", "shuffled", "middle"),
    (2, 8, 4, 2, "null", "arange", "far"),
    (3, 1, 2, 1, "normal", "ragged", "middle"),
)
HEADS = 2


@dataclass(frozen=True, slots=True)
class Answer:
    """What one side made of one input.

    Attributes
    ----------
    y : ndarray or None
        The result (B, S, H, D); None if there was none of that shape.
    problem : str
        What it did instead, or the dtype it answered with where that is not x's; may be empty.
    lost : bool
        Whether its worker crashed or hung.
    """

    y: NDArray[Any] | None
    problem: str = ""
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """One input, and what both sides made of it.

    Attributes
    ----------
    setting : Setting
        How they were called.
    case : mapping
        The input in words and numbers.
    x, positions : ndarray
        (B, S, H, D) and (B, S).
    answers : tuple of Answer
        Of A and B.
    """

    setting: Setting
    case: Mapping[str, Any]
    x: NDArray[Any]
    positions: NDArray[np.int64]
    answers: tuple[Answer, Answer]


def drawn_cases(terms: Terms, setting: Setting, dtype: str, seed: int) -> Iterator[Case]:
    """Draw cases that both sides take: the same ones for the same seed."""
    rng = np.random.default_rng([seed, 3])
    dims = [int(rng.choice(terms.head_dims)) for _ in range(2)] + [_usual(terms.head_dims)]
    limit, keywords = terms.max_position, setting.keywords[0]
    for batch, seq, heads, which, values, kind, where in _PLAN:
        case_seed, near, middle = (int(n) for n in rng.integers(0, (99, 16, 5000)))
        skipped = kind == "negative" and not terms.negative
        uneven = terms.shared and kind in ("ragged", "shuffled", "spread")
        start = {"near": near, "zero": 0, "middle": middle, "far": limit}[where]
        yield Case(
            batch=1 if terms.one_row else batch,
            seq=seq,
            heads=heads,
            head_dim=dims[which],
            convention=Convention.of(**keywords),
            dtype=dtype,
            positions="arange" if skipped or uneven else kind,
            start=max(min(start, limit - seq), 0),
            limit=limit,
            values=values,
            strided=False,
            seed=case_seed,
        )


def inputs_of(case: Case) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Make x and positions of a case."""
    positions = case.make_positions()
    return case.make_x(positions), positions


def sweep_x(
    terms: Terms, setting: Setting, dtype: str, positions: NDArray[np.int64], seed: int
) -> NDArray[Any]:
    """Make x for many positions (1, S): a head of ordinary values and one that hides nothing."""
    keywords = setting.keywords[0]
    dim = _usual(terms.head_dims)
    heads = [
        make_values(
            kind,
            (1, positions.shape[1], 1, dim),
            dtype,
            seed,
            positions=positions,
            by=Convention.of(**keywords),
        )
        for kind in ("normal", "null")
    ]
    return np.concatenate(heads, axis=2)


def answer(
    side: Side, x: NDArray[Any], positions: NDArray[np.int64], keywords: Mapping[str, Any]
) -> Answer:
    """Call one side."""
    try:
        y, dtype = side.rotate(x, positions, keywords)
    except SubjectRaised as error:
        return Answer(None, f"raises {error.type_name}: {error.message}")
    except (SubjectCrashed, SubjectTimeout) as error:
        return Answer(None, f"is lost: {error.message}", lost=True)
    except SubjectError as error:
        return Answer(None, f"fails: {error.message}")
    if y.shape != x.shape:
        return Answer(None, f"returns shape {y.shape} for x of shape {x.shape}")
    same = dtype == x.dtype.name
    return Answer(y, "" if same else f"returns {dtype} for {x.dtype.name} x")


def _usual(head_dims: tuple[int, ...]) -> int:
    """Return 64, or what comes nearest."""
    return min(head_dims, key=lambda dim: (abs(dim - 64), dim))
