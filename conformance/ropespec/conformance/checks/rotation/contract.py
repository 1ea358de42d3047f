"""Checks of what a caller may rely on: tail, NaN, dtype, empty axes, errors (ROT-14 to ROT-21)."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.common import EVERYTHING, alike, basis, called, own_pair
from ropespec.conformance.checks.rotation.walked import ask, at_its_widest, every_item, walked
from ropespec.conformance.checks.shared import rules, unchanged
from ropespec.conformance.coverage.rows import inputs
from ropespec.conformance.judge.fault import Fault
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, held
from ropespec.conformance.judge.precision import PRECISIONS, Precision
from ropespec.conformance.judge.rotation import Rotation, from_pairs
from ropespec.conformance.registry import check, walks
from ropespec.conformance.subject.session import KEPT, SubjectRaised
from ropespec.conformance.trial import Trial, unfit
from ropespec.reference.arrays import round_to

__all__: list[str] = []


def a_tail(trial: Trial) -> str | None:
    """Need components that do not rotate."""
    claimed = trial.profile.rotary_dim
    if "rotary_dim" in trial.keywords("apply_rotary"):
        return None if max(trial.profile.head_dims) > 2 else "no tail claimed"
    if claimed is None or claimed >= max(trial.profile.head_dims):
        return "no tail claimed: all components rotate"
    return None


@check(
    "ROT-14.tail",
    "rotary_dim is ignored, or the components after it are changed, dropped or zeroed.",
    space=Space(values=(*EVERYTHING, "special"), partial=True, min_dim=4, strided=True),
    applies=a_tail,
    every_dtype=True,
)
@walks(walked(values=("special", "huge", "subnormal"), tail=True))
def tail(trial: Trial, case: Case) -> Finding:
    """Components rotary_dim and above come back bit for bit, NaN as NaN, and stay where they are.

    What is not finite there reaches no component that rotates.
    """
    x, positions = inputs(trial.profile, case)
    y = ask(trial, case, x, positions)
    call = called(case, x, positions)
    before, after = x[..., case.dim :], y[..., case.dim :]
    same = unchanged(before, after)
    if same.all():  # the wrong dtype is the business of ROT-17
        if np.isfinite(before.astype(np.float64)).all():
            return held()
        return _beside_a_tail(trial, case, x, positions, y)
    index = tuple(int(i) for i in np.unravel_index(int(np.argmin(same)), same.shape))
    place = (*index[:-1], index[-1] + case.dim)
    return broken(
        f"component {place[-1]} is beyond rotary_dim {case.dim} and must come back as it is",
        where=f"y[{', '.join(map(str, place))}]",
        expected=float(before[index]),
        got=float(after[index]),
        budget=0.0,
        call=call,
    )


def _beside_a_tail(
    trial: Trial,
    case: Case,
    x: NDArray[np.floating],
    positions: NDArray[np.int64],
    y: NDArray[np.floating],
) -> Finding:
    """Compare what rotates beside a tail that is not finite with what rotates beside zeros."""
    clean, got = x.copy(), y.astype(x.dtype)
    clean[..., case.dim :] = got[..., case.dim :] = 0.0
    other = trial.rotate(case, clean, positions).astype(np.float64)
    other[..., case.dim :] = 0.0
    message = "what is not finite beyond rotary_dim reaches the components that rotate"
    return alike(trial, case, clean, positions, got, other, message)


@check(
    "ROT-16.not-a-number",
    "NaN or infinity in one pair reaches other pairs, heads, tokens or rows, or is lost.",
    names=("P-24",),
    space=Space(values=("normal",), min_dim=4, max_position=4096),
)
def not_a_number(trial: Trial, case: Case) -> Finding:
    """A pair that holds NaN or infinity leaves every other component exact, and keeps its own."""
    own, reached = _own_and_reached(trial, case, case.seed % case.dim)
    return _spoilt(trial, case, own & reached, own | reached, "its pair")


@check(
    "ROT-16.dense",
    "In the dense product NaN or infinity reaches another token, another head or the tail.",
    needs=("apply_rotary_dense",),
    space=Space(values=("normal",), min_dim=4, max_dim=32, max_position=4096),
    share=0.5,
)
def dense_not_a_number(trial: Trial, case: Case) -> Finding:
    """What is not finite may reach the rotated part of its own head, and nothing else."""
    component, index = case.seed % case.dim, np.arange(case.head_dim)
    own, rotated = index == component, index < case.dim
    words = "the rotated part of its head"
    return _spoilt(trial, case, own, rotated, words, function="apply_rotary_dense")


def _spoilt(
    trial: Trial,
    case: Case,
    kept: NDArray[np.bool_],
    touched: NDArray[np.bool_],
    within: str,
    *,
    function: str = "apply_rotary",
) -> Finding:
    """Put NaN or infinity in one component: `kept` ones show it, others than `touched` do not."""
    positions = case.make_positions()
    x = case.make_x(positions).copy()
    *head, component = (case.seed % n for n in (case.batch, case.seq, case.heads, case.dim))
    place = (*head, component)
    x[place] = (np.nan, np.inf, -np.inf)[case.seed % 3]
    y = trial.rotate(case, x, positions, function=function)
    call = Call(function, (x, positions), case.keywords)
    shows = np.isnan if np.isnan(x[place]) else _not_finite
    spoilt = y[tuple(head)].astype(np.float64)
    if (lost := kept & ~shows(spoilt)).any():
        other = int(np.argmax(lost))
        return broken(
            f"{x[place]} in component {component} is lost: "
            f"component {other} of its pair came back as {spoilt[other]:g}",
            call=call,
        )
    reached = np.zeros(x.shape, dtype=bool)
    reached[tuple(head)] = touched
    clean = x.copy()
    clean[place] = 0.0
    alone = trial.rotate(case, clean, positions, function=function).astype(np.float64)
    allowed = 2 * trial.allowed(case, clean, positions)
    message = f"{x[place]} in component {component} reaches outside {within}"
    return compare(
        np.where(reached, 0.0, y.astype(np.float64)),
        np.where(reached, 0.0, alone),
        np.where(reached, 1.0, allowed),
        message=message,
    ).after(call)


def _not_finite(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each is NaN or infinite."""
    return ~np.isfinite(values)


