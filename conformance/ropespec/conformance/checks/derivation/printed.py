"""Checks against the printed steps of the derivation (DER-1 to DER-5)."""

import cmath
import dataclasses
import math

import numpy as np

from ropespec.conformance.case import Case
from ropespec.conformance.checks.literal import (
    NEAR_SPACE,
    Chosen,
    Forms,
    Side,
    both_sides,
    error_of_product,
    forms_of_a_pair,
    printed,
    sides,
    token,
    units,
    woven,
)
from ropespec.conformance.checks.relative.printed import coefficients
from ropespec.conformance.checks.shared import STEPS, based, beside, two_sides
from ropespec.conformance.judge.bounds import Bounded, dot
from ropespec.conformance.judge.finding import Call, Finding, worst
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial
from ropespec.reference import derivation

__all__: list[str] = []


@printed(
    "DER-1.forms",
    "A printed step of the proof by blocks is another matrix, or another score.",
    names=("F-164", "F-165", "F-166", "F-167", "E-28", "P-20"),
)
def proof(trial: Trial, case: Case) -> Finding:
    """Both sides of every step give the score, or the blocks, that rotated vectors give."""
    m, n = two_sides(trial, case)
    (left, _), (right, call) = units(trial, case, m), units(trial, case, n)
    blocks = Forms("the matrix between query and key", call)
    for a, b in zip(left, right, strict=True):
        got, allowed = coefficients(a, b)
        at, theta = (a[0].m, b[0].m), a[0].theta
        product = derivation.block_product(*at, theta)
        blocks.add("derivation.block_product", got, product, allowed)
        offset = derivation.block_of_offset(at[1] - at[0], theta)
        blocks.add("derivation.block_of_offset", got, offset, allowed)
    if case.frequencies.scheme is not None:  # the steps make the frequencies of their base
        return blocks.finding()
    return worst(blocks.finding(), _steps(case, *both_sides(trial, case, m, n)))


def _steps(case: Case, both: tuple[Chosen, Chosen], call: Call) -> Finding:
    """Compare the score of one head with each step of the proof, which is interleaved."""
    left, right = (one.token for one in both)
    got = dot(Bounded(left.y, left.off), Bounded(right.y, right.off))
    allowed = got.allowed + STEPS * float(np.linalg.norm(left.x) * np.linalg.norm(right.x))
    q, k, m, n = woven(case, left.x), woven(case, right.x), left.m, right.m
    base, seen = based(case), Forms("the score of a head", call)
    matrices = {
        "derivation.blockwise_product": [derivation.blockwise_product(m, n, case.dim, **base)],
        "derivation.conclusion": [*derivation.conclusion(m, n, case.dim, **base)],
    }
    for name, made in matrices.items():
        for R in made:
            seen.add(name, got.value, q @ R @ k, allowed)
    for value in derivation.inner_of_rotated(q, k, m, n, **base):
        seen.add("derivation.inner_of_rotated", got.value, value, allowed)
    return seen.finding()


def _angle(seen: Forms, name: str, w: complex, angle: float, error: float) -> None:
    """Note an argument of w: as a direction, and as a number in (-π, π] where w is not near -1."""
    length = abs(w)
    if not length:  # nothing has no direction
        seen.add(name, w, cmath.rect(1.0, angle), STEPS)
        return
    off = 2 * error / length + STEPS
    seen.add(name, w / length, cmath.rect(1.0, angle), off)
    phase = cmath.phase(w)
    if math.pi - abs(phase) > off:
        seen.add(name, phase, angle, off)


