"""Checks of the rotations of the documents' code, RoPE and apply_rotary_emb (PUB-2, PUB-5)."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literal import FEW
from ropespec.conformance.checks.shared import LITERAL, NEAR, answer, draw, of_two_dtypes, rules
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.bounds import Bounded, Rules
from ropespec.conformance.judge.finding import Call, Finding, compare, held, worst
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial
from ropespec.reference import published
from ropespec.spec.convention import Convention, Pairing

__all__ = ["rope_exactly"]

_SPACE = Space(positions=("arange",), max_position=NEAR)
_HEADS_FIRST = (0, 2, 1, 3)
_EMB = "apply_rotary_emb"
_PRINTED = Convention(Pairing.INTERLEAVED)


def rope_exactly(x: NDArray[Any], allowed: Rules) -> Bounded:
    """Rotate x of shape (B, H, L, d) at positions 0..L-1, interleaved, base 10000, and bound it."""
    rows = x.transpose(_HEADS_FIRST)
    positions = np.broadcast_to(np.arange(rows.shape[1], dtype=np.int64), rows.shape[:2])
    exact = replace(Rotation.of(rows, positions, _PRINTED), dtype=allowed.dtype)
    error = exact.allowed(allowed.precision, allowed.machine)
    return Bounded(exact.y.transpose(_HEADS_FIRST), error.transpose(_HEADS_FIRST))


def _both(  # a call with what it must give
    trial: Trial,
    case: Case,
    function: str,
    arrays: tuple[Any, ...],
    exact: tuple[Bounded, Bounded],
    message: str,
) -> Finding:
    """Call a function of q and k, and compare both results."""
    reply, call = trial.call(function, arrays), Call(function, arrays)
    if problem := answer(reply, call, dtypes=(case.dtype, case.dtype)):
        return problem
    return worst(
        *(
            compare(got, bound.value, bound.allowed, name=name, message=message).after(call)
            for name, got, bound in zip("qk", reply.values, exact, strict=True)
        )
    )


def _sides(case: Case) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return q (B, H, L, d) and k (B, G, T, d); for some B of other heads and length (E-60)."""
    b, s, h, d = case.shape
    other = (b, h, s, d) if case.batch % 2 else (b, 1, s + 2, d)
    return draw(case, (b, h, s, d), 0), draw(case, other, 1)


@check(
    "PUB-2.value",
    "q2 is built from sines, the axes of heads and positions change places, or k takes the L of q.",
    needs=("RoPE",),
    names=("F-189", "E-60", "P-36"),
    space=_SPACE,
    every_dtype=True,
)
def rope(trial: Trial, case: Case) -> Finding:
    """RoPE(q, k) rotates (B, H, L, d) at positions 0..L-1, interleaved, base 10000."""
    sides = _sides(case)
    exact = [rope_exactly(x, rules(trial, case.dtype)) for x in sides]
    message = "RoPE(q, k) is not the interleaved rotation at positions 0..L-1, base 10000"
    return _both(trial, case, "RoPE", sides, (exact[0], exact[1]), message)


@check(
    "PUB-2.reference",
    "RoPE(q, k) agrees with the judge but not with the code as the documents print it.",
    needs=("RoPE",),
    names=("F-189", "P-47"),
    space=_SPACE,
    share=0.5,
)
def rope_reference(trial: Trial, case: Case) -> Finding:
    """RoPE(q, k) equals that of the literal NumPy reference."""
    sides = _sides(case)
    literal = reference.RoPE(*(x.astype(np.float64) for x in sides))
    exact = [
        Bounded(
            y, rope_exactly(x, rules(trial, case.dtype)).allowed + rope_exactly(x, LITERAL).allowed
        )
        for x, y in zip(sides, literal, strict=True)
    ]
    message = "RoPE(q, k) differs from the literal reference"
    return _both(trial, case, "RoPE", sides, (exact[0], exact[1]), message)


@check(
    "PUB-2.forms",
    "q2 has its members in another order or sign, or sin_pos and cos_pos are read by halves.",
    needs=("RoPE",),
    names=("F-190", "F-191", "F-192", "E-56", "E-57"),
    space=_SPACE,
    share=FEW,
)
def rope_forms(trial: Trial, case: Case) -> Finding:
    """q cos_pos + q2 sin_pos, with the table of the document, is what RoPE gives; so for k."""
    sides = _sides(case)
    exact = []
    for x in sides:
        own, theirs = rope_exactly(x, rules(trial, case.dtype)), rope_exactly(x, LITERAL)
        b, h, length, d = x.shape
        table = published.sinusoidal_position_embedding(b, h, length, d, None)
        sin_pos, cos_pos = published.split_pos_emb(table)
        wide = x.astype(np.float64)
        made = wide * cos_pos + published.quarter_turn(wide) * sin_pos
        exact.append(Bounded(made, own.allowed + theirs.allowed))
    message = "RoPE(q, k) is not q * cos_pos + q2 * sin_pos, or its k is not made as its q"
    return _both(trial, case, "RoPE", sides, (exact[0], exact[1]), message)


