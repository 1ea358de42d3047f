"""What a caller relies on beside the values: dtype, strides, linearity, NaN, empty, gradient."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.seen import Seen, agree
from ropespec.conformance.identify.facts import Name, Pairing
from ropespec.conformance.identify.found import Found
from ropespec.conformance.identify.probe import Float, Probe, drawn
from ropespec.conformance.mistakes.chain import run
from ropespec.spec.convention import Keywords
from ropespec.spec.convention import Pairing as Claimed

__all__ = ["contract"]

_TOLERANCE = {"float64": 1e-5, "float32": 1e-4, "float16": 8e-3}
_HALF = 6e-2  # what two calls in bfloat16 may differ by
_PAIRINGS = {Claimed.INTERLEAVED: Pairing.INTERLEAVED, Claimed.HALF: Pairing.HALF}


def contract(probe: Probe, dim: int, found: Found | None) -> Iterator[tuple[Name, Any]]:
    """Return what each call shows, as far as numbers came.

    Parameters
    ----------
    probe : Probe
        The subject.
    dim : int
        A head_dim.
    found : Found or None
        Its convention, where it was confirmed.
    """
    claimed = probe.profile
    yield Name.RESULT_DTYPE, _dtypes(probe, dim)
    yield Name.LINEAR, _linear(probe, dim)
    if claimed.strided:
        yield Name.STRIDES, _strides(probe, dim)
    yield Name.REACH, _reach(probe, dim)
    if claimed.empty:
        yield Name.EMPTY, _empty(probe, dim)
    yield Name.FLAGS, _ignored(probe, dim)
    if found is not None:
        yield Name.CONTAINMENT, _containment(probe, dim, found)
        yield Name.LAYOUTS, _layouts(probe, dim, found)
        if claimed.gradients and hasattr(probe.session, "vjp"):
            yield Name.GRADIENT, _gradient(probe, dim, found)


def _close(left: Float | None, right: Float | None, tolerance: float) -> bool:
    if left is None or right is None:
        return False
    return bool(np.abs(left - right).max() <= tolerance * max(float(np.abs(right).max()), 1e-30))


def _room(probe: Probe) -> float:
    return _TOLERANCE.get(probe.dtype, _HALF)


def _dtypes(probe: Probe, dim: int) -> tuple[tuple[str, str], ...]:
    """Return pairs (dtype of x, dtype of the result) for the claimed dtypes."""
    x, positions = drawn(dim)
    found = []
    for dtype in dict.fromkeys((*probe.profile.dtypes, probe.dtype)):
        answer = probe.ask(probe.given(x, positions, dtype=dtype))
        if answer is not None and answer.y is not None:
            other = answer.detail.rpartition("dtype ")[2] if answer.fault == "dtype" else dtype
            found.append((dtype, other))
    return tuple(found)


def _strides(probe: Probe, dim: int) -> str | None:
    """Return `any`, `contiguous only` or `raises`; None if there are no numbers to compare."""
    x, positions = drawn(dim)
    plain = probe.rotate(x, positions)
    view = probe.ask(probe.given(x, positions, strided=True))
    if view is None or plain is None:
        return None
    if view.y is None:
        return "raises" if view.fault == "raises" else None
    if not _close(probe.rotate(x, positions), plain, 1e-6):
        return "any"  # the same call differs as well
    return "any" if _close(view.y, plain, 1e-6) else "contiguous only"


def _linear(probe: Probe, dim: int) -> str | None:
    """Return `yes`, `normalised` or `no`; None without all the numbers."""
    (x, positions), (other, _) = drawn(dim), drawn(dim, 37)
    one, large, both, second = (
        probe.rotate(part, positions) for part in (x, 64 * x, x + other, other)
    )
    if one is None or large is None or both is None or second is None:
        return None
    tolerance = 4 * _room(probe)
    if _close(large, one, tolerance):
        return "normalised"
    whole = _close(large, 64 * one, tolerance) and _close(both, one + second, tolerance)
    return "yes" if whole else "no"


def _reach(probe: Probe, dim: int) -> str | None:
    """Return `own token`, or what else a change of x at one token, row and head shows in.

    None if there are no numbers to compare.
    """
    x, positions = drawn(dim)
    changed = x.copy()
    changed[1, 2, 1] += 1.0
    one, two = probe.rotate(x, positions), probe.rotate(changed, positions)
    if one is None or two is None:
        return None
    with np.errstate(invalid="ignore"):
        hit = ~(np.abs(two - one).max(axis=-1) <= 1e-3)
    hit[1, 2, 1] = False
    for name, others in (("other heads", hit[1, 2]), ("other tokens", hit[1]), ("other rows", hit)):
        if others.any():
            return name
    return "own token"


def _empty(probe: Probe, dim: int) -> str | None:
    """Return `works`, or the axes of length zero that raise; None if it does neither."""
    refused, works = [], True
    for axis, name in enumerate(("batch", "sequence", "heads")):
        if axis == 0 and probe.manner.one_row:
            continue
        shape = [2, 3, 2, dim]
        shape[axis] = 0
        answer = probe.ask(probe.given(np.zeros(shape), np.zeros(shape[:2], dtype=np.int64)))
        if answer is not None and answer.fault == "raises":
            refused.append(name)
        works &= answer is not None and answer.y is not None
    return ", ".join(refused) or ("works" if works else None)


def _ignored(probe: Probe, dim: int) -> tuple[tuple[str, str], ...]:
    """Return the keywords that are taken and change nothing, with the kind of call."""
    changes: dict[str, tuple[Keywords, Keywords]] = {
        "interleaved": ({"interleaved": True}, {"interleaved": False}),
        "base": ({"base": 10000.0}, {"base": 500.0}),
        "rotary_dim": ({"rotary_dim": dim}, {"rotary_dim": max(dim // 2 // 2 * 2, 2)}),
    }
    x, positions = drawn(dim)
    found = []
    calls = {"any": (x, positions), "S=1": (x[:, 3:4], positions[:, 3:4])}
    for name, (one, other) in changes.items():
        if name not in probe.taken or dim < 8:
            continue
        for dtype in dict.fromkeys((probe.dtype, *probe.profile.dtypes)):
            for label, (part, where) in calls.items():
                left = probe.rotate(part, where, dtype=dtype, **one)
                right = probe.rotate(part, where, dtype=dtype, **other)
                if left is not None and right is not None and np.array_equal(left, right):
                    found.append((name, label if dtype == probe.dtype else dtype))
    return tuple(dict.fromkeys(found))


def _containment(probe: Probe, dim: int, found: Found) -> str | None:
    """Return `stays` if NaN in one pair stays there, `spreads` if not, None if it is not known."""
    x, positions = drawn(dim)
    clean = probe.rotate(x, positions)
    for value in (np.nan, np.inf):
        dirty = x.copy()
        dirty[1, 2, 1, 0] = value
        answer = probe.ask(probe.given(dirty, positions))
        if answer is None or clean is None:
            return None
        if answer.y is None:
            return "raises" if answer.fault == "raises" else None
        lost = ~np.isfinite(run(found.chain, answer.given).y)
        if not _close(answer.y[~lost], clean[~lost], _room(probe)):
            return "spreads"
    return "stays"


def _layouts(probe: Probe, dim: int, found: Found) -> tuple[Pairing, Pairing] | None:
    """Return the pairings with interleaved=True and interleaved=False, where both are seen.

    None as well where the two cannot be told apart, or there is no such keyword.
    """
    own, given = found.by.pairing, probe.profile.layouts[0]
    if "interleaved" not in probe.taken or found.by.dim(dim) < 4 or not found.is_plain:
        return None
    other = Claimed.of(own is not Claimed.INTERLEAVED)
    call = probe.given(*drawn(dim), interleaved=not given)
    answer = probe.ask(call)
    made = run(replace(found, by=replace(found.by, pairing=other)).chain, call)
    if answer is None or answer.y is None or not agree(answer.y, made).all():
        return None
    one, two = _PAIRINGS[own], _PAIRINGS[other]
    return (one, two) if given else (two, one)


def _gradient(probe: Probe, dim: int, found: Found) -> str | None:
    """Return what the gradient is, which must be the rotation by the opposite angle."""
    chain, asker = found.chain, Asker(probe.asker.session, backward=True)
    back = replace(chain, product=lambda a, b, c, s: chain.product(a, b, c, -s))
    x, positions = drawn(dim)
    if not probe.manner.one_row:
        positions[1:] += 5
    strided = probe.profile.strided and probe.profile.framework.has_strides
    rows = slice(1) if probe.manner.axes == "shd" else slice(None)
    given = probe.given(x[rows], positions[rows])
    for one in (given, replace(given, strided=True)) if strided else (given,):
        answer = asker.ask(one)
        if answer is None:
            return None
        if answer.y is None:
            has = probe.profile.framework.has_gradients
            none = "none" if has else None
            return none if answer.fault == "no gradient" else answer.fault
        if Seen(answer, back).off.any():
            return "zero" if not answer.y.any() else "wrong"
    return "right"
