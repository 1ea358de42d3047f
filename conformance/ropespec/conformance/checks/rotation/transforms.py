"""Checks of gradients and transforms: ROT-20 beyond its first derivative, and ROT-24."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.common import alike, called, elsewhere
from ropespec.conformance.checks.shared import gradients_claimed
from ropespec.conformance.judge.finding import Finding, broken, compare, held, worst
from ropespec.conformance.judge.precision import UNIT_ROUNDOFF
from ropespec.conformance.registry import check
from ropespec.conformance.subject.layout import (
    from_subject,
    positions_for_subject,
    result_from_subject,
    result_to_subject,
    to_subject,
)
from ropespec.conformance.subject.session import NotDifferentiable
from ropespec.conformance.trial import Trial

__all__: list[str] = []

Array = NDArray[Any]

FEW: dict[str, Any] = {"share": 0.15}
"""Every case may be compiled anew."""

SOME = Space(
    values=("normal", "ones", "padded"),
    positions=("ragged", "spread", "shuffled"),
    min_seq=2,
    min_heads=2,
    max_position=2**31 - 1,
)
"""Positions that differ by row, within 32 bits, which a traced integer may have at most."""


def has_transforms(trial: Trial) -> str | None:
    """Need a framework with transforms."""
    room = trial.profile.framework
    return None if room.transforms else f"{room.name} has no transforms"


def differentiates(trial: Trial) -> str | None:
    """Need a framework with transforms, and that they may differentiate."""
    return has_transforms(trial) or gradients_claimed(trial)


def has_gradient(trial: Trial) -> str | None:
    """Need a framework with gradients, or a function that stands for one."""
    if trial.profile.framework.has_gradients or "apply_rotary_vjp" in trial.session.offers:
        return gradients_claimed(trial)
    return f"{trial.profile.array} has no gradients, and apply_rotary_vjp is not offered"


def _placed(case: Case) -> Array:
    """Positions as they were drawn, and in every second case from the last that is claimed on.

    Values that are traced are not looked at: a table that is long enough for a plain call is not.
    """
    return (_far(case) if case.seed % 2 else case).make_positions()


def _far(case: Case) -> Case:
    """The ends of all that is claimed."""
    return replace(case, positions="ends")


def _settled(trial: Trial, case: Case) -> Case:
    """Take the claimed base and rotary_dim, so that few programs are compiled."""
    claimed = trial.profile
    return case.stating(base=float(claimed.base), rotary_dim=claimed.rotary_dim)


_LIKE = {
    "second": ("yx", "yx"),
    "two_calls": ("yy", "x"),
    "taken_again": ("yy", "xx"),
    "positions_reused": ("y", "x"),
    "jvp": ("x", "yy"),
    "compiled": ("y", "yx"),
}
"""Of each transform, whether what it takes beside x, and what it returns, is like x or like y."""

_SENT = {"x": to_subject, "y": result_to_subject}
_RECEIVED = {"x": from_subject, "y": result_from_subject}


def _apply(
    trial: Trial,
    transform: str,
    case: Case,
    given: tuple[Array, Array],
    *extra: Array,
    others: Sequence[Array] = (),
) -> tuple[Array, ...]:
    """Apply a transform to the rotation; arrays and results are (B, S, H, D), `others` (B, S)."""
    claimed, (given_like, like) = trial.profile, _LIKE[transform]
    reply = trial.session.transform(
        transform,
        "apply_rotary",
        [to_subject(given[0], claimed), positions_for_subject(given[1], claimed)],
        [
            *(_SENT[like](item, claimed) for like, item in zip(given_like, extra, strict=False)),
            *(positions_for_subject(item, claimed) for item in others),
        ],
        keywords=trial.session.conventions("apply_rotary", case.keywords),
    )
    shape = to_subject(given[0], claimed).shape
    return tuple(
        _RECEIVED[kind](value, claimed) if value.shape == shape else value
        for kind, value in zip(like, reply.values, strict=False)
    )


def _as_plain(
    trial: Trial,
    case: Case,
    given: tuple[Array, Array],
    got: Array,
    message: str,
    plain: Array | None = None,
) -> Finding:
    """Compare with the plain call of the same x: each of the two may err by its own budget."""
    expected = trial.rotate(case, *given) if plain is None else plain
    return alike(trial, case, *given, got, expected, message)


@check(
    "ROT-20.tail",
    "The gradient of the components that do not rotate is lost, or is no longer the cotangent.",
    space=Space(values=("normal",), partial=True, min_dim=4),
    applies=lambda trial: has_gradient(trial) or _no_tail(trial),
    share=0.3,
    every_dtype=True,
)
def tail(trial: Trial, case: Case) -> Finding:
    """Components rotary_dim and above of the gradient are those of the cotangent, bit for bit."""
    positions = case.make_positions()
    x, cotangent = case.make_x(positions), case.make_x(positions, seed=1)
    got = trial.rotate_vjp(case, x, positions, cotangent)
    call = called(case, x, positions)
    exact = cotangent[..., case.dim :].astype(np.float64)
    message = f"the gradient of what does not rotate (rotary_dim {case.dim}) is not the cotangent"
    return compare(got[..., case.dim :], exact, 0.0, name="gradient", message=message).after(call)


def _no_tail(trial: Trial) -> str | None:
    claimed = trial.profile
    if "rotary_dim" in trial.keywords("apply_rotary"):
        return None if max(claimed.head_dims) > 2 else "no tail claimed"
    whole = claimed.rotary_dim is None or claimed.rotary_dim >= max(claimed.head_dims)
    return "no tail claimed: all components rotate" if whole else None


@check(
    "ROT-20.differences",
    "The gradient belongs to another function than the one that was computed.",
    space=Space(values=("normal", "ones"), dtypes=("float64",)),
    applies=has_gradient,
    share=0.3,
)
def differences(trial: Trial, case: Case) -> Finding:
    """<c, f(x + v) - f(x - v)> / 2 = <J^T c, v>: f is linear, so the difference is no estimate."""
    positions = case.make_positions()
    x, c, v = (_coarse(case.make_x(positions, seed=seed)) for seed in range(3))
    ahead, behind = trial.rotate(case, x + v, positions), trial.rotate(case, x - v, positions)
    back = trial.rotate_vjp(case, x, positions, c)
    call = called(case, x, positions)
    off = trial.allowed(case, x + v, positions) + trial.allowed(case, x - v, positions)
    lost = trial.expect(case, c, -positions).allowed(trial.loosest(case.dtype), trial.machine)
    sums = 2.0**-52 * c.size * (np.abs(c * (np.abs(x) + np.abs(v))).sum() + np.abs(c * v).sum())
    allowed = float((np.abs(c) * off).sum() / 2 + (lost * np.abs(v)).sum() + 2 * sums)
    left, right = float((c * (ahead - behind)).sum() / 2), float((back * v).sum())
    message = "the gradient is not the slope of the function"
    return compare(
        np.array([right]), np.array([left]), allowed, name="<J^T c, v>", message=message
    ).after(call)


def _coarse(x: Array) -> Array:
    """Keep few bits, so that sums of two are exact."""
    return np.asarray(np.round(np.clip(x, -64, 64) * 1024) / 1024)


@check(
    "ROT-20.second",
    "The second derivative is lost: the gradient is a constant for whoever differentiates it.",
    space=SOME,
    applies=differentiates,
    **FEW,
)
def second(trial: Trial, case: Case) -> Finding:
    """The derivative of R_m^T c with respect to c, along u, is R_m u; that with respect to x is 0.

    Its pullback takes u to R_m u, the plain call.
    """
    positions = _placed(case)
    x, c, u = (case.make_x(positions, seed=seed) for seed in range(3))
    got = _apply(trial, "second", case, (x, positions), c, u)
    call = called(case, x, positions)
    if len(got) != 2:
        return broken(f"two gradients must come back; got {len(got)}", call=call)
    message = "the gradient, differentiated by its cotangent, is not R_m u"
    of_c = _as_plain(trial, case, (u, positions), got[0], message)
    message = "the gradient depends on x, and the rotation is linear"
    of_x = compare(got[1], np.zeros(x.shape), 0.0, name="second derivative", message=message)
    return worst(of_c, of_x.after(call))


@check(
    "ROT-20.two-calls",
    "The step back takes the tables of the latest call, or of the first, not those of its own.",
    space=SOME,
    applies=differentiates,
    **FEW,
)
def two_calls(trial: Trial, case: Case) -> Finding:
    """The gradient of <c, f(x, m)> + <d, f(x, n)> is the sum of the gradients of each."""
    m = _placed(case)
    n = elsewhere(m)
    x, c, d = (case.make_x(m, seed=seed) for seed in range(3))
    (got,) = _apply(trial, "two_calls", case, (x, m), c, d, others=(n,))
    one, two = (trial.rotate_vjp(case, x, *of).astype(np.float64) for of in ((m, c), (n, d)))
    exact = one + two
    allowed = 2 * (trial.allowed(case, c, -m) + trial.allowed(case, d, -n))
    allowed = allowed + UNIT_ROUNDOFF[case.dtype] * (np.abs(exact) + allowed)
    message = "the gradient through two calls is not the sum of those of each"
    finding = compare(got, exact, allowed, name="gradient", message=message)
    return finding.after(called(case, x, m))


def _able(transform: str, otherwise: str) -> Callable[[Trial], str | None]:
    """Need a framework that can do this to a call, and that gradients are claimed."""

    def applies(trial: Trial) -> str | None:
        room = trial.profile.framework
        can = transform in room.transforms
        return gradients_claimed(trial) if can else f"{room.name} {otherwise}"

    return applies


@check(
    "ROT-20.again",
    "The step back changes what was kept for it, so that the next through the same call is wrong.",
    space=SOME,
    applies=_able("taken_again", "keeps no call to go back through"),
    **FEW,
)
def taken_again(trial: Trial, case: Case) -> Finding:
    """Two steps back through one call each give the rotation of their own cotangent."""
    m = _placed(case)
    x, c, d = (case.make_x(m, seed=seed) for seed in range(3))
    message = "the gradient is another when it is taken a second time through one call"
    found = [
        _as_plain(trial, case, (of, -m), got, message, trial.rotate_vjp(case, x, m, of))
        for of, got in zip((c, d), _apply(trial, "taken_again", case, (x, m), c, d), strict=True)
    ]
    return worst(*found)


@check(
    "ROT-20.reused",
    "The step back reads the positions again, whatever stands there by then.",
    space=SOME,
    applies=_able("positions_reused", "keeps positions as they were"),
    **FEW,
)
def reused(trial: Trial, case: Case) -> Finding:
    """The gradient is that at the positions of the call, though others are written over them.

    The framework may refuse to go back then: nobody takes that for a gradient.
    """
    m = _placed(case)
    x, c = (case.make_x(m, seed=seed) for seed in range(2))
    (got,) = _apply(trial, "positions_reused", case, (x, m), c, others=(elsewhere(m),))
    if not got.size:
        return held()
    plain = trial.rotate_vjp(case, x, m, c)
    allowed = 2 * trial.allowed(case, c, -m)
    message = "the gradient changes with what is written into the positions after the call"
    finding = compare(got, plain.astype(np.float64), allowed, name="gradient", message=message)
    return finding.after(called(case, x, m))


@check(
    "ROT-24.jvp",
    "The derivative in forward mode is not the rotation of the tangent.",
    space=SOME,
    applies=differentiates,
    **FEW,
)
def jvp(trial: Trial, case: Case) -> Finding:
    """jvp of f(., m) at x along t is (f(x, m), f(t, m))."""
    positions = _placed(case)
    x, t = case.make_x(positions), case.make_x(positions, seed=1)
    got = _apply(trial, "jvp", case, (x, positions), t)
    if len(got) != 2:
        call = called(case, x, positions)
        return broken(f"a value and a tangent must come back; got {len(got)}", call=call)
    message = "the tangent of forward mode is not R_m t"
    ahead = _as_plain(trial, case, (t, positions), got[1], message)
    message = "the value of forward mode is not that of the plain call"
    return worst(ahead, _as_plain(trial, case, (x, positions), got[0], message))


_MAPPED: tuple[tuple[str, Callable[[int], tuple[int | None, int | None]]], ...] = (
    ("x and positions", lambda axis: (axis, 0)),
    ("x alone", lambda axis: (axis, None)),
    ("positions alone", lambda _: (None, 0)),
)


@check(
    "ROT-24.vmap",
    "A batching rule forgets that x or the positions are mapped.",
    space=SOME,
    applies=has_transforms,
    **FEW,
)
def vmap(trial: Trial, case: Case) -> Finding:
    """vmap over x, over positions, and over both is the stack of the plain calls."""
    one = case.make_positions()
    places = (one, _far(case).make_positions())
    xs = tuple(case.make_x(one, seed=seed) for seed in range(2))
    findings = []
    for name, choose in _MAPPED:
        axes = choose(case.seed % 2 if trial.profile.strided else 0)  # of views, or of whole arrays
        got = _mapped(trial, case, xs, places, axes)
        if isinstance(got, Finding):
            return got.after(called(case, xs[0], one))
        for i in range(2):
            given = (xs[0 if axes[0] is None else i], places[0 if axes[1] is None else i])
            message = f"vmap over {name} is not the plain call of each"
            findings.append(_as_plain(trial, case, given, got[i], message))
    return worst(*findings)


def _mapped(
    trial: Trial,
    case: Case,
    xs: Sequence[Array],
    places: Sequence[Array],
    axes: tuple[int | None, int | None],
) -> list[Array] | Finding:
    claimed = trial.profile
    sent = [to_subject(x, claimed) for x in xs]
    where = [positions_for_subject(place, claimed) for place in places]
    reply = trial.session.transform(
        "vmap",
        "apply_rotary",
        [
            sent[0] if axes[0] is None else np.stack(sent, axis=axes[0]),
            where[0] if axes[1] is None else np.stack(where),
        ],
        keywords=trial.session.conventions("apply_rotary", case.keywords),
        axes=axes,
    )
    shape = (len(xs), *sent[0].shape)
    if len(reply.values) != 1 or reply.values[0].shape != shape:
        return broken(f"vmap gives {', '.join(reply.descriptions)}; expected shape {shape}")
    return [result_from_subject(y, claimed) for y in reply.values[0]]


@check(
    "ROT-24.compiled",
    "What a compiler has traced gives other numbers: positions or a branch are baked in.",
    space=SOME,
    applies=has_transforms,
    **FEW,
)
def compiled(trial: Trial, case: Case) -> Finding:
    """Under the compiler value and gradient are those of plain calls, at any positions.

    The plain call is made again afterwards: what was traced must not leak into it.
    """
    case = _settled(trial, case)
    first = case.make_positions()
    x, c = case.make_x(first), case.make_x(first, seed=1)
    cotangents = (c,) if trial.profile.gradients else ()
    before = trial.rotate(case, x, first)
    findings = []
    new = _far(case).make_positions()
    for where, words in ((first, ""), (new, " at positions that are new to it")):
        got = _apply(trial, "compiled", case, (x, where), *cotangents)
        message = f"the compiled function gives another result than the plain one{words}"
        findings.append(_as_plain(trial, case, (x, where), got[0], message))
        if len(got) > 1:
            findings.append(_same_gradient(trial, case, (x, where), c, got[1]))
    message = "the plain call gives another result once the function was compiled"
    after = trial.rotate(case, x, first)
    return worst(*findings, _as_plain(trial, case, (x, first), after, message, before))


def _same_gradient(
    trial: Trial, case: Case, given: tuple[Array, Array], c: Array, got: Array
) -> Finding:
    x, positions = given
    try:
        plain = trial.rotate_vjp(case, x, positions, c)
    except NotDifferentiable:
        plain = np.full(x.shape, np.nan)
    allowed = 2 * trial.expect(case, c, -positions).allowed(
        trial.loosest(case.dtype), trial.machine
    )
    message = "the gradient of the compiled function is not that of the plain one"
    return compare(got, plain.astype(np.float64), allowed, name="gradient", message=message).after(
        called(case, x, positions)
    )
