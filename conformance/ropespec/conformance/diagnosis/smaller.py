"""A call that fails and is too large to be looked into, cut for as long as it stays wrong."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.mistakes.chain import Chain
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["cut"]


def cut(asker: Asker, calls: Iterable[Given], right: Chain) -> list[Given]:
    """Halve the rows, the tokens and the heads of a call for as long as a half is wrong.

    Parameters
    ----------
    asker : Asker
        The subject.
    calls : iterable of Given
        The first of them that is wrong is cut.
    right : Chain
        What is claimed.

    Returns
    -------
    list of Given
        The smallest call that was wrong; empty if none of the calls is.
    """
    least: Given | None = None
    found = _first_wrong(asker, calls, right)
    while found is not None:
        least, found = found, _first_wrong(asker, _halves(found), right)
    return [] if least is None else [least]


def _first_wrong(asker: Asker, calls: Iterable[Given], right: Chain) -> Given | None:
    for given in calls:
        answer = asker.ask(given)
        if answer is not None and answer.y is not None and Seen(answer, right).is_wrong:
            return given
    return None


def _halves(given: Given) -> Iterator[Given]:
    for axis in range(3):
        count = given.x.shape[axis]
        if count > 1:
            yield _taken(given, axis, np.arange(-(-count // 2)))
            yield _taken(given, axis, np.arange(count // 2, count))


def _taken(given: Given, axis: int, chosen: Array) -> Given:
    positions = given.positions if axis == 2 else np.take(given.positions, chosen, axis)
    return replace(given, x=np.take(given.x, chosen, axis), positions=positions)
