"""Checks of several position numbers a token (AXES-1 to AXES-5)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.frequencies.angles import table_allowed
from ropespec.conformance.checks.literal import FEW
from ropespec.conformance.checks.shared import NEAR, based, literal_error, rules
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, worst
from ropespec.conformance.registry import check
from ropespec.conformance.subject.layout import (
    from_subject,
    rows_for_subject,
    to_subject,
)
from ropespec.conformance.trial import Trial, Unfit
from ropespec.spec.axes import Axes, Axial, Mixed, Sections, Woven
from ropespec.spec.convention import Frequencies
from ropespec.spec.scaling import Scaling, Yarn

__all__: list[str] = []

Float = NDArray[np.float64]
TABLES, ROTATION = "cos_sin_axes", "apply_rotary_axes"
CLOSE = Space(min_dim=16, max_position=NEAR)


SCALED = Yarn(3.0, 100)
"""A scheme with a gain."""


def _numbers(case: Case, axes: Axes) -> NDArray[np.int64]:
    """Return positions (n, B, S): those of the case, and others of its range."""
    first = case.make_positions()
    rng = np.random.default_rng([case.seed, 41])
    others = [rng.permuted(first, axis=-1) // (axis + 2) for axis in range(axes.count - 1)]
    return np.stack([first, *others])


def _sections(case: Case, *, least: int = 1) -> tuple[int, ...]:
    """Divide the pairs among two, three or four numbers, the first with the most."""
    pairs, count = case.head_dim // 2, 2 + case.seed % 3
    others = [least + (case.seed + axis) % max(pairs // count - 1, 1) for axis in range(count - 1)]
    return (pairs - sum(others), *others)


def _exact(
    case: Case, axes: Axes, numbers: NDArray[np.int64], scaling: Scaling | None
) -> tuple[Float, Float]:
    """Return cos and sin of what follows one number each, from the oracle."""
    plain = Frequencies(case.frequencies.base, scaling)
    cos, sin = _unit(case.head_dim, axes, numbers, plain)
    return float(plain.gain) * cos, float(plain.gain) * sin


def _unit(
    dim: int, axes: Axes, numbers: NDArray[np.int64], plain: Frequencies
) -> tuple[Float, Float]:
    if isinstance(axes, Axial):
        blocks = [
            oracle.cos_sin(p, 2 * pairs, plain)
            for p, pairs in zip(numbers, axes.sections, strict=True)
            if pairs
        ]
        return tuple(np.concatenate(part, axis=-1) for part in zip(*blocks, strict=True))  # type: ignore[return-value]  # two of them
    assert not isinstance(axes, Mixed)
    every = [oracle.cos_sin(p, dim, plain) for p in numbers]
    followed = axes.followed()
    cos, sin = (
        np.stack([every[axis][k][..., i] for i, axis in enumerate(followed)], axis=-1)
        for k in (0, 1)
    )
    return cos, sin


def _tables(
    trial: Trial, case: Case, axes: Axes, *, far: bool = False, scaling: Scaling | None = None
) -> Finding:
    """Compare with the exact tables and, near zero, with the printed ones."""
    numbers = _numbers(case, axes)
    more = {"axes": axes} if scaling is None else {"axes": axes, "scaling": scaling}
    keywords = {**case.only("base"), **more}
    reply = trial.call(TABLES, (numbers, case.head_dim), keywords)
    call = Call(TABLES, (numbers, case.head_dim), keywords)
    if len(reply.values) != 2:
        return broken(f"{TABLES} gives {len(reply.values)} arrays; expected cos and sin", call=call)
    plain, own = Frequencies(case.frequencies.base), rules(trial, reply.dtypes[0])
    farthest = np.abs(numbers).max(axis=0)
    # No pair turns faster than by theta_0 a step of each number.
    allowed = 3 * axes.count * table_allowed(farthest, case.head_dim, plain, own)
    allowed = np.broadcast_to(allowed.max(axis=-1, keepdims=True), allowed.shape)
    expected = [] if isinstance(axes, Mixed) else [_exact(case, axes, numbers, scaling)]
    if not far:
        printed_form = reference.cos_sin_axes(numbers, case.head_dim, **based(case), **more)
        expected.append(printed_form)
    findings = [
        compare(got, wanted, allowed, name=name)
        for tables in expected
        for name, got, wanted in zip(("cos", "sin"), reply.values, tables, strict=True)
    ]
    return worst(*findings).after(call)


def _drawn(case: Case) -> Axes:
    """Draw a value whose pairs follow one number each."""
    sections = _sections(case)
    return (Sections(sections), Woven(sections), Axial(sections))[case.seed // 3 % 3]


@check(
    "AXES-1.value",
    "Angles of several numbers lose accuracy where these are large.",
    needs=(TABLES,),
    space=Space(min_dim=16),
    share=FEW,
)
def far(trial: Trial, case: Case) -> Finding:
    """Exact at any position."""
    return _tables(trial, case, _drawn(case), far=True)


@check(
    "AXES-1.reference",
    "The tables agree with the exact ones but not with those of the literal reference.",
    needs=(TABLES,),
    names=("P-47",),
    space=CLOSE,
    share=FEW,
)
def tables_reference(trial: Trial, case: Case) -> Finding:
    """For every kind, cos_sin_axes equals that of the literal NumPy reference."""
    sections = _sections(case)
    kinds = (Sections(sections), Woven(sections), Axial(sections), Axial((0, sum(sections))))
    plain = [_tables(trial, case, axes) for axes in (*kinds, _mixed(case))]
    return worst(*plain, *(_tables(trial, case, axes, scaling=SCALED) for axes in kinds))


@check(
    "AXES-2.value",
    "Sections are taken in another order, or as numbers of components.",
    needs=(TABLES,),
    space=CLOSE,
    share=FEW,
)
def sections(trial: Trial, case: Case) -> Finding:
    """Consecutive pairs follow one number."""
    return _tables(trial, case, Sections(_sections(case)))


@check(
    "AXES-3.value",
    "Sections in turn are read as consecutive ones, or the last pairs follow another number.",
    needs=(TABLES,),
    space=CLOSE,
    share=FEW,
)
def woven(trial: Trial, case: Case) -> Finding:
    """Pairs follow the numbers in turn."""
    return _tables(trial, case, Woven(_sections(case)))


@check(
    "AXES-4.value",
    "The exponent runs through the whole head instead of beginning anew.",
    needs=(TABLES,),
    space=CLOSE,
    share=FEW,
)
def axial(trial: Trial, case: Case) -> Finding:
    """A rotation of its own for each number."""
    return _tables(trial, case, Axial(_sections(case)))


def _mixed(case: Case) -> Mixed:
    rng = np.random.default_rng([case.seed, 43])
    rows = rng.uniform(-0.5, 0.5, (2 + case.seed % 2, case.head_dim // 2))
    return Mixed(tuple(tuple(row) for row in rows.tolist()))


@check(
    "AXES-5.value",
    "Pairs follow one number where they are to follow all.",
    needs=(TABLES,),
    space=CLOSE,
    share=FEW,
)
def mixed(trial: Trial, case: Case) -> Finding:
    """A sum over all numbers."""
    return _tables(trial, case, _mixed(case))


def _rotate(
    trial: Trial, x: NDArray[Any], numbers: NDArray[np.int64], keywords: dict[str, Any]
) -> NDArray[Any]:
    claimed = trial.profile
    sent = to_subject(x, claimed)
    places = np.stack([rows_for_subject(p, claimed) for p in numbers])
    reply = trial.call(ROTATION, (sent, places), keywords)
    y = reply.values[0]
    if len(reply.values) != 1 or y.shape != sent.shape:
        call = Call(ROTATION, (x, numbers), keywords)
        raise Unfit(broken(f"y has shape {y.shape}; expected {sent.shape}", call=call))
    return from_subject(y, claimed)


@check(
    "AXES-1.text",
    "With equal numbers, as text has them, the rotation is not the plain one.",
    needs=(ROTATION,),
    space=CLOSE,
    share=FEW,
)
def text(trial: Trial, case: Case) -> Finding:
    """Equal numbers in sections are one position."""
    case = case.stating(rotary_dim=None)
    axes = (Sections, Woven)[case.seed % 2](_sections(case))
    positions = case.make_positions()
    x, numbers = case.make_x(positions), np.stack([positions] * axes.count)
    keywords = {**case.only("interleaved", "base"), "axes": axes}
    exact = trial.expect(case, x, positions)
    allowed = exact.allowed(trial.loosest(case.dtype), trial.machine)
    y = _rotate(trial, x, numbers, keywords)
    return compare(y, exact.y, allowed).after(Call(ROTATION, (x, numbers), keywords))


@check(
    "AXES-1.reference-rotation",
    "The rotation is by other angles than those of the literal reference.",
    needs=(ROTATION,),
    names=("P-47",),
    space=CLOSE,
    share=FEW,
)
def rotation_reference(trial: Trial, case: Case) -> Finding:
    """apply_rotary_axes equals that of the literal NumPy reference."""
    case = case.stating(rotary_dim=None)
    axes = _drawn(case) if case.seed % 4 else _mixed(case)
    numbers = _numbers(case, axes)
    x = case.make_x(numbers[0])
    wide = x.astype(np.float64)
    more: dict[str, Any] = {"axes": axes}
    if case.seed % 2 and not isinstance(axes, Mixed):
        more["scaling"] = SCALED
    expected = reference.apply_rotary_axes(wide, numbers, **based(case, "interleaved"), **more)
    # As much as a rotation whose angles are all as large as the largest of these.
    exact = trial.expect(case, x, np.abs(numbers).max(axis=0))
    allowed = exact.allowed(trial.loosest(case.dtype), trial.machine) + literal_error(exact)
    bound = 3 * axes.count * allowed.max(axis=-1, keepdims=True) * (1 + np.abs(wide).max())
    keywords = {**case.only("interleaved", "base"), **more}
    y = _rotate(trial, x, numbers, keywords)
    call = Call(ROTATION, (x, numbers), keywords)
    return compare(y, expected, np.broadcast_to(bound, x.shape)).after(call)
