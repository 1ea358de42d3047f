"""Checks against the printed forms of the score (REL-1 to REL-9)."""

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.checks.literal import (
    Forms,
    Side,
    Token,
    conventions_of,
    error_of_product,
    forms_of_a_score,
    printed,
    units,
)
from ropespec.conformance.checks.shared import STEPS, two_sides
from ropespec.conformance.judge.bounds import Bounded
from ropespec.conformance.judge.finding import Finding
from ropespec.conformance.trial import Trial
from ropespec.reference import relative, relative_plane

__all__ = ["coefficients", "printed_terms"]

Float = NDArray[np.float64]


def _relative_score(case: Case, q: Token, k: Token) -> float:
    score = relative.relative_score(q.x, k.x, k.m - q.m, **conventions_of(case))
    return float(np.asarray(score))


def _score(case: Case, q: Token, k: Token) -> float:
    return relative.score(q.x, k.x, q.m, k.m, **conventions_of(case))


def _score_by_transpose(case: Case, q: Token, k: Token) -> float:
    return relative.score_by_transpose(q.x, k.x, q.m, k.m, **conventions_of(case))


def _score_complex(case: Case, q: Token, k: Token) -> float:
    # As one of several vectors: the sum is over the last axis alone.
    q_rows, k_rows = (np.stack([x, 0 * x])[:, np.newaxis] for x in (q.x, k.x))
    score, zero = relative.score_complex(q_rows, k_rows, k.m - q.m, **conventions_of(case))
    return float(score[0] + zero[0])


