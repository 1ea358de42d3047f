"""Checks of the chapter `projection`: queries, keys and values (PROJ-1 to PROJ-5)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.common import NEAR, called
from ropespec.conformance.checks.shared import (
    LITERAL,
    against,
    answer,
    as_claimed,
    draw,
    rules,
    turn,
)
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.bounds import Bounded, Rules, dot, project, project_rotated
from ropespec.conformance.judge.finding import Call, Finding, compare
from ropespec.conformance.judge.laws import rounding_allowed
from ropespec.conformance.judge.rotation import pairs_of
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial

__all__: list[str] = []

_WIDTHS = (1, 3, 8, 5, 64)


def _width(case: Case) -> int:
    """Return d_in: small, odd, equal to head_dim or larger; it follows from the shape of x."""
    return (*_WIDTHS, case.head_dim)[(case.batch + 2 * case.seq) % (len(_WIDTHS) + 1)]


def _inputs(case: Case, salt: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return x (B, S, d_in) and a weight (H, D, d_in)."""
    width = _width(case)
    x = draw(case, (case.batch, case.seq, width), salt)
    return x, draw(case, (case.heads, case.head_dim, width), salt + 1)


def _side(function: str, word: str, other: str) -> None:
    """Register the checks of f_q or f_k."""

    def asked(
        trial: Trial, case: Case
    ) -> tuple[NDArray[Any], tuple[NDArray[Any], ...], Finding | None, Call]:
        positions = case.make_positions()
        x, weight = _inputs(case)
        keywords = {"interleaved": case.interleaved, "base": case.base}
        arrays = (x, as_claimed(trial, positions), weight)
        reply = trial.call(function, arrays, keywords)
        call = Call(function, arrays, keywords)
        problem = answer(reply, call, dtypes=(case.dtype,))
        return reply.values[0], (x, positions, weight), problem, call

    def exact(arrays: tuple[NDArray[Any], ...], case: Case, allowed: Rules) -> Bounded:
        x, positions, weight = arrays
        return project_rotated(
            x, positions, weight, allowed, interleaved=case.interleaved, base=case.base
        )

    @check(
        "PROJ-1",
        word,
        f"The {word} is turned before it is projected, not turned, or turned unlike the {other}.",
        needs=(function,),
        properties=("P-30",),
    )
    def value(trial: Trial, case: Case) -> Finding:
        got, arrays, problem, call = asked(trial, case)
        return problem or against(got, exact(arrays, case, rules(trial, case.dtype)), call)

    @check(
        "PROJ-1",
        f"reference-{word}",
        f"The {word} agrees with the judge but not with the formula as the documents print it.",
        needs=(function,),
        properties=("P-47",),
        space=Space(max_position=NEAR),
    )
    def against_reference(trial: Trial, case: Case) -> Finding:
        got, arrays, problem, call = asked(trial, case)
        if problem:
            return problem
        x, positions, weight = arrays
        literal = getattr(reference, function)(
            x.astype(np.float64), positions, weight.astype(np.float64), **call.keywords
        )
        own, theirs = (
            exact(arrays, case, one).allowed for one in (rules(trial, case.dtype), LITERAL)
        )
        message = f"the {word} differs from the literal reference"
        return against(got, Bounded(literal, own + theirs), call, message=message)


_side("project_query", "query", "key")
_side("project_key", "key", "query")


def _value(
    trial: Trial, case: Case, x: NDArray[Any], weight: NDArray[Any]
) -> tuple[NDArray[Any], Finding | None, Call]:
    reply = trial.call("project_value", (x, weight))
    call = Call("project_value", (x, weight))
    return reply.values[0], answer(reply, call, dtypes=(case.dtype,)), call


