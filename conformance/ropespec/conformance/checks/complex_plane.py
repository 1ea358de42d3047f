"""Checks of the chapter `complex_plane`: the plane as complex numbers (CPLX-1 to CPLX-8)."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literal import (
    FEW,
    NEAR_SPACE,
    Forms,
    first,
    forms_of_a_pair,
    sides,
)
from ropespec.conformance.checks.literally import literal_frequencies
from ropespec.conformance.checks.rotation.common import called, negative_positions
from ropespec.conformance.checks.shared import STEPS, answer, beside, rotate, unchanged
from ropespec.conformance.judge.budget import Machine, angle_error
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, held, worst
from ropespec.conformance.judge.laws import rounding_allowed
from ropespec.conformance.judge.rotation import from_pairs, pairs_of
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial
from ropespec.reference import complex_plane, frequencies

__all__: list[str] = []

Float = NDArray[np.float64]
Complex = NDArray[np.complex128]

HOST = Machine()
"""The library of the reference."""

_FACTORS = ((0, 1), (1, 1), (2, -1), (-1, 2), (1, -2), (-2, -1))


def _times(x: NDArray[Any], case: Case, a: int, b: int, sign: int = 1) -> NDArray[Any]:
    """Multiply each pair by a + ⅈb, its own conjugate first for sign -1; the tail stays.

    For what goes into the subject: what is expected of it is made by the reference.
    """
    first, second = pairs_of(x.astype(np.float64), case.convention)
    second = sign * second
    tail = x[..., case.dim :].astype(np.float64)
    parts = (a * first - b * second, b * first + a * second)
    return from_pairs(*parts, tail, case.convention)


def _complex_of(y: NDArray[Any], case: Case) -> Complex:
    """Return the pairs as complex numbers."""
    first, second = pairs_of(y.astype(np.float64), case.convention)
    return np.asarray(first + 1j * second)


def _written(z: Complex, y: NDArray[Any], case: Case) -> NDArray[Any]:
    """Return complex numbers as pairs, with the tail of y."""
    tail = y[..., case.dim :].astype(np.float64)
    return from_pairs(z.real, z.imag, tail, case.convention)


def _on_grid(x: NDArray[Any]) -> NDArray[Any]:
    """Round x to eighths within 4, so that small multiples and sums are exact in any dtype."""
    return np.clip(np.round(x.astype(np.float64) * 8) / 8, -4, 4).astype(x.dtype)


def _rounding(trial: Trial, case: Case, *inputs: NDArray[Any]) -> NDArray[np.float64]:
    """Bound what is lost beside the angle, which is the same in all calls."""
    precision = trial.loosest(case.dtype)
    total = np.zeros(case.shape)
    for x in inputs:
        total = total + rounding_allowed(x, case.convention, precision, trial.machine)
    return total


def _commutes(
    trial: Trial,
    case: Case,
    factor: tuple[int, int],
    times: Callable[[Complex], Complex],
    message: str,
) -> Finding:
    """F(wz, m) = w f(z, m) for every pair z, at whatever angle f rotates by."""
    a, b = factor
    positions = case.make_positions()
    z = _on_grid(case.make_x(positions))
    wz = _times(z, case, a, b).astype(z.dtype)
    got, plain = trial.rotate(case, wz, positions), trial.rotate(case, z, positions)
    call = called(case, wz, positions)
    allowed = _rounding(trial, case, wz) + (abs(a) + abs(b)) * _rounding(trial, case, z)
    expected = _tail_times(_written(times(_complex_of(plain, case)), plain, case), wz, case)
    return compare(got, expected, allowed, message=message).after(call)


def _tail_times(expected: NDArray[Any], given: NDArray[Any], case: Case) -> NDArray[Any]:
    """Take the tail that was given: it passes through, whatever the pairs do."""
    expected[..., case.dim :] = given[..., case.dim :].astype(np.float64)
    return expected


def _polar(modulus: Any, argument: Any) -> complex:  # noqa: ANN401  # arrays without axes
    return complex(modulus * np.cos(argument), modulus * np.sin(argument))


forms_of_a_pair(
    "CPLX-1.forms",
    "Modulus or argument is another: the modulus does not stay, or the argument does not grow.",
    {
        "complex_plane.modulus": lambda a: _polar(
            complex_plane.modulus(a.z), np.angle(a.z) + a.m * a.theta
        ),
        "complex_plane.argument": lambda a: _polar(
            abs(a.z), complex_plane.argument(a.z) + a.m * a.theta
        ),
    },
    names=("F-035", "F-036"),
    space=NEAR_SPACE,
)


@check(
    "CPLX-2.conjugate",
    "The mirror image rotates the same way: the angle loses its sign.",
    names=("F-037", "F-038", "F-039", "F-056", "F-057", "E-30", "P-07"),
    space=Space(values=("normal", "ones")),
    applies=negative_positions,
    general=True,
)
def conjugate(trial: Trial, case: Case) -> Finding:
    """(z e^{ⅈmθ})* = z* e^{-ⅈmθ}: a mirror image rotates the other way; and f(z) f(z)* = |z|^2."""
    positions = case.make_positions()
    z = case.make_x(positions)
    mirrored = _times(z, case, 1, 0, sign=-1).astype(z.dtype)
    there, back = trial.rotate(case, z, positions), trial.rotate(case, mirrored, -positions)
    call = called(case, mirrored, -positions)
    message = "f(z*, -m) is not f(z, m)*"
    allowed = _rounding(trial, case, z, mirrored)
    w = _complex_of(there, case)
    other = complex_plane.conjugate(w)
    mirror = compare(back, _written(other, there, case), allowed, message=message)
    length = np.abs(_complex_of(z, case))
    error = np.hypot(*pairs_of(_rounding(trial, case, z), case.convention))
    bound = (2 * length + error) * error + STEPS * length**2
    message = "f(z, m) f(z, m)* is not |z|^2, a real number"
    squares = complex_plane.squared_modulus(_complex_of(z, case))
    square = compare(w * w.conj(), squares, bound, name="f f*", message=message)
    return first(mirror, square).after(call)


@check(
    "CPLX-3.quarter-turn",
    "A quarter of a turn before is not one after: a pair is mirrored, or a member has a gain.",
    names=("F-040", "F-041", "P-08"),
    space=Space(values=("normal", "ones")),
    general=True,
)
def quarter_turn(trial: Trial, case: Case) -> Finding:
    """F(ⅈz, m) = ⅈ f(z, m), with ⅈ (a, b) = (-b, a)."""
    message = "f(iz, m) is not i f(z, m), where iz = (-z2, z1)"
    return _commutes(trial, case, (0, 1), complex_plane.times_i, message)


@check(
    "CPLX-7.product",
    "The product lacks a term or has a wrong sign: (ac - bd) + ⅈ(bc + ad) does not come out.",
    names=("F-059", "P-07"),
    space=Space(values=("normal", "ones")),
    general=True,
)
def product(trial: Trial, case: Case) -> Finding:
    """F(wz, m) = w f(z, m) for complex numbers w: the rotation is a complex product."""
    a, b = _FACTORS[case.seed % len(_FACTORS)]
    message = f"f(wz, m) is not w f(z, m) for w = {a} + {b}i"

    def times(z: Complex) -> Complex:
        return complex_plane.product(complex(a, b), z)

    return _commutes(trial, case, (a, b), times, message)


def _ones(case: Case) -> NDArray[Any]:
    """Return x with the number 1 in every pair: 1 in its first member, 0 in the second."""
    x = np.zeros(case.shape)
    pairs_of(x, case.convention)[0][...] = 1.0
    return x.astype(case.numpy_dtype)


@check(
    "CPLX-4.euler",
    "The number 1 does not become cos + ⅈ sin: the two are swapped, or ⅈ has the wrong sign.",
    names=("F-042", "F-043", "F-048", "F-053", "F-055", "E-07", "P-06"),
    space=Space(positions=("arange", "ragged", "negative", "spread")),
    share=0.5,
    general=True,
)
def euler(trial: Trial, case: Case) -> Finding:
    """F(1, m) = e^{ⅈmθ_i} = cos(mθ_i) + ⅈ sin(mθ_i), of modulus 1."""
    positions = case.make_positions()
    x = _ones(case)
    y = trial.rotate(case, x, positions)
    return trial.judge(case, x, positions, y, message="1 does not become cos + i sin")


@check(
    "CPLX-6.halves",
    "The two directions are no mirror images: the mean is not cos, or half the difference not sin.",
    names=("F-049", "F-050", "F-054", "P-06"),
    space=Space(positions=("arange", "ragged", "spread")),
    applies=negative_positions,
    share=0.5,
    general=True,
)
def halves(trial: Trial, case: Case) -> Finding:
    """(e^{ⅈa} + e^{-ⅈa})/2 = cos a and (e^{ⅈa} - e^{-ⅈa})/2ⅈ = sin a, a = mθ_i."""
    positions = case.make_positions()
    x = _ones(case)
    there, back = rotate(trial, case, x, positions), rotate(trial, case, x, -positions)
    (y1, y2), (w1, w2) = (pairs_of(side.y, case.convention) for side in (there, back))
    exact = trial.expect(case, x, positions).pairs
    allowed = (there.exact.allowed + back.exact.allowed) / 2
    b1, b2 = pairs_of(allowed, case.convention)
    zero = np.zeros_like(y1)
    wanted = ((y1 + w1) / 2, exact.cos + zero, b1), ((y2 + w2) / 2, zero, b2)
    rotated = ((y2 - w2) / 2, exact.sin + zero, b2), ((y1 - w1) / 2, zero, b1)
    findings = [
        compare(got, value, bound, name=name, message="cos or sin by exponentials is wrong")
        for name, group in (("cos", wanted), ("sin", rotated))
        for got, value, bound in group
    ]
    return worst(*findings, _by_exponentials(case, positions, wanted[0], rotated[0])).after(
        there.call
    )


def _by_exponentials(
    case: Case,
    positions: NDArray[np.int64],
    cosines: tuple[Float, Float, Float],
    sines: tuple[Float, Float, Float],
) -> Finding:
    """Compare the mean and half the difference with cos and sin by exponentials."""
    theta, gain = literal_frequencies(case), float(case.frequencies.gain)
    angle = frequencies.angles(positions, theta)[..., None, :]
    # What the float64 angle may be off by moves cos and sin as much.
    m = np.abs(positions.astype(np.float64))[..., None, None]
    own = angle_error("float64", m, theta, arithmetic="float64", machine=HOST)
    findings = []
    for name, form, (got, _, bound) in (
        ("cos_from_exp", complex_plane.cos_from_exp, cosines),
        ("sin_from_exp", complex_plane.sin_from_exp, sines),
    ):
        value = gain * np.broadcast_to(form(angle), got.shape)
        message = f"the two directions do not give what `complex_plane.{name}` gives"
        allowed = bound + gain * (np.minimum(own, 2.0) + STEPS)
        findings.append(compare(got, value, allowed, name=name, message=message))
    return worst(*findings)


_DEGREES = (0, 1, 2, 3, 4, 5, 8, 40)
"""Where the series are cut: early, where a term more or less shows, and beyond all digits."""

_WITHIN_REACH = Space(positions=("arange", "ragged", "negative"), max_position=6)
"""Angles of a few radians, where 40 terms of a series are enough."""


def _remainder(angle: float, degree: int) -> tuple[complex, float]:
    """Return the first term after a series of e^{ⅈx} cut at a degree, and what the rest may be.

    The rest is |x|^(N+2)/(N+2)! at most, and the sum is rounded relative to its largest term.
    """
    term = (1j * angle) ** (degree + 1) / math.factorial(degree + 1)
    rest = abs(angle) ** (degree + 2) / math.factorial(degree + 2)
    return term, rest + STEPS * math.exp(abs(angle))


@check(
    "CPLX-4.forms",
    "e^{ⅈx} is not cos x + ⅈ sin x, or its series grouped by real and imaginary terms is another.",
    names=("F-042", "F-043", "F-047", "F-048", "F-054", "F-055", "F-058", "P-06"),
    space=_WITHIN_REACH,
    share=FEW,
    general=True,
)
def euler_forms(trial: Trial, case: Case) -> Finding:
    """The rotated 1 is e^{ⅈmθ_i}, also by its series, and e^{ⅈmθ_i} e^{-ⅈnθ_i} = e^{ⅈ(m-n)θ_i}."""
    positions = case.make_positions()
    n = int(positions[0, -1])
    x = _ones(case)
    found = beside(trial, case, x, positions)
    other = beside(trial, case, x, np.full_like(positions, n))
    seen = Forms("the rotated 1", found.call)
    pairs = zip(sides(case, x, found, positions), sides(case, x, other, positions), strict=True)
    for one, fixed in pairs:
        angle = one.m * one.theta
        seen.add("complex_plane.euler", one.w, complex_plane.euler(angle), one.error)
        product, off = one.w * fixed.w.conjugate(), one.error + fixed.error + STEPS
        difference = complex_plane.euler((one.m - n) * one.theta)
        seen.add("complex_plane.euler", product, difference, off)
        two = complex_plane.phase_difference(one.m, n, theta=one.theta)
        seen.add("complex_plane.phase_difference", product, two, off)
        for degree in _DEGREES:
            term, rest = _remainder(angle, degree)
            for name in ("euler_substituted", "euler_reduced", "euler_series"):
                cut = getattr(complex_plane, name)(angle, degree)
                seen.add(f"complex_plane.{name}", one.w, cut + term, one.error + rest)
    return seen.finding()


@check(
    "CPLX-5.forms",
    "A series of exp, sin or cos has a wrong term, sign or end.",
    names=("F-044", "F-045", "F-046", "P-06"),
    space=_WITHIN_REACH,
    share=FEW,
    general=True,
)
def series(trial: Trial, case: Case) -> Finding:
    """The series, cut anywhere, are off from the rotated 1 by the next term, and little more."""
    positions = case.make_positions()
    x = _ones(case)
    found = beside(trial, case, x, positions)
    seen = Forms("the rotated 1", found.call)
    for one in sides(case, x, found, positions):
        angle = one.m * one.theta
        for degree in _DEGREES:
            term, rest = _remainder(angle, degree)
            cos, sin = (
                form(angle, degree) for form in (complex_plane.cos_series, complex_plane.sin_series)
            )
            power = complex_plane.exp_series(1j * angle, degree)
            bound = one.error + rest
            seen.add("complex_plane.exp_series", one.w, power + term, bound)
            seen.add("complex_plane.cos_series", one.y[0], cos + term.real, bound)
            seen.add("complex_plane.sin_series", one.y[1], sin + term.imag, bound)
    return seen.finding()


def _with_extremes(case: Case) -> NDArray[Any]:
    """Return x with an infinity or NaN in one place for some seeds: nothing may be lost."""
    x = case.make_x().copy()
    if case.seed % 4:
        x[..., case.seed % case.head_dim] = (np.inf, -np.inf, np.nan)[case.seed % 4 - 1]
    return x


def _same(got: NDArray[Any], wanted: NDArray[Any], call: Call, name: str) -> Finding:
    """Compare bit for bit."""
    if got.shape != wanted.shape:
        return broken(f"{name} has shape {got.shape}; expected {wanted.shape}", call=call)
    same = unchanged(wanted, got)
    if same.all():
        return held()
    index = np.unravel_index(int(np.argmin(same)), same.shape)
    return broken(
        f"{name} must be the component as it is, bit for bit",
        where=f"{name}[{', '.join(str(int(i)) for i in index)}]",
        expected=float(wanted[index]),
        got=float(got[index]),
        budget=0.0,
        call=call,
    )


_EXACT = Space(values=("normal", "signed_zero", "ones"), positions=("arange",))


@check(
    "CPLX-8.to-complex",
    "The pair is read from the two halves, in the wrong order, or an infinity becomes NaN.",
    needs=("to_complex",),
    names=("F-060", "F-061"),
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
    "CPLX-8.from-complex",
    "Real and imaginary parts are put into two halves instead of side by side.",
    needs=("from_complex",),
    names=("F-060", "F-061"),
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
    "CPLX-8.reference",
    "The complex numbers differ from those of the literal NumPy reference.",
    needs=("to_complex",),
    names=("F-060", "F-061", "P-47"),
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
    "CPLX-8.reference-back",
    "The components differ from those of the literal NumPy reference.",
    needs=("from_complex",),
    names=("F-060", "F-061", "P-47"),
    space=_EXACT,
    share=0.5,
)
def from_complex_reference(trial: Trial, case: Case) -> Finding:
    """From_complex equals the reference, bit for bit."""
    z = _complex(case)
    call = Call("from_complex", (z,))
    return _same(trial.call("from_complex", (z,)).values[0], reference.from_complex(z), call, "x")
