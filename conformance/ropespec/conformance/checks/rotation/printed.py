"""Checks against the printed forms of the rotation (ROT-1 to ROT-9, ROT-12 to ROT-14)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literal import (
    FEW,
    NEAR_SPACE,
    Forms,
    conventions_of,
    dense,
    forms_of_a_pair,
    number,
    places,
    printed,
    sides,
    token,
)
from ropespec.conformance.checks.literally import literal_frequencies, literal_rotation
from ropespec.conformance.checks.rotation.common import negative_positions
from ropespec.conformance.checks.rotation.contract import a_tail
from ropespec.conformance.checks.shared import based, beside, literal_error, two_sides
from ropespec.conformance.judge.bounds import Bounded, dot
from ropespec.conformance.judge.finding import Call, Finding, compare
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial
from ropespec.reference import frequencies, rotation, rotation_dense, rotation_plane

__all__: list[str] = []

Float = NDArray[np.float64]


def _row(pairs: Float) -> Float:
    """Return the one pair of an array of pairs."""
    if pairs.shape != (1, 1, 2):
        raise ValueError(f"an array of one pair must come back; got shape {pairs.shape}")
    return np.asarray(pairs[0, 0])


forms_of_a_pair(
    "ROT-1.forms",
    "A printed 2x2 matrix gives another pair: a sign, a sine for a cosine, or rows for columns.",
    {
        "rotation_plane.rotate_matrix": lambda a: number(
            _row(rotation_plane.rotate_matrix([[a.x]], a.m, a.theta))
        ),
        "rotation_plane.rotation_matrix_2d": lambda a: number(
            rotation_plane.rotation_matrix_2d(a.m * a.theta) @ a.x
        ),
    },
    names=("F-070", "F-071", "F-072", "F-073", "F-074", "F-076", "E-27", "P-31"),
)

forms_of_a_pair(
    "ROT-2.forms",
    "A product with e^{ⅈmθ}, or its two components written out, gives another pair.",
    {
        "rotation_plane.rotate_complex": lambda a: complex(
            rotation_plane.rotate_complex(a.z, a.m, a.theta)
        ),
        "rotation_plane.rotate_components": lambda a: number(
            _row(rotation_plane.rotate_components([[a.x]], a.m, a.theta))
        ),
    },
    names=(
        *("F-062", "F-063", "F-064", "F-065", "F-066", "F-067", "F-068", "F-069", "F-075", "F-077"),
        "P-09",
    ),
)


def _zero_based(m: int, dim: int, base: dict[str, Any]) -> Mapping[str, Float]:
    """Return R_m of interleaved pairs in every printed labelling."""
    blocks = [
        rotation_plane.rotation_matrix_2d(m * theta) for theta in frequencies.inv_freq(dim, **base)
    ]
    return {
        "rotation.rotation_matrix": rotation.rotation_matrix(m, dim, interleaved=True, **base),
        "rotation_dense.dense_zero_based": rotation_dense.dense_zero_based(m, dim, **base),
        "rotation_dense.dense_one_based": rotation_dense.dense_one_based(m, dim, **base),
        "rotation_dense.dense_step2": rotation_dense.dense_step2(m, dim, **base),
        "rotation_dense.dense_from_blocks": rotation_dense.dense_from_blocks(np.array(blocks)),
    }


def _half_split(m: int, dim: int, base: dict[str, Any]) -> Mapping[str, Float]:
    """Return R_m of half-split pairs."""
    return {
        "rotation.rotation_matrix": rotation.rotation_matrix(m, dim, interleaved=False, **base),
        "rotation_dense.dense_half": rotation_dense.dense_half(m, dim, **base),
    }


def _matrices(
    id_: str,
    made: Callable[[int, int, dict[str, Any]], Mapping[str, Float]],
    names: tuple[str, ...],
    *,
    interleaved: bool,
) -> None:
    layout = "interleaved" if interleaved else "half-split"

    @printed(
        id_,
        f"A printed {layout} matrix times x gives another vector: an entry, a label or a place.",
        names=names,
        space=replace(NEAR_SPACE, layouts=(interleaved,)),
    )
    def forms(trial: Trial, case: Case) -> Finding:
        """Every printed matrix times a vector is what the subject gives."""
        positions = case.make_positions()
        x = case.make_x(positions)
        found = beside(trial, case, x, positions)
        seen, t = Forms("a rotated vector", found.call), token(case, x, found, positions)
        if case.frequencies.scheme is not None:
            seen.add("rotation_dense.dense_from_blocks", t.y, dense(case, t.m) @ t.x, t.off)
            return seen.finding()
        base = based(case)
        for name, R in made(t.m, case.dim, base).items():
            seen.add(name, t.y, R @ t.x, t.off)
        whole = reference.apply_rotary_dense(
            t.x[np.newaxis, np.newaxis], [t.m], interleaved=interleaved, **base
        )
        seen.add("rotation.apply_rotary_dense", t.y, whole[0, 0], t.off)
        return seen.finding()


_matrices(
    "ROT-3.forms",
    _zero_based,
    (
        *("F-089", "F-126", "F-127", "F-128", "F-129", "F-130", "F-131", "F-132", "F-133", "F-135"),
        *("E-13", "E-19", "P-25", "P-28"),
    ),
    interleaved=True,
)
_matrices("ROT-4.forms", _half_split, ("F-137", "E-13", "E-16", "E-17", "P-26"), interleaved=False)


def _reference(
    id_: str, function: str, names: tuple[str, ...], *, layouts: tuple[bool, ...] | None
) -> None:
    @check(
        id_,
        "The result agrees with the judge but not with the formula as the documents print it.",
        needs=(function,),
        names=(*names, "P-47"),
        space=replace(NEAR_SPACE, layouts=layouts),
        share=FEW,
    )
    def against_reference(trial: Trial, case: Case) -> Finding:
        """The rotation in this form equals that of the literal NumPy reference."""
        positions = case.make_positions()
        x = case.make_x(positions)
        y = trial.rotate(case, x, positions, function=function)
        layout = ("interleaved",) if layouts is None else ()
        keywords = based(case, "rotary_dim", *layout)
        literal = getattr(reference, function)(x.astype(np.float64), positions, **keywords)
        exact = trial.expect(case, x, positions)
        allowed = exact.allowed(trial.loosest(case.dtype), trial.machine) + literal_error(exact)
        message = f"{function} differs from the literal reference"
        call = Call(function, (x, positions), case.keywords)
        return compare(y, literal, allowed, message=message).after(call)


_reference("ROT-3.reference", "apply_rotary_dense", ("F-089", "F-126", "F-137"), layouts=None)
_reference("ROT-8.reference", "apply_rotary_complex", ("F-064", "F-065", "F-196"), layouts=(True,))


@check(
    "ROT-5.reference",
    "The permutation agrees with no printed pair of matrices: it is another order of components.",
    needs=("interleaved_to_half", "half_to_interleaved"),
    names=("F-138", "P-27", "P-47"),
    space=Space(values=("normal", "signed_zero")),
    share=FEW,
)
def permutation(trial: Trial, case: Case) -> Finding:
    """P x and P^T x equal those of the literal NumPy reference, bit for bit."""
    x = case.make_x()
    call = Call("interleaved_to_half", (x,))
    seen = Forms("the permuted vector", call)
    for name in ("interleaved_to_half", "half_to_interleaved"):
        got = trial.call(name, (x,)).values[0].astype(np.float64)
        seen.add(f"rotation.{name}", got, getattr(reference, name)(x).astype(np.float64), 0.0)
    P = rotation_dense.permutation_matrix(case.head_dim)
    got = trial.call("interleaved_to_half", (x,)).values[0].astype(np.float64)
    seen.add("rotation_dense.permutation_matrix", got, x.astype(np.float64) @ P.T, 0.0)
    return seen.finding()


def _sparse(id_: str, names: tuple[str, ...], *, interleaved: bool) -> None:
    layout = "interleaved" if interleaved else "half-split"
    rotated = "interleaved" if interleaved else "half"

    @printed(
        id_,
        f"The printed {layout} sum x cos + rotate_half(x) sin gives another vector.",
        names=names,
        space=replace(NEAR_SPACE, layouts=(interleaved,)),
    )
    def forms(trial: Trial, case: Case) -> Finding:
        """x cos + rotate_half(x) sin, and apply_rotary of the reference, are what comes back."""
        positions = case.make_positions()
        x = case.make_x(positions)
        found = beside(trial, case, x, positions)
        gain = float(case.frequencies.gain)
        wide = x.astype(np.float64)
        companion = getattr(rotation, f"rotate_half_{rotated}")
        listed = getattr(frequencies, f"duplicate_{rotated}")
        angle = frequencies.angles(positions, literal_frequencies(case))
        cos, sin = (
            gain * listed(part)[..., np.newaxis, :] for part in (np.cos(angle), np.sin(angle))
        )
        part = wide[..., : case.dim]
        seen = Forms("a rotated vector", found.call)
        allowed = found.exact.allowed
        seen.add(
            f"rotation.rotate_half_{rotated}",
            found.y[..., : case.dim],
            part * cos + companion(part) * sin,
            allowed[..., : case.dim],
        )
        seen.add("rotation.apply_rotary", found.y, literal_rotation(case, wide, positions), allowed)
        return seen.finding()


_sparse(
    "ROT-6.forms",
    ("F-139", "F-140", "F-141", "F-143", "F-145", "F-146", "E-09", "E-20", "P-25"),
    interleaved=True,
)
_sparse("ROT-7.forms", ("F-142", "F-147", "E-17", "P-26"), interleaved=False)


@printed(
    "ROT-9.forms",
    "A row is multiplied by the R of another row, by R for R^T, or from the wrong side.",
    names=("F-150", "F-151", "F-152", "E-14", "E-15", "P-29"),
)
def rows(trial: Trial, case: Case) -> Finding:
    """f(Q)_j = Q_j R_{p_j}^T, and f(Q) f(K)^T, are the rotated rows and their products."""
    m, n = two_sides(trial, case)
    row, _, head, _ = places(case)[-1]
    keywords = conventions_of(case)
    given, bounds = [], []
    for seed, where in ((0, m), (1, n)):
        x = case.make_x(m, seed=seed)
        found = beside(trial, case, x, where)
        parts = (x.astype(np.float64), found.y, found.exact.allowed)
        given.append([part[row, :, head, : case.dim] for part in parts])
        bounds.append(Bounded(*given[-1][1:]))
    seen = Forms("a rotated row", found.call)
    for (x, y, off), where in zip(given, (m[row], n[row]), strict=True):
        seen.add("rotation.rotate_rows", y, rotation.rotate_rows(x, where, **keywords), off)
    left, right = bounds
    got = dot(
        Bounded(left.value[:, np.newaxis], left.allowed[:, np.newaxis]),
        Bounded(right.value[np.newaxis], right.allowed[np.newaxis]),
    )
    scores = rotation.row_scores(
        given[0][0],
        given[1][0],
        query_positions=m[row],
        key_positions=n[row],
        **keywords,
    )
    seen.add("rotation.row_scores", got.value, scores, got.allowed)
    return seen.finding()


@printed(
    "ROT-12.forms",
    "The opposite position is not the transposed matrix.",
    names=("F-154", "P-18"),
    applies=negative_positions,
)
def transposed(trial: Trial, case: Case) -> Finding:
    """f(x, -m) = R_m^T x, with the dense matrix and with M(m θ_i)^T of every pair."""
    positions = case.make_positions()
    x = case.make_x(positions)
    found = beside(trial, case, x, -positions)
    seen, t = Forms("the vector at -m", found.call), token(case, x, found, positions)
    seen.add("rotation.rotation_matrix", t.y, dense(case, t.m).T @ t.x, t.off)
    for a in sides(case, x, found, positions):
        M = rotation_plane.rotation_matrix_2d(a.m * a.theta)
        seen.add("rotation_plane.rotation_matrix_2d", a.y, M.T @ a.x, a.off)
    return seen.finding()


@printed(
    "ROT-13.forms",
    "The product of two matrices is not the matrix of the sum.",
    names=("F-155", "F-159", "E-28", "P-19"),
)
def product(trial: Trial, case: Case) -> Finding:
    """f(x, a + b) = R_a R_b x, with dense matrices and with M(a θ_i) M(b θ_i) of every pair."""
    a = case.make_positions() // 2
    b = int(a.flat[case.seed % a.size])
    x = case.make_x(a)
    found = beside(trial, case, x, a + b)
    seen, t = Forms("the vector at a + b", found.call), token(case, x, found, a)
    R_a, R_b = (dense(case, position) for position in (t.m, b))
    seen.add("rotation.rotation_matrix", t.y, R_a @ (R_b @ t.x), t.off)
    for one in sides(case, x, found, a):
        M_a, M_b = rotation_plane.rotation_matrix_2d(np.array([one.m, b]) * one.theta)
        seen.add("rotation_plane.rotation_matrix_2d", one.y, M_a @ (M_b @ one.x), one.off)
    return seen.finding()


@printed(
    "ROT-14.forms",
    "The matrix of the whole head is not R on the first components and the identity on the rest.",
    space=replace(NEAR_SPACE, partial=True),
    applies=a_tail,
)
def with_tail(trial: Trial, case: Case) -> Finding:
    """((R, 0), (0, I)) times a head is what the subject gives, its tail exactly."""
    positions = case.make_positions()
    x = case.make_x(positions)
    found = beside(trial, case, x, positions)
    at = places(case)[-1][:3]
    R = float(case.frequencies.gain) * dense(case, int(positions[at[:2]]))
    whole = rotation_dense.dense_with_tail(R, case.head_dim)
    seen = Forms("a rotated head", found.call)
    seen.add(
        "rotation_dense.dense_with_tail",
        found.y[at],
        whole @ x[at].astype(np.float64),
        found.exact.allowed[at],
    )
    return seen.finding()
