"""Checks of the chapter `sinusoidal`: the embedding by sines and cosines (SIN-1 to SIN-3)."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literal import first
from ropespec.conformance.checks.rotation.walked import usual_alone
from ropespec.conformance.checks.shared import (
    BASE,
    LITERAL,
    NEAR,
    STEPS,
    against,
    answer,
    based,
    draw,
    places,
    rules,
    ten_thousand,
)
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.bounds import Bounded, Rules, table, unit_circle
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, held, worst
from ropespec.conformance.registry import check, walks
from ropespec.conformance.subject.session import SubjectRaised
from ropespec.conformance.trial import Trial
from ropespec.reference import sinusoidal
from ropespec.spec.convention import Frequencies

__all__ = ["embedding"]


def embedding(positions: NDArray[np.int64], dim: int, of: Frequencies, allowed: Rules) -> Bounded:
    """Bound the embedding, positions.shape + (dim,): sines at even, cosines at odd components."""
    cos, sin = table(positions, dim, of, allowed)
    shape = (*positions.shape, dim)
    value, bound = (np.stack(parts, axis=-1).reshape(shape) for parts in zip(sin, cos, strict=True))
    return Bounded(value, bound)


def _embed(
    trial: Trial, case: Case, positions: NDArray[np.int64]
) -> tuple[NDArray[Any], Call, Finding | None, Rules]:
    keywords = case.only("base")
    reply = trial.call("sinusoidal_embedding", (positions, case.head_dim), keywords)
    call = Call("sinusoidal_embedding", (positions, case.head_dim), keywords)
    problem = answer(reply, call)
    dtype = "float64" if problem else reply.dtypes[0]
    return reply.values[0], call, problem, rules(trial, dtype)


@check(
    "SIN-1.value",
    "Sines and cosines are swapped or stand in two halves, or the angle is not m / base^(2i/d).",
    needs=("sinusoidal_embedding",),
    names=("F-025", "F-026", "F-030", "F-031", "P-04"),
    share=2.0,
    every_dtype=True,
)
def value(trial: Trial, case: Case) -> Finding:
    """Sin(m theta_i) at component 2i, cos(m theta_i) at 2i + 1."""
    positions = case.make_positions()
    got, call, problem, allowed = _embed(trial, case, positions)
    if problem:
        return problem
    return against(got, embedding(positions, case.head_dim, case.frequencies, allowed), call)


@check(
    "SIN-1.every",
    "A position, such as -1 for padding, is an exception.",
    needs=("sinusoidal_embedding",),
    names=("F-025",),
)
@walks(usual_alone)
def every_place(trial: Trial, case: Case) -> Finding:
    """Small positions of both signs and those beside powers of two, in one row."""
    positions = places(trial, case)
    got, call, problem, allowed = _embed(trial, case, positions)
    if problem:
        return problem
    return against(got, embedding(positions, case.head_dim, case.frequencies, allowed), call)


@check(
    "SIN-1.circle",
    "A pair is no point of the unit circle: the two members belong to different angles.",
    needs=("sinusoidal_embedding",),
    names=("P-04",),
)
def circle(trial: Trial, case: Case) -> Finding:
    """Squares of components 2i and 2i + 1 sum to 1 anywhere; position 0 is (0, 1, ...)."""
    positions = case.make_positions().copy()
    positions[:, 0] = 0
    got, call, problem, allowed = _embed(trial, case, positions)
    if problem:
        return problem
    exact = embedding(positions[:, :1], case.head_dim, case.frequencies, allowed)
    if got.shape != (*positions.shape, case.head_dim):
        return against(got, embedding(positions, case.head_dim, case.frequencies, allowed), call)
    origin = against(got[:, :1], exact, call, message="position 0 is not (0, 1, 0, 1, ...)")
    wide = got.astype(np.float64) ** 2
    squares = wide[..., 0::2] + wide[..., 1::2]
    message = "sin^2 + cos^2 of a pair is not 1"
    bound = np.full_like(squares, unit_circle(allowed))
    return worst(
        origin, against(squares, Bounded(np.ones_like(squares), bound), call, message=message)
    )


@check(
    "SIN-1.reference",
    "The embedding agrees with the judge but not with the formula as the documents print it.",
    needs=("sinusoidal_embedding",),
    names=("F-025", "F-026", "F-030", "F-031", "P-47"),
    space=Space(max_position=NEAR, usual_base=True),
)
def against_reference(trial: Trial, case: Case) -> Finding:
    """Embeddings equal those of the literal NumPy reference, whole and entry by entry."""
    positions = case.make_positions()
    got, call, problem, allowed = _embed(trial, case, positions)
    if problem:
        return problem
    base = based(case)
    literal = reference.sinusoidal_embedding(positions, case.head_dim, **base)
    own, theirs = (
        embedding(positions, case.head_dim, case.frequencies, limit).allowed
        for limit in (allowed, LITERAL)
    )
    message = "the embedding differs from the literal reference"
    whole = against(got, Bounded(literal, own + theirs), call, message=message)
    if got.shape != literal.shape:
        return whole
    row, pos = got[0, -1], int(positions[0, -1])
    entries = [sinusoidal.pe_entry(pos, j, case.head_dim, **base) for j in range(case.head_dim)]
    message = f"row {pos} differs from the entries PE({pos}, j) of the literal reference"
    bound = Bounded(np.array(entries), (own + theirs)[0, -1])
    return first(whole, against(row, bound, call, name="PE", message=message))


@check(
    "SIN-2.pairs",
    "The exponent is 2j/d for component j, or sine and cosine of a pair take two frequencies.",
    needs=("sinusoidal_embedding",),
    names=("F-027", "F-028", "F-029", "F-030", "F-031", "F-206", "E-32", "E-33"),
    space=Space(max_position=1),
    share=0.5,
)
def pairs(trial: Trial, case: Case) -> Finding:
    """Components 2i and 2i + 1 are sine and cosine of theta_i, read off at position 1."""
    positions = np.ones((1,), dtype=np.int64)
    got, call, problem, allowed = _embed(trial, case, positions)
    if problem:
        return problem
    exact = embedding(positions, case.head_dim, case.frequencies, allowed)
    if got.shape != exact.value.shape:
        return against(got, exact, call)
    wide = got.astype(np.float64)
    angle = np.arctan2(wide[..., 0::2], wide[..., 1::2])
    theta = oracle.frequencies(case.head_dim, case.frequencies)[None]
    # A point that is off by less than a half is off by at most twice that in its angle.
    bound = 2 * np.hypot(exact.allowed[..., 0::2], exact.allowed[..., 1::2])
    message = "components 2i and 2i+1 are not sine and cosine of theta_i at position 1"
    read = compare(angle, theta, bound, name="theta", message=message)
    # The table of document 004, row by row: component j, its pair i, and sine or cosine.
    listed = [getattr(np, one.function)(theta[0, one.i]) for one in _rows(case.head_dim)]
    message = "component j is not the sine or cosine of theta_i that the table of components lists"
    table = compare(wide[0], np.array(listed), exact.allowed[0], name="PE", message=message)
    return first(read, table).after(call)


def _rows(dim: int) -> list[sinusoidal.Component]:
    """Return the table of components, each of which must have the pair j // 2."""
    rows = sinusoidal.dimension_table(dim)
    if [one.j for one in rows] != list(range(dim)):
        raise ValueError("the table of the reference does not list the components 0..dim-1")
    if [one.i for one in rows] != [sinusoidal.pair_index(one.j) for one in rows]:
        raise ValueError("the table of the reference has another pair than j // 2")
    return rows