@printed(
    "DER-2.forms",
    "A modulus or an argument of the two equations is another, or its two sides differ.",
    names=("F-168", "F-169", "F-170", "E-50", "E-51", "P-33"),
)
def equations(trial: Trial, case: Case) -> Finding:
    """R_f, Θ_f, R_g, Θ_g and both sides of both equations are those of the rotated pairs."""
    m, n = two_sides(trial, case)
    (q, k), call = both_sides(trial, case, m, n)
    (again, other), _ = both_sides(trial, case, m, m)
    seen = Forms("modulus or argument of a rotated pair", call)
    for a, b in zip(q.sides, k.sides, strict=True):
        _equations(seen, a, b)
    for a, b in zip(again.sides, other.sides, strict=True):
        got, error = a.w * b.w.conjugate(), error_of_product(a, b)
        even, odd = (
            derivation.f_mirrored(a.z, p) * derivation.f_mirrored(b.z, p + 2).conjugate()
            for p in (0, 1)
        )
        seen.add("derivation.f_mirrored", got, even, error)
        seen.add("derivation.f_mirrored", got, odd.conjugate(), error)
    return seen.finding()


def _equations(seen: Forms, a: Side, b: Side) -> None:
    theta, offset = a.theta, a.m - b.m
    product, error = a.w * b.w.conjugate(), error_of_product(a, b)
    seen.add("derivation.g_c", product, derivation.g_c(a.z, b.z, offset, theta=theta), error)
    for side in (a, b):
        r = derivation.r_f(side.z, side.m, theta=theta)
        seen.add("derivation.r_f", abs(side.w), r, side.error)
        angle = derivation.theta_f(side.z, side.m, theta=theta)
        _angle(seen, "derivation.theta_f", side.w, angle, side.error)
    r_g = derivation.r_g(a.z, b.z, offset, theta=theta)
    seen.add("derivation.r_g", abs(product), r_g, error)
    theta_g = derivation.theta_g(a.z, b.z, offset, theta=theta)
    _angle(seen, "derivation.theta_g", product, theta_g, error)
    for r in derivation.equation_one(a.z, b.z, a.m, b.m, theta=theta):
        seen.add("derivation.equation_one", abs(product), r, error)
    for angle in derivation.equation_two(a.z, b.z, a.m, b.m, theta=theta):
        _angle(seen, "derivation.equation_two", product, angle, error)


@printed(
    "DER-3.forms",
    "At equal positions one of the four products of moduli is another.",
    names=("F-171", "F-172", "P-32"),
)
def moduli(trial: Trial, case: Case) -> Finding:
    """R_f(q,m) R_f(k,m), R_g(q,k,0), R_f(q,0) R_f(k,0) and |q||k| are that of rotated pairs."""
    m, _ = two_sides(trial, case)
    (q, k), call = both_sides(trial, case, m, m)
    seen = Forms("the modulus of rotated pairs", call)
    for a, b in zip(q.sides, k.sides, strict=True):
        got, error = abs(a.w) * abs(b.w), error_of_product(a, b)
        four = derivation.moduli_at_equal_positions(a.z, b.z, a.m, theta=a.theta)
        seen.add("derivation.moduli_at_equal_positions", np.full(4, got), np.array(four), error)
        r = derivation.r_f(a.z, a.m, theta=a.theta)
        seen.add("derivation.r_f", abs(a.w), r, a.error)
    return seen.finding()


PHASE = 4.0
"""More than half a turn: a phase phi(0) that is not zero: the same scores, and f(q, 0) is not q."""


@check(
    "DER-4.forms",
    "A printed step from equation two to phi(m) = mθ is another angle.",
    names=("F-173", "F-174", "F-175", "F-176", "F-177", "F-178", "F-179", "E-51", "P-32"),
    space=dataclasses.replace(NEAR_SPACE, max_position=64),
    share=0.5,
    general=True,
)
def progression(trial: Trial, case: Case) -> Finding:
    """Every angle of the steps is that of rotated pairs, at m, at m - 1 and at equal positions."""
    m = np.abs(case.make_positions()) % case.limit + 1
    (q, k), call = both_sides(trial, case, m, m)
    (_, before), _ = both_sides(trial, case, m, m - 1)
    seen = Forms("the angle of a rotated pair", call)
    for a, b, c in zip(q.sides, k.sides, before.sides, strict=True):
        _arguments(seen, a, b)
        _neighbours(seen, a, b, c)
    return seen.finding()


