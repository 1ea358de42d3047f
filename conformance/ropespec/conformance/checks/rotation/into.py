"""Checks of writing the result into memory that is given (ROT-23)."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.walked import in_turn
from ropespec.conformance.checks.shared import gradients_claimed
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, held, worst
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.judge.values import numpy_dtype
from ropespec.conformance.registry import check, walks
from ropespec.conformance.subject.layout import (
    positions_for_subject,
    result_to_subject,
    to_subject,
)
from ropespec.conformance.subject.session import NotPossible, Reply
from ropespec.conformance.trial import Trial

__all__ = ["SPACE", "Asked", "asked_of", "into", "ordered", "passed", "takes_out"]

Array = NDArray[Any]

FUNCTIONS = ("apply_rotary", "apply_rotary_cos_sin")
SPACE = Space(
    values=("normal", "ones"),
    positions=("arange", "ragged", "shuffled", "spread"),
    min_heads=2,
    strided=True,
)


class Asked(NamedTuple):
    """One call in the subject's order of axes, what it must give, and what it is for the report."""

    function: str
    arrays: list[Array]
    call: Call
    exact: Rotation


def asked_of(trial: Trial, case: Case) -> list[Asked]:
    """Return a call of each function that takes `out`, some of them with a tail."""
    claimed = trial.profile
    positions, some = case.make_positions(), []
    x = case.make_x(positions)
    sent, where = to_subject(x, claimed), positions_for_subject(positions, claimed)
    for name in _takers(trial):
        taken, rest = trial.keywords(name), [where]
        part = case.head_dim // 4 * 2
        width = part if case.seed % 3 == 0 and part >= 2 else claimed.rotary_dim
        if name == FUNCTIONS[0]:
            one = case.stating(rotary_dim=width if "rotary_dim" in taken else claimed.rotary_dim)
            exact = trial.expect(one, x, positions)
            call = Call(name, (x, positions), one.keywords)
        else:
            made = oracle.cos_sin(positions, width or case.head_dim, case.frequencies)
            tables = [t.astype(numpy_dtype("float32")) for t in made]
            exact = Rotation.by_tables(x, tables[0], tables[1], case.convention.pairing)
            rest = [t[0] if where.ndim == 1 else t for t in tables]
            call = Call(name, (sent, *rest), case.only("interleaved"))
        some.append(Asked(name, [sent, *rest], call, exact))
    return some


def ordered(trial: Trial, asked: Asked, y: Array) -> Array:
    """Reorder what is like a result of a call, as the subject returns it."""
    of_rotation = asked.function == FUNCTIONS[0]
    return (result_to_subject if of_rotation else to_subject)(y, trial.profile)


def passed(trial: Trial, asked: Asked) -> dict[str, Any]:
    """Return the keywords of a call that its function takes."""
    taken = trial.keywords(asked.function)
    return {key: value for key, value in asked.call.keywords.items() if key in taken}


def _takers(trial: Trial) -> list[str]:
    return [name for name in FUNCTIONS if "out" in trial.keywords(name)]


def takes_out(trial: Trial) -> str | None:
    """Need a function that takes `out`."""
    return None if _takers(trial) else "out is not taken by any function"


def _plain(trial: Trial, asked: Asked, *, strided: bool | str = False) -> Reply:
    return trial.session.call(
        asked.function, asked.arrays, keywords=passed(trial, asked), strided=strided
    )


def into(trial: Trial, asked: Asked, kind: str, *, strided: bool | str = False) -> Reply:
    """Make a call into memory of a kind."""
    return trial.session.into(
        asked.function, asked.arrays, kind, keywords=passed(trial, asked), strided=strided
    )


