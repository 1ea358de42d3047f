"""Names at the ends of lines, moved apart where lines end together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Label", "apart", "place"]

SIZE = 7.5
"""Points of the letters."""


@dataclass(frozen=True, slots=True)
class Label:
    """A name at the end of a line.

    Attributes
    ----------
    text : str
        The name.
    x, y : float
        Where the line ends.
    colour : str
        Its colour.
    """

    text: str
    x: float
    y: float
    colour: str


def apart(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return places at least `gap` apart, in the same order, near those that are given.

    Parameters
    ----------
    places : sequence of float
        In ascending order.
    gap : float
        The least distance.
    low, high : float
        What none is to leave, as long as there is room.
    """
    found: list[float] = []
    for place in places:
        found.append(max(place, low if not found else found[-1] + gap))
    ceiling = high
    for index in reversed(range(len(found))):
        found[index] = min(found[index], ceiling)
        ceiling = found[index] - gap
    return found


def place(axes: Any, labels: Sequence[Label], right: float) -> None:  # noqa: ANN401  # matplotlib's Axes
    """Write the names to the right of x = `right`, each with a thin line to its end.

    Parameters
    ----------
    axes : Axes
        With logarithmic scales whose limits are set.
    labels : sequence of Label
        In any order.
    right : float
        Where the longest line ends.
    """
    low, high = (math.log(limit) for limit in axes.get_ylim())
    height = axes.get_window_extent().height * 72 / axes.figure.dpi
    gap = 1.15 * SIZE / height * (high - low)
    ordered = sorted(labels, key=lambda one: one.y)
    begin, end = axes.get_xlim()
    text_x = right * (end / begin) ** 0.05
    heights = apart([math.log(one.y) for one in ordered], gap, low, high)
    for one, height_of in zip(ordered, heights, strict=True):
        y = math.exp(height_of)
        axes.plot([one.x, text_x * 0.97], [one.y, y], color=one.colour, linewidth=0.4, alpha=0.6)
        axes.annotate(one.text, (text_x, y), color=one.colour, fontsize=SIZE, va="center")