def _arguments(seen: Forms, a: Side, b: Side) -> None:
    """Note the arguments of one pair at m, and of two at equal positions."""
    theta, error = a.theta, error_of_product(a, b)
    for angle in derivation.arguments_at_equal_positions(a.z, b.z, a.m, theta=theta):
        product = a.w * b.w.conjugate()
        _angle(seen, "derivation.arguments_at_equal_positions", product, angle, error)
    back = a.w * cmath.rect(1.0, -a.m * theta)
    _angle(seen, "derivation.theta_of", back, derivation.theta_of(a.z), a.error)
    rotated = derivation.wrap(cmath.phase(a.z) + a.m * theta)
    _angle(seen, "derivation.wrap", a.w, rotated, a.error)
    own = a.w * a.z.conjugate()
    phi = derivation.phi(a.z, a.m, theta=theta)
    _angle(seen, "derivation.phi", own, phi, a.length * a.error)
    terms = derivation.phi_progression(a.m + 1, theta)
    if len(terms) != a.m + 1:
        raise ValueError("phi_progression of the reference has another number of terms")
    _angle(seen, "derivation.phi_progression", own, terms[a.m], a.length * a.error)
    shifted = derivation.phi_progression(a.m + 1, theta, phi_0=PHASE)
    phase = cmath.rect(1.0, PHASE)
    for rotated_back, term in ((own, shifted[a.m]), (back * a.z.conjugate(), shifted[0])):
        _angle(seen, "derivation.phi_progression", rotated_back * phase, term, a.length * a.error)
    moved = derivation.f_with_phase(a.z, a.m, theta=theta, phi_0=PHASE)
    seen.add("derivation.f_with_phase", a.w * phase, moved, a.error)


def _neighbours(seen: Forms, a: Side, b: Side, before: Side) -> None:
    """Note what equation two says of the positions m and m - 1."""
    theta, error = a.theta, error_of_product(a, before)
    product = a.w * before.w.conjugate()
    for name in ("neighbour_difference", "neighbour_difference_substituted"):
        angle = getattr(derivation, name)(a.z, b.z, a.m, theta=theta)
        _angle(seen, f"derivation.{name}", product, angle, error)
    step = derivation.phi_step(a.z, b.z, theta=theta)
    own, off = b.w * before.w.conjugate(), error_of_product(b, before)
    _angle(seen, "derivation.phi_step", own, step, off)


forms_of_a_pair(
    "DER-5.forms",
    "The solution, in its polar form or as a product, gives another pair.",
    {
        "derivation.f": lambda a: derivation.f(a.z, a.m, theta=a.theta),
        "derivation.f_polar": lambda a: derivation.f_polar(a.z, a.m, theta=a.theta),
    },
    names=("F-180", "F-181", "P-32"),
)


@printed(
    "DER-5.all-pairs",
    "The solution applied to every pair takes one frequency for all, or the pairs of halves.",
    names=("F-182", "P-32"),
)
def all_pairs(trial: Trial, case: Case) -> Finding:
    """f_of_pairs, which is interleaved, gives the head that the subject gives."""
    positions = case.make_positions()
    x = case.make_x(positions)
    found = beside(trial, case, x, positions)
    seen = Forms("a rotated head", found.call)
    one = token(case, x, found, positions)
    before, after, off = (woven(case, part) for part in (one.x, one.y, one.off))
    made = derivation.f_of_pairs(before, one.m, **based(case))
    seen.add("derivation.f_of_pairs", after, made, off)
    for a in sides(case, x, found, positions):
        seen.add("derivation.f", a.w, derivation.f(a.z, a.m, theta=a.theta), a.error)
    return seen.finding()
