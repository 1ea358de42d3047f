"""Which position numbers pairs follow, and how fast: each number alone, while the others are 0."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ropespec.conformance.identify.angles import Rung, read_rung
from ropespec.conformance.identify.found import Found
from ropespec.conformance.identify.ladders import is_near, ladders
from ropespec.conformance.identify.operator import Channels
from ropespec.conformance.identify.probe import Float, Probe
from ropespec.conformance.mistakes.numbers import Followed, following, measured, sectioned
from ropespec.spec.axes import Anew
from ropespec.spec.convention import Frequencies

__all__ = ["Numbers", "anew", "numbered", "read_numbers"]

_QUIET = 1e-3
"""What another number may add to the angle of a pair, as a part of it: what float32 loses."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """How fast each pair turns with each position number.

    Attributes
    ----------
    speed : ndarray, shape (n, pairs)
        Radians per step of a number.
    """

    speed: Float

    @property
    def followed(self) -> Followed | None:
        """Which number each pair follows; None where one follows several."""
        size = np.abs(self.speed)
        alone = np.sort(size, axis=0)[:-1] <= _QUIET * size.max(axis=0) + 1e-9
        return tuple(int(one) for one in size.argmax(axis=0)) if alone.all() else None


def read_numbers(probe: Probe, channels: Channels, mode: str) -> Numbers | None:
    """Measure each number alone; None where a token has one, or no angles come.

    Parameters
    ----------
    probe : Probe
        The subject, of which sections are claimed; which ones is what is found out.
    channels : Channels
        Which components turn together.
    mode : str
        How tokens are brought to a position.
    """
    count = probe.profile.numbers
    rungs = []
    for number in range(count):
        probe.only = number
        try:
            rungs.append(read_rung(probe, channels, mode))
        finally:
            probe.only = None
    found = [one for one in rungs if one is not None]
    if not found or len(found) < count:
        return None
    return Numbers(np.array([one.speed for one in found]))


def numbered(form: Found, followed: Followed, claimed: Followed) -> Found:
    """Put what pairs follow into a form: as sections, or beside those that are claimed."""
    if set(followed) == set(claimed) and sectioned(followed) is not None:
        return replace(form, by=replace(form.by, axes=followed))
    beside = (*form.beside, following(measured(followed)))
    return replace(form, by=replace(form.by, axes=claimed), beside=beside)


def anew(
    rungs: Sequence[Rung], followed: Followed | None, claimed: Frequencies
) -> Iterator[Frequencies]:
    """Return frequencies that begin anew with each section, and are the ones measured.

    Parameters
    ----------
    rungs : sequence of Rung
        Frequencies of all pairs.
    followed : tuple of int or None
        Which number each pair follows; nothing is returned where these are no consecutive sections.
    claimed : Frequencies
        The base is tried before others.
    """
    found = None if followed is None else sectioned(followed)
    if found is None or found.in_turn:
        return
    longest = int(np.argmax(found.sections))
    start = sum(found.sections[:longest])
    part = slice(start, start + found.sections[longest])
    size = 2 * found.sections[longest]
    parts = [replace(one, speed=one.speed[part], rotary_dim=size) for one in rungs]
    for one in ladders(parts, Frequencies(claimed.base)):
        whole = Frequencies(one.base, Anew(found.sections, one.scheme))
        if all(is_near(whole, rung) for rung in rungs):
            yield whole
