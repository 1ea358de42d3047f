"""Checks of the Abel bound and of the decay curve itself (DEC-1 to DEC-3)."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literally import literal_frequencies
from ropespec.conformance.checks.rotation.common import basis
from ropespec.conformance.checks.shared import (
    LITERAL,
    NEAR,
    against,
    answer,
    conventions,
    rules,
    scores,
    ten_thousand,
    two_sides,
)
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.bounds import Bounded, Rules, decay, score
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, worst
from ropespec.conformance.judge.rotation import from_pairs, pairs_of
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial
from ropespec.reference.decay import decay_curve, window_means
from ropespec.spec.convention import Frequencies

__all__ = ["tapered"]

Float = NDArray[np.float64]

_NEEDS = ("decay_bound",)
_EDGES = (0, 32, 256, 1024, 4096)
_MEANS = (17.938, 9.305, 6.298, 5.019)


def tapered(case: Case) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return q and k whose products h_i fall evenly to 0, for which the Abel bound is tight."""
    count = case.dim // 2
    scale = 2.0 ** np.random.default_rng([case.seed, 13]).integers(-1, 2, (*case.shape[:3], 1))
    first = (1.0 - np.arange(count) / count) * scale
    zero, tail = np.zeros_like(first), np.zeros((*case.shape[:3], case.head_dim - case.dim))
    q = from_pairs(first, zero, tail, case.convention)
    k = from_pairs(np.ones_like(first), zero, tail, case.convention)
    return q.astype(case.numpy_dtype), k.astype(case.numpy_dtype)


