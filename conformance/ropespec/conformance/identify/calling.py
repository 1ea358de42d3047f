"""How a subject is called: as is claimed, and in other orders of axes if that is asked for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ropespec.conformance.diagnosis.ask import Answer
from ropespec.conformance.first_call import usual_dims
from ropespec.conformance.identify.probe import Float, Manner, Probe
from ropespec.conformance.profile import AXES, HEAD_DIMS, Profile
from ropespec.conformance.subject.session import Session

__all__ = ["Calling", "find_calling"]

_SIZES = (2, 5, 3)  # batch, sequence, heads: all different, and unlike any head_dim
_EQUAL = (4, 4, 4)
"""Sizes of a call that was not claimed: whichever axis a subject takes for which, it reads and
writes inside the memory it is given."""

_OBEYS, _DEPENDS, _RUNS = 3, 2, 1


@dataclass(frozen=True, slots=True)
class Calling:
    """What was found.

    Attributes
    ----------
    probe : Probe
        To go on with.
    head_dims : tuple of int
        One or two head dimensions it accepts, the one to measure at first.
    tried : tuple of str
        The orders of axes in which it was called.
    seen : Answer or None
        The call that shows what it answers.
    """

    probe: Probe
    head_dims: tuple[int, ...]
    tried: tuple[str, ...]
    seen: Answer | None

    @property
    def answers(self) -> bool:
        """Whether arrays like x come back."""
        return self.seen is not None and self.seen.y is not None

    @property
    def raises(self) -> bool:
        """Whether it raised."""
        return self.seen is None or self.seen.fault == "raises"


def _constant(shape: tuple[int, int, int, int]) -> Float:
    """Return x with one random vector, 0.5 to 1.5 in size, in every row, token and head."""
    rng = np.random.default_rng(11)
    vector = rng.uniform(0.5, 1.5, shape[-1]) * rng.choice([-1.0, 1.0], shape[-1])
    return np.broadcast_to(vector, shape).copy()


def find_calling(session: Session, *, try_axes: bool = False) -> Calling:
    """Call a subject at several head dimensions.

    Parameters
    ----------
    session : Session
        The subject.
    try_axes : bool
        Whether other orders of axes and the other form of positions are tried as well.
    """
    claimed = session.profile
    first: Calling | None = None
    # The digits of float32 tell more; memory for it is enough for whatever is shorter.
    finer = () if set(claimed.dtypes) == {"float64"} else ("float32",)
    for dtype in dict.fromkeys((*finer, *claimed.dtypes)):
        for dim in usual_dims(claimed):
            found = _at(session, dim, dtype, try_axes=try_axes)
            if found.answers:
                return _with_other_dim(found, claimed)
            if first is None or (first.raises and not found.raises):
                first = found
        if first is not None and not first.raises:
            break
    assert first is not None
    return first


def _manners(claimed: Profile) -> Iterator[Manner]:
    """Return the claimed manner of calling, then the others; positions of few rows come last.

    A subject that takes (B, S) and is given (S,) may read beyond them.
    """
    shared = claimed.shared_positions
    orders = [axes for axes in dict.fromkeys((claimed.axes, *AXES)) if axes != "shd"]
    yield Manner(claimed.axes, shared)
    for one_row in dict.fromkeys((shared, False, True)):
        yield from (Manner(axes, one_row) for axes in orders)
    yield Manner("shd", True)


def _at(session: Session, dim: int, dtype: str, *, try_axes: bool) -> Calling:
    manners = list(dict.fromkeys(_manners(session.profile)))[: None if try_axes else 1]
    best: tuple[int, Answer | None, Probe] | None = None
    tried: list[str] = []
    for manner in manners:
        probe = Probe(session, manner, dtype)
        score, seen = _score(probe, dim, _EQUAL if try_axes else _SIZES)
        tried.append(manner.axes)
        if best is None or score > best[0]:
            best = score, seen, probe
        if score == _OBEYS:
            break
    assert best is not None
    _, seen, probe = best
    fresh = Probe(session, probe.manner, dtype)
    return Calling(fresh, (dim,), tuple(dict.fromkeys(tried)), seen)


def _score(probe: Probe, dim: int, sizes: tuple[int, int, int]) -> tuple[int, Answer | None]:
    """Rate a manner: whether tokens obey their own positions, depend on any, or it runs at all."""
    batch, seq, heads = sizes
    claimed = probe.session.profile
    if probe.manner.axes == "shd":
        batch = 1
    if claimed.max_tokens is not None:
        seq = min(seq, claimed.max_tokens)
    x = _constant((batch, seq, heads, dim))
    places = np.array([3, 1, 7, 0, 12, 5, 9, 2, 14, 4, 8, 6, 13, 10, 15, 11])[: batch * seq]
    positions = (places % (claimed.max_position + 1)).reshape(batch, seq)
    if probe.manner.shared:
        positions = np.broadcast_to(positions[:1], positions.shape)
    first = probe.ask(probe.given(x, positions))
    if first is None or first.y is None:
        return 0, first
    other = probe.rotate(x, positions[:, ::-1])
    if other is None:
        return _RUNS, first
    if np.allclose(other, first.y[:, ::-1], atol=1e-3) and not np.allclose(other, first.y):
        return _OBEYS, first
    return (_RUNS if np.allclose(other, first.y, atol=1e-3) else _DEPENDS), first


def _with_other_dim(found: Calling, claimed: Profile) -> Calling:
    own = () if claimed.head_dims == HEAD_DIMS else claimed.head_dims
    (first,) = found.head_dims
    for dim in own or (32, 128, 16):
        if dim in (first, 2):
            continue
        y = found.probe.rotate(_constant((*_SIZES, dim)), np.arange(10).reshape(2, 5))
        if y is not None:
            return replace(found, head_dims=(first, dim))
    return found
