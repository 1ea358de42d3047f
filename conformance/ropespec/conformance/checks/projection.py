"""Checks of the chapter `projection`: queries, keys and values (PROJ-1 to PROJ-5)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literal import FEW, Forms, first, places, token
from ropespec.conformance.checks.rotation.walked import in_turn
from ropespec.conformance.checks.shared import (
    LITERAL,
    NEAR,
    against,
    answer,
    as_claimed,
    based,
    beside,
    conventions,
    draw,
    rotate,
    rules,
    takes_rotary_dim,
)
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.bounds import Bounded, Rules, dot, project, project_rotated
from ropespec.conformance.judge.finding import Call, Finding, compare
from ropespec.conformance.judge.laws import rounding_allowed
from ropespec.conformance.judge.rotation import pairs_of
from ropespec.conformance.registry import check, walks
from ropespec.conformance.trial import Trial
from ropespec.reference import frequencies, projection

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


def _side(ids: tuple[str, str, str], function: str, word: str, other: str) -> None:
    """Register the checks of f_q or f_k: its value, its tail, and the formula as printed."""

    def asked(
        trial: Trial, case: Case
    ) -> tuple[NDArray[Any], tuple[NDArray[Any], ...], Finding | None, Call]:
        positions = case.make_positions()
        x, weight = _inputs(case)
        arrays = (x, as_claimed(trial, positions), weight)
        keywords = conventions(trial, case, function)
        reply = trial.call(function, arrays, keywords)
        call = Call(function, arrays, keywords)
        problem = answer(reply, call, dtypes=(case.dtype,))
        return reply.values[0], (x, positions, weight), problem, call

    def exact(arrays: tuple[NDArray[Any], ...], case: Case, allowed: Rules) -> Bounded:
        x, positions, weight = arrays
        return project_rotated(x, positions, weight, allowed, case.convention)

    @check(
        ids[0],
        f"The {word} is rotated before it is projected, or not, or unlike the {other}.",
        needs=(function,),
        names=(*_NAMES[word], "P-30"),
    )
    def value(trial: Trial, case: Case) -> Finding:
        got, arrays, problem, call = asked(trial, case)
        return problem or against(got, exact(arrays, case, rules(trial, case.dtype)), call)

    @check(
        ids[1],
        f"The tail of a projected {word} is rotated, or the frequencies are those of the head.",
        needs=(function,),
        space=Space(max_position=NEAR, max_dim=64, partial=True, min_dim=4),
        applies=takes_rotary_dim(function),
        share=FEW,
    )
    def with_tail(trial: Trial, case: Case) -> Finding:
        """R_m W x with R_m on the first rotary_dim components, by the reference."""
        return against_reference(trial, case)

    @check(
        ids[2],
        f"The {word} agrees with the judge but not with the formula as the documents print it.",
        needs=(function,),
        names=(*_NAMES[word], "P-47"),
        space=Space(max_position=NEAR, max_dim=64),
        share=0.5,
    )
    def against_reference(trial: Trial, case: Case) -> Finding:
        got, arrays, problem, call = asked(trial, case)
        if problem:
            return problem
        x, positions, weight = arrays
        keywords = based(case, "interleaved", "rotary_dim")
        literal = getattr(reference, function)(
            x.astype(np.float64),
            positions,
            weight.astype(np.float64),
            **keywords,
        )
        own, theirs = (
            exact(arrays, case, one).allowed for one in (rules(trial, case.dtype), LITERAL)
        )
        message = f"the {word} differs from the literal reference"
        return against(got, Bounded(literal, own + theirs), call, message=message)


_NAMES = {"query": ("F-078", "F-081", "F-087"), "key": ("F-082", "F-083", "F-087", "E-03")}
_side(("PROJ-1.query", "ROT-14.query", "PROJ-1.reference-query"), "project_query", "query", "key")
_side(("PROJ-1.key", "ROT-14.key", "PROJ-1.reference-key"), "project_key", "key", "query")


@check(
    "PROJ-1.forms",
    "A printed form of f_q in two dimensions gives another pair: a sign, a row for a column.",
    needs=("project_query",),
    names=("F-079", "F-081", "F-082", "F-085", "F-086", "F-087", "F-090", "E-38", "E-39", "E-46"),
    space=Space(max_position=NEAR, max_dim=64),
    share=FEW,
)
def forms(trial: Trial, case: Case) -> Finding:
    """(W x) e^{ⅈmθ_i}, R W x, the row (W x)^T R^T and the dense R_m (W x) are what comes back."""
    positions = case.make_positions()
    x, weight = _inputs(case)
    arrays = (x, as_claimed(trial, positions), weight)
    keywords = conventions(trial, case, "project_query")
    reply, call = (
        trial.call("project_query", arrays, keywords),
        Call("project_query", arrays, keywords),
    )
    if problem := answer(reply, call, dtypes=(case.dtype,)):
        return problem
    own, theirs = (
        project_rotated(x, positions, weight, one, case.convention)
        for one in (rules(trial, case.dtype), LITERAL)
    )
    if reply.values[0].shape != own.value.shape:
        return against(reply.values[0], own, call)
    got, bound = reply.values[0].astype(np.float64), own.allowed + theirs.allowed
    theta = frequencies.inv_freq(case.dim, **based(case))
    seen = Forms("the projected and rotated pair", call)
    members = pairs_of(np.arange(case.head_dim), case.convention)
    for row, where, head, i in places(case):
        here, pair = (row, where, head), [int(side[i]) for side in members]
        W, m = weight[head].astype(np.float64), int(positions[row, where])
        one, y, off = x[row, where].astype(np.float64), got[here][pair], bound[here][pair]
        two = (one, m, W[pair], float(theta[i]))
        seen.add("projection.f_complex", complex(*y), projection.f_complex(*two), off.max())
        seen.add("projection.f_matrix", y, projection.f_matrix(*two), off)
        seen.add("projection.f_row", y[None], projection.f_row(*two), off[None])
    dense = projection.f_dense(one, m, W[: case.dim], **based(case, "interleaved"))
    part = np.s_[: case.dim]
    seen.add("projection.f_dense", got[here][part], dense, bound[here][part])
    return seen.finding()


def _value(
    trial: Trial, case: Case, x: NDArray[Any], weight: NDArray[Any]
) -> tuple[NDArray[Any], Finding | None, Call]:
    reply = trial.call("project_value", (x, weight))
    call = Call("project_value", (x, weight))
    return reply.values[0], answer(reply, call, dtypes=(case.dtype,)), call


@check(
    "PROJ-2.value",
    "The value is rotated by its position, or its odd component is refused or lost.",
    needs=("project_value",),
    names=("F-080", "F-160", "E-38", "P-34"),
    every_dtype=True,
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
    "PROJ-2.reference",
    "The value agrees with the judge but not with the formula as the documents print it.",
    needs=("project_value",),
    names=("F-080", "E-08", "P-47"),
)
def value_reference(trial: Trial, case: Case) -> Finding:
    """Project_value equals that of the literal NumPy reference, and f_v of a token anywhere."""
    x, weight = _inputs(case)
    got, problem, call = _value(trial, case, x, weight)
    if problem:
        return problem
    wide, matrix = x.astype(np.float64), weight.astype(np.float64)
    literal = reference.project_value(wide, matrix)
    own, theirs = (project(x, weight, one).allowed for one in (rules(trial, case.dtype), LITERAL))
    message = "the value differs from the literal reference"
    whole = against(got, Bounded(literal, own + theirs), call, message=message)
    if got.shape != literal.shape:
        return whole
    row, where, head, _ = places(case)[-1]
    form = projection.f_v(wide[row, where], 1000 + case.seed, matrix[head])
    message = "the value of a token is not W_v x, whatever its position"
    one = Bounded(form, (own + theirs)[row, where, head])
    return first(whole, against(got[row, where, head], one, call, name="f_v", message=message))


@check(
    "PROJ-3.components",
    "The weight is transposed, or heads and components are mixed up.",
    needs=("project_value",),
    names=("F-084",),
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
    if problem or got.shape != wide.shape:
        return problem or against(got, Bounded(wide, np.zeros_like(wide)), call)
    row, where, head, _ = places(case)[-1]
    wide[row, where, head] = projection.project(weight[head], x[row, where])
    return against(got, Bounded(wide, np.zeros_like(wide)), call, message=message)


@check(
    "PROJ-4.folded",
    "The rotated vector is not that of rotated columns of the weight: the map is not linear.",
    names=("F-088", "P-30"),
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
    found = beside(trial, case, inputs[0], positions)
    outputs = [found.y, *(trial.rotate(case, part, positions) for part in inputs[1:])]
    call = found.call
    bounds = [
        rounding_allowed(part, case.convention, trial.loosest(case.dtype), trial.machine)
        for part in inputs
    ]
    got, one, two = (y.astype(np.float64) for y in outputs)
    allowed = bounds[0] + abs(x[0]) * bounds[1] + abs(x[1]) * bounds[2]
    message = "R_m (W x) is not (R_m W) x"
    law = compare(got, x[0] * one + x[1] * two, allowed, message=message).after(call)
    if case.frequencies.scheme is not None:  # the forms make the frequencies of their base
        return law
    at = places(case)[-1][:3]
    weight = np.stack([column[at][: case.dim] for column in columns], axis=-1)
    t, seen = token(case, inputs[0], found, positions), Forms("R_m W x", call)
    keywords: dict[str, Any] = based(case, "interleaved")
    for name, form in (
        ("f_dense", projection.f_dense(x, t.m, weight, **keywords)),
        ("f_projected", projection.f_projected(t.x, t.m, **keywords)),
        ("f_folded", projection.f_folded(x, t.m, weight, **keywords)),
    ):
        seen.add(f"projection.{name}", t.y, form, t.off)
    return first(law, seen.finding())


def _all_pairs(case: Case, q: NDArray[Any], k: NDArray[Any], m: NDArray[np.int64]) -> NDArray[Any]:
    """Return q_a^T R_{m_b - m_a} k_b of all tokens a, b of a row: (B, S, S, H)."""
    q1, q2 = pairs_of(q.astype(np.float64), case.convention)
    k1, k2 = pairs_of(k.astype(np.float64), case.convention)
    offset = (m[:, :, None] - m[:, None, :])[..., None]
    cos, sin = oracle.cos_sin(offset, case.dim, case.frequencies)
    product = (q1 + 1j * q2)[:, :, None] * (k1 - 1j * k2)[:, None, :]
    rotated = np.sum((product * (cos + 1j * sin)).real, axis=-1)
    tail = q[:, :, None, :, case.dim :].astype(np.float64) * k[:, None, :, :, case.dim :].astype(
        np.float64
    )
    return np.asarray(rotated + tail.sum(axis=-1))


@check(
    "PROJ-5.tokens",
    "A token is rotated by more than its own position: by its neighbours', or by the largest one.",
    names=("F-023", "F-091", "F-161", "E-02", "P-12"),
    space=Space(values=("normal",), positions=("arange", "shuffled", "ragged"), min_seq=2),
    general=True,
)
@walks(in_turn(("normal",), positions=("arange", "shuffled", "ragged"), least=(1, 2, 1)))
def tokens(trial: Trial, case: Case) -> Finding:
    """Every two tokens, rotated each by its own position, have the score of their offset."""
    m = case.make_positions()
    short = slice(0, case.seq if trial.profile.compiles else 5)  # no new shape for a compiler
    q, k = (case.make_x(m, seed=s)[:, short] for s in (0, 1))
    m = m[:, short]
    left, right = rotate(trial, case, q, m), rotate(trial, case, k, m)
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
    "PROJ-5.projected",
    "Queries and keys are rotated by different angles, or in different layouts.",
    needs=("project_query", "project_key"),
    names=("F-023", "F-091", "F-161", "E-02", "P-12"),
    space=Space(positions=("arange", "shuffled", "ragged"), max_position=NEAR),
)
def projected(trial: Trial, case: Case) -> Finding:
    """<f_q(x_m, m), f_k(x_n, n)> = (W_q x_m)^T R_{n-m} (W_k x_n)."""
    if "rotary_dim" not in trial.keywords("project_key"):
        case = case.stating(rotary_dim=trial.profile.rotary_dim)
    m = case.make_positions()
    n = m[:, ::-1]
    sides: list[_Projected] = []
    for function, where, salt in (("project_query", m, 0), ("project_key", n, 2)):
        x, weight = _inputs(case, salt)
        arrays = (x, as_claimed(trial, where), weight)
        keywords = conventions(trial, case, function)
        reply, call = trial.call(function, arrays, keywords), Call(function, arrays, keywords)
        if problem := answer(reply, call, dtypes=(case.dtype,)):
            return problem
        own, theirs = (
            project_rotated(x, where, weight, one, case.convention)
            for one in (rules(trial, case.dtype), LITERAL)
        )
        if reply.values[0].shape != own.value.shape:
            return against(reply.values[0], own, call)
        sides.append(_Projected(x, weight, reply.values[0].astype(np.float64), own, theirs))
    q, k = sides
    value = _offset_score(case, q.plain, k.plain, m - n)
    message = "the score of two projected tokens is not that of their offset"
    exact = Bounded(value, dot(q.own, k.own).allowed)
    got = np.sum(q.y * k.y, axis=-1)
    judged = against(got, exact, call, name="score", message=message)
    return first(judged, _score_of_tokens(case, q, k, (m, n), call))


class _Projected(NamedTuple):
    """x and weight, what the subject made of them, and what it may be off by; and the reference."""

    x: NDArray[Any]
    weight: NDArray[Any]
    y: NDArray[np.float64]
    own: Bounded
    theirs: Bounded

    @property
    def plain(self) -> NDArray[np.float64]:
        """W x."""
        return project(self.x, self.weight, LITERAL).value


def _offset_score(
    case: Case, q: NDArray[Any], k: NDArray[Any], offset: NDArray[np.int64]
) -> NDArray[Any]:
    """Return q^T R_{n-m} k of the tokens, with m - n given: (B, S, H)."""
    q1, q2 = pairs_of(q, case.convention)
    k1, k2 = pairs_of(k, case.convention)
    cos, sin = oracle.cos_sin(offset[..., None], case.dim, case.frequencies)
    rotated = (q1 * k1 + q2 * k2) * cos - (q2 * k1 - q1 * k2) * sin
    tail = q[..., case.dim :] * k[..., case.dim :]
    return np.asarray(np.sum(rotated, axis=-1) + np.sum(tail, axis=-1))


def _score_of_tokens(
    case: Case,
    q: _Projected,
    k: _Projected,
    positions: tuple[NDArray[np.int64], NDArray[np.int64]],
    call: Call,
) -> Finding:
    """Compare the rotated part of one score with the printed form of it."""
    row, where, head, _ = places(case)[-1]
    at = np.s_[row, where, head, : case.dim]
    left, right = (
        Bounded(side.own.value[at], side.own.allowed[at] + side.theirs.allowed[at])
        for side in (q, k)
    )
    form = projection.score_of_tokens(
        *(side.x[row, where].astype(np.float64) for side in (q, k)),
        *(int(where_from[row, where]) for where_from in positions),
        weight_q=q.weight[head, : case.dim].astype(np.float64),
        weight_k=k.weight[head, : case.dim].astype(np.float64),
        **based(case, "interleaved"),
    )
    seen = Forms("the score of two projected tokens", call)
    got = np.sum(q.y[at] * k.y[at])
    seen.add("projection.score_of_tokens", got, form, dot(left, right).allowed)
    return seen.finding()