def _abel(case: Case, q: NDArray[Any], k: NDArray[Any], offset: NDArray[np.int64]) -> Float:
    """Return max abs(h_{i+1} - h_i) * sum of abs(S_j), h_{d/2} = 0: (B, S, H) of (B, S)."""
    q1, q2 = pairs_of(q.astype(np.float64), case.convention)
    k1, k2 = pairs_of(k.astype(np.float64), case.convention)
    h = (q1 + 1j * q2) * (k1 - 1j * k2)
    steps = np.abs(np.diff(h, axis=-1, append=0.0)).max(axis=-1)
    sums = decay(offset, case.dim, case.frequencies, LITERAL).value * (case.dim // 2)
    return np.asarray(steps * sums[..., None])


def _beyond(got: Float, limit: Float, allowed: Float, name: str, message: str) -> Finding:
    """Judge by how much abs(got) exceeds a limit, against the error of got."""
    excess = np.maximum(np.abs(got) - limit, 0.0)
    nothing = np.where(np.isnan(got), np.nan, excess)
    return compare(nothing, np.zeros_like(excess), allowed, name=name, message=message)


@check(
    "DEC-1.abel",
    "The score exceeds the Abel bound: vectors are not rotated, or their slow pairs rotate fast.",
    names=("F-204", "P-42"),
    space=Space(positions=("arange", "ragged", "shuffled", "spread"), max_position=NEAR),
    general=True,
)
def abel(trial: Trial, case: Case) -> Finding:
    """abs(<f(q, m), f(k, n)>) <= max abs(h_{i+1} - h_i) * sum of abs(S_j)."""
    m, n = two_sides(trial, case)
    q, k = tapered(case)
    found = scores(trial, case, q, k, m, n)
    limit = _abel(case, q, k, m - n)
    allowed = found.exact.allowed + 2.0**-44 * limit
    message = "the score exceeds the Abel bound of its offset"
    return _beyond(found.got, limit, allowed, "score", message).after(found.call)


@check(
    "DEC-1.abel-score",
    "relative_score exceeds the Abel bound of its offset.",
    needs=("relative_score",),
    names=("F-204", "P-42"),
    space=Space(positions=("arange", "ragged", "shuffled", "spread"), max_position=NEAR),
)
def abel_score(trial: Trial, case: Case) -> Finding:
    """abs(q^T R_offset k) <= max abs(h_{i+1} - h_i) * sum of abs(S_j)."""
    q, k = tapered(case)
    offset = case.make_positions()
    keywords = conventions(trial, case, "relative_score")
    arrays = (q, k, offset[..., None])
    reply, call = (
        trial.call("relative_score", arrays, keywords),
        Call("relative_score", arrays, keywords),
    )
    if problem := answer(reply, call):
        return problem
    exact = score(*arrays, rules(trial, case.dtype), case.convention)
    if reply.values[0].shape != exact.value.shape:
        return against(reply.values[0], exact, call, name="score")
    limit = _abel(case, q, k, offset)
    allowed = exact.allowed + 2.0**-44 * limit
    message = "the score exceeds the Abel bound of its offset"
    got = reply.values[0].astype(np.float64)
    return _beyond(got, limit, allowed, "score", message).after(call)


def _curve(
    trial: Trial, offsets: NDArray[np.int64], dim: int, of: Frequencies
) -> tuple[NDArray[Any], Call, Finding | None, Rules]:
    keywords = {"base": of.base}
    reply = trial.call("decay_bound", (offsets, dim), keywords)
    call = Call("decay_bound", (offsets, dim), keywords)
    problem = answer(reply, call)
    if problem is None and reply.values[0].shape != offsets.shape:
        problem = broken(
            f"decay_bound has shape {reply.values[0].shape}; expected {offsets.shape}", call=call
        )
    return reply.values[0], call, problem, rules(trial, "float64" if problem else reply.dtypes[0])


@check(
    "DEC-2.value",
    "The mean is a sum, a partial sum starts or ends one too late, or the modulus is forgotten.",
    needs=_NEEDS,
    names=("P-43",),
    every_dtype=True,
)
def value(trial: Trial, case: Case) -> Finding:
    """B(offset) = mean of abs(S_j), j = 1..d/2."""
    offsets = case.make_positions()
    got, call, problem, allowed = _curve(trial, offsets, case.head_dim, case.frequencies)
    return problem or against(
        got, decay(offsets, case.head_dim, case.frequencies, allowed), call, name="B"
    )


@check(
    "DEC-2.largest",
    "The curve is not even, or does not start at its largest value (d/2 + 1)/2.",
    needs=_NEEDS,
    names=("P-43",),
)
def largest(trial: Trial, case: Case) -> Finding:
    """B(offset) <= B(0) = (d/2 + 1)/2 and B(-offset) = B(offset)."""
    offsets = case.make_positions()
    both = np.stack([offsets, -offsets, np.zeros_like(offsets)])
    got, call, problem, allowed = _curve(trial, both, case.head_dim, case.frequencies)
    if problem:
        return problem
    error = decay(both, case.head_dim, case.frequencies, allowed).allowed
    ahead, behind, origin = got.astype(np.float64)
    top = np.full(origin.shape, (case.head_dim // 2 + 1) / 2)
    message = "B(0) is not (d/2 + 1)/2"
    start = compare(origin, top, error[2], name="B(0)", message=message)
    message = "B(-offset) is not B(offset)"
    even = compare(behind, ahead, error[0] + error[1], name="B", message=message)
    message = "B exceeds B(0)"
    return worst(start, even, _beyond(ahead, top, error[0], "B", message)).after(call)


@check(
    "DEC-2.reference",
    "The curve agrees with the judge but not with the formula as the documents print it.",
    needs=_NEEDS,
    names=("F-204", "P-47"),
    space=Space(max_position=NEAR),
)
def against_reference(trial: Trial, case: Case) -> Finding:
    """Decay_bound equals that of the literal NumPy reference."""
    offsets = case.make_positions()
    got, call, problem, allowed = _curve(trial, offsets, case.head_dim, case.frequencies)
    if problem:
        return problem
    literal = reference.decay_bound(offsets, case.head_dim, case.frequencies.base)
    own, theirs = (
        decay(offsets, case.head_dim, case.frequencies, one).allowed for one in (allowed, LITERAL)
    )
    message = "the curve differs from the literal reference"
    return against(got, Bounded(literal, own + theirs), call, name="B", message=message)


@check(
    "DEC-2.cosines",
    "The score of equal vectors is not the sum of cosines: a sine, a sign or a pair is wrong.",
    names=("F-202", "P-43"),
    space=Space(positions=("arange", "ragged", "shuffled", "spread"), max_position=NEAR),
    share=0.5,
    general=True,
)
def cosines(trial: Trial, case: Case) -> Finding:
    """With all components 1, the score is 2 sum cos((m-n) theta_i), at most r, and the tail."""
    m, n = two_sides(trial, case)
    ones = np.ones(case.shape, dtype=case.numpy_dtype)
    found = scores(trial, case, ones, ones, m, n)
    cos, _ = oracle.cos_sin((m - n)[..., None], case.dim, case.frequencies)
    tail = case.head_dim - case.dim
    wanted = Bounded(2 * cos.sum(axis=-1) + tail + 0 * found.got, found.exact.allowed)
    message = "the score of (1, ..., 1) with itself is not 2 sum cos((m-n) theta_i)"
    exact = against(found.got, wanted, found.call, name="score", message=message)
    message = "the score of (1, ..., 1) with itself exceeds d"
    top = np.full(found.got.shape, float(case.head_dim))
    return worst(
        exact, _beyond(found.got, top, found.exact.allowed, "score", message).after(found.call)
    )


_ONCE = Space(positions=("arange",), max_position=1)


@check(
    "DEC-2.windows",
    "The trend is lost: the means over growing distances do not fall as they must.",
    needs=_NEEDS,
    names=("P-44",),
    space=_ONCE,
    applies=ten_thousand("decay_bound"),
    share=0.05,
)
def windows(trial: Trial, case: Case) -> Finding:
    """For d = 128 the means over [0, 32), [32, 256), [256, 1024), [1024, 4096) fall as printed."""
    del case
    got, call, problem, allowed = _curve(trial, np.arange(_EDGES[-1]), 128, Frequencies())
    if problem:
        return problem
    error = decay(np.arange(_EDGES[-1]), 128, Frequencies(), allowed).allowed
    spans = [slice(a, b) for a, b in itertools.pairwise(_EDGES)]
    means = window_means(got.astype(np.float64), _EDGES)
    bound = np.array([error[span].mean() for span in spans]) + 0.5001e-3  # three decimals are given
    message = "the mean of B over a window of distances is not the one of the text"
    return compare(means, np.array(_MEANS), bound, name="mean", message=message).after(call)


@check(
    "DEC-3.rises",
    "The curve is made to fall at every step: it is sorted, fitted or smoothed.",
    needs=_NEEDS,
    names=("F-201", "F-203", "F-205", "E-25", "E-29", "P-44"),
    space=_ONCE,
    applies=ten_thousand("decay_bound"),
    share=0.05,
)
def rises(trial: Trial, case: Case) -> Finding:
    """For d = 128, B(18) < B(19) and B(2048) < B(4096)."""
    del case
    offsets = np.array([18, 19, 2048, 4096], dtype=np.int64)
    got, call, problem, allowed = _curve(trial, offsets, 128, Frequencies())
    if problem:
        return problem
    own, theirs = (decay(offsets, 128, Frequencies(), one).allowed for one in (allowed, LITERAL))
    literal = reference.decay_bound(offsets, 128)
    steps = got[1::2].astype(np.float64) - got[0::2].astype(np.float64)
    wanted = literal[1::2] - literal[0::2]
    error = (own + theirs)[1::2] + (own + theirs)[0::2]
    message = "B must rise from 18 to 19 and from 2048 to 4096"
    return compare(steps, wanted, error, name="rise", message=message).after(call)


@check(
    "DEC-3.score-rises",
    "The score is made to fall with the distance: a decay is multiplied in.",
    names=("F-201", "F-203", "E-25", "P-44"),
    space=Space(positions=("arange",), max_position=NEAR),
    applies=lambda trial: None if trial.profile.max_position >= 6 else "position 6 not claimed",
    share=0.5,
    general=True,
)
def score_rises(trial: Trial, case: Case) -> Finding:
    """With q = k = (1, 0) and theta_0 = 1, the score is cos 3 at distance 3 and cos 6 > 0 at 6.

    Where frequencies are scaled, theta_0 and the length may be others.
    """
    start = min(case.start, case.limit - 6)
    x, key = basis(case, 0), np.full((case.batch, case.seq), start, dtype=np.int64)
    findings = []
    gain, theta = float(case.frequencies.gain), literal_frequencies(case)[0]
    plain = decay_curve(6, 2, q=np.array([1.0, 0.0]))
    curve = plain if theta == 1.0 else np.cos(theta * np.arange(7))
    for distance in (3, 6):
        found = scores(trial, case, x, x, key + distance, key)
        wanted = np.full(found.got.shape, gain**2 * curve[distance])
        said = f"cos {distance}" if theta == gain == 1.0 else f"{wanted.flat[0]:.6g}"
        message = f"the score of (1, 0) with itself at distance {distance} is not {said}"
        exact = Bounded(wanted, found.exact.allowed + 2.0**-51 * gain**2)
        findings.append(against(found.got, exact, found.call, name="score", message=message))
    return worst(*findings)
