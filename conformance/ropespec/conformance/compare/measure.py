"""How far two sides are apart: in units of their budgets, and in the last place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.compare.samples import Sample
from ropespec.conformance.compare.side import Side
from ropespec.conformance.compare.turn import Exact
from ropespec.conformance.judge.precision import (
    PRECISIONS,
    UNIT_ROUNDOFF,
    Precision,
    ladder,
    legitimate,
)
from ropespec.conformance.judge.rotation import error_ratios

__all__ = ["Apart", "Held", "Worst", "apart", "better", "exacts", "hold", "worst"]

Float = NDArray[np.float64]

_NORMAL = {"float64": 2.0**-1022, "float32": 2.0**-126, "float16": 2.0**-14, "bfloat16": 2.0**-126}
_RANK = {name: index for index, name in enumerate(PRECISIONS)}


@dataclass(frozen=True, slots=True)
class Held:
    """The precision class under which a side is compared, at one dtype of x.

    Attributes
    ----------
    precision : Precision
        The class.
    source : str
        `claimed`, `measured`, or `assumed` where no class holds or none can be measured.
    """

    precision: Precision
    source: str

    @property
    def name(self) -> str:
        """Return the name of the class, or `none` where none holds."""
        return "none" if self.source == "assumed" else self.precision.name


@dataclass(frozen=True, slots=True)
class Apart:
    """The distance of two results, component by component (B, S, H, D).

    Attributes
    ----------
    joint : ndarray
        Over the sum of both budgets, each under its own class.
    strict : ndarray
        Over the sum of both budgets, each under the better one of the two classes.
    ulp : ndarray
        In units of the last place at the length of the pair: spacing of x's dtype there.
    """

    joint: Float
    strict: Float
    ulp: Float


@dataclass(frozen=True, slots=True)
class Worst:
    """The largest difference and where it was.

    Attributes
    ----------
    joint, strict, ulp : float
        Largest values of each of `Apart`, wherever they are.
    case : mapping
        The input of the largest `joint`.
    element : str
        Its index, as `y[b, s, h, i]`.
    position : int
        Its position.
    a, b : float
        What the sides have there.
    """

    joint: float
    strict: float
    ulp: float
    case: Any
    element: str
    position: int
    a: float
    b: float


def exacts(sample: Sample) -> tuple[Exact | None, Exact | None]:
    """Return what both sides should return, by their conventions."""
    first, second = (
        None if turn is None else turn.of(sample.x, sample.positions)
        for turn in sample.setting.turns
    )
    return first, second


def hold(side: Side, index: int, dtype: str, samples: Sequence[Sample]) -> Held:
    """Return the class a side claims, or the best that holds for every sample.

    Parameters
    ----------
    side : Side
        Whose answers are judged.
    index : int
        0 for A, 1 for B.
    dtype : str
        Of x.
    samples : sequence of Sample
        All of this dtype.
    """
    if (claimed := side.profile.precision) is not None:
        return Held(PRECISIONS[claimed], "claimed")
    judged = [
        (exact, sample.answers[index].y)
        for sample in samples
        if (exact := exacts(sample)[index]) is not None
    ]
    known = [(exact, y) for exact, y in judged if y is not None]
    for one in ladder(dtype) if known else ():
        if all(_holds(y, exact, one, side) for exact, y in known):
            return Held(one, "measured")
    usual = legitimate(dtype)
    return Held(usual[min(1, len(usual) - 1)], "assumed")


def _holds(y: NDArray[Any], exact: Exact, precision: Precision, side: Side) -> bool:
    allowed = exact.allowed(precision, side.machine)
    return bool(error_ratios(y, exact.y, allowed).max(initial=0.0) <= 1.0)


def better(first: Held, second: Held) -> Precision:
    """Return the more precise class of two; one that is only assumed never decides."""
    known = [one for one in (first, second) if one.source != "assumed"] or [first]
    return min((one.precision for one in known), key=lambda item: _RANK[item.name])


def apart(
    sides: tuple[Side, Side],
    held: tuple[Held, Held],
    frames: tuple[Exact | None, Exact | None],
    results: tuple[NDArray[Any], NDArray[Any]],
) -> Apart:
    """Measure the distance of two results.

    Parameters
    ----------
    sides : tuple of Side
        A and B.
    held : tuple of Held
        Their classes.
    frames : tuple of Exact or None
        What their budgets are derived from; one stands in for one that is missing.
    results : tuple of ndarray
        What they returned.
    """
    first, second = (one.astype(np.float64) for one in results)
    known = frames[0] or frames[1]
    if known is None:
        differs = np.where((first == second) | (np.isnan(first) & np.isnan(second)), 0.0, np.inf)
        return Apart(differs, differs, differs)
    strict_class = better(*held)
    joint, strict = np.zeros_like(first), np.zeros_like(first)
    for side, one, frame in zip(sides, held, frames, strict=True):
        exact = frame or known
        joint += exact.allowed(one.precision, side.machine)
        strict += exact.allowed(strict_class, side.machine)
    longest = np.maximum(known.length, (frames[1] or known).length)
    places = 2 * UNIT_ROUNDOFF[known.dtype] * _power_below(longest, known.dtype)
    return Apart(
        error_ratios(first, second, joint),
        error_ratios(first, second, strict),
        error_ratios(first, second, places),
    )


def worst(found: Sequence[tuple[Sample, Apart, tuple[NDArray[Any], NDArray[Any]]]]) -> Worst | None:
    """Return the largest difference of several samples; None if there are none."""
    top: Worst | None = None
    for sample, distance, results in found:
        if not distance.joint.size:
            continue
        at = np.unravel_index(int(np.argmax(distance.joint)), distance.joint.shape)
        ratio = float(distance.joint[at])
        others = (float(distance.strict.max()), float(distance.ulp.max()))
        if top is None:
            strict, ulp = others
        else:
            strict, ulp = max(top.strict, others[0]), max(top.ulp, others[1])
        if top is None or ratio > top.joint:
            element = f"y[{', '.join(str(int(i)) for i in at)}]"
            a, b = (float(one[at]) for one in results)
            place = int(sample.positions[at[0], at[1]])
            top = Worst(ratio, strict, ulp, sample.case, element, place, a, b)
        else:
            top = Worst(top.joint, strict, ulp, top.case, top.element, top.position, top.a, top.b)
    return top


def _power_below(length: Float, dtype: str) -> Float:
    """Return the largest power of two that is not above, from the smallest normal number on."""
    _, exponent = np.frexp(np.maximum(np.nan_to_num(length), _NORMAL[dtype]))
    return np.asarray(np.ldexp(1.0, exponent - 1))