def _score_pairs(case: Case, q: Token, k: Token) -> float:
    pairs = relative.score_pairs(q.x, k.x, k.m - q.m, **conventions_of(case))
    if pairs.shape != (case.dim // 2,):
        raise ValueError("score_pairs of the reference does not give one score a pair")
    return float(pairs.sum())


forms_of_a_score(
    "REL-1.forms",
    "The score of two rotated vectors is not the one that the documents set out to find.",
    {},
    whole={"relative.score": _score, "relative.relative_score": _relative_score},
    names=("F-092", "F-093", "F-099", "F-124", "E-31"),
)

forms_of_a_score(
    "REL-2.forms",
    "A printed product of complex numbers gives another score: a conjugate or a sign is lost.",
    {
        "relative_plane.g_c": lambda q, k: relative_plane.g_c(q.x, k.x, q.m - k.m, theta=q.theta),
        "relative_plane.g_real_part": lambda q, k: relative_plane.g_real_part(
            q.x, k.x, q.m - k.m, theta=q.theta
        ),
        "relative_plane.g_of_rotated": lambda q, k: relative_plane.g_of_rotated(
            q.x, k.x, q.m, k.m, theta=q.theta
        ),
    },
    whole={"relative.score_complex": _score_complex},
    names=("F-094", "F-095", "F-097", "F-098", "F-104", "F-105", "E-49", "P-13"),
)

forms_of_a_score(
    "REL-3.forms",
    "A printed inner product of two pairs is another number, or not the real part of q k^*.",
    {
        "relative_plane.inner_product": lambda q, k: relative_plane.inner_product(q.x, k.x),
        "relative_plane.times_conjugate": lambda q, k: relative_plane.times_conjugate(q.x, k.x),
        "relative_plane.real_inner_product": lambda q, k: relative_plane.real_inner_product(
            q.x, k.x
        ),
    },
    names=("F-096", "F-100", "F-101", "F-102", "F-103", "E-47", "E-48", "E-69", "P-16"),
    equal=True,
)

forms_of_a_score(
    "REL-5.forms",
    "A printed matrix between query and key gives another score.",
    {
        "relative_plane.score_by_matrices": lambda q, k: relative_plane.score_by_matrices(
            q.x, k.x, q.m, k.m, theta=q.theta
        ),
        "relative_plane.g_matrix": lambda q, k: relative_plane.g_matrix(
            q.x, k.x, k.m - q.m, theta=q.theta
        ),
        "relative_plane.score_by_exponential": lambda q, k: relative_plane.score_by_exponential(
            q.x, k.x, k.m - q.m, theta=q.theta
        ),
    },
    whole={
        "relative.score_by_transpose": _score_by_transpose,
        "relative.relative_score": _relative_score,
    },
    names=("F-114", "F-122", "F-123", "F-156", "F-157", "E-04", "E-05", "E-06", "E-22", "P-13"),
)

forms_of_a_score(
    "REL-6.forms",
    "Rotating one side alone gives another score: it is rotated by the opposite offset.",
    {
        "relative_plane.score_query_rotated": lambda q, k: relative_plane.score_query_rotated(
            q.x, k.x, q.m, k.m, theta=q.theta
        ),
        "relative_plane.score_key_rotated": lambda q, k: relative_plane.score_key_rotated(
            q.x, k.x, q.m, k.m, theta=q.theta
        ),
        "relative_plane.g_matrix": lambda q, k: relative_plane.g_matrix(
            q.x, k.x, k.m - q.m, theta=q.theta
        ),
    },
    whole={"relative.relative_score": _relative_score},
    names=("F-119", "F-120", "F-121", "F-125", "E-04", "E-21", "E-24", "E-40", "E-41"),
)

forms_of_a_score(
    "REL-8.forms",
    "At equal positions a printed score is not the plain inner product.",
    {"relative_plane.inner_product": lambda q, k: relative_plane.inner_product(q.x, k.x)},
    whole={"relative.score": _score, "relative.relative_score": _relative_score},
    names=("P-21",),
    equal=True,
)

forms_of_a_score(
    "REL-9.forms",
    "The scores of the pairs do not add up to the score, or a pair has the score of another.",
    {},
    whole={
        "relative.score_pairs": _score_pairs,
        "relative.score_complex": _score_complex,
        "relative.relative_score": _relative_score,
    },
    names=("F-136", "P-23"),
)


_PRINTED = (
    *((0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)),
    *((1, 1, 1), (1, 0, 1), (0, 1, 1), (0, 0, 1)),
)
"""The eight terms as printed: member of q, member of k, and component of both once rotated."""


def _draw(case: Case) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return two pairs of numbers, none of them small."""
    rng = np.random.default_rng([case.seed, 31])
    q1, q2, k1, k2 = (float(x) for x in rng.uniform(0.5, 2.0, 4) * rng.choice([-1.0, 1.0], 4))
    return (q1, q2), (k1, k2)


def printed_terms(trial: Trial, case: Case, m: NDArray[np.int64], n: NDArray[np.int64]) -> Finding:
    """Compare eight terms, four groups and two sums with products of rotated unit vectors.

    With q = (q1, 0) or (0, q2), and k so too, each term is a product of two components that come
    back, so that every one is read off by itself.
    """
    (left, call), (right, _), (ahead, _) = (units(trial, case, at) for at in (m, n, m + n))
    seen, (q, k) = Forms("a term of the score", call), _draw(case)
    for a, b, sums in zip(left, right, ahead, strict=True):
        at, theta = (a[0].m, b[0].m), a[0].theta
        terms = np.array([q[i] * k[j] * a[i].y[c] * b[j].y[c] for i, j, c in _PRINTED])
        off = np.array([abs(q[i] * k[j]) * error_of_product(a[i], b[j]) for i, j, _ in _PRINTED])
        seen.add(
            "relative_plane.eight_terms",
            terms,
            relative_plane.eight_terms(q, k, *at, theta=theta),
            off,
        )
        grouped, bound = (part[:4] + part[[7, 6, 5, 4]] for part in (terms, off))
        groups = relative_plane.four_groups(q, k, *at, theta=theta)
        seen.add("relative_plane.four_groups", grouped, groups, bound)
        groups = relative_plane.four_groups_by_difference(q, k, at[0] - at[1], theta=theta)
        seen.add("relative_plane.four_groups_by_difference", grouped, groups, bound)
        expanded = relative_plane.g_expanded(q, k, at[0] - at[1], theta=theta)
        seen.add("relative_plane.g_expanded", grouped.sum(), expanded, bound.sum())
        f_q, f_k = (relative_plane.f_real(x, p, theta=theta) for x, p in ((q, at[0]), (k, at[1])))
        inner = relative_plane.inner_product(f_q, f_k)
        seen.add("relative_plane.inner_product", grouped.sum(), inner, bound.sum())
        for x, side, form in ((q, a, f_q), (k, b, f_k)):
            y = np.array(x) @ np.array([one.y for one in side])
            error = sum(abs(number) * one.error for number, one in zip(x, side, strict=True))
            seen.add("relative_plane.f_real", y, np.array(form), error + STEPS * np.abs(x).sum())
        numbers = np.array([x * y for x in q for y in k])
        read_off = Bounded(grouped / numbers, bound / np.abs(numbers))
        _addition(seen, (at[0] * theta, at[1] * theta), read_off, (a[0], b[0], sums[0]))
    return seen.finding()


def _addition(
    seen: Forms, angles: tuple[float, float], groups: Bounded, rotated: tuple[Side, Side, Side]
) -> None:
    """Note the four addition formulas: of differences as coefficients, of sums as a rotation."""
    both = rotated[2]
    off = sum(one.error for one in rotated) + STEPS
    for name, got, form, allowed in (
        ("cos_of_difference", groups.value[0], relative_plane.cos_of_difference, groups.allowed[0]),
        ("sin_of_difference", groups.value[1], relative_plane.sin_of_difference, groups.allowed[1]),
        ("cos_of_sum", both.y[0], relative_plane.cos_of_sum, off),
        ("sin_of_sum", both.y[1], relative_plane.sin_of_sum, off),
    ):
        seen.add(f"relative_plane.{name}", got, form(*angles), allowed)


def coefficients(a: tuple[Side, Side], b: tuple[Side, Side]) -> tuple[Float, Float]:
    """Return the 2x2 matrix between a query and a key of one pair, read off unit vectors.

    Entry [i, j] is <f(e_i, m), f(e_j, n)>; the second array bounds its error.
    """
    got = [[(p.w * r.w.conjugate()).real for r in b] for p in a]
    return np.array(got), np.array([[error_of_product(p, r) for r in b] for p in a])


@printed(
    "REL-5.middle",
    "The product of the two matrices between query and key has a wrong entry or sign.",
    names=("F-115", "F-116", "F-117", "F-118", "E-43", "P-20"),
)
def middle(trial: Trial, case: Case) -> Finding:
    """M(m)^T M(n), written out, and M(n - m): entry by entry what rotated unit vectors give."""
    m, n = two_sides(trial, case)
    (left, _), (right, call) = units(trial, case, m), units(trial, case, n)
    seen = Forms("the matrix between query and key", call)
    for a, b in zip(left, right, strict=True):
        got, allowed = coefficients(a, b)
        at, theta = (a[0].m, b[0].m), a[0].theta
        for name, form in (
            ("middle_product", relative_plane.middle_product),
            ("middle_product_expanded", relative_plane.middle_product_expanded),
            ("middle_product_result", relative_plane.middle_product_result),
        ):
            seen.add(f"relative_plane.{name}", got, form(*at, theta=theta), allowed)
        exponential = relative_plane.exponential_matrix((at[1] - at[0]) * theta)
        seen.add("relative_plane.exponential_matrix", got, exponential, allowed)
    return seen.finding()
