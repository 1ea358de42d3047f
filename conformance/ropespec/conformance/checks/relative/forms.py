"""Checks of the forms of the score, from rotated q and k (REL-1 to REL-6)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literal import first
from ropespec.conformance.checks.literally import literal_frequencies
from ropespec.conformance.checks.relative.printed import printed_terms
from ropespec.conformance.checks.rotation.common import basis
from ropespec.conformance.checks.rotation.walked import in_turn
from ropespec.conformance.checks.shared import NEAR, against, rotate, scores, two_sides
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.bounds import Bounded, dot
from ropespec.conformance.judge.finding import Finding, compare, worst
from ropespec.conformance.judge.rotation import pairs_of
from ropespec.conformance.registry import check, walks
from ropespec.conformance.trial import Trial
from ropespec.reference import relative

__all__: list[str] = []

Float = NDArray[np.float64]

RUNS = ("arange", "ragged", "shuffled")
"""Patterns of positions that leave room for a shift."""


def _pairs(case: Case, q: NDArray[Any], k: NDArray[Any]) -> tuple[NDArray[np.complex128], Float]:
    """Return q_i k_i^* of every pair, (B, S, H, r/2), and <q, k> of the tail, (B, S, H)."""
    q1, q2 = pairs_of(q.astype(np.float64), case.convention)
    k1, k2 = pairs_of(k.astype(np.float64), case.convention)
    tail = q[..., case.dim :].astype(np.float64) * k[..., case.dim :].astype(np.float64)
    return (q1 + 1j * q2) * (k1 - 1j * k2), tail.sum(axis=-1)


def _unit(case: Case, offset: NDArray[np.int64]) -> NDArray[np.complex128]:
    """Return e^{i offset theta_i}, (B, S, 1, r/2)."""
    cos, sin = oracle.cos_sin(offset[..., None], case.dim, case.frequencies)
    return cos + 1j * sin


@check(
    "REL-1.shift",
    "The score changes when all positions are shifted: it depends on more than their difference.",
    names=("F-092", "F-093", "F-099", "F-124", "E-31", "P-12"),
    space=Space(values=("normal", "ones"), positions=RUNS, max_position=NEAR),
)
@walks(in_turn(("normal", "ones"), positions=RUNS, max_position=NEAR))
def shift(trial: Trial, case: Case) -> Finding:
    """<f(q, m+s), f(k, n+s)> = <f(q, m), f(k, n)>."""
    m, n = two_sides(trial, case)
    m, n = m // 2, n // 2
    step = min(1 + 37 * case.seed, max(case.limit // 2, 0))
    q, k = case.make_x(m), case.make_x(m, seed=1)
    here, there = scores(trial, case, q, k, m, n), scores(trial, case, q, k, m + step, n + step)
    message = f"the score changes when all positions are shifted by {step}"
    allowed = here.exact.allowed + there.exact.allowed
    return compare(there.got, here.got, allowed, name="score", message=message).after(there.call)


@check(
    "REL-2.real-part",
    "The score is that of another angle than (m - n) theta_i, as if a conjugate were forgotten.",
    names=("F-094", "F-104", "P-13"),
    space=Space(values=("normal", "ones")),
    general=True,
)
def real_part(trial: Trial, case: Case) -> Finding:
    """<f(q, m), f(k, n)> = sum of Re[q_i k_i^* e^{i(m-n)theta_i}]."""
    m, n = two_sides(trial, case)
    q, k = case.make_x(m), case.make_x(m, seed=1)
    found = scores(trial, case, q, k, m, n)
    _, tail = _pairs(case, q, k)
    q_pairs, k_pairs = (
        relative.complex_pairs(x[..., : case.dim].astype(np.float64), **case.only("interleaved"))
        for x in (q, k)
    )
    rotated = q_pairs * k_pairs.conj() * _unit(case, m - n)
    value = np.sum(rotated.real, axis=-1) + tail
    message = "the score is not the sum of Re[q_i k_i^* e^{i(m-n)theta_i}]"
    exact = Bounded(value, found.exact.allowed)
    return against(found.got, exact, found.call, name="score", message=message)


@check(
    "REL-3.inner-product",
    "The imaginary part is wrong or counted in: the product of a pair is not q k^*.",
    names=("F-105", "P-16", "P-33"),
    space=Space(values=("normal", "ones"), max_position=NEAR),
    general=True,
)
def inner_product(trial: Trial, case: Case) -> Finding:
    """Q k^* of a rotated pair has the real part <q, k>, and the imaginary part rotates along."""
    m, n = two_sides(trial, case)
    q, k = case.make_x(m), case.make_x(m, seed=1)
    left, right = rotate(trial, case, q, m), rotate(trial, case, k, n)
    got, _ = _pairs(case, left.y, right.y)
    exact: NDArray[Any] = _pairs(case, q, k)[0] * _unit(case, m - n)
    a, ea, b, eb = (
        np.hypot(*pairs_of(part, case.convention)) for part in (*left.exact, *right.exact)
    )
    allowed = a * eb + b * ea + ea * eb + 2.0**-48 * a * b
    message = "the product q k^* of a pair is wrong after the rotation"
    return compare(got, exact, allowed, name="q k^*", message=message).after(left.call)


@check(
    "REL-4.groups",
    "One of the four groups q1k1, q1k2, q2k1, q2k2 has a wrong sign or sine for cosine.",
    names=(
        *("F-106", "F-107", "F-108", "F-109", "F-110", "F-111", "F-112", "F-113"),
        *("E-42", "E-68", "P-13", "P-48"),
    ),
    space=Space(positions=("arange", "ragged", "negative", "spread"), max_position=NEAR),
    share=0.5,
    general=True,
)
def groups(trial: Trial, case: Case) -> Finding:
    """Coefficients of the four products are cos, sin, -sin and cos of (m - n) theta_i.

    So are the eight terms, the four groups and the two sums that the documents print.
    """
    m, n = (side // 2 for side in two_sides(trial, case))
    members = []
    for member in (0, 1):
        x = np.zeros(case.shape)
        pairs_of(x, case.convention)[member][...] = 1.0
        members.append(x.astype(case.numpy_dtype))
    left = [rotate(trial, case, x, m) for x in members]
    right = [rotate(trial, case, x, n) for x in members]
    unit = _unit(case, m - n)
    cos, sin = unit.real, unit.imag
    findings = []
    for a, b, wanted, name in (
        (0, 0, cos, "cos"),
        (0, 1, sin, "sin"),
        (1, 0, -sin, "-sin"),
        (1, 1, cos, "cos"),
    ):
        q, k = left[a], right[b]
        parts = [
            [np.stack(pairs_of(v, case.convention), axis=-1) for v in triple]
            for triple in ((q.y, *q.exact), (k.y, *k.exact))
        ]
        got = np.sum(parts[0][0] * parts[1][0], axis=-1)
        bound = dot(Bounded(*parts[0][1:]), Bounded(*parts[1][1:]))
        label = f"q{a + 1}k{b + 1}"
        message = f"the coefficient of {label} is not {name}((m-n) theta_i)"
        exact = np.broadcast_to(wanted, got.shape)
        findings.append(
            compare(got, exact, bound.allowed + 2.0**-50, name=label, message=message).after(k.call)
        )
    return first(worst(*findings), printed_terms(trial, case, m, n))


@check(
    "REL-5.key-turned",
    "Both sides rotated are not the key rotated by n - m: R_m^T R_n is no function of n - m.",
    names=("F-114", "F-122", "F-156", "F-157", "E-04", "P-13", "P-20"),
    space=Space(values=("normal", "ones"), positions=(*RUNS, "spread", "negative")),
    general=True,
)
def key_rotated(trial: Trial, case: Case) -> Finding:
    """<f(q, m), f(k, n)> = <q, f(k, n-m)>."""
    m, n = two_sides(trial, case)
    m, n = m // 2, n // 2
    if not trial.profile.negative_positions:
        m, n = np.minimum(m, n), np.maximum(m, n)
    q, k = case.make_x(m), case.make_x(m, seed=1)
    both, alone = scores(trial, case, q, k, m, n), rotate(trial, case, k, n - m)
    plain = q.astype(np.float64)
    got = np.sum(plain * alone.y, axis=-1)
    bound = dot(Bounded(plain, np.zeros_like(plain)), alone.exact)
    message = "<f(q, m), f(k, n)> is not <q, f(k, n-m)>"
    allowed = both.exact.allowed + bound.allowed
    law = compare(got, both.got, allowed, name="score", message=message).after(alone.call)
    message = "q^T R_{n-m} k is wrong where only the key is rotated, by n - m"
    return worst(law, against(got, bound, alone.call, name="score", message=message))


@check(
    "REL-6.anchor",
    "The sign of the offset is lost or reversed: the query rotates by n - m instead of m - n.",
    names=("F-119", "F-120", "F-121", "E-04", "E-21", "E-40", "E-41", "P-14"),
    space=Space(positions=("arange",), max_position=NEAR),
    general=True,
)
def anchor(trial: Trial, case: Case) -> Finding:
    """With q = (1, 0) and k = (0, 1), the score is sin((m - n) theta_0), and theta_0 is 1."""
    zero = np.zeros((case.batch, case.seq), dtype=np.int64)
    far = min(case.seed, case.limit - 1)
    second = case.convention.places(case.head_dim)[1].start
    q, k = basis(case, 0), basis(case, second)
    gain, theta = float(case.frequencies.gain), literal_frequencies(case)[0]
    findings = []
    for m, n in ((far + 1, far), (far, far + 1)):
        found = scores(trial, case, q, k, zero + m, zero + n)
        value = np.full(found.got.shape, gain**2 * np.sin((m - n) * theta))
        said = f"sin({m - n})" if theta == gain == 1.0 else f"{value.flat[0]:.6g}"
        message = f"the score of q = (1, 0) at {m} and k = (0, 1) at {n} is not {said}"
        exact = Bounded(value, found.exact.allowed + 2.0**-51 * gain**2)
        findings.append(against(found.got, exact, found.call, name="score", message=message))
    return worst(*findings)
