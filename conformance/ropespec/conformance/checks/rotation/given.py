"""Checks of the rotation by tables that are given (ROT-22)."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.common import EVERYTHING
from ropespec.conformance.checks.rotation.walked import every_item
from ropespec.conformance.checks.shared import gradients_claimed, literal_error, unchanged
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, held, worst
from ropespec.conformance.judge.precision import EXPLICIT_TABLES, UNIT_ROUNDOFF, Precision
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.judge.values import numpy_dtype
from ropespec.conformance.registry import check, walks
from ropespec.conformance.subject.layout import from_subject, to_subject
from ropespec.conformance.subject.session import Reply, SubjectRaised
from ropespec.conformance.trial import Trial

__all__: list[str] = []

Array = NDArray[Any]

NEEDS = ("apply_rotary_cos_sin",)
FACTOR = 1.37
"""An attention factor that no format represents exactly, and no table of a plain rotation has."""


class Given(NamedTuple):
    """x (B, S, H, D) and its tables, (B, S, r/2) or (S, r/2), as the subject gets them.

    Attributes
    ----------
    x, cos, sin : ndarray
        The arguments.
    call : Call
        For the report.
    """

    x: Array
    cos: Array
    sin: Array
    call: Call

    def expect(self, case: Case) -> Rotation:
        """Rotate x exactly."""
        return Rotation.by_tables(self.x, self.cos, self.sin, case.convention.pairing)


def _given(
    trial: Trial, case: Case, *, gain: float = 1.0, dim: int | None = None, free: bool = True
) -> Given:
    """Draw x and tables: of the specification, or of any other angles, in x's dtype or float32.

    `dim` components rotate, by default all, half or two of them.
    """
    seed = case.seed
    widths = [case.head_dim, max(case.head_dim // 4 * 2, 2), 2]
    if trial.profile.compiles:
        widths, seed = widths[:2], seed % 2  # a compiler pays for each new shape and dtype
    r = widths[seed % len(widths)] if dim is None else dim
    positions = case.make_positions()
    x = case.make_x(positions)
    if seed % 2 and free:
        angle = np.random.default_rng([seed, 11]).uniform(-4.0, 4.0, (*positions.shape, r // 2))
        cos, sin = np.cos(angle), np.sin(angle)
    else:
        cos, sin = oracle.cos_sin(positions, r, case.frequencies)
    dtype = numpy_dtype(case.dtype if case.seed % 4 < 2 else "float32")
    cos, sin = ((gain * part).astype(dtype) for part in (cos, sin))
    claimed = trial.profile
    if claimed.shared_positions or claimed.axes == "shd" or seed % 5 == 4:
        cos, sin = cos[0], sin[0]
    return _call(trial, case, x, cos, sin)


def _call(trial: Trial, case: Case, x: Array, cos: Array, sin: Array) -> Given:
    keywords = case.only("interleaved") if _takes(trial, "interleaved") else {}
    sent = to_subject(x, trial.profile)
    return Given(x, cos, sin, Call(NEEDS[0], (sent, cos, sin), keywords))


def _takes(trial: Trial, keyword: str) -> bool:
    return keyword in trial.keywords(NEEDS[0])


def _sent(trial: Trial, given: Given) -> list[Array]:
    return [to_subject(given.x, trial.profile), given.cos, given.sin]


def _rotate(trial: Trial, given: Given, *, strided: bool | str = False) -> tuple[Array, Reply]:
    """Rotate x; the result is in the order of axes of x, if it has its shape."""
    sent = _sent(trial, given)
    reply = trial.session.call(NEEDS[0], sent, keywords=given.call.keywords, strided=strided)
    y = reply.values[0]
    fits = len(reply.values) == 1 and y.shape == sent[0].shape
    return (from_subject(y, trial.profile) if fits else y), reply


def _budget(trial: Trial, case: Case, given: Given) -> Precision:
    """Return the class of tables that are given, with the arithmetic that x's dtype may have.

    Who multiplies in half precision has float32 tables rounded to it.
    """
    loosest = trial.loosest(case.dtype)
    halves = ("float16", "bfloat16")
    coarse = given.cos.dtype.name == "float32" and loosest.table in halves
    working = loosest.arithmetic if loosest.arithmetic in halves else None
    return dataclasses.replace(
        EXPLICIT_TABLES, table=loosest.table if coarse else "exact", arithmetic=working
    )


def _judge(trial: Trial, case: Case, given: Given, message: str, *, strided: bool | str) -> Finding:
    y, _ = _rotate(trial, given, strided=strided)
    if y.shape != given.x.shape:
        return broken(f"y has shape {y.shape}; expected {given.x.shape}", call=given.call)
    exact = given.expect(case)
    allowed = exact.allowed(_budget(trial, case, given), trial.machine)
    return compare(y, exact.y, allowed, message=message).after(given.call)


@check(
    "ROT-22.value",
    "The tables given are not what x is rotated by, or one of them is read in the other layout.",
    needs=NEEDS,
    space=Space(values=EVERYTHING, strided=True, min_seq=2),
    every_dtype=True,
)
def value(trial: Trial, case: Case) -> Finding:
    """f(x, C, S) is x1 C - x2 S, x2 C + x1 S, for tables of any angles, to the last roundings."""
    given = _given(trial, case)
    message = "y is not x rotated by the tables given"
    return _judge(trial, case, given, message, strided=case.strided)


@check(
    "ROT-22.reference",
    "The result agrees with the judge but not with the literal reference, fed with these tables.",
    needs=NEEDS,
    names=("P-47",),
    space=Space(values=("normal", "ones"), min_seq=2),
    share=0.25,
)
def against_reference(trial: Trial, case: Case) -> Finding:
    """Apply_rotary_cos_sin equals that of the literal NumPy reference."""
    given = _given(trial, case)
    y, _ = _rotate(trial, given)
    if y.shape != given.x.shape:
        return broken(f"y has shape {y.shape}; expected {given.x.shape}", call=given.call)
    literal = reference.apply_rotary_cos_sin(
        given.x.astype(np.float64), given.cos, given.sin, **case.only("interleaved")
    )
    exact = given.expect(case)
    allowed = exact.allowed(_budget(trial, case, given), trial.machine) + literal_error(
        exact, EXPLICIT_TABLES
    )
    message = "y differs from the literal reference with the tables given"
    return compare(y, literal, allowed, message=message).after(given.call)


@check(
    "ROT-22.scaled",
    "Tables with a factor are brought back to the unit circle, or only one of them keeps it.",
    needs=NEEDS,
    space=Space(values=("normal", "ones"), min_seq=2),
    share=0.5,
)
def scaled(trial: Trial, case: Case) -> Finding:
    """Tables times A scale the result by A: they are taken as they are."""
    given = _given(trial, case, gain=FACTOR)
    message = f"y is not x rotated by tables that carry the factor {FACTOR}"
    return _judge(trial, case, given, message, strided=False)


@check(
    "ROT-22.rows",
    "All rows of the batch are rotated by the tables of one row.",
    needs=NEEDS,
    space=Space(values=("normal",), positions=("ragged", "spread"), min_batch=2),
    applies=lambda trial: (
        "shared positions claimed"
        if trial.profile.shared_positions or trial.profile.axes == "shd"
        else None
    ),
    share=0.3,
)
def rows(trial: Trial, case: Case) -> Finding:
    """Row b of x is rotated by row b of tables (B, S, r/2), and alone by tables (S, r/2)."""
    given = _given(trial, dataclasses.replace(case, seed=case.seed // 5 * 5))
    message = "a row of the batch is not rotated by its own row of the tables"
    finding = _judge(trial, case, given, message, strided=False)
    alone = _call(trial, case, given.x[-1:].copy(), given.cos[-1], given.sin[-1])
    message = "tables of shape (S, r/2) do not rotate a row as those of shape (B, S, r/2) do"
    return max(finding, _judge(trial, case, alone, message, strided=False), key=_ratio)


def _ratio(finding: Finding) -> float:
    return finding.ratio


@check(
    "ROT-22.tail",
    "Components beyond the width of the tables are changed, dropped or rotated.",
    needs=NEEDS,
    space=Space(values=EVERYTHING, min_dim=4),
    applies=lambda trial: None if max(trial.profile.head_dims) > 2 else "no tail claimed",
    share=0.5,
    every_dtype=True,
)
def tail(trial: Trial, case: Case) -> Finding:
    """Tables of r/2 columns rotate r components; the others come back bit for bit, NaN as NaN."""
    width = max(case.head_dim // 4 * 2, 2)
    given = _given(trial, case, dim=width if case.seed % 3 else 2)
    r = 2 * given.cos.shape[-1]
    if case.seed % 2 and r < case.head_dim:
        x = given.x.copy()
        x[..., -1] = np.nan
        given = _call(trial, case, x, given.cos, given.sin)
    y, reply = _rotate(trial, given)
    if y.shape != given.x.shape:
        return broken(f"y has shape {y.shape}; expected {given.x.shape}", call=given.call)
    before, after = given.x[..., r:], y[..., r:]
    if unchanged(before, after).all() or reply.dtypes[0] != case.dtype:
        return held()  # the wrong dtype is the business of ROT-22.dtype
    message = f"components from {r} on do not rotate and must come back as they are"
    found = compare(after, before.astype(np.float64), 0.0, name=f"y[..., {r}:]", message=message)
    return (broken(message) if found.passed else found).after(given.call)


@check(
    "ROT-22.dtype",
    "The result takes the dtype of the tables instead of that of x.",
    needs=NEEDS,
    space=Space(values=("normal",)),
    share=0.5,
    every_dtype=True,
)
def dtype(trial: Trial, case: Case) -> Finding:
    """The result has the dtype of x, whatever that of the tables."""
    given = _given(trial, case)
    _, reply = _rotate(trial, given)
    if len(reply.values) != 1 or not reply.is_array[0]:
        found = ", ".join(reply.descriptions) or "nothing"
        return broken(f"one array like x must come back; got {found}", call=given.call)
    if reply.dtypes[0] == case.dtype:
        return held()
    tables = given.cos.dtype.name
    return broken(
        f"y has dtype {reply.dtypes[0]}; x has {case.dtype}, the tables {tables}", call=given.call
    )


def _differentiable(trial: Trial) -> str | None:
    room = trial.profile.framework
    return gradients_claimed(trial) if room.has_gradients else f"{room.name} has no gradients"


def _claims_constants(trial: Trial) -> str | None:
    """Need the promise that a caller's tables are constants."""
    return _differentiable(trial) or (
        None if trial.profile.constant_tables else "constant tables not claimed"
    )