def _own_and_reached(
    trial: Trial, case: Case, component: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the components of the pair, and what a unit vector reaches in the subject.

    Both may hold NaN, and those that are both must. A wrong pairing is the business of ROT-6 and
    ROT-7; here it is followed.
    """
    own = own_pair(case, component)
    away_from_zero = np.ones((case.batch, case.seq), dtype=np.int64)
    unit = trial.rotate(case, basis(case, component), away_from_zero)
    return own, np.asarray(np.any(unit.astype(np.float64) != 0, axis=(0, 1, 2)))


@check(
    "ROT-17.dtype",
    "The result is promoted or demoted, or comes back as another kind of array.",
    names=("P-40",),
    space=Space(values=("normal",)),
    every_dtype=True,
)
def dtype_and_shape(trial: Trial, case: Case) -> Finding:
    """The result has the shape and dtype of x and is an array of the same framework."""
    positions = case.make_positions()
    x = case.make_x(positions)
    rotated = trial.session.rotate(x, positions, keywords=case.keywords)
    call = called(case, x, positions)
    reply = rotated.reply
    if len(reply.values) != 1 or not reply.is_array[0]:
        return broken(
            f"returns {', '.join(reply.descriptions) or 'nothing'} "
            f"where one {trial.profile.array} array like x is claimed",
            fault=Fault.FORM,
            call=call,
        )
    if finding := unfit(rotated, x):
        return finding.after(call)
    if reply.dtypes[0] != case.dtype:
        return broken(
            f"returns {reply.dtypes[0]} where {case.dtype}, that of x, is claimed",
            fault=Fault.FORM,
            call=call,
        )
    return held()


@check(
    "ROT-17.rounded",
    "The result is cut off instead of rounded, or rounded twice on its way to half precision.",
    names=("P-40",),
    space=Space(values=("normal",)),
    share=0.5,
)
@walks(at_its_widest())
def rounded(trial: Trial, case: Case) -> Finding:
    """y is R_m x rounded once: no number beyond the neighbours of what the arithmetic gave."""
    x, positions = inputs(trial.profile, case)
    y = ask(trial, case, x, positions)
    if y.dtype != x.dtype:
        return held()  # the business of ROT-17.dtype
    exact = trial.expect(case, x, positions)
    usual = _off_before_storing(trial, case, exact, _USUAL)
    if any(_is_cut(y, exact.y, off) for off in (np.zeros_like(usual), usual)):
        message = f"every component is the number of {case.dtype} before it, however near the next"
        return broken(f"{message}: y is cut off, not rounded", call=called(case, x, positions))
    off = _off_before_storing(trial, case, exact, trial.loosest(case.dtype))
    least, most = (round_to(exact.y + side, x.dtype).astype(np.float64) for side in (-off, off))
    got = y.astype(np.float64)
    message = f"y is not R_m x rounded once to {case.dtype}"
    found = compare(got, np.clip(got, least, most), 0.0, message=message)
    # What is off by more than rounding has another mistake, which other checks point at.
    wrong = np.abs(got - exact.y) > exact.allowed(trial.loosest(case.dtype), trial.machine)
    general = found.general or bool(wrong.any())
    return dataclasses.replace(found, general=general).after(called(case, x, positions))


def _off_before_storing(
    trial: Trial, case: Case, exact: Rotation, precision: Precision
) -> NDArray[np.float64]:
    """Return how far each component may be off by all but how it is stored."""
    before = exact.budget(precision, trial.machine).of("angle", "table", "arithmetic")
    first, second = before + rules(trial, case.dtype).floor
    return from_pairs(first, second, np.zeros_like(exact.tail), case.convention)


_USUAL = PRECISIONS["float32-angles"]
"""The precision of most of what is cut off; the rest is more precise."""

_FEWEST = 32
"""Pairs of tokens, each with errors of its own, that hold a number which rounding would raise."""

_CLEARLY = 0.02
"""The least part of a step, from either end, in which any arithmetic may decide."""

_STEPS = {"bfloat16": (8, -125), "float16": (11, -13), "float32": (24, -125)}
"""The bits of a number, and the exponent from which on it has all of them."""


def _is_cut(y: NDArray[Any], exact: NDArray[np.float64], off: NDArray[np.float64]) -> bool:
    """Whether every component between two numbers is the one before it, however near the next.

    Whoever rounds is off to either side, and whatever is a little too small falls below the number
    before it where it lies just behind: 32 that do neither come by chance once in 2^32.
    """
    if y.dtype.name not in _STEPS:
        return False
    bits, least = _STEPS[y.dtype.name]
    mantissa, exponent = np.frexp(np.abs(exact))
    whole, part = np.divmod(np.ldexp(mantissa, bits), 1.0)
    clearly = np.maximum(_CLEARLY, off / np.ldexp(1.0, exponent - bits))
    between = (np.abs(part - 0.5) < 0.5 - clearly) & (exponent >= least) & np.isfinite(exact)
    cut = np.abs(y.astype(np.float64)) == np.ldexp(whole, exponent - bits)
    apart = np.count_nonzero((between & (part > 0.5)).any(axis=2))  # heads share a table's errors
    return bool(apart >= _FEWEST and cut[between].all())


@check(
    "ROT-17.unwritten",
    "x or positions are overwritten, or the result shares memory with x or an earlier result.",
    space=Space(values=("normal",), strided=True),
)
@walks(at_its_widest(also_from=(0,)))
def unwritten(trial: Trial, case: Case) -> Finding:
    """x and positions hold the same bytes after the call; y has memory of its own."""
    x, positions = inputs(trial.profile, case)
    reply = trial.session.rotate(x, positions, keywords=case.keywords, strided=case.strided).reply
    call = called(case, x, positions)
    if not all(reply.is_array):  # what is no array has no memory to be judged
        found = ", ".join(reply.descriptions) or "nothing"
        message = f"returns {found} where an array like x is claimed"
        return broken(message, fault=Fault.FORM, call=call)
    for name, written in zip(("x", "positions"), reply.written, strict=False):
        if written:
            return broken(f"{name} was overwritten by the call", call=call)
    if any(reply.aliases):
        return broken(
            "the result shares memory with x: writing to one changes the other", call=call
        )
    for _ in range(KEPT):  # buffers may be used in turn
        again = trial.session.rotate(x, positions, keywords=case.keywords, strided=case.strided)
        if any(again.reply.reused):
            message = "the result lies where that of the call before lay: it is gone"
            return broken(message, call=call)
    return held()


@check(
    "ROT-17.unrecorded",
    "Where no gradient is recorded, x or an earlier result is overwritten, or y is another one.",
    space=Space(values=("normal",)),
    applies=lambda trial: (
        None if trial.profile.framework.unrecorded else f"{trial.profile.array} records nothing"
    ),
    share=0.3,
)
@walks(at_its_widest(also_from=(0,)))
def unrecorded(trial: Trial, case: Case) -> Finding:
    """Where no gradient is recorded the result is that of the plain call, x as it was."""
    case = dataclasses.replace(case, strided=False)
    where = f"under {trial.profile.framework.unrecorded}"
    x, positions = inputs(trial.profile, case)
    plain = trial.rotate(case, x, positions)
    rotated = trial.session.rotate_unrecorded(x, positions, keywords=case.keywords)
    call = called(case, x, positions)
    if any(rotated.reply.written[:2]):
        return broken(f"x or positions were overwritten by a call {where}", call=call)
    if any(rotated.reply.aliases):
        return broken(f"{where} the result shares memory with x", call=call)
    if finding := unfit(rotated, x):
        return finding.after(call)
    message = f"{where} the result is not that of the plain call"
    found = alike(trial, case, x, positions, rotated.y, plain, message)
    again = trial.session.rotate_unrecorded(x, positions, keywords=case.keywords).reply
    if found.passed and any(again.reused):
        return broken(f"{where} the result lies where that of the call before lay", call=call)
    return found


@check(
    "ROT-18.empty",
    "A zero-length batch, sequence or head axis raises, or gives another shape.",
    space=Space(values=("normal",), max_position=64),
    applies=lambda trial: None if trial.profile.empty else "no empty axes claimed",
)
@walks(every_item(3))
def empty(trial: Trial, case: Case) -> Finding:
    """x with a zero-length axis gives an empty result of the same shape and dtype."""
    axes = (1, 2) if trial.profile.axes == "shd" else (0, 1, 2)
    shape = list(case.shape)
    shape[axes[case.seed % len(axes)]] = 0
    x = np.zeros(shape, dtype=case.numpy_dtype)
    positions = np.zeros(shape[:2], dtype=np.int64)
    call = called(case, x, positions)
    try:
        rotated = trial.session.rotate(x, positions, keywords=case.keywords)
    except SubjectRaised as error:
        return broken(
            f"x of shape {tuple(shape)} raises {error.type_name}: {error.message}", call=call
        )
    if not rotated.shape_ok:
        return broken(f"x of shape {tuple(shape)} gives shape {np.shape(rotated.y)}", call=call)
    return held()


# What is refused (ROT-21), as changes to a good call: argument, value, error.
_REFUSED = (
    ("rotary_dim", 3, "ArgumentValueError"),
    ("rotary_dim", 0, "ArgumentValueError"),
    ("rotary_dim", "beyond", "ArgumentValueError"),
    ("rotary_dim", 2.0, "ArgumentTypeError"),
    ("base", 1.0, "ArgumentValueError"),
    ("base", "ten", "ArgumentTypeError"),
    ("interleaved", 1, "ArgumentTypeError"),
    ("positions", "float", "ArgumentTypeError"),
    ("positions", "short", "ArgumentValueError"),
    ("positions", "single", "ArgumentValueError"),
    ("x", "integer", "ArgumentTypeError"),
    ("x", "complex", "ArgumentTypeError"),
    ("x", "flat", "ArgumentValueError"),
    ("x", "odd", "ArgumentValueError"),
)


@check(
    "ROT-21.refused",
    "Bad input gives a number instead of an error that names the argument.",
    names=("P-46",),
    space=Space(values=("normal",), min_seq=2, max_position=64),
    applies=lambda trial: None if trial.profile.refusals else "refusals not claimed",
)
@walks(every_item(len(_REFUSED)))
def refused(trial: Trial, case: Case) -> Finding:
    """Each argument outside its domain raises an error that names it."""
    argument, value, wanted = _REFUSED[case.seed % len(_REFUSED)]
    positions = case.make_positions()
    x = case.make_x(positions)
    keywords = dict(case.keywords, rotary_dim=None)
    if argument in keywords:
        keywords[argument] = case.head_dim + 2 if value == "beyond" else value
    elif argument == "positions":
        positions = _bad_positions(positions, str(value))
    else:
        x, positions = _bad_x(x, positions, str(value))
    call = Call("apply_rotary", (x, positions), keywords)
    named = "head_dim" if value == "odd" else argument
    try:
        trial.call("apply_rotary", (x, positions), keywords)
    except SubjectRaised as error:
        if error.type_name == wanted and error.message.startswith(f"{named} must be"):
            return held()
        return broken(
            f"{argument} = {value} raises {error.type_name}: {error.message}; "
            f"expected {wanted}: {named} must be ...",
            call=call,
        )
    return broken(f"{argument} = {value} is accepted; expected {wanted}", call=call)


def _bad_positions(positions: np.ndarray, kind: str) -> np.ndarray:
    if kind == "float":
        return positions.astype(np.float32)
    return positions[:, :-1] if kind == "short" else positions[:, :1]


def _bad_x(x: np.ndarray, positions: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    if kind == "integer":
        return np.ones(x.shape, dtype=np.int32), positions
    if kind == "complex":
        return np.ones(x.shape, dtype=np.complex64), positions
    if kind == "flat":
        return x[0, :, 0], positions[0]
    return np.concatenate([x, x[..., :1]], axis=-1), positions
