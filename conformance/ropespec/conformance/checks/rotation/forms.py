"""Checks of the forms of the rotation: 2x2, complex, dense, sparse, rows (ROT-1 to ROT-9)."""

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literally import literal_frequencies
from ropespec.conformance.checks.rotation.common import (
    EVERYTHING,
    as_i,
    basis,
    both_layouts,
    called,
    own_pair,
)
from ropespec.conformance.checks.rotation.walked import rotated, walked
from ropespec.conformance.checks.shared import NEAR, based, literal_error
from ropespec.conformance.judge.bounds import Bounded
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, held, worst
from ropespec.conformance.judge.laws import rounding_allowed
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.registry import check, walks
from ropespec.conformance.trial import Trial
from ropespec.reference import rotation_dense

__all__: list[str] = []


@check(
    "ROT-1.direction",
    "The pair rotates clockwise: the sign of sin is flipped, or the matrix is transposed.",
    names=("F-072", "F-073", "F-074", "E-27", "P-31"),
    space=Space(positions=("repeated",), max_position=3),
)
def direction(trial: Trial, case: Case) -> Finding:
    """R(a) (1, 0) = (cos a, sin a), at a = 1, 2, 3 times theta_0, wherever the partner may lie.

    Component 0 is the first member of pair 0 in both layouts, so what is not in component 0 must
    add up to sin a; theta_0 is 1 where frequencies are not scaled.
    """
    m = case.start % 3 + 1
    positions = np.full((case.batch, case.seq), m, dtype=np.int64)
    x = basis(case, 0)
    y = trial.rotate(case, x, positions)
    call = called(case, x, positions)
    got = y.astype(np.float64)
    allowed = trial.allowed(case, x, positions)
    gain, angle = float(case.frequencies.gain), m * literal_frequencies(case)[0]
    cos, sin = (np.full(got.shape[:-1], gain * part) for part in (np.cos(angle), np.sin(angle)))
    ahead = compare(got[..., 0], cos, allowed[..., 0], name="cos")
    aside = compare(
        got[..., 1:].sum(axis=-1),
        sin,
        allowed.sum(axis=-1),
        name="sin",
        message="a unit vector does not rotate counter-clockwise",
    )
    return worst(aside, ahead).after(call)


@check(
    "ROT-2.complex",
    "The members of a pair are rotated by different rules: it is no product with a complex number.",
    names=("F-062", "P-09"),
    space=Space(values=("normal", "ones")),
    general=True,
)
def as_complex(trial: Trial, case: Case) -> Finding:
    """f(i x, m) = i f(x, m): the rotation of a pair is a product with a complex number."""
    positions = case.make_positions()
    x = case.make_x(positions)
    quarter = as_i(x, case)
    y = trial.rotate(case, x, positions)
    z = trial.rotate(case, quarter, positions)
    call = called(case, x, positions)
    bound = rounding_allowed(x, case.convention, trial.loosest(case.dtype), trial.machine)
    return compare(
        z, as_i(y.astype(np.float64), case), 2 * bound, message="f(i x, m) is not i f(x, m)"
    ).after(call)


_VALUE_NAMES = {
    True: ("F-139", "F-140", "F-141", "F-143", "F-146", "P-25"),
    False: ("F-142", "F-147", "E-17", "P-26"),
}


def _value(id_: str, name: str, other: str, *, interleaved: bool) -> None:
    @check(
        id_,
        f"The pairing is {other}, or base, exponent, offset or precision differ: only the exact "
        f"value of the {name} rotation tells.",
        names=_VALUE_NAMES[interleaved],
        space=Space(
            values=EVERYTHING,
            positions=("arange", "ragged", "shuffled", "repeated", "negative", "spread"),
            layouts=(interleaved,),
            strided=True,
            numbers=True,
        ),
        general=True,
        every_dtype=True,
    )
    @walks(walked(interleaved=interleaved))
    def value(trial: Trial, case: Case) -> Finding:
        return rotated(trial, case)


_value("ROT-6.value", "interleaved", "half-split", interleaved=True)
_value("ROT-7.value", "half-split", "interleaved", interleaved=False)


@check(
    "ROT-6.pairing",
    "Component 2i is paired with another component than 2i+1.",
    names=("F-135", "P-24", "P-25"),
    space=Space(positions=("repeated",), max_position=64, layouts=(True,), min_dim=4),
)
def pairing_interleaved(trial: Trial, case: Case) -> Finding:
    """A unit vector reaches only its own pair."""
    return _pairing(trial, case)