@check(
    "PROJ-2",
    "value",
    "The value is turned by its position, or its odd component is refused or lost.",
    needs=("project_value",),
    properties=("P-34",),
)
def value(trial: Trial, case: Case) -> Finding:
    """f_v = W x at every position; the same x in every row gives the same value."""
    width, height = _width(case), case.head_dim + case.heads % 2
    x = draw(case, (case.batch, 1, width), 0)
    x = np.ascontiguousarray(np.broadcast_to(x, (case.batch, case.seq, width)))
    weight = draw(case, (case.heads, height, width), 1)
    got, problem, call = _value(trial, case, x, weight)
    return problem or against(got, project(x, weight, rules(trial, case.dtype)), call)


@check(
    "PROJ-2",
    "reference",
    "The value agrees with the judge but not with the formula as the documents print it.",
    needs=("project_value",),
    properties=("P-47",),
)
def value_reference(trial: Trial, case: Case) -> Finding:
    """Project_value equals that of the literal NumPy reference."""
    x, weight = _inputs(case)
    got, problem, call = _value(trial, case, x, weight)
    if problem:
        return problem
    literal = reference.project_value(x.astype(np.float64), weight.astype(np.float64))
    own, theirs = (project(x, weight, one).allowed for one in (rules(trial, case.dtype), LITERAL))
    message = "the value differs from the literal reference"
    return against(got, Bounded(literal, own + theirs), call, message=message)


@check(
    "PROJ-3",
    "components",
    "The weight is transposed, or heads and components are mixed up.",
    needs=("project_value",),
    space=Space(min_dim=2),
)
def components(trial: Trial, case: Case) -> Finding:
    """Component j is row j of the weight times x, with small integers and so without rounding."""
    rng = np.random.default_rng([case.seed, 9])
    width = case.head_dim if case.head_dim <= 16 else 3  # square where sums stay small
    x = rng.integers(-2, 3, (case.batch, case.seq, width)).astype(case.numpy_dtype)
    weight = rng.integers(-2, 3, (case.heads, case.head_dim, width)).astype(case.numpy_dtype)
    got, problem, call = _value(trial, case, x, weight)
    wide = np.tensordot(x.astype(np.float64), weight.astype(np.float64), axes=(-1, -1))
    message = "component j of head h is not row j of weight[h] times x"
    return problem or against(got, Bounded(wide, np.zeros_like(wide)), call, message=message)


@check(
    "PROJ-4",
    "folded",
    "Turning the projected vector is not turning the columns of the weight: the map is not linear.",
    properties=("P-30",),
    space=Space(values=("normal", "ones")),
    general=True,
)
def folded(trial: Trial, case: Case) -> Finding:
    """R_m (W x) = (R_m W) x, for two columns of W and whole numbers x, so that W x is exact."""
    positions = case.make_positions()
    rng = np.random.default_rng([case.seed, 11])
    x = rng.choice([-2.0, -1.0, 1.0, 2.0], 2)
    columns = [
        np.clip(np.round(case.make_x(positions, seed=s).astype(np.float64) * 8) / 8, -4, 4)
        for s in (0, 1)
    ]
    projected = x[0] * columns[0] + x[1] * columns[1]
    inputs = [part.astype(case.numpy_dtype) for part in (projected, *columns)]
    outputs = [trial.rotate(case, part, positions) for part in inputs]
    call = called(case, inputs[0], positions)
    bounds = [
        rounding_allowed(
            part, case.dim, trial.loosest(case.dtype), trial.machine, interleaved=case.interleaved
        )
        for part in inputs
    ]
    got, first, second = (y.astype(np.float64) for y in outputs)
    allowed = bounds[0] + abs(x[0]) * bounds[1] + abs(x[1]) * bounds[2]
    message = "R_m (W x) is not (R_m W) x"
    return compare(got, x[0] * first + x[1] * second, allowed, message=message).after(call)


