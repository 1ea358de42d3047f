"""By how much something is wrong, part by part, in a line each."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ropespec.conformance.results import Measured

__all__ = ["measured_lines"]

_MOST = 8


def measured_lines(parts: Sequence[Measured]) -> Iterator[str]:
    """Return a line for each kind of part in which parts differ.

    Parameters
    ----------
    parts : sequence of Measured
        Those of one kind next to each other.
    """
    for by, group in groupby(parts, key=lambda one: one.by):
        alike = [list(some) for _, some in groupby(group, key=_said)]
        if len(alike) > 1:
            told = [f"{_together(some)}: {_said(some[0])}" for some in _telling(alike)]
            more = len(alike) - len(told)
            yield f"Off by {by}: {'; '.join(told)}{f'; and {more} more' if more > 0 else ''}"


def _together(some: Sequence[Measured]) -> str:
    """Return the name of parts that follow each other."""
    first, last = some[0].at.split()[0], some[-1].at.split()[-1]
    return first if first == last else f"{first} to {last}"


def _telling(parts: list[list[Measured]]) -> list[list[Measured]]:
    """Return the first and the last parts, if there are many."""
    return [*parts[: _MOST - 2], *parts[-2:]] if len(parts) > _MOST else parts


def _said(one: Measured) -> str:
    if not one.wrong:
        return "right"
    off = "not a number" if one.off is None else f"{one.off:.2g}"
    share = one.wrong / one.of
    return off if share > _ALMOST else f"{off} ({100 * share:.2g} %)"


_ALMOST = 0.95
"""From which part on all are called wrong: some are right by chance."""