@check(
    "ROT-7.pairing",
    "Component i is paired with another component than i+d/2.",
    names=("F-142", "E-17", "P-26"),
    space=Space(positions=("repeated",), max_position=64, layouts=(False,), min_dim=4),
)
def pairing_half(trial: Trial, case: Case) -> Finding:
    """A unit vector reaches only its own pair."""
    return _pairing(trial, case)


def _pairing(trial: Trial, case: Case) -> Finding:
    positions = np.full((case.batch, case.seq), case.start % 63 + 1, dtype=np.int64)
    component = case.seed % case.dim
    x = basis(case, component)
    y = trial.rotate(case, x, positions)
    call = called(case, x, positions)
    own = own_pair(case, component)
    reached = np.flatnonzero(np.any(y.astype(np.float64) != 0, axis=(0, 1, 2)) & ~own)
    if reached.size:
        return broken(
            f"component {component} reaches component {int(reached[0])}, outside its pair "
            f"{tuple(int(i) for i in np.flatnonzero(own))}",
            where=f"y[0, 0, 0, {int(reached[0])}]",
            expected=0.0,
            got=float(y[0, 0, 0, reached[0]]),
            budget=0.0,
            call=call,
        )
    return held()


def _form(
    id_: str, function: str, sentence: str, names: tuple[str, ...], layouts: tuple[bool, ...]
) -> None:
    @check(
        id_,
        sentence,
        needs=(function,),
        names=names,
        space=Space(values=("normal", "ones", "null", "signed_zero"), layouts=layouts),
        share=1.0,
        every_dtype=True,
    )
    def value(trial: Trial, case: Case) -> Finding:
        return trial.rotate_and_judge(case, function=function)


_form(
    "ROT-3.value",
    "apply_rotary_dense",
    "The dense matrix times x is not the rotation.",
    ("F-089", "F-126", "F-133", "F-137", "P-25", "P-26"),
    (True, False),
)
_form(
    "ROT-8.value",
    "apply_rotary_complex",
    "The complex product is not the rotation.",
    ("F-064", "F-065", "F-196", "P-36"),
    (True,),
)


def _matrix(
    value_id: str, literal_id: str, name: str, names: tuple[str, ...], *, interleaved: bool
) -> None:
    @check(
        value_id,
        f"The dense {name} matrix has an entry in the wrong place, of the wrong sign or frequency.",
        needs=("rotation_matrix",),
        names=names,
        space=Space(max_position=NEAR, layouts=(interleaved,), max_dim=64),  # of d^2 entries
    )
    def matrix(trial: Trial, case: Case) -> Finding:
        positions = case.make_positions()
        reply = trial.call("rotation_matrix", (positions, case.head_dim), case.keywords)
        exact = _columns(case, positions, reply.dtypes[0])
        allowed = exact.allowed(trial.loosest(reply.dtypes[0]), trial.machine)
        return _entries(case, positions, reply.values[0], Bounded(exact.y, allowed))

    @check(
        literal_id,
        f"The dense {name} matrix agrees with the judge but not with what the documents print.",
        needs=("rotation_matrix",),
        names=(*names, "P-47"),
        space=Space(max_position=NEAR, layouts=(interleaved,), max_dim=64),
        share=0.25,
    )
    def matrix_reference(trial: Trial, case: Case) -> Finding:
        """The matrix equals that of the literal NumPy reference, entry by entry."""
        positions = case.make_positions()
        reply = trial.call("rotation_matrix", (positions, case.head_dim), case.keywords)
        exact = _columns(case, positions, reply.dtypes[0])
        allowed = exact.allowed(trial.loosest(reply.dtypes[0]), trial.machine)
        literal = reference.rotation_matrix(positions, case.head_dim, **based(case, "interleaved"))
        bound = Bounded(literal.transpose(_SWAP), allowed + literal_error(exact))
        return _entries(case, positions, reply.values[0], bound)


_SWAP = (0, 1, 3, 2)  # row j of x rotated is column j of R


def _columns(case: Case, positions: NDArray[np.int64], dtype: str) -> Rotation:
    """Rotate the unit vectors exactly; R^T R = I and det R = 1 follow."""
    dim = case.head_dim
    unit = np.eye(dim, dtype=dtype).reshape(1, 1, dim, dim)
    x = np.broadcast_to(unit, (*positions.shape, dim, dim))
    return Rotation.of(x, positions, case.stating(rotary_dim=None).convention)