@check(
    "SIN-1.even",
    "An odd width loses a component, or fails with an error that names nothing.",
    needs=("sinusoidal_embedding",),
    names=("E-64", "P-46"),
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
    "SIN-3.table",
    "The table filled by div_term starts at position 1, or takes its frequencies in another order.",
    needs=("sinusoidal_embedding",),
    names=("F-032", "F-187", "P-05"),
    space=Space(positions=("arange",), max_position=NEAR, min_dim=4, usual_base=True),
    share=0.5,
)
def filled_table(trial: Trial, case: Case) -> Finding:
    """Rows 0, 1, 2, ... are the columns filled by the code of document 004."""
    claimed = trial.profile.max_position + 1, trial.most_tokens(1)
    positions = np.arange(min(case.seq * 7, *claimed), dtype=np.int64)
    got, call, problem, allowed = _embed(trial, case, positions)
    if problem:
        return problem
    filled = sinusoidal.positional_encoding_table(positions.size, case.head_dim, **based(case))
    own, theirs = (
        embedding(positions, case.head_dim, case.frequencies, limit).allowed
        for limit in (allowed, LITERAL)
    )
    message = "the embedding is not the table that the code form fills"
    return against(got, Bounded(filled, own + theirs), call, message=message)


_ROWS = 5000


@check(
    "SIN-4.added",
    "The row that is added to a word vector is that of another position, or scaled.",
    needs=("sinusoidal_embedding",),
    names=("F-024", "F-033", "F-034", "F-187"),
    space=Space(positions=("arange", "shuffled"), max_position=64),
    applies=ten_thousand("sinusoidal_embedding"),
    share=0.5,
)
def added(trial: Trial, case: Case) -> Finding:
    """x + PE is what PositionalEncoding gives, and a one-hot position times the table is a row."""
    case = case.stating(base=BASE)
    # The printed class has 5000 rows unless it is told another number.
    most = min(case.seq + 3, trial.most_tokens(1))
    length = _ROWS if case.seed % 3 == 0 else case.seq + 3
    length = min(length, trial.profile.max_position + 1)
    told = {} if length == _ROWS else {"max_len": length}
    encoding = sinusoidal.PositionalEncoding(case.head_dim, 0.1, **told)
    rows = np.arange(length, dtype=np.int64)[-most:]
    table, call, problem, allowed = _embed(trial, case, rows)
    if problem:
        return problem
    own, theirs = (
        embedding(rows, case.head_dim, Frequencies(BASE), limit).allowed
        for limit in (allowed, LITERAL)
    )
    bound = own + theirs
    if table.shape != bound.shape:
        return against(table, Bounded(bound, bound), call)
    x = draw(dataclasses.replace(case, dtype="float64"), (case.batch, length - 1, case.head_dim), 0)
    plus = encoding.forward(x) - x
    last = encoding.pe[:, -1:]  # x is one row shorter than the table
    added_rows = np.concatenate([plus[-1:], last], axis=1)[0, rows]
    message = "the embedding is not what PositionalEncoding adds to x"
    sums = Bounded(added_rows, bound + STEPS * np.abs(x).max(initial=0.0))
    found = against(table, sums, call, name="PE", message=message)
    chosen = np.random.default_rng([case.seed, 29]).permutation(rows)
    picked = sinusoidal.one_hot_position(chosen, length)[:, rows] @ table.astype(np.float64)
    again, call, problem, _ = _embed(trial, case, chosen)
    if problem:
        return problem
    message = "the embedding of a position is not the row that its one-hot vector picks"
    exact = Bounded(picked, 2 * bound[chosen - rows[0]])
    return worst(found, against(again, exact, call, message=message))