def _all_pairs(case: Case, q: NDArray[Any], k: NDArray[Any], m: NDArray[np.int64]) -> NDArray[Any]:
    """Return q_a^T R_{m_b - m_a} k_b of all tokens a, b of a row: (B, S, S, H)."""
    q1, q2 = pairs_of(q.astype(np.float64), case.dim, interleaved=case.interleaved)
    k1, k2 = pairs_of(k.astype(np.float64), case.dim, interleaved=case.interleaved)
    offset = (m[:, :, None] - m[:, None, :])[..., None]
    cos, sin = oracle.cos_sin(offset, case.dim, case.base)
    product = (q1 + 1j * q2)[:, :, None] * (k1 - 1j * k2)[:, None, :]
    turned = np.sum((product * (cos + 1j * sin)).real, axis=-1)
    tail = q[:, :, None, :, case.dim :].astype(np.float64) * k[:, None, :, :, case.dim :].astype(
        np.float64
    )
    return np.asarray(turned + tail.sum(axis=-1))


@check(
    "PROJ-5",
    "tokens",
    "A token is turned by more than its own position: by its neighbours', or by the largest one.",
    properties=("P-12",),
    space=Space(values=("normal",), positions=("arange", "shuffled", "ragged"), min_seq=2),
    general=True,
)
def tokens(trial: Trial, case: Case) -> Finding:
    """Every two tokens, turned each by its own position, have the score of their offset."""
    m = case.make_positions()
    short = slice(0, 5)
    q, k = (case.make_x(m, seed=s)[:, short] for s in (0, 1))
    m = m[:, short]
    left, right = turn(trial, case, q, m), turn(trial, case, k, m)
    got = np.einsum("bshd,bthd->bsth", left.y, right.y)
    a, b = left.exact, right.exact
    bound = dot(
        Bounded(a.value[:, :, None], a.allowed[:, :, None]),
        Bounded(b.value[:, None], b.allowed[:, None]),
    )
    message = "the score of two tokens is not that of the offset of their positions"
    exact = Bounded(_all_pairs(case, q, k, m), bound.allowed)
    return against(got, exact, left.call, name="score", message=message)


@check(
    "PROJ-5",
    "projected",
    "Queries and keys are turned by different angles, or in different layouts.",
    needs=("project_query", "project_key"),
    properties=("P-12",),
    space=Space(positions=("arange", "shuffled", "ragged"), max_position=NEAR),
)
def projected(trial: Trial, case: Case) -> Finding:
    """<f_q(x_m, m), f_k(x_n, n)> = (W_q x_m)^T R_{n-m} (W_k x_n)."""
    m = case.make_positions()
    n = m[:, ::-1]
    keywords = {"interleaved": case.interleaved, "base": case.base}
    sides = []
    for function, where, salt in (("project_query", m, 0), ("project_key", n, 2)):
        x, weight = _inputs(case, salt)
        arrays = (x, as_claimed(trial, where), weight)
        reply, call = trial.call(function, arrays, keywords), Call(function, arrays, keywords)
        if problem := answer(reply, call, dtypes=(case.dtype,)):
            return problem
        bound = project_rotated(
            x, where, weight, rules(trial, case.dtype), interleaved=case.interleaved, base=case.base
        )
        if reply.values[0].shape != bound.value.shape:
            return against(reply.values[0], bound, call)
        plain = project(x, weight, LITERAL).value
        sides.append((reply.values[0].astype(np.float64), bound, plain))
    (q, q_bound, q_plain), (k, k_bound, k_plain) = sides
    bound = dot(q_bound, k_bound)
    q1, q2 = pairs_of(q_plain, case.head_dim, interleaved=case.interleaved)
    k1, k2 = pairs_of(k_plain, case.head_dim, interleaved=case.interleaved)
    cos, sin = oracle.cos_sin((m - n)[..., None], case.head_dim, case.base)
    value = np.sum((q1 * k1 + q2 * k2) * cos - (q2 * k1 - q1 * k2) * sin, axis=-1)
    message = "the score of two projected tokens is not that of their offset"
    exact = Bounded(value, bound.allowed)
    return against(np.sum(q * k, axis=-1), exact, call, name="score", message=message)
