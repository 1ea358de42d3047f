"""Checks of the tables of the documents' code (PUB-1, PUB-3, PUB-4, PUB-6)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literal import FEW, Forms, first, woven
from ropespec.conformance.checks.rotation.common import called
from ropespec.conformance.checks.shared import (
    BASE,
    LITERAL,
    NEAR,
    against,
    answer,
    based,
    beside,
    real_dtype,
    rules,
    ten_thousand,
)
from ropespec.conformance.checks.sinusoidal import embedding
from ropespec.conformance.judge.bounds import Bounded, Rules, table, unit_circle
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, held, worst
from ropespec.conformance.judge.rotation import from_pairs
from ropespec.conformance.registry import check
from ropespec.conformance.subject.session import SubjectRaised
from ropespec.conformance.trial import Trial
from ropespec.reference import published
from ropespec.spec.convention import Frequencies

__all__ = ["CIS", "PE", "against_cis", "against_pe", "asked", "device_of"]

_SPACE = Space(positions=("arange",), max_position=NEAR)
PE = "sinusoidal_position_embedding"
CIS = "precompute_freqs_cis"


def device_of(trial: Trial, function: str) -> dict[str, Any]:
    """Return the printed argument `device` of a function that takes it; None is the default."""
    return {"device": None} if "device" in trial.keywords(function) else {}


def asked(
    trial: Trial, function: str, arrays: tuple[Any, ...]
) -> tuple[NDArray[Any], Finding | None, Call, Rules]:
    """Call a function: its result, what is wrong with its form, the call, and how it is judged."""
    keywords = device_of(trial, function) if function == PE else {}
    reply, call = trial.call(function, arrays, keywords), Call(function, arrays, keywords)
    problem = answer(reply, call)
    dtype = None if problem else real_dtype(reply.dtypes[0])
    return reply.values[0], problem, call, rules(trial, dtype or "float64")


def _sizes(case: Case) -> tuple[int, int, int, int]:
    """Return B, H, L and d, with an L beyond the few positions of a case."""
    return case.batch, case.heads, case.seq * 5, case.head_dim


def _table(sizes: tuple[int, int, int, int], allowed: Rules) -> Bounded:
    _, _, length, dim = sizes
    exact = embedding(np.arange(length), dim, Frequencies(BASE), allowed)
    return Bounded(*(np.broadcast_to(part, sizes) for part in exact))


@check(
    "PUB-1.value",
    "The table has another shape, starts at position 1, or differs between batches or heads.",
    needs=(PE,),
    names=("F-188", "P-05"),
    space=_SPACE,
    every_dtype=True,
)
def position_embedding(trial: Trial, case: Case) -> Finding:
    """Sines at 2i and cosines at 2i + 1 of positions 0..L-1, for every b and h: (B, H, L, d)."""
    got, problem, call, allowed = asked(trial, PE, _sizes(case))
    return problem or against_pe(got, _sizes(case), allowed, call)


def against_pe(
    got: NDArray[Any], sizes: tuple[int, int, int, int], allowed: Rules, call: Call
) -> Finding:
    """Compare a table with the embedding of positions 0..L-1."""
    return against(got, _table(sizes, allowed), call)


@check(
    "PUB-1.same",
    "The two code forms of the embedding give different tables.",
    needs=(PE, "sinusoidal_embedding"),
    names=("F-188", "P-05"),
    space=_SPACE,
    applies=ten_thousand("sinusoidal_embedding"),
    share=0.5,
)
def same_embedding(trial: Trial, case: Case) -> Finding:
    """Every [b, h] is the sinusoidal embedding of positions 0..L-1, base 10000."""
    sizes = _sizes(case)
    got, problem, call, allowed = asked(trial, PE, sizes)
    if problem:
        return problem
    keywords = {"base": BASE}
    arrays = (np.arange(sizes[2]), sizes[3])
    reply = trial.call("sinusoidal_embedding", arrays, keywords)
    other = Call("sinusoidal_embedding", arrays, keywords)
    if problem := answer(reply, other):
        return problem
    plain = reply.values[0].astype(np.float64)
    if plain.shape != sizes[2:]:
        return broken(
            f"sinusoidal_embedding has shape {plain.shape}; expected {sizes[2:]}", call=other
        )
    own = _table(sizes, allowed).allowed + _table(sizes, rules(trial, reply.dtypes[0])).allowed
    message = "the table is not the sinusoidal embedding of positions 0..L-1"
    return against(got, Bounded(np.broadcast_to(plain, sizes), own), call, message=message)


@check(
    "PUB-1.reference",
    "The table agrees with the judge but not with the code as the documents print it.",
    needs=(PE,),
    names=("F-188", "P-47"),
    space=_SPACE,
    share=0.5,
)
def embedding_reference(trial: Trial, case: Case) -> Finding:
    """Tables equal those of the literal NumPy reference."""
    sizes = _sizes(case)
    got, problem, call, allowed = asked(trial, PE, sizes)
    if problem:
        return problem
    literal = reference.sinusoidal_position_embedding(*sizes, None)
    own = _table(sizes, allowed).allowed + _table(sizes, LITERAL).allowed
    return against(got, Bounded(literal, own), call, message="the table differs from the reference")


def _cis(case: Case, end: int, allowed: Rules) -> tuple[Bounded, Bounded]:
    return table(np.arange(end), case.head_dim, case.frequencies, allowed)


def _complex(
    got: NDArray[Any], parts: tuple[Bounded, Bounded], call: Call, message: str
) -> Finding:
    """Compare a complex table with its real and imaginary parts."""
    if not np.iscomplexobj(got):
        return broken(f"{call.function} must return complex numbers; got {got.dtype}", call=call)
    real, imag = parts
    return worst(
        against(got.real, real, call, name="freqs_cis.real", message=message),
        against(got.imag, imag, call, name="freqs_cis.imag", message=message),
    )


@check(
    "PUB-3.value",
    "cos and sin change places, the table is one row short, or the base is not passed on.",
    needs=(CIS,),
    names=("F-194", "F-200", "P-37"),
    space=_SPACE,
    every_dtype=True,
)
def freqs_cis(trial: Trial, case: Case) -> Finding:
    """e^{i m theta_i} for m = 0..end-1: (end, d/2)."""
    end = case.seq * 7
    got, problem, call, allowed = asked(trial, CIS, (case.head_dim, end, case.frequencies.base))
    return problem or against_cis(got, case, end, allowed, call)


def against_cis(got: NDArray[Any], case: Case, end: int, allowed: Rules, call: Call) -> Finding:
    """Compare a table with e^{i m theta_i} of its rows."""
    return _complex(got, _cis(case, end, allowed), call, "freqs_cis is not e^{i m theta_i}")


@check(
    "PUB-3.group",
    "Rows do not multiply like rotations: angles are no whole multiples of one, or have a gain.",
    needs=(CIS,),
    names=("P-37",),
    space=_SPACE,
)
def group(trial: Trial, case: Case) -> Finding:
    """abs(freqs_cis) = 1, freqs_cis[0] = 1, freqs_cis[a] freqs_cis[b] = freqs_cis[a+b]."""
    end = case.seq * 7
    got, problem, call, allowed = asked(trial, CIS, (case.head_dim, end, case.frequencies.base))
    if problem:
        return problem
    cos, sin = _cis(case, end, allowed)
    if got.shape != cos.value.shape or not np.iscomplexobj(got):
        return _complex(got, (cos, sin), call, "freqs_cis is not a table of complex numbers")
    z, off = got.astype(np.complex128), np.hypot(cos.allowed, sin.allowed)
    squares = z.real**2 + z.imag**2
    circle = compare(
        squares,
        np.ones_like(squares),
        unit_circle(allowed),
        name="abs^2",
        message="not of modulus 1",
    )
    a, b = np.arange(end)[:, None], np.arange(end)[None, :]
    inside = (a + b) < end
    a, b = np.broadcast_to(a, inside.shape)[inside], np.broadcast_to(b, inside.shape)[inside]
    bound = (off[a] + off[b] + off[a] * off[b] + off[a + b]) + 2.0**-50
    message = "freqs_cis[a] freqs_cis[b] is not freqs_cis[a+b]"
    sums = compare(z[a] * z[b], z[a + b], bound, name="freqs_cis[a] freqs_cis[b]", message=message)
    one = compare(
        z[:1], np.ones_like(z[:1]), off[:1], name="freqs_cis[0]", message="row 0 is not 1"
    )
    return worst(circle, sums, one).after(call)


@check(
    "PUB-3.reference",
    "The table agrees with the judge but not with the code as the documents print it.",
    needs=(CIS,),
    names=("F-194", "P-47"),
    space=_SPACE,
    share=0.5,
)
def cis_reference(trial: Trial, case: Case) -> Finding:
    """Tables equal those of the literal NumPy reference."""
    end = case.seq * 7
    got, problem, call, allowed = asked(trial, CIS, (case.head_dim, end, case.frequencies.base))
    if problem:
        return problem
    literal = reference.precompute_freqs_cis(case.head_dim, end, *based(case).values())
    own, theirs = _cis(case, end, allowed), _cis(case, end, LITERAL)
    parts = (
        Bounded(literal.real, own[0].allowed + theirs[0].allowed),
        Bounded(literal.imag, own[1].allowed + theirs[1].allowed),
    )
    return _complex(got, parts, call, "freqs_cis differs from the literal reference")


def _reshape_inputs(case: Case) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng([case.seed, 19])
    dtype = np.complex128 if case.dtype == "float64" else np.complex64
    shape = (case.seq, case.head_dim // 2)
    freqs = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return freqs, np.zeros((case.batch, case.seq, case.heads, case.head_dim // 2), dtype)


@check(
    "PUB-4.value",
    "The row of a position is laid along the heads or the batch, or values change.",
    needs=("reshape_for_broadcast",),
    names=("F-195", "P-38"),
    space=_SPACE,
    every_dtype=True,
)
def reshape(trial: Trial, case: Case) -> Finding:
    """(S, c) becomes (1, S, 1, c) with the same numbers, for x of shape (B, S, H, c)."""
    return _reshaped(
        trial, case, lambda freqs, _: freqs.reshape(1, case.seq, 1, case.head_dim // 2)
    )


def _reshaped(trial: Trial, case: Case, expected: Any) -> Finding:  # noqa: ANN401  # any callable
    freqs, x = _reshape_inputs(case)
    reply, call = (
        trial.call("reshape_for_broadcast", (freqs, x)),
        Call("reshape_for_broadcast", (freqs, x)),
    )
    if problem := answer(reply, call):
        return problem
    message = "freqs_cis must become (1, S, 1, c), number by number"
    return compare(
        reply.values[0],
        expected(freqs, x).astype(np.complex128),
        0.0,
        name="freqs_cis",
        message=message,
    ).after(call)


@check(
    "PUB-4.reference",
    "The result agrees with the judge but not with the code as the documents print it.",
    needs=("reshape_for_broadcast",),
    names=("F-195", "P-47"),
    space=_SPACE,
    share=0.25,
)
def reshape_reference(trial: Trial, case: Case) -> Finding:
    """Results equal those of the literal NumPy reference."""
    return _reshaped(trial, case, reference.reshape_for_broadcast)


@check(
    "PUB-4.refused",
    "A table of another length or width is laid over x without a word.",
    needs=("reshape_for_broadcast",),
    names=("E-61", "P-38", "P-46"),
    space=_SPACE,
    applies=lambda trial: None if trial.profile.refusals else "refusals not claimed",
    share=0.5,
)
def reshape_refused(trial: Trial, case: Case) -> Finding:
    """Any other shape than (S, c) raises an error that names freqs_cis."""
    freqs, x = _reshape_inputs(case)
    wrong = (
        np.concatenate([freqs, freqs[:1]]),
        np.concatenate([freqs, freqs[:, :1]], axis=1),
        freqs[None],
    )[case.seed % 3]
    call = Call("reshape_for_broadcast", (wrong, x))
    try:
        trial.call("reshape_for_broadcast", (wrong, x))
    except SubjectRaised as error:
        if error.message.startswith("freqs_cis must be"):
            return held()
        return broken(
            f"freqs_cis of shape {wrong.shape} raises {error.type_name}: {error.message}", call=call
        )
    return broken(
        f"freqs_cis of shape {wrong.shape} is accepted for x of shape {x.shape}", call=call
    )


@check(
    "PUB-6.cache",
    "A cache of cos and sin, each listed twice, does not rotate: it lists for the other layout.",
    needs=("cos_sin", "apply_rotary"),
    names=("F-198", "P-39"),
    space=Space(values=("normal", "ones"), positions=("arange", "repeated"), max_position=NEAR),
)
def cache(trial: Trial, case: Case) -> Finding:
    """X * cos + rotate_half(x) * sin is R_m x, cos^2 + sin^2 = 1, each angle is listed twice."""
    positions = case.make_positions()
    keywords = case.only("base")
    arrays = (positions, case.dim)
    reply, call = trial.call("cos_sin", arrays, keywords), Call("cos_sin", arrays, keywords)
    if problem := answer(reply, call, dtypes=("", "")):
        return problem
    allowed = rules(trial, reply.dtypes[0])
    bounds = table(positions, case.dim, case.frequencies, allowed)
    cos, sin = (value.astype(np.float64) for value in reply.values)
    if cos.shape != bounds[0].value.shape or sin.shape != cos.shape:
        return against(cos, bounds[0], call, name="cos")
    squares = cos**2 + sin**2
    message = "cos^2 + sin^2 is not 1"
    circle = compare(
        squares, np.ones_like(squares), unit_circle(allowed), name="cos^2 + sin^2", message=message
    ).after(call)
    x = case.make_x(positions)
    y, exact = trial.rotate(case, x, positions), trial.expect(case, x, positions)
    rotation = called(case, x, positions)
    x1, x2 = exact.pairs.x1, exact.pairs.x2
    c, s, ec, es = (part[:, :, None] for part in (cos, sin, bounds[0].allowed, bounds[1].allowed))
    made = from_pairs(x1 * c - x2 * s, x2 * c + x1 * s, exact.tail, case.convention)
    first, second = np.abs(x1) * ec + np.abs(x2) * es, np.abs(x2) * ec + np.abs(x1) * es
    extra = from_pairs(first, second, np.zeros_like(exact.tail), case.convention)
    own = exact.allowed(trial.loosest(case.dtype), trial.machine)
    message = "x * cos + rotate_half(x) * sin with the cached cos and sin is not R_m x"
    return worst(circle, compare(y, made, own + extra, message=message).after(rotation))


@check(
    "PUB-6.forms",
    "A cache of document 000 has one row for all positions, or lists its angles by halves.",
    needs=("cos_sin", "apply_rotary"),
    names=("F-198", "E-11", "P-39"),
    space=Space(values=("normal", "ones"), positions=("arange", "repeated"), max_position=NEAR),
    share=FEW,
    general=True,
)
def cached(trial: Trial, case: Case) -> Finding:
    """cos_sin_cached holds each of the subject's cos and sin twice, and x C + rot(x) S rotates."""
    positions = case.make_positions()
    row = positions[0]
    base = based(case)
    cos_cached, sin_cached = published.cos_sin_cached(row, case.dim, **base)
    keywords = case.only("base")
    reply = trial.call("cos_sin", (row, case.dim), keywords)
    call = Call("cos_sin", (row, case.dim), keywords)
    if problem := answer(reply, call, dtypes=("", "")):
        return problem
    own = table(row, case.dim, case.frequencies, rules(trial, reply.dtypes[0]))
    theirs = table(row, case.dim, case.frequencies, LITERAL)
    findings = []
    for name, got, made, a, b in zip(
        ("cos", "sin"), reply.values, (cos_cached, sin_cached), own, theirs, strict=True
    ):
        if got.shape != a.value.shape:
            return against(got, a, call, name=name)
        twice, allowed = (np.repeat(part, 2, axis=-1) for part in (got, a.allowed + b.allowed))
        message = f"{name}_cached of document 000 does not list what cos_sin gives twice in a row"
        exact = Bounded(made, allowed[:, None, None])
        findings.append(against(twice[:, None, None], exact, call, name=name, message=message))
    x = case.make_x(positions)
    found = beside(trial, case, x, positions)
    parts = (x.astype(np.float64), found.y, found.exact.allowed)
    before, after, allowed = (woven(case, part[0, ..., : case.dim]) for part in parts)
    # (S, B, H, d) are the axes of document 000; here B is 1.
    axes = before[:, None]
    made = axes * cos_cached + published.quarter_turn(axes) * sin_cached
    seen = Forms("a rotated vector", found.call)
    seen.add("published.cos_sin_cached", after[:, None], made, allowed[:, None])
    return first(worst(*findings), seen.finding())