@check(
    "ROT-22.gradient",
    "The gradient is not the rotation by the same tables with the sign of sin changed.",
    needs=NEEDS,
    space=Space(values=("normal", "ones"), min_seq=2),
    applies=_differentiable,
    share=0.3,
    every_dtype=True,
)
def gradient(trial: Trial, case: Case) -> Finding:
    """The cotangent g pulls back to f(g, C, -S), the factor of the tables included."""
    given = _given(trial, case, gain=FACTOR if case.seed % 2 else 1.0)
    c = case.make_x(seed=1)
    sent = _sent(trial, given)
    reply = trial.session.vjp(
        NEEDS[0], sent, to_subject(c, trial.profile), keywords=given.call.keywords
    )
    got = reply.values[0]
    back = _call(trial, case, c, given.cos, -given.sin)
    exact = back.expect(case)
    if got.shape != sent[0].shape:
        return broken(f"the gradient has shape {got.shape}", call=given.call)
    allowed = exact.allowed(_budget(trial, case, back), trial.machine)
    message = "the gradient is not g rotated back by the tables given"
    got = from_subject(got, trial.profile)
    return compare(got, exact.y, allowed, name="gradient", message=message).after(given.call)


@check(
    "ROT-22.constant",
    "A gradient flows into the tables of the caller.",
    needs=NEEDS,
    space=Space(values=("normal",), min_seq=2),
    applies=_claims_constants,
    share=0.2,
)
def constant(trial: Trial, case: Case) -> Finding:
    """Tables are constants: whoever asks for their gradient gets none, or zeros."""
    given = _given(trial, case)
    reply = _into_tables(trial, given, case.make_x(seed=1))
    for name, found in zip(("cos", "sin"), reply.values, strict=False):
        if np.any(found.astype(np.float64) != 0.0):
            message = f"{name} gets a gradient; the tables of the caller are constants"
            return broken(message, call=given.call)
    return held()


