"""How exactly a subject works where it is right, so that what is beyond that is seen."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.battery import SMALL, Maker
from ropespec.conformance.diagnosis.seen import Seen, agree
from ropespec.conformance.diagnosis.told import fact
from ropespec.conformance.mistakes.chain import Chain, Made, run
from ropespec.conformance.results import Diagnosis

__all__ = ["coarser", "measured"]

_HALVES = ("float16", "bfloat16")


def measured(asker: Asker, maker: Maker, right: Chain) -> Chain:
    """Return what is claimed, as exactly as the subject keeps it.

    For half dtypes a table, or products, of that dtype are legitimate (JDG-3), and so are
    frequencies that are each made from the one before: whether a result is rounded once, and what
    the frequencies are, is read off the calls that this explains.
    """
    profile = maker.profile
    chain = replace(right, fine=profile.precision == "float64-angles")
    chain = replace(chain, recurrent=_recurs(asker, maker, chain))
    for dtype in profile.dtypes:
        if dtype not in _HALVES:
            continue
        shapes = SMALL[:3] if profile.compiles else SMALL[:8]
        givens = [
            maker.given(shape, ("scattered", "ragged")[k % 2], 70 + k, dtype=dtype)
            for k, shape in enumerate(shapes)
        ]
        answers = [asker.ask(given) for given in givens]
        seen = [Seen(one, chain) for one in answers if one is not None and one.y is not None]
        sharp = replace(chain, sharp=chain.sharp | {dtype})
        fits = [agree(one.y, run(sharp, one.given)).all() for one in seen]
        if fits and np.mean(fits) >= 0.5:
            chain = sharp
    return chain


def _recurs(asker: Asker, maker: Maker, chain: Chain) -> bool:
    """Whether frequencies of wide heads are as far off as a recurrence makes them, and no more."""
    profile = maker.profile
    if chain.fine or profile.precision not in (None, "float32-recurrence"):
        return False
    if profile.dtypes[0] != "float32":
        return False
    wide, beyond = replace(chain, recurrent=True), False
    for dim in sorted(maker.dims)[-1 if profile.compiles else -_WIDE :]:
        answer = asker.ask(maker.given((1, 8, 1), "far", 90, dim=dim, dtype="float32"))
        if answer is None or answer.y is None:
            return False
        seen = Seen(answer, chain)
        if not agree(seen.y, run(wide, seen.given)).all():
            return False
        beyond |= not agree(seen.y, seen.made).all()
    return beyond


_WIDE = 4
"""Of how many heads the widest are asked: whether the errors of one add up is luck."""


def coarser(
    seen: Sequence[Seen], right: Chain, *, afresh: Callable[[Seen], bool]
) -> Iterator[Diagnosis]:
    """Say that everything agrees in fewer bits than are claimed, if it does.

    Parameters
    ----------
    seen : sequence of Seen
        All calls.
    right : Chain
        What is claimed.
    afresh : callable
        Whether a call that is wrong is right on a fresh instance.
    """
    wrong = [one for one in seen if one.is_wrong]
    if not wrong:
        return
    coarse = replace(right, coarse=True, fine=False)
    if not all(agree(one.y, run(coarse, one.given)).all() for one in seen):
        return
    off = sum(int(one.off.sum()) for one in wrong)
    of = sum(one.y.size for one in seen)
    evidence = (
        f"{of} of {of} components in {len(seen)} calls are right in float32, {off} of them not in"
        " what is claimed"
    )
    if wrong[0].given.dtype == "float64":
        if _typically(wrong) < _OF_FLOAT32 or not _within_a_turn(wrong, right):
            yield from _near_zero(wrong, right, evidence)
        else:
            yield _as_float32(wrong, evidence, afresh)
        return
    if right.fine:
        said = "Angles have the digits of float32, and float64 is claimed."
        yield fact("precision claimed", said, "far positions", evidence)


def _as_float32(wrong: Sequence[Seen], evidence: str, afresh: Callable[[Seen], bool]) -> Diagnosis:
    """Say what keeps no more digits than float32 has."""
    short = all(np.array_equal(one.y, one.y.astype(np.float32), equal_nan=True) for one in wrong)
    key, rest = ("x demoted", "no number has more") if short else ("D12", "no further")
    if afresh(min(wrong, key=lambda one: one.y.size)):
        key, rest = "C4", "to its own on a fresh instance"
    said = f"All is right to the digits of float32, and {rest}."
    return fact(key, said, "x of float64", evidence)


def _near_zero(wrong: Sequence[Seen], right: Chain, evidence: str) -> Iterator[Diagnosis]:
    """Say that positions near zero are as inexact as farther ones, if they are."""
    for size in (2**power for power in range(2, 18)):
        if all(agree(one.y, _as_far(one, right, size)).all() for one in wrong):
            said = f"Near zero angles are as inexact as those of position {size}."
            yield fact("precision claimed", said, "positions near zero", evidence)
            return


def _as_far(one: Seen, right: Chain, size: int) -> Made:
    """Return what a call makes, with what is allowed where no position is nearer to zero."""
    p = one.given.positions
    far = np.where(np.abs(p) < size, np.where(p < 0, -size, size), p)
    return Made(one.made.y, run(right, replace(one.given, positions=far)).allowed)


_OF_FLOAT32 = 2.0**-33
"""What float32 leaves of an angle or a table is more than this, but for the smallest angles."""


def _within_a_turn(wrong: Sequence[Seen], right: Chain) -> bool:
    """Whether pairs that turn less than once are off too, as far as there are any."""
    off = list[bool]()
    for one in wrong:
        place, theta = right.place(one.given), right.frequency(one.given)
        angle = np.abs(right.angle(one.given, place, theta))
        pairs = right.pairing(one.given)
        near = np.broadcast_to(
            (angle > _SOME) & (angle < np.pi), (*one.y.shape[:-1], len(pairs.first))
        )
        off += [*(one.off[..., pairs.to_first] | one.off[..., pairs.to_second])[near]]
    return any(off) or not off


_SOME = 0.1
"""Below, what float32 leaves of an angle may be too little to be seen."""


def _typically(wrong: Sequence[Seen]) -> float:
    """Return by how much of the size of x the components that are off are so, in the middle."""
    known = (np.nan_to_num(one.given.x.astype(np.float64), posinf=0, neginf=0) for one in wrong)
    sizes = (float(np.abs(x).mean()) or 1.0 for x in known)
    parts = [
        np.abs(one.y - one.made.y)[one.off] / size for one, size in zip(wrong, sizes, strict=True)
    ]
    return float(np.median(np.concatenate(parts)))
