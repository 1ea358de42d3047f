"""Checks of `relative_score` itself (REL-5, REL-6, REL-7)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.common import NEAR
from ropespec.conformance.checks.shared import LITERAL, against, answer, draw, rules
from ropespec.conformance.judge.bounds import Bounded, score
from ropespec.conformance.judge.finding import Call, Finding, compare, worst
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial

__all__: list[str] = []

_NEEDS = ("relative_score",)


def _offset(case: Case) -> NDArray[np.int64]:
    """Return offsets (S, H) of either sign, whether or not positions may be negative."""
    positions = case.make_positions()[0]
    signs = np.where(np.arange(case.heads) % 2, -1, 1)
    offsets: NDArray[np.int64] = positions[:, None] * signs
    return offsets


def _inputs(case: Case) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    return draw(case, case.shape, 0), draw(case, case.shape, 1), _offset(case)


def _score(
    trial: Trial,
    case: Case,
    q: NDArray[Any],
    k: NDArray[Any],
    offset: NDArray[np.int64],
) -> tuple[NDArray[Any], Bounded, Finding | None, Call]:
    """Return the subject's score, the exact one, the finding that it is no array, and the call."""
    keywords = {"interleaved": case.interleaved, "base": case.base}
    reply = trial.call("relative_score", (q, k, offset), keywords)
    call = Call("relative_score", (q, k, offset), keywords)
    exact = score(
        q, k, offset, rules(trial, case.dtype), interleaved=case.interleaved, base=case.base
    )
    return reply.values[0], exact, answer(reply, call, dtypes=(case.dtype,)), call


@check(
    "REL-5",
    "value",
    "The matrix is R_{m-n}, a phase lacks its conjugate, or the layout of q and k is another.",
    needs=_NEEDS,
    properties=("P-13", "P-20"),
    share=2.0,
)
def value(trial: Trial, case: Case) -> Finding:
    """q^T R_offset k; the offset broadcasts against the leading axes of q and k."""
    got, exact, problem, call = _score(trial, case, *_inputs(case))
    return problem or against(got, exact, call, name="score")


@check(
    "REL-5",
    "reference",
    "The score agrees with the judge but not with the formula as the documents print it.",
    needs=_NEEDS,
    properties=("P-47",),
    space=Space(max_position=NEAR),
)
def against_reference(trial: Trial, case: Case) -> Finding:
    """Relative_score equals that of the literal NumPy reference."""
    q, k, offset = _inputs(case)
    got, exact, problem, call = _score(trial, case, q, k, offset)
    if problem:
        return problem
    literal = reference.relative_score(
        q.astype(np.float64), k.astype(np.float64), offset, **call.keywords
    )
    theirs = score(q, k, offset, LITERAL, interleaved=case.interleaved, base=case.base)
    bound = Bounded(literal, exact.allowed + theirs.allowed)
    message = "the score differs from the literal reference"
    return against(got, bound, call, name="score", message=message)


@check(
    "REL-6",
    "anchor-score",
    "relative_score takes its offset as m - n, or turns the wrong side.",
    needs=_NEEDS,
    properties=("P-14",),
    space=Space(positions=("arange",), max_position=NEAR),
    share=0.5,
)
def anchor(trial: Trial, case: Case) -> Finding:
    """With theta_0 = 1, q = (1, 0), k = (0, 1): -sin 1 at offset n - m = 1, + sin 1 at -1."""
    q, k = np.zeros((2, case.head_dim)), np.zeros((2, case.head_dim))
    q[:, 0], k[:, 1 if case.interleaved else case.head_dim // 2] = 1.0, 1.0
    offset = np.array([1, -1], dtype=np.int64)
    got, exact, problem, call = _score(
        trial, case, q.astype(case.numpy_dtype), k.astype(case.numpy_dtype), offset
    )
    message = "q = (1, 0), k = (0, 1) must score -sin 1 at offset n - m = 1 and +sin 1 at -1"
    wanted = Bounded(np.array([-np.sin(1.0), np.sin(1.0)]), exact.allowed)
    return problem or against(got, wanted, call, name="score", message=message)


@check(
    "REL-7",
    "swap-score",
    "relative_score is even in the offset, or turns with another sign when q and k change places.",
    needs=_NEEDS,
    properties=("P-15",),
)
def swap(trial: Trial, case: Case) -> Finding:
    """Score(q, k, D) = score(k, q, -D), and score(q, k, -D) is another number."""
    q, k, offset = _inputs(case)
    one, exact, problem, _ = _score(trial, case, q, k, offset)
    mirrored, again, other_problem, call = _score(trial, case, k, q, -offset)
    if found := problem or other_problem:
        return found
    message = "score(k, q, -D) is not score(q, k, D)"
    allowed = exact.allowed + again.allowed
    same = compare(mirrored, one.astype(np.float64), allowed, name="score", message=message)
    back, reverse, problem, reversed_call = _score(trial, case, q, k, -offset)
    if problem:
        return problem
    message = "the sign of the offset does not count as it must"
    differ = against(back, reverse, reversed_call, name="score", message=message)
    return worst(same.after(call), differ)


@check(
    "REL-8",
    "equal-score",
    "Offset 0 is not the plain inner product: a scale, or an offset that starts at 1.",
    needs=_NEEDS,
    properties=("P-21",),
    share=0.5,
)
def equal_positions(trial: Trial, case: Case) -> Finding:
    """Score(q, k, 0) = <q, k>; one offset serves all q and k."""
    q, k = draw(case, case.shape, 0), draw(case, case.shape, 1)
    got, exact, problem, call = _score(trial, case, q, k, np.array(0, dtype=np.int64))
    plain = np.sum(q.astype(np.float64) * k.astype(np.float64), axis=-1)
    message = "the score at offset 0 is not <q, k>"
    wanted = Bounded(plain, exact.allowed)
    return problem or against(got, wanted, call, name="score", message=message)