def _claims_no_constants(trial: Trial) -> str | None:
    """Need that a caller's tables may get a gradient."""
    return _differentiable(trial) or (
        "constant tables claimed" if trial.profile.constant_tables else None
    )


@check(
    "ROT-22.tables",
    "The tables of a caller get a gradient that is not theirs.",
    needs=NEEDS,
    space=Space(values=("normal",), min_seq=2, min_heads=2),
    applies=_claims_no_constants,
    share=0.2,
)
def tables(trial: Trial, case: Case) -> Finding:
    """C gets none, as S, or the sum of x1 g1 + x2 g2 over what shares it, and S of x1 g2 - x2 g1.

    A sum of n products may err by n + 4 roundings of the coarsest dtype that it passes.
    """
    given = _given(trial, case)
    c = case.make_x(seed=1)
    reply = _into_tables(trial, given, c)
    got = [one.astype(np.float64) for one in reply.values]
    if not any(one.any() for one in got):
        return held()
    if [one.shape for one in got] != [given.cos.shape] * 2:
        found = ", ".join(reply.descriptions)
        return broken(f"the gradients of cos and sin must have their shape; got {found}")
    x, g = (_call(trial, case, of, given.cos, given.sin).expect(case).pairs for of in (given.x, c))
    alone = given.cos.ndim == 2
    shared: tuple[int, ...] = (0, 2) if alone else (2,)
    working = _budget(trial, case, given).arithmetic or case.dtype
    off = max(UNIT_ROUNDOFF[one] for one in (case.dtype, given.cos.dtype.name, working))
    count = case.heads * (case.batch if alone else 1) + 4
    findings = []
    for name, back, (one, other) in zip(
        ("cos", "sin"),
        got,
        ((x.x1 * g.x1, x.x2 * g.x2), (x.x1 * g.x2, -x.x2 * g.x1)),
        strict=True,
    ):
        allowed = count * off * (np.abs(one) + np.abs(other)).sum(axis=shared)
        message = f"the gradient of {name} is not the sum of its products over the heads"
        exact = (one + other).sum(axis=shared)
        findings.append(compare(back, exact, allowed, name=f"gradient of {name}", message=message))
    return worst(*findings).after(given.call)