def _entries(
    case: Case, positions: NDArray[np.int64], got: NDArray[np.floating], exact: Bounded
) -> Finding:
    call = Call("rotation_matrix", (positions, case.head_dim), case.keywords)
    value, allowed = (part.transpose(_SWAP) for part in exact)
    return compare(got, value, allowed, name="R").after(call)


_matrix(
    "ROT-3.matrix",
    "ROT-3.matrix-reference",
    "interleaved",
    (
        "F-126",
        "F-127",
        "F-128",
        "F-129",
        "F-130",
        "F-131",
        "F-132",
        "F-133",
        "E-19",
        "P-17",
        "P-24",
    ),
    interleaved=True,
)
_matrix(
    "ROT-4.matrix",
    "ROT-4.matrix-reference",
    "half-split",
    ("F-137", "E-16", "P-17", "P-26"),
    interleaved=False,
)


@check(
    "ROT-5.layouts",
    "The two layouts are not one rotation up to the permutation P.",
    names=("F-138", "E-17", "E-66", "P-27"),
    space=Space(max_position=NEAR, min_dim=4),
    applies=both_layouts,
)
def layouts(trial: Trial, case: Case) -> Finding:
    """f_half(P x) = P f_interleaved(x)."""
    positions = case.make_positions()
    x = case.make_x(positions)
    split = case.stating(interleaved=False)
    woven = case.stating(interleaved=True)
    order = np.concatenate([np.arange(0, case.dim, 2), np.arange(1, case.dim, 2)])
    order = np.concatenate([order, np.arange(case.dim, case.head_dim)])
    permuted = np.ascontiguousarray(x[..., order])
    y_half = trial.rotate(split, permuted, positions).astype(np.float64)
    y = trial.rotate(woven, x, positions).astype(np.float64)
    allowed = 2 * trial.expect(woven, x, positions).allowed(
        trial.loosest(case.dtype), trial.machine
    )
    # What comes out is permuted by the reference, what goes in is not.
    P, tail = rotation_dense.permutation(case.dim), np.arange(case.dim, case.head_dim)
    listed = np.concatenate([P, tail])
    message = "f_half(P x) is not P f_interleaved(x)"
    finding = compare(y_half, y[..., listed], allowed[..., order], message=message)
    return finding.after(called(split, permuted, positions))


@check(
    "ROT-5.permutation",
    "The permutation between the layouts sends a component to the wrong place.",
    needs=("interleaved_to_half", "half_to_interleaved"),
    names=("F-138", "P-27"),
    space=Space(values=("normal", "signed_zero")),
)
def permutation(trial: Trial, case: Case) -> Finding:
    """P = (0, 2, ..., d-2, 1, 3, ..., d-1), and its inverse undoes it, bit for bit."""
    x = case.make_x()
    order = np.concatenate([np.arange(0, case.head_dim, 2), np.arange(1, case.head_dim, 2)])
    findings = []
    inverse = np.argsort(order)
    for name, wanted in (("interleaved_to_half", order), ("half_to_interleaved", inverse)):
        got = trial.call(name, (x,)).values[0]
        expected = x[..., wanted].astype(np.float64)
        findings.append(compare(got, expected, 0.0, name=name).after(Call(name, (x,))))
    return worst(*findings)


@check(
    "ROT-9.rows",
    "All rows are rotated by one position instead of each by its own.",
    names=("F-150", "F-151", "E-14", "E-15", "P-29"),
    space=Space(min_seq=2, positions=("arange", "shuffled", "spread"), values=("normal", "ones")),
)
def rows(trial: Trial, case: Case) -> Finding:
    """Row j rotates by its own position: rows in reverse order give the result in reverse order."""
    positions = case.make_positions()
    x = case.make_x(positions)
    y = trial.rotate(case, x, positions)
    backwards = np.ascontiguousarray(x[:, ::-1]), np.ascontiguousarray(positions[:, ::-1])
    reverse = trial.rotate(case, *backwards)
    call = called(case, *backwards)
    allowed = 2 * trial.allowed(case, x, positions)
    message = "rows in reverse order are not the rows of the result in reverse order"
    return compare(reverse, y[:, ::-1].astype(np.float64), allowed[:, ::-1], message=message).after(
        call
    )
