"""Checks of `relative_score` itself (REL-5, REL-6, REL-7)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literal import FEW, first
from ropespec.conformance.checks.shared import (
    LITERAL,
    NEAR,
    against,
    answer,
    based,
    conventions,
    draw,
    rules,
    takes_rotary_dim,
)
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
    keywords = conventions(trial, case, "relative_score")
    reply = trial.call("relative_score", (q, k, offset), keywords)
    call = Call("relative_score", (q, k, offset), keywords)
    exact = score(q, k, offset, rules(trial, case.dtype), case.convention)
    return reply.values[0], exact, answer(reply, call, dtypes=(case.dtype,)), call


@check(
    "REL-5.value",
    "The matrix is R_{m-n}, a phase lacks its conjugate, or the layout of q and k is another.",
    needs=_NEEDS,
    names=("F-114", "F-122", "F-156", "F-157", "E-04", "P-13", "P-20"),
    share=2.0,
    every_dtype=True,
)
def value(trial: Trial, case: Case) -> Finding:
    """q^T R_offset k; the offset broadcasts against the leading axes of q and k."""
    got, exact, problem, call = _score(trial, case, *_inputs(case))
    return problem or against(got, exact, call, name="score")


@check(
    "REL-5.one-vector",
    "One q and one k serve all offsets, and another way of computing that goes wrong.",
    needs=_NEEDS,
    names=("F-122", "P-13"),
)
def one_vector(trial: Trial, case: Case) -> Finding:
    """q^T R_offset k of a single q and k, and of one for each head, at offsets of either sign."""
    q, k, offset = _inputs(case)
    found = list[Finding]()
    for a, b in ((q[0, 0, 0], k[0, 0, 0]), (q[0, 0], k[0, 0])):
        got, exact, problem, call = _score(trial, case, a, b, offset)
        message = "the score of one q and one k at many offsets differs from q^T R_offset k"
        found.append(problem or against(got, exact, call, name="score", message=message))
    return worst(*found)


@check(
    "REL-5.reference",
    "The score agrees with the judge but not with the formula as the documents print it.",
    needs=_NEEDS,
    names=("F-122", "F-157", "P-47"),
    space=Space(max_position=NEAR, max_dim=64),
    share=0.5,
)
def against_reference(trial: Trial, case: Case) -> Finding:
    """Relative_score equals that of the literal NumPy reference."""
    q, k, offset = _inputs(case)
    got, exact, problem, call = _score(trial, case, q, k, offset)
    if problem:
        return problem
    bound = _literal(case, q, k, offset, exact)
    message = "the score differs from the literal reference"
    return against(got, bound, call, name="score", message=message)


@check(
    "ROT-14.score",
    "The tail of q and k is rotated or left out of the score, or the frequencies are those of D.",
    needs=_NEEDS,
    space=Space(max_position=NEAR, max_dim=64, partial=True, min_dim=4),
    applies=takes_rotary_dim("relative_score"),
    share=FEW,
)
def with_tail(trial: Trial, case: Case) -> Finding:
    """q^T R_offset k with R on the first rotary_dim components, by the reference."""
    return against_reference(trial, case)


def _literal(
    case: Case, q: NDArray[Any], k: NDArray[Any], offset: NDArray[np.int64], exact: Bounded
) -> Bounded:
    """Return the score by the reference; what is allowed is the error of the subject and its own.

    The whole matrix is made for every offset, so few are better.
    """
    value = reference.relative_score(
        q.astype(np.float64),
        k.astype(np.float64),
        offset,
        **based(case, "interleaved", "rotary_dim"),
    )
    theirs = score(q, k, offset, LITERAL, case.convention)
    return Bounded(value, exact.allowed + theirs.allowed)


@check(
    "REL-6.anchor-score",
    "relative_score takes its offset as m - n, or rotates the wrong side.",
    needs=_NEEDS,
    names=("F-119", "F-120", "F-121", "E-04", "E-40", "E-41", "P-14"),
    space=Space(positions=("arange",), max_position=NEAR),
    share=0.5,
)
def anchor(trial: Trial, case: Case) -> Finding:
    """With theta_0 = 1, q = (1, 0), k = (0, 1): -sin 1 at offset n - m = 1, + sin 1 at -1."""
    q, k = np.zeros((2, case.head_dim)), np.zeros((2, case.head_dim))
    q[:, 0], k[:, case.convention.places(case.head_dim)[1].start] = 1.0, 1.0
    offset = np.array([1, -1], dtype=np.int64)
    got, exact, problem, call = _score(
        trial, case, q.astype(case.numpy_dtype), k.astype(case.numpy_dtype), offset
    )
    message = "q = (1, 0), k = (0, 1) must score -sin 1 at offset n - m = 1 and +sin 1 at -1"
    wanted = Bounded(np.array([-np.sin(1.0), np.sin(1.0)]), exact.allowed)
    return problem or against(got, wanted, call, name="score", message=message)


@check(
    "REL-7.swap-score",
    "relative_score is even in the offset, or changes sign when q and k change places.",
    needs=_NEEDS,
    names=("E-31", "P-15"),
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
    # The first token alone: the whole matrix is made for every offset.
    token, last = np.s_[:, :1], np.s_[:1]
    few = Bounded(*(part[token] for part in reverse))
    literal = _literal(case, k[token], q[token], offset[last], few)
    message = "the score at -D is not that of the literal reference with q and k exchanged"
    swapped = against(back[token], literal, reversed_call, name="score", message=message)
    return first(worst(same.after(call), differ), swapped)


@check(
    "REL-8.equal-score",
    "Offset 0 is not the plain inner product: a scale, or an offset that starts at 1.",
    needs=_NEEDS,
    names=("P-21",),
    share=0.5,
)
def equal_positions(trial: Trial, case: Case) -> Finding:
    """Score(q, k, 0) = <q, k>; one offset serves all q and k."""
    q, k = draw(case, case.shape, 0), draw(case, case.shape, 1)
    got, exact, problem, call = _score(trial, case, q, k, np.array(0, dtype=np.int64))
    plain = np.sum(q.astype(np.float64) * k.astype(np.float64), axis=-1)
    message = "the score at offset 0 is not <q, k>"
    wanted = Bounded(plain, exact.allowed)
    judged = problem or against(got, wanted, call, name="score", message=message)
    literal = _literal(case, q[:, :1], k[:, :1], np.array(0), Bounded(*(p[:, :1] for p in exact)))
    few = against(got[:, :1], literal, call, name="score", message=message)
    return first(judged, few) if judged.passed else judged
