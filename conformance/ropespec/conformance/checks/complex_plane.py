"""Checks of the chapter `complex_plane`: the plane as complex numbers (CPLX-2 to CPLX-8)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.common import called, negative_positions
from ropespec.conformance.checks.shared import answer, turn
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, held, worst
from ropespec.conformance.judge.laws import rounding_allowed
from ropespec.conformance.judge.rotation import from_pairs, pairs_of
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial

__all__: list[str] = []

_FACTORS = ((0, 1), (1, 1), (2, -1), (-1, 2), (1, -2), (-2, -1))


def _times(x: NDArray[Any], case: Case, a: int, b: int, sign: int = 1) -> NDArray[Any]:
    """Multiply each pair by a + ib, its own conjugate first for sign -1; the tail stays."""
    first, second = pairs_of(x.astype(np.float64), case.dim, interleaved=case.interleaved)
    second = sign * second
    tail = x[..., case.dim :].astype(np.float64)
    parts = (a * first - b * second, b * first + a * second)
    return from_pairs(*parts, tail, interleaved=case.interleaved)


def _on_grid(x: NDArray[Any]) -> NDArray[Any]:
    """Round x to eighths within 4, so that small multiples and sums are exact in any dtype."""
    return np.clip(np.round(x.astype(np.float64) * 8) / 8, -4, 4).astype(x.dtype)


def _rounding(trial: Trial, case: Case, *inputs: NDArray[Any]) -> NDArray[np.float64]:
    """Bound what is lost beside the angle, which is the same in all calls."""
    precision = trial.loosest(case.dtype)
    total = np.zeros(case.shape)
    for x in inputs:
        total = total + rounding_allowed(
            x, case.dim, precision, trial.machine, interleaved=case.interleaved
        )
    return total


def _commutes(trial: Trial, case: Case, a: int, b: int, message: str) -> Finding:
    """F((a+ib) z, m) = (a+ib) f(z, m) for every pair z, at whatever angle f turns by."""
    positions = case.make_positions()
    z = _on_grid(case.make_x(positions))
    wz = _times(z, case, a, b).astype(z.dtype)
    got, plain = trial.rotate(case, wz, positions), trial.rotate(case, z, positions)
    call = called(case, wz, positions)
    allowed = _rounding(trial, case, wz) + (abs(a) + abs(b)) * _rounding(trial, case, z)
    return compare(got, _times(plain, case, a, b), allowed, message=message).after(call)


@check(
    "CPLX-2",
    "conjugate",
    "The mirror image turns the same way: the angle loses its sign.",
    properties=("P-07",),
    space=Space(values=("normal", "ones")),
    applies=negative_positions,
    general=True,
)
def conjugate(trial: Trial, case: Case) -> Finding:
    """(z e^{im theta})* = z* e^{-im theta}: a mirror image turns the other way."""
    positions = case.make_positions()
    z = case.make_x(positions)
    mirrored = _times(z, case, 1, 0, sign=-1).astype(z.dtype)
    there, back = trial.rotate(case, z, positions), trial.rotate(case, mirrored, -positions)
    call = called(case, mirrored, -positions)
    message = "f(z*, -m) is not f(z, m)*"
    allowed = _rounding(trial, case, z, mirrored)
    return compare(back, _times(there, case, 1, 0, sign=-1), allowed, message=message).after(call)


@check(
    "CPLX-3",
    "quarter-turn",
    "A quarter of a turn before is not one after: a pair is mirrored, or a member has a gain.",
    properties=("P-08",),
    space=Space(values=("normal", "ones")),
    general=True,
)
def quarter_turn(trial: Trial, case: Case) -> Finding:
    """F(iz, m) = i f(z, m), with i (a, b) = (-b, a)."""
    return _commutes(trial, case, 0, 1, "f(iz, m) is not i f(z, m), where iz = (-z2, z1)")


@check(
    "CPLX-7",
    "product",
    "The product lacks a term or has a wrong sign: (ac - bd) + i(bc + ad) does not come out.",
    properties=("P-07",),
    space=Space(values=("normal", "ones")),
    general=True,
)
def product(trial: Trial, case: Case) -> Finding:
    """F(wz, m) = w f(z, m) for complex numbers w: turning is a complex product."""
    a, b = _FACTORS[case.seed % len(_FACTORS)]
    return _commutes(trial, case, a, b, f"f(wz, m) is not w f(z, m) for w = {a} + {b}i")


def _ones(case: Case) -> NDArray[Any]:
    """Return x with the number 1 in every pair: 1 in its first member, 0 in the second."""
    x = np.zeros(case.shape)
    pairs_of(x, case.dim, interleaved=case.interleaved)[0][...] = 1.0
    return x.astype(case.numpy_dtype)


@check(
    "CPLX-4",
    "euler",
    "The number 1 does not become cos + i sin: the two are swapped, or i has the wrong sign.",
    properties=("P-06",),
    space=Space(positions=("arange", "ragged", "negative", "spread")),
    share=0.5,
    general=True,
)
def euler(trial: Trial, case: Case) -> Finding:
    """F(1, m) = e^{im theta_i} = cos(m theta_i) + i sin(m theta_i), of modulus 1."""
    positions = case.make_positions()
    x = _ones(case)
    y = trial.rotate(case, x, positions)
    return trial.judge(case, x, positions, y, message="1 does not become cos + i sin")


@check(
    "CPLX-6",
    "halves",
    "The two directions are no mirror images: the mean is not cos, or half the difference not sin.",
    properties=("P-06",),
    space=Space(positions=("arange", "ragged", "spread")),
    applies=negative_positions,
    share=0.5,
    general=True,
)
def halves(trial: Trial, case: Case) -> Finding:
    """(e^{ia} + e^{-ia})/2 = cos a and (e^{ia} - e^{-ia})/2i = sin a, a = m theta_i."""
    positions = case.make_positions()
    x = _ones(case)
    there, back = turn(trial, case, x, positions), turn(trial, case, x, -positions)
    (y1, y2), (w1, w2) = (
        pairs_of(side.y, case.dim, interleaved=case.interleaved) for side in (there, back)
    )
    exact = trial.expect(case, x, positions).pairs
    allowed = (there.exact.allowed + back.exact.allowed) / 2
    b1, b2 = pairs_of(allowed, case.dim, interleaved=case.interleaved)
    zero = np.zeros_like(y1)
    wanted = ((y1 + w1) / 2, exact.cos + zero, b1), ((y2 + w2) / 2, zero, b2)
    turned = ((y2 - w2) / 2, exact.sin + zero, b2), ((y1 - w1) / 2, zero, b1)
    findings = [
        compare(got, value, bound, name=name, message="cos or sin by exponentials is wrong")
        for name, group in (("cos", wanted), ("sin", turned))
        for got, value, bound in group
    ]
    return worst(*findings).after(there.call)


def _with_extremes(case: Case) -> NDArray[Any]:
    """Return x with an infinity or NaN in one place for some seeds: nothing may be lost."""
    x = case.make_x().copy()
    if case.seed % 4:
        x[..., case.seed % case.head_dim] = (np.inf, -np.inf, np.nan)[case.seed % 4 - 1]
    return x


def _same(got: NDArray[Any], wanted: NDArray[Any], call: Call, name: str) -> Finding:
    """Compare bit for bit, any NaN being as good as another."""
    if got.shape != wanted.shape:
        return broken(f"{name} has shape {got.shape}; expected {wanted.shape}", call=call)
    a, b = got.astype(np.float64), wanted.astype(np.float64)
    same = ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return held()
    index = np.unravel_index(int(np.argmin(same)), same.shape)
    return broken(
        f"{name} must be the component as it is, bit for bit",
        where=f"{name}[{', '.join(str(int(i)) for i in index)}]",
        expected=float(b[index]),
        got=float(a[index]),
        budget=0.0,
        call=call,
    )


_EXACT = Space(values=("normal", "signed_zero", "ones"), positions=("arange",))


@check(
    "CPLX-8",
    "to-complex",
    "The pair is read from the two halves, in the wrong order, or an infinity becomes NaN.",
    needs=("to_complex",),
    space=_EXACT,
)
def to_complex(trial: Trial, case: Case) -> Finding:
    """z_i = x_2i + i x_2i+1, bit for bit: complex128 for float64, complex64 for the others."""
    x = _with_extremes(case)
    call = Call("to_complex", (x,))
    reply = trial.call("to_complex", (x,))
    dtype = "complex128" if case.dtype == "float64" else "complex64"
    if problem := answer(reply, call, dtypes=(dtype,)):
        return problem
    z = reply.values[0]
    return worst(
        _same(z.real, x[..., 0::2], call, "z.real"), _same(z.imag, x[..., 1::2], call, "z.imag")
    )


def _complex(case: Case) -> NDArray[Any]:
    x = _with_extremes(case)
    z = np.empty(
        (*x.shape[:-1], x.shape[-1] // 2),
        np.complex128 if case.dtype == "float64" else np.complex64,
    )
    z.real, z.imag = x[..., 0::2], x[..., 1::2]
    return z


@check(
    "CPLX-8",
    "from-complex",
    "Real and imaginary parts are put into two halves instead of side by side.",
    needs=("from_complex",),
    space=_EXACT,
)
def from_complex(trial: Trial, case: Case) -> Finding:
    """Components 2i and 2i + 1 are Re z_i and Im z_i, bit for bit; float32 for complex64."""
    z = _complex(case)
    call = Call("from_complex", (z,))
    reply = trial.call("from_complex", (z,))
    if problem := answer(reply, call, dtypes=(z.real.dtype.name,)):
        return problem
    wanted = np.stack([z.real, z.imag], axis=-1).reshape(*z.shape[:-1], -1)
    return _same(reply.values[0], wanted, call, "x")


@check(
    "CPLX-8",
    "reference",
    "The complex numbers differ from those of the literal NumPy reference.",
    needs=("to_complex",),
    properties=("P-47",),
    space=_EXACT,
    share=0.5,
)
def to_complex_reference(trial: Trial, case: Case) -> Finding:
    """To_complex equals the reference, bit for bit."""
    x = _with_extremes(case)
    call = Call("to_complex", (x,))
    z, literal = trial.call("to_complex", (x,)).values[0], reference.to_complex(x)
    return worst(
        _same(z.real, literal.real, call, "z.real"), _same(z.imag, literal.imag, call, "z.imag")
    )


@check(
    "CPLX-8",
    "reference-back",
    "The components differ from those of the literal NumPy reference.",
    needs=("from_complex",),
    properties=("P-47",),
    space=_EXACT,
    share=0.5,
)
def from_complex_reference(trial: Trial, case: Case) -> Finding:
    """From_complex equals the reference, bit for bit."""
    z = _complex(case)
    call = Call("from_complex", (z,))
    return _same(trial.call("from_complex", (z,)).values[0], reference.from_complex(z), call, "x")
