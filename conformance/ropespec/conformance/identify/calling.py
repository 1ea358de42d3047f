"""How a subject wants to be called: order of axes, form of positions, head_dim, dtype of x."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.probe import Manner, Probe, Seen
from ropespec.conformance.profile import AXES, HEAD_DIMS, Profile
from ropespec.conformance.subject.session import Session

__all__ = ["Calling", "constant", "find_calling"]

USUAL_DIMS = (64, 128, 32, 16, 80, 256, 8, 4, 2)
_SIZES = (2, 5, 3)  # batch, sequence, heads: all different, and unlike any head_dim


@dataclass(frozen=True, slots=True)
class Calling:
    """What was found.

    Attributes
    ----------
    probe : Probe
        To go on with.
    head_dim, other_dim : int
        Two head dimensions it accepts; equal if only one was found.
    accepted : tuple of str
        Orders of axes that do as well.
    answer : str
        `values`, or what it does instead.
    seen : Seen
        The call that shows it.
    swapped : tuple of int
        The permutation of the axes of x that the result has; empty for none.
    """

    probe: Probe
    head_dim: int
    other_dim: int
    accepted: tuple[str, ...]
    answer: str
    seen: Seen
    swapped: tuple[int, ...] = ()


def constant(shape: tuple[int, int, int, int], seed: int = 0) -> NDArray[np.float64]:
    """Return x with one random vector, 0.5 to 1.5 in size, in every row, token and head."""
    rng = np.random.default_rng([seed, 11])
    vector = rng.uniform(0.5, 1.5, shape[-1]) * rng.choice([-1.0, 1.0], shape[-1])
    return np.broadcast_to(vector, shape).copy()


def find_calling(session: Session) -> Calling:
    """Try orders of axes and forms of positions at several head dimensions."""
    claimed = session.profile
    first: Calling | None = None
    for dtype in dict.fromkeys(("float32", *claimed.dtypes)):
        for dim in _dims(claimed):
            found = _at(session, dim, dtype)
            if found.answer == "values":
                return _with_other_dim(found, claimed)
            if first is None or (first.answer == "raises" and found.answer != "raises"):
                first = found
        if first is not None and first.answer != "raises":
            break
    assert first is not None
    return first


def _dims(claimed: Profile) -> tuple[int, ...]:
    if claimed.head_dims == HEAD_DIMS:
        return USUAL_DIMS
    fit = [dim for dim in claimed.head_dims if dim <= 256]
    return tuple(sorted(fit or claimed.head_dims, key=lambda dim: abs(dim - 64)))[:4]


def _at(session: Session, dim: int, dtype: str) -> Calling:
    claimed = session.profile
    shared = claimed.shared_positions
    orders = list(dict.fromkeys((claimed.axes, *AXES)))
    manners = [Manner(axes, shared) for axes in orders if axes != "shd" or claimed.axes == "shd"]
    manners += [Manner(axes, not shared) for axes in orders if axes != "shd"]
    manners += [Manner("shd", True)] if claimed.axes != "shd" else []
    scored: dict[Manner, tuple[float, Seen, Probe]] = {}
    calls = 0
    for manner in manners:
        probe = Probe(session, manner, dtype)
        score, seen = _score(probe, dim)
        calls += probe.calls
        scored[manner] = (score, seen, probe)
    group = [m for m in manners if m.shared == shared or m.axes == claimed.axes == "shd"]
    usable = [m for m in group if scored[m][0] >= 1] or [m for m in manners if scored[m][0] >= 1]
    usable = usable or [m for m in manners if scored[m][0] > 0]
    chosen = max(usable or manners[:1], key=lambda m: scored[m][0])
    score, seen, probe = scored[chosen]
    probe.calls = calls
    probe.written, probe.aliased = set(), False
    accepted = tuple(dict.fromkeys(m.axes for m in manners if score >= 1 and scored[m][0] == score))
    answer = "values" if seen.y is not None else ("other" if seen.dtype else "raises")
    swapped = _swapped(seen, probe, dim)
    return Calling(probe, dim, dim, accepted, answer, seen, swapped)


def _score(probe: Probe, dim: int) -> tuple[float, Seen]:
    """Rate a manner: 3 if tokens obey their own positions, 2 if positions matter, 1 if it runs."""
    batch, seq, heads = _SIZES
    x = constant((batch, seq, heads, dim))
    positions = np.array([[3, 1, 7, 0, 12], [5, 9, 2, 14, 4]])
    first = probe.rotate(x, positions)
    if first.y is None:
        return (0.25 if first.dtype else 0.0), first
    other = probe.rotate(x, positions[:, ::-1])
    if other.y is None:
        return 1.0, first
    if np.allclose(other.y, first.y[:, ::-1], atol=1e-3) and not np.allclose(other.y, first.y):
        return 3.0, first
    return (1.0 if np.allclose(other.y, first.y, atol=1e-3) else 2.0), first


def _swapped(seen: Seen, probe: Probe, dim: int) -> tuple[int, ...]:
    """Return the permutation of axes if the result has the sizes of x in another order."""
    order = {"bshd": (0, 1, 2), "bhsd": (0, 2, 1), "sbhd": (1, 0, 2), "shd": (1, 2)}
    sent = (*(_SIZES[i] for i in order[probe.manner.axes]), dim)
    if seen.y is not None or len(seen.shape) != len(sent) or seen.shape == sent:
        return ()
    if sorted(seen.shape) != sorted(sent):
        return ()
    return tuple(sent.index(size) for size in seen.shape)


def _with_other_dim(found: Calling, claimed: Profile) -> Calling:
    own = () if claimed.head_dims == HEAD_DIMS else claimed.head_dims
    for dim in own or (32, 128, 16):
        if dim in (found.head_dim, 2):
            continue
        seen = found.probe.rotate(constant((*_SIZES, dim)), np.arange(10).reshape(2, 5))
        if seen.y is not None:
            return Calling(
                found.probe, found.head_dim, dim, found.accepted, found.answer, found.seen
            )
    return found
