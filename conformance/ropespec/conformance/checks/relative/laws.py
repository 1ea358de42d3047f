"""Checks of the laws of the score, from rotated q and k (REL-7 to REL-9)."""

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.common import called
from ropespec.conformance.checks.shared import NEAR, scores, two_sides
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.bounds import Bounded, dot
from ropespec.conformance.judge.finding import Finding, compare, worst
from ropespec.conformance.judge.laws import rounding_allowed
from ropespec.conformance.judge.rotation import from_pairs, pairs_of
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial

__all__: list[str] = []

Float = NDArray[np.float64]


@check(
    "REL-7.swap",
    "Swapping q and k does not negate the offset: the score is even in the offset, or lopsided.",
    names=("E-31", "P-15"),
    space=Space(
        values=("normal", "ones"), positions=("arange", "ragged", "shuffled"), max_position=NEAR
    ),
    general=True,
)
def swap(trial: Trial, case: Case) -> Finding:
    """g(q, k, D) = g(k, q, -D), and g(q, k, D) - g(q, k, -D) = 2 sum (q x k)_i sin(D theta_i)."""
    m, n = (np.abs(side) for side in two_sides(trial, case))
    q, k = case.make_x(m), case.make_x(m, seed=1)
    top = np.maximum(m.max(initial=0), n.max(initial=0))
    one = scores(trial, case, q, k, m, n)
    mirrored = scores(trial, case, k, q, top - m, top - n)
    other = scores(trial, case, q, k, n, m)
    message = "g(q, k, D) is not g(k, q, -D)"
    allowed = one.exact.allowed + mirrored.exact.allowed
    same = compare(mirrored.got, one.got, allowed, name="score", message=message)
    q1, q2 = pairs_of(q.astype(np.float64), case.convention)
    k1, k2 = pairs_of(k.astype(np.float64), case.convention)
    _, sin = oracle.cos_sin((n - m)[..., None], case.dim, case.frequencies)
    odd = 2 * np.sum((q2 * k1 - q1 * k2) * sin, axis=-1)
    message = "g(q, k, D) - g(q, k, -D) is wrong: the sign of the offset does not count"
    allowed = one.exact.allowed + other.exact.allowed
    differ = compare(one.got - other.got, odd, allowed, name="difference", message=message)
    return worst(same.after(mirrored.call), differ.after(other.call))


def _any_angle(trial: Trial, case: Case, x: NDArray[np.floating]) -> tuple[Float, Float]:
    """Return the length of the pair of each component, and what is lost of it beside the angle."""
    first, second = pairs_of(x.astype(np.float64), case.convention)
    length = np.hypot(first, second)
    tail = np.abs(x[..., case.dim :].astype(np.float64))
    lengths = from_pairs(length, length, tail, case.convention)
    lost = rounding_allowed(x, case.convention, trial.loosest(case.dtype), trial.machine)
    return lengths, lost


@check(
    "REL-8.equal",
    "Equal positions do not cancel: a gain, or another angle for the key than for the query.",
    names=("P-21",),
    space=Space(values=("normal", "heavy", "ones")),
    general=True,
)
def equal_positions(trial: Trial, case: Case) -> Finding:
    """<f(q, m), f(k, m)> = <q, k> at any m, whatever the error of the angle."""
    m = case.make_positions()
    q, k = case.make_x(m), case.make_x(m, seed=1)
    y, z = trial.rotate(case, q, m), trial.rotate(case, k, m)
    call = called(case, q, m)
    got = np.sum(y.astype(np.float64) * z.astype(np.float64), axis=-1)
    value = np.sum(q.astype(np.float64) * k.astype(np.float64), axis=-1)
    bound = dot(Bounded(*_any_angle(trial, case, q)), Bounded(*_any_angle(trial, case, k)))
    message = "<f(q, m), f(k, m)> is not <q, k>"
    return compare(got, value, bound.allowed, name="score", message=message).after(call)


@check(
    "REL-9.additive",
    "Pairs see each other: the score is not the sum of the scores of its pairs.",
    names=("F-136", "P-23"),
    space=Space(values=("normal", "ones"), min_dim=4, max_position=NEAR),
    share=0.5,
    general=True,
)
def additive(trial: Trial, case: Case) -> Finding:
    """Scores of two sets of pairs add up, and one set has no score with the other."""
    m, n = two_sides(trial, case)
    q, k = case.make_x(m), case.make_x(m, seed=1)
    chosen = np.random.default_rng([case.seed, 3]).random(case.dim // 2) < 0.5
    chosen[0], chosen[-1] = True, case.dim == 2
    tail = np.ones(case.head_dim - case.dim, dtype=bool)
    mine = from_pairs(chosen, chosen, tail, case.convention)
    parts = [
        [np.where(keep, x.astype(np.float64), 0.0).astype(x.dtype) for keep in (mine, ~mine)]
        for x in (q, k)
    ]
    (q_a, q_b), (k_a, k_b) = parts
    whole = scores(trial, case, q, k, m, n)
    first, second = scores(trial, case, q_a, k_a, m, n), scores(trial, case, q_b, k_b, m, n)
    crossed = scores(trial, case, q_a, k_b, m, n)
    message = "the score is not the sum of the scores of its pairs"
    allowed = whole.exact.allowed + first.exact.allowed + second.exact.allowed
    added = compare(whole.got, first.got + second.got, allowed, name="score", message=message)
    message = "pairs of the query have a score with other pairs of the key"
    none = compare(
        crossed.got,
        np.zeros_like(crossed.got),
        crossed.exact.allowed + 2.0**-1000,
        name="score",
        message=message,
    )
    return worst(added.after(whole.call), none.after(crossed.call))
