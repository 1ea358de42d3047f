"""Checks of the chapter `sinusoidal`: the embedding by sines and cosines (SIN-1 to SIN-3)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.common import NEAR
from ropespec.conformance.checks.shared import LITERAL, against, answer, rules
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.bounds import Bounded, Rules, table, unit_circle
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, held, worst
from ropespec.conformance.registry import check
from ropespec.conformance.subject.session import SubjectRaised
from ropespec.conformance.trial import Trial
from ropespec.reference.sinusoidal import positional_encoding_table

__all__ = ["embedding"]


def embedding(positions: NDArray[np.int64], dim: int, base: float, allowed: Rules) -> Bounded:
    """Bound the embedding, positions.shape + (dim,): sines at even, cosines at odd components."""
    cos, sin = table(positions, dim, base, allowed)
    shape = (*positions.shape, dim)
    value, bound = (np.stack(parts, axis=-1).reshape(shape) for parts in zip(sin, cos, strict=True))
    return Bounded(value, bound)


def _embed(
    trial: Trial, case: Case, positions: NDArray[np.int64]
) -> tuple[NDArray[Any], Call, Finding | None, Rules]:
    keywords = {"base": case.base}
    reply = trial.call("sinusoidal_embedding", (positions, case.head_dim), keywords)
    call = Call("sinusoidal_embedding", (positions, case.head_dim), keywords)
    problem = answer(reply, call)
    dtype = "float64" if problem else reply.dtypes[0]
    return reply.values[0], call, problem, rules(trial, dtype)


@check(
    "SIN-1",
    "value",
    "Sines and cosines are swapped or stand in two halves, or the angle is not m / base^(2i/d).",
    needs=("sinusoidal_embedding",),
    properties=("P-04",),
    share=2.0,
)
def value(trial: Trial, case: Case) -> Finding:
    """Sin(m theta_i) at component 2i, cos(m theta_i) at 2i + 1."""
    positions = case.make_positions()
    got, call, problem, allowed = _embed(trial, case, positions)
    if problem:
        return problem
    return against(got, embedding(positions, case.head_dim, case.base, allowed), call)


@check(
    "SIN-1",
    "circle",
    "A pair is no point of the unit circle: the two members belong to different angles.",
    needs=("sinusoidal_embedding",),
    properties=("P-04",),
)
def circle(trial: Trial, case: Case) -> Finding:
    """Squares of components 2i and 2i + 1 sum to 1 anywhere; position 0 is (0, 1, ...)."""
    positions = case.make_positions().copy()
    positions[:, 0] = 0
    got, call, problem, allowed = _embed(trial, case, positions)
    if problem:
        return problem
    exact = embedding(positions[:, :1], case.head_dim, case.base, allowed)
    if got.shape != (*positions.shape, case.head_dim):
        return against(got, embedding(positions, case.head_dim, case.base, allowed), call)
    origin = against(got[:, :1], exact, call, message="position 0 is not (0, 1, 0, 1, ...)")
    wide = got.astype(np.float64) ** 2
    squares = wide[..., 0::2] + wide[..., 1::2]
    message = "sin^2 + cos^2 of a pair is not 1"
    bound = np.full_like(squares, unit_circle(allowed))
    return worst(
        origin, against(squares, Bounded(np.ones_like(squares), bound), call, message=message)
    )


@check(
    "SIN-1",
    "reference",
    "The embedding agrees with the judge but not with the formula as the documents print it.",
    needs=("sinusoidal_embedding",),
    properties=("P-47",),
    space=Space(max_position=NEAR),
)
def against_reference(trial: Trial, case: Case) -> Finding:
    """Embeddings equal those of the literal NumPy reference."""
    positions = case.make_positions()
    got, call, problem, allowed = _embed(trial, case, positions)
    if problem:
        return problem
    literal = reference.sinusoidal_embedding(positions, case.head_dim, case.base)
    own, theirs = (
        embedding(positions, case.head_dim, case.base, limit).allowed
        for limit in (allowed, LITERAL)
    )
    message = "the embedding differs from the literal reference"
    return against(got, Bounded(literal, own + theirs), call, message=message)


@check(
    "SIN-2",
    "pairs",
    "The exponent is 2j/d for component j, or sine and cosine of a pair take two frequencies.",
    needs=("sinusoidal_embedding",),
    space=Space(max_position=1),
    share=0.5,
)
def pairs(trial: Trial, case: Case) -> Finding:
    """Components 2i and 2i + 1 are sine and cosine of theta_i, read off at position 1."""
    positions = np.ones((1,), dtype=np.int64)
    got, call, problem, allowed = _embed(trial, case, positions)
    if problem:
        return problem
    exact = embedding(positions, case.head_dim, case.base, allowed)
    if got.shape != exact.value.shape:
        return against(got, exact, call)
    wide = got.astype(np.float64)
    angle = np.arctan2(wide[..., 0::2], wide[..., 1::2])
    theta = oracle.frequencies(case.head_dim, case.base)[None]
    # A point that is off by less than a half is off by at most twice that in its angle.
    bound = 2 * np.hypot(exact.allowed[..., 0::2], exact.allowed[..., 1::2])
    message = "components 2i and 2i+1 are not sine and cosine of theta_i at position 1"
    return compare(angle, theta, bound, name="theta", message=message).after(call)


@check(
    "SIN-1",
    "even",
    "An odd width loses a component, or fails with an error that names nothing.",
    needs=("sinusoidal_embedding",),
    properties=("P-46",),
    space=Space(max_position=64),
    applies=lambda trial: None if trial.profile.refusals else "refusals not claimed",
    share=0.25,
)
def even(trial: Trial, case: Case) -> Finding:
    """Odd and empty widths are refused by an error that names `dim`."""
    wrong = (case.head_dim + 1, 0, 1)[case.seed % 3]
    arrays = (case.make_positions(), wrong)
    call = Call("sinusoidal_embedding", arrays)
    try:
        reply = trial.call("sinusoidal_embedding", arrays)
    except SubjectRaised as error:
        if error.message.startswith("dim must be"):
            return held()
        return broken(f"dim = {wrong} raises {error.type_name}: {error.message}", call=call)
    return broken(f"dim = {wrong} gives an array of shape {reply.values[0].shape}", call=call)


@check(
    "SIN-3",
    "table",
    "The table filled by div_term starts at position 1, or takes its frequencies in another order.",
    needs=("sinusoidal_embedding",),
    properties=("P-05",),
    space=Space(positions=("arange",), max_position=NEAR),
    share=0.5,
)
def filled_table(trial: Trial, case: Case) -> Finding:
    """Rows 0, 1, 2, ... are the columns filled by the code of document 004."""
    positions = np.arange(case.seq * 7, dtype=np.int64)
    got, call, problem, allowed = _embed(trial, case, positions)
    if problem:
        return problem
    filled = positional_encoding_table(positions.size, case.head_dim, case.base)
    own, theirs = (
        embedding(positions, case.head_dim, case.base, limit).allowed
        for limit in (allowed, LITERAL)
    )
    message = "the embedding is not the table that the code form fills"
    return against(got, Bounded(filled, own + theirs), call, message=message)