def _written(
    trial: Trial, case: Case, asked: Asked, got: Reply, plain: Reply, what: str
) -> Finding:
    """Judge what a call with `out` gave back: other strides may take a loop that rounds otherwise.

    Each of the two calls may err by its own budget.
    """
    name = f"{asked.function} with {what}"
    if not got.is_out:
        return broken(f"{name} returns another array than out", call=asked.call)
    if got.outside:
        return broken(f"{name} writes beside out: its strides are ignored", call=asked.call)
    y, expected = got.values[0], plain.values[0]
    if np.asarray(y, order="C").tobytes() == np.asarray(expected, order="C").tobytes():
        return held()
    message = f"{name} does not hold the numbers of the plain call"
    if y.dtype != expected.dtype or y.shape != expected.shape:
        return broken(message, call=asked.call)
    own = asked.exact.allowed(trial.loosest(case.dtype), trial.machine)
    allowed = 2 * ordered(trial, asked, own)
    exact = expected.astype(np.float64)
    return compare(y, exact, allowed, name="out", message=message).after(asked.call)


_WHERE = (("new", "out"), ("strided", "out that is not contiguous"))


@check(
    "ROT-23.out",
    "out is ignored, not all of it is written, or not where its strides say.",
    needs=(),
    space=SPACE,
    applies=takes_out,
)
@walks(in_turn(SPACE.values, least=(1, 1, SPACE.min_heads)))
def out(trial: Trial, case: Case) -> Finding:
    """Into other memory, with gaps and without: what the plain call gives, and x as it was."""
    findings = []
    for asked in asked_of(trial, case):
        plain = _plain(trial, asked, strided=case.strided)
        for kind, what in _WHERE[: 2 if trial.profile.strided else 1]:
            got = into(trial, asked, kind, strided=case.strided)
            if any(got.written[: len(asked.arrays)]):
                message = f"{asked.function} with {what} changes an argument that is not out"
                return broken(message, call=asked.call)
            findings.append(_written(trial, case, asked, got, plain, what))
    return worst(*findings)


@check(
    "ROT-23.in-place",
    "In place, a member of a pair is read after it was overwritten.",
    needs=(),
    space=SPACE,
    applies=takes_out,
)
@walks(in_turn(SPACE.values, least=(1, 1, SPACE.min_heads)))
def in_place(trial: Trial, case: Case) -> Finding:
    """x itself as out holds what the plain call gives."""
    findings = []
    for asked in asked_of(trial, case):
        plain = _plain(trial, asked, strided=case.strided)
        got = into(trial, asked, "self", strided=case.strided)
        if any(got.written[1 : len(asked.arrays)]):
            message = f"{asked.function} in place changes an argument that is not out"
            return broken(message, call=asked.call)
        findings.append(_written(trial, case, asked, got, plain, "x itself as out"))
    return worst(*findings)


@check(
    "ROT-23.gradient",
    "Written in place behind autograd's back: the gradient is silently that of another function.",
    needs=(),
    space=dataclasses.replace(SPACE, values=("normal",), strided=False),
    applies=lambda trial: (
        takes_out(trial) or gradients_claimed(trial)
        if "into" in trial.profile.framework.transforms
        else f"{trial.profile.array} does not record what is written"
    ),
    share=0.3,
    every_dtype=True,
)
def gradient(trial: Trial, case: Case) -> Finding:
    """In place on what was computed from x, the gradient is right or something is raised."""
    findings = [held()]
    for asked in asked_of(trial, case):
        if asked.function != FUNCTIONS[0]:
            continue
        x, positions = asked.call.arrays
        above = (np.abs(x.astype(np.float64)) + 0.5).astype(x.dtype)
        c = case.make_x(positions, seed=1)
        sent = [to_subject(above, trial.profile), *asked.arrays[1:]]
        try:
            got = trial.session.transform(
                "into",
                asked.function,
                sent,
                [result_to_subject(c, trial.profile)],
                keywords=passed(trial, asked),
            )
        except NotPossible:
            continue
        findings += _pulled_back(trial, asked, got, c, positions)
    return worst(*findings)


def _pulled_back(
    trial: Trial, asked: Asked, got: Reply, c: Array, positions: Array
) -> list[Finding]:
    exact = Rotation.of(c, -positions, asked.exact.by)
    allowed = exact.allowed(trial.loosest(c.dtype.name), trial.machine)
    message = "in place, the gradient is not R_m^T c, and nothing was raised"
    return [
        compare(
            item,
            to_subject(exact.y, trial.profile),
            to_subject(allowed, trial.profile),
            name="gradient",
            message=message,
        ).after(asked.call)
        for item in got.values
    ]