def _into_tables(trial: Trial, given: Given, cotangent: Array) -> Reply:
    """Ask for the gradients of the tables."""
    return trial.session.transform(
        "constants",
        NEEDS[0],
        _sent(trial, given),
        [to_subject(cotangent, trial.profile)],
        keywords=given.call.keywords,
    )


_REFUSED = ("odd shapes", "another length", "too wide", "integers", "two dtypes", "one axis")


@check(
    "ROT-22.refused",
    "Tables that do not fit x are stretched, cut or converted instead of refused.",
    needs=NEEDS,
    space=Space(values=("normal",), min_seq=2, max_position=64),
    applies=lambda trial: None if trial.profile.refusals else "refusals not claimed",
)
@walks(every_item(len(_REFUSED)))
def refused(trial: Trial, case: Case) -> Finding:
    """Tables of other shapes, other dtypes or of integers raise an error that names one of them."""
    kind = _REFUSED[case.seed % len(_REFUSED)]
    good = _given(trial, dataclasses.replace(case, seed=0))
    cos, sin = _bad(good, kind)
    given = _call(trial, case, good.x, cos, sin)
    try:
        _rotate(trial, given)
    except SubjectRaised as error:
        named = error.message.startswith(("cos must be", "sin must be"))
        if named and error.type_name in ("ArgumentTypeError", "ArgumentValueError"):
            return held()
        said = f"{error.type_name}: {error.message}"
        return broken(f"tables with {kind} raise {said}; expected cos must be ...", call=given.call)
    return broken(f"tables with {kind} are accepted", call=given.call)


def _bad(good: Given, kind: str) -> tuple[Array, Array]:
    cos, sin = good.cos, good.sin
    match kind:
        case "odd shapes":
            return cos, sin[..., None, :, :]
        case "another length":
            return cos[..., :1, :], sin[..., :1, :]
        case "too wide":
            many = good.x.shape[-1] // cos.shape[-1] + 1
            return tuple(np.concatenate([part] * many, axis=-1) for part in (cos, sin))  # type: ignore[return-value]  # two of them
        case "integers":
            return np.ones(cos.shape, np.int32), np.ones(cos.shape, np.int32)
        case "two dtypes":
            other = np.float32 if sin.dtype == np.float16 else np.float16
            return cos, sin.astype(other)
        case _:
            return cos[0, 0], sin[0, 0]
