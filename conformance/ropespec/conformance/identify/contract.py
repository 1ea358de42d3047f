"""What a caller relies on beside the values: dtype, strides, linearity, NaN, empty input."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.facts import Pairing
from ropespec.conformance.identify.model import Model
from ropespec.conformance.identify.paths import tolerance_of
from ropespec.conformance.identify.probe import Probe

__all__ = [
    "containment",
    "empty",
    "ignored_keywords",
    "layouts",
    "linearity",
    "reach",
    "result_dtypes",
    "strides",
]

Float = NDArray[np.float64]

_OTHER = {Pairing.INTERLEAVED: Pairing.HALF, Pairing.HALF: Pairing.INTERLEAVED}
_HALF = 2e-2  # what the sum of two results in half precision may be off by


def _drawn(dim: int, seed: int = 31) -> tuple[Float, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((2, 5, 3, dim)).astype(np.float32).astype(np.float64)
    return x, np.broadcast_to(np.array([1, 4, 2, 9, 30]), (2, 5)).copy()


def _close(left: Float | None, right: Float | None, tolerance: float) -> bool:
    if left is None or right is None:
        return False
    return bool(np.abs(left - right).max() <= tolerance * max(float(np.abs(right).max()), 1e-30))


def result_dtypes(probe: Probe, dim: int) -> tuple[tuple[str, str], ...]:
    """Return pairs (dtype of x, dtype of the result) for the claimed dtypes."""
    x, positions = _drawn(dim)
    found = []
    for dtype in dict.fromkeys((*probe.session.profile.dtypes, probe.dtype)):
        seen = probe.rotate(x, positions, dtype=dtype)
        if seen.dtype:
            found.append((dtype, seen.dtype))
    return tuple(found)


def strides(probe: Probe, dim: int) -> str | None:
    """Return `any`, `contiguous only` or `raises`; None if there are no numbers to compare."""
    x, positions = _drawn(dim)
    plain, view = probe.rotate(x, positions), probe.rotate(x, positions, strided=True)
    if plain.y is None or view.y is None:
        return "raises" if view.error and not plain.fault else None
    if not _close(probe.rotate(x, positions).y, plain.y, 1e-6):
        return "any"  # the same call differs as well
    return "any" if _close(view.y, plain.y, 1e-6) else "contiguous only"


def linearity(probe: Probe, dim: int) -> str | None:
    """Return `yes`, `rounded`, `normalised`, `clipped` or `no`; None without all the numbers.

    `rounded` is a sum that is off by the roundings of half precision, though x has more.
    """
    x, positions = _drawn(dim)
    other, _ = _drawn(dim, 37)
    tolerance = 4 * tolerance_of(probe.dtype)
    one, large = probe.rotate(x, positions).y, probe.rotate(64 * x, positions).y
    both, second = probe.rotate(x + other, positions).y, probe.rotate(other, positions).y
    small = probe.rotate(x / 64, positions).y
    if one is None or large is None or both is None or second is None or small is None:
        return None
    if _close(large, one, tolerance):
        return "normalised"
    if _close(large, 64 * one, tolerance):
        if _close(both, one + second, tolerance):
            return "yes"
        fine = probe.dtype in ("float32", "float64")
        return "rounded" if fine and _close(both, one + second, _HALF) else "no"
    tame = probe.rotate(x / 32, positions).y
    return "clipped" if _close(tame, 2 * small, tolerance) else "no"


def reach(probe: Probe, dim: int) -> str | None:
    """Return `own token`, or what else a change of x at one token, row and head shows in.

    None if there are no numbers to compare.
    """
    x, positions = _drawn(dim)
    changed = x.copy()
    changed[1, 2, 1] += 1.0
    one, two = probe.rotate(x, positions).y, probe.rotate(changed, positions).y
    if one is None or two is None:
        return None
    with np.errstate(invalid="ignore"):
        hit = ~(np.abs(two - one).max(axis=-1) <= 1e-3)
    hit[1, 2, 1] = False
    words = []
    for name, others in (("other heads", hit[1, 2]), ("other tokens", hit[1]), ("other rows", hit)):
        if others.any():
            words.append(name)
            break
    return words[0] if words else "own token"


def containment(probe: Probe, dim: int, model: Model | None) -> str | None:
    """Return `stays` if NaN in one pair stays there, `spreads` if not, None if it is not known."""
    if model is None or not model.usable:
        return None
    x, positions = _drawn(dim)
    pair = model.channels.inputs[0]
    clean = probe.rotate(x, positions).y
    for value in (np.nan, np.inf):
        dirty = x.copy()
        dirty[1, 2, 1, int(pair[0])] = value
        with np.errstate(invalid="ignore"):
            seen = probe.rotate(dirty, positions)
        y = seen.y
        if y is None or clean is None:
            return "raises" if seen.error and clean is not None else None
        keep = np.ones(x.shape, dtype=bool)
        keep[1, 2, 1, pair] = False
        off = np.abs(y[keep] - clean[keep])
        if not (off <= tolerance_of(probe.dtype) * np.abs(x).max()).all():
            return "spreads"
    return "stays"


def empty(probe: Probe, dim: int) -> str | None:
    """Return `works`, or the axes of length zero that raise; None if it does neither.

    None as well if it does not claim to take any.
    """
    if not probe.session.profile.empty:
        return None
    refused, works = [], True
    for axis, name in enumerate(("batch", "sequence", "heads")):
        if axis == 0 and (probe.manner.axes == "shd" or probe.manner.shared):
            continue
        shape = [2, 3, 2, dim]
        shape[axis] = 0
        seen = probe.rotate(np.zeros(shape), np.zeros(shape[:2], dtype=np.int64))
        if seen.error:
            refused.append(name)
        works &= seen.y is not None
    if refused:
        return ", ".join(refused)
    return "works" if works else None


def layouts(probe: Probe, dim: int, model: Model | None) -> tuple[Pairing, Pairing] | None:
    """Return the pairings with interleaved=True and interleaved=False, where both are seen.

    None as well where the two cannot be told apart, or there is no such keyword.
    """
    if model is None or not model.usable or "interleaved" not in probe.taken:
        return None
    own, given = model.channels.pairing, probe.session.profile.layouts[0]
    if own not in _OTHER or model.channels.rotary_dim < 4:
        return None
    x, positions = _drawn(dim)
    seen = probe.rotate(x, positions, interleaved=not given)
    expected = model.turn(x, positions, other=True)
    if not _close(seen.y, expected, tolerance_of(probe.dtype)):
        return None
    return (own, _OTHER[own]) if given else (_OTHER[own], own)


def ignored_keywords(probe: Probe, dim: int) -> tuple[tuple[str, str], ...]:
    """Return the keywords that are taken and change nothing, with the kind of call."""
    changes: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "interleaved": ({"interleaved": True}, {"interleaved": False}),
        "base": ({"base": 10000.0}, {"base": 500.0}),
        "rotary_dim": ({"rotary_dim": dim}, {"rotary_dim": max(dim // 2 // 2 * 2, 2)}),
    }
    x, positions = _drawn(dim)
    found = []
    calls = {"any": (x, positions), "S=1": (x[:, 3:4], positions[:, 3:4])}
    for name in ("interleaved", "base", "rotary_dim"):
        if name not in probe.taken or dim < 8:
            continue
        one, other = changes[name]
        for dtype in dict.fromkeys((probe.dtype, *probe.session.profile.dtypes)):
            for label, (part, where) in calls.items():
                left = probe.rotate(part, where, dtype=dtype, **one).y
                right = probe.rotate(part, where, dtype=dtype, **other).y
                if left is not None and right is not None and np.array_equal(left, right):
                    found.append((name, label if dtype == probe.dtype else dtype))
    return tuple(dict.fromkeys(found))