def _emb_inputs(case: Case) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return xq (B, S, H, d), xk (B, S, G, d) and freqs_cis (S, d/2), rounded to its dtype."""
    positions = case.make_positions()[0]
    cos, sin = oracle.cos_sin(positions, case.head_dim, case.frequencies)
    dtype = np.complex128 if case.dtype == "float64" else np.complex64
    b, s, h, d = case.shape
    keys = draw(case, (b, s, h if case.seq % 2 else 1, d), 1)
    return draw(case, case.shape, 0), keys, (cos + 1j * sin).astype(dtype)


def _emb_exactly(x: NDArray[Any], freqs_cis: NDArray[Any], allowed: Rules) -> Bounded:
    """Multiply by the table that is given: nothing is lost in angles, whatever the position."""
    wide = freqs_cis.astype(np.complex128)[None, :, None, :]
    at_zero = np.zeros(x.shape[:2], dtype=np.int64)
    exact = Rotation.of(x, at_zero, _PRINTED)
    pairs = exact.pairs._replace(cos=wide.real, sin=wide.imag)
    exact = Rotation.turning(pairs, exact.tail, _PRINTED, allowed.dtype)
    return Bounded(exact.y, exact.allowed(allowed.precision, allowed.machine))


@check(
    "PUB-5.value",
    "The conjugate is multiplied, pairs are taken half-split, or a row serves the wrong position.",
    needs=(_EMB,),
    names=("F-196", "F-197", "E-62", "P-36", "P-40"),
    space=Space(positions=("arange", "shuffled", "spread", "negative")),
    every_dtype=True,
)
def rotary_emb(trial: Trial, case: Case) -> Finding:
    """Pairs of xq and xk, read as complex numbers, times freqs_cis; each keeps its dtype."""
    xq, xk, table = _emb_inputs(case)
    exact = [_emb_exactly(x, table, rules(trial, case.dtype)) for x in (xq, xk)]
    message = "the pairs are not multiplied by freqs_cis of their position"
    return _both(trial, case, _EMB, (xq, xk, table), (exact[0], exact[1]), message)


@check(
    "PUB-5.dtypes",
    "The rotated key has the dtype of the query, or of the table.",
    needs=(_EMB,),
    names=("P-40",),
    space=_SPACE,
    applies=of_two_dtypes,
    share=FEW,
    every_dtype=True,
)
def emb_dtypes(trial: Trial, case: Case) -> Finding:
    """Where xq and xk have different dtypes, each result has that of its own."""
    others = [dtype for dtype in trial.profile.dtypes if dtype != case.dtype]
    other = replace(case, dtype=others[case.seed % len(others)])
    (xq, _, table), (_, xk, _) = _emb_inputs(case), _emb_inputs(other)
    reply, call = trial.call(_EMB, (xq, xk, table)), Call(_EMB, (xq, xk, table))
    return answer(reply, call, dtypes=(case.dtype, other.dtype)) or held()


@check(
    "PUB-5.reference",
    "The result agrees with the judge but not with the code as the documents print it.",
    needs=(_EMB,),
    names=("F-196", "P-47"),
    space=_SPACE,
    share=0.5,
)
def emb_reference(trial: Trial, case: Case) -> Finding:
    """Apply_rotary_emb equals that of the literal NumPy reference."""
    xq, xk, table = _emb_inputs(case)
    literal = reference.apply_rotary_emb(xq.astype(np.float64), xk.astype(np.float64), table)
    exact = []
    for x, y in zip((xq, xk), literal, strict=True):
        own = _emb_exactly(x, table, rules(trial, case.dtype)).allowed
        exact.append(Bounded(y, own + _emb_exactly(x, table, LITERAL).allowed))
    message = "apply_rotary_emb differs from the literal reference"
    return _both(trial, case, _EMB, (xq, xk, table), (exact[0], exact[1]), message)


@check(
    "PUB-5.rope",
    "The two codes of document 004 give different rotations of the same q and k.",
    needs=(_EMB, "RoPE"),
    names=("P-36",),
    space=_SPACE,
    share=0.5,
)
def as_rope(trial: Trial, case: Case) -> Finding:
    """With freqs_cis of positions 0..S-1, base 10000, it is RoPE(q, k) with two axes exchanged."""
    b, s, h, d = case.shape
    xq, xk = draw(case, case.shape, 0), draw(case, (b, s, h, d), 1)
    cos, sin = oracle.cos_sin(np.arange(s), d, _PRINTED.frequencies)
    table = (cos + 1j * sin).astype(np.complex128 if case.dtype == "float64" else np.complex64)
    heads_first = [np.ascontiguousarray(x.transpose(_HEADS_FIRST)) for x in (xq, xk)]
    reply, call = trial.call("RoPE", heads_first), Call("RoPE", tuple(heads_first))
    if problem := answer(reply, call, dtypes=(case.dtype, case.dtype)):
        return problem
    allowed = rules(trial, case.dtype)
    exact = []
    for x, y in zip((xq, xk), reply.values, strict=True):
        bound = rope_exactly(x.transpose(_HEADS_FIRST), allowed)
        own = _emb_exactly(x, table, allowed)
        if y.shape != bound.value.shape:
            return compare(y, bound.value, bound.allowed, name="RoPE(q, k)").after(call)
        # The table is rounded to complex64, which moves its points by a unit in the last place.
        both = own.allowed + bound.allowed.transpose(_HEADS_FIRST)
        rounded = np.abs(own.value - bound.value.transpose(_HEADS_FIRST))
        exact.append(Bounded(y.astype(np.float64).transpose(_HEADS_FIRST), both + rounded))
    message = "apply_rotary_emb is not RoPE(q, k) with the axes of heads and positions exchanged"
    return _both(trial, case, _EMB, (xq, xk, table), (exact[0], exact[1]), message)
