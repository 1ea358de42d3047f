"""The ladder of frequencies: base, exponent, scale; or the known scheme that comes nearest."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.blocks import wrapped
from ropespec.conformance.identify.schemes import nearest_scheme

__all__ = ["EQUAL_STEPS", "PERMUTED", "REPEATED", "USUAL", "Ladder", "Rung", "fit"]

Float = NDArray[np.float64]

USUAL = "2i/rotary_dim"

KNOWN_BASES = (10000.0, 500000.0, 1e6, 5e6, 1e7, 100.0, 1000.0, 10.0, 40000.0, 160000.0, 150000.0)
EQUAL_STEPS = "frequencies in equal steps"
PERMUTED = "frequencies in another order"
REPEATED = "frequencies repeated"
_NEAR = 0.01  # frequencies rounded to bfloat16 are off by 0.002 to 0.004


@dataclass(frozen=True, slots=True)
class Rung:
    """The frequencies measured at one head_dim.

    Attributes
    ----------
    speed : ndarray
        Radians per position, by pair.
    rotary_dim, head_dim : int
        How many components turn, of how many.
    heads : int
        Heads of x when it was measured.
    """

    speed: Float
    rotary_dim: int
    head_dim: int
    heads: int = 3


@dataclass(frozen=True, slots=True)
class Ladder:
    """The frequencies as a formula.

    Attributes
    ----------
    base : float
        Under base^(-2i/rotary_dim); nan if they are no such ladder at every head_dim.
    exponent : str
        The exponent under `named_base`.
    named_base : float
        The base that goes with `exponent`.
    scale : float
        All frequencies are multiplied by it: the scale of positions.
    scheme : str
        `unscaled`, one of the misplacements named above, or the nearest known scheme.
    certainty : float
        How sure.
    exact : ndarray or None
        The frequencies by the formula, unrounded; None if there is none.
    clockwise : bool
        Whether the pairs turn clockwise.
    mixed : bool
        Whether some pairs turn the other way than the rest.
    """

    base: float
    exponent: str
    named_base: float
    scale: float
    scheme: str
    certainty: float
    exact: Float | None
    clockwise: bool = False
    mixed: bool = False

    @property
    def turned(self) -> bool:
        """Whether any pair turns clockwise."""
        return self.clockwise or self.mixed


def fit(rungs: list[Rung], claimed_base: float) -> Ladder:
    """Fit a formula to frequencies measured at one or two head dimensions.

    The frequencies come with the sign of their turn; a ladder that turns clockwise is the ladder
    of its negatives.
    """
    turned = [Rung(-r.speed, r.rotary_dim, r.head_dim, r.heads) for r in rungs]
    for clockwise, tried in ((False, rungs), (True, turned)):
        for name in _EXPONENTS:
            found = _try(name, tried, claimed_base)
            if found is not None:
                return replace(found, clockwise=clockwise)
    one_way = [Rung(np.abs(r.speed), r.rotary_dim, r.head_dim, r.heads) for r in rungs]
    for name in _EXPONENTS:
        found = _try(name, one_way, claimed_base)
        if found is not None:
            return replace(found, mixed=True)
    clockwise = bool((rungs[0].speed < -1e-8).mean() > 0.5)
    return replace(_free(turned if clockwise else rungs, claimed_base), clockwise=clockwise)


def _free(rungs: list[Rung], claimed_base: float) -> Ladder:
    """Fit any base, and if there is none look for a known scheme."""
    slopes = [_slope(rung) for rung in rungs]
    if all(slope is not None for slope in slopes):
        bases = [
            float(np.exp(-slope[1] * r.rotary_dim / 2))
            for slope, r in zip(slopes, rungs, strict=True)
            if slope
        ]
        if max(bases) / min(bases) < 1.05 and bases[0] > 1.0 and len(rungs[0].speed) > 2:
            for name in ("2(i+1)/rotary_dim", "reversed"):
                found = _try(name, rungs, _snapped(bases[0]))
                if found is not None:
                    return found
            base, scale = _simplest(rungs[0])
            exact = scale * base ** (-2 * np.arange(len(rungs[0].speed)) / rungs[0].rotary_dim)
            certainty = 0.9 if base in KNOWN_BASES else 0.75
            return Ladder(base, USUAL, base, scale, "unscaled", certainty, exact)
    if (width := _other_width(slopes, claimed_base)) is not None:
        return Ladder(float("nan"), f"2i/{width:g}", claimed_base, 1.0, "unscaled", 0.8, None)
    if (order := _order(rungs[0])) is not None:
        return Ladder(float("nan"), "other", float("nan"), 1.0, order, 0.9, None)
    scheme, certainty = nearest_scheme(np.abs(rungs[0].speed), rungs[0].rotary_dim, claimed_base)
    return Ladder(float("nan"), "other", float("nan"), 1.0, scheme, certainty, None)


def _other_width(slopes: list[tuple[float, float] | None], base: float) -> float | None:
    """Return the width that divides the index at every head_dim, if it is one and the same."""
    if len(slopes) < 2 or any(slope is None or abs(slope[0]) > _NEAR for slope in slopes):
        return None
    widths = [-2 * float(np.log(base)) / slope[1] for slope in slopes if slope and slope[1] < 0]
    if len(widths) < len(slopes) or max(widths) / min(widths) > 1.01:
        return None
    width = float(round(widths[0]))
    return width if abs(widths[0] / width - 1) < _NEAR else None


def _order(rung: Rung) -> str | None:
    """Tell frequencies that are those of a ladder in another order, or of a part of it."""
    speed = np.abs(rung.speed)
    count = len(speed)
    if count < 4 or speed.min() < 1e-8:
        return None
    steps = np.diff(speed)
    if np.ptp(steps) < 1e-3 * np.abs(steps).max():
        return EQUAL_STEPS
    for few in range(2, count):
        again = speed[np.arange(count) % few]
        if (np.abs(speed / again - 1) < _NEAR).all() and np.abs(np.ptp(speed[:few])) > _NEAR:
            return REPEATED
    if (np.diff(speed) < 0).all() or (np.diff(speed) > 0).all():
        return None
    ordered = Rung(np.sort(speed)[::-1], rung.rotary_dim, rung.head_dim, rung.heads)
    slope = _slope(ordered)
    if slope is not None and abs(slope[0]) < _NEAR and slope[1] < -_NEAR:
        return PERMUTED
    return None


_EXPONENTS = (
    USUAL,
    "2i/head_dim",
    "reversed",
    "2(i+1)/rotary_dim",
    "i/rotary_dim",
    "4i/rotary_dim",
    "2i/(rotary_dim-2)",
    "2i/(heads head_dim)",
    "i/(rotary_dim/2-1)",
    "(2i+1)/rotary_dim",
    "2i/(rotary_dim+2)",
    "-2i/rotary_dim",
    "0",
)


def _exponent(name: str, rung: Rung) -> Float:
    i, d = np.arange(rung.rotary_dim // 2, dtype=np.float64), rung.rotary_dim
    forms: dict[str, Float] = {
        USUAL: 2 * i / d,
        "2i/head_dim": 2 * i / rung.head_dim,
        "reversed": 2 * i[::-1] / d,
        "2(i+1)/rotary_dim": 2 * (i + 1) / d,
        "i/rotary_dim": i / d,
        "4i/rotary_dim": 4 * i / d,
        "2i/(rotary_dim-2)": 2 * i / max(d - 2, 1),
        "2i/(heads head_dim)": 2 * i / (rung.heads * rung.head_dim),
        "i/(rotary_dim/2-1)": i / max(d / 2 - 1, 0.5),
        "(2i+1)/rotary_dim": (2 * i + 1) / d,
        "2i/(rotary_dim+2)": 2 * i / (d + 2),
        "-2i/rotary_dim": -2 * i / d,
        "0": 0 * i,
    }
    return forms[name]


def _try(name: str, rungs: list[Rung], base: float) -> Ladder | None:
    """Test one exponent under the claimed base, with positions as they are or scaled."""
    if name == "2i/head_dim" and all(r.rotary_dim == r.head_dim for r in rungs):
        return None
    for scale in (1.0, 2.0, 3.0, 4.0, 0.5, 0.25, 0.125, 1 / 32):
        if scale != 1.0 and name != USUAL:
            break
        if not all(_fits(scale * base ** -_exponent(name, r), r.speed) for r in rungs):
            continue
        if name == USUAL and scale == 1.0:
            base = _refined(rungs[0], base)
        exact = scale * base ** -_exponent(name, rungs[0])
        usual = base
        if name != USUAL:
            slopes = [_slope(rung) for rung in rungs]
            bases = [
                float(np.exp(-s[1] * r.rotary_dim / 2))
                for s, r in zip(slopes, rungs, strict=True)
                if s
            ]
            level = len(bases) == len(rungs) and max(bases) / min(bases) < 1.02
            straight = all(s is not None and abs(s[0]) < 0.01 for s in slopes)
            usual = _snapped(bases[0]) if level and straight and bases[0] > 1 else float("nan")
        certainty = 0.99 if scale == 1.0 and name == USUAL else 0.9 if len(rungs) > 1 else 0.7
        return Ladder(usual, name, base, scale, "unscaled", certainty, exact)
    return None


def _fits(expected: Float, speed: Float) -> bool:
    """Whether speeds agree within what rounded frequencies lose; fast pairs modulo full turns."""
    if len(expected) != len(speed):
        return False
    turned = wrapped(expected)
    slack = np.minimum(0.5 * _NEAR * np.abs(expected), 0.1) + 3e-8
    return bool((np.abs(wrapped(turned - speed)) <= slack).all())


def _slope(rung: Rung) -> tuple[float, float] | None:
    """Return intercept and slope of ln w_j over j if the frequencies are a geometric ladder."""
    speed = np.abs(rung.speed)
    use = speed > 1e-8
    if use.sum() < 2:
        return None
    j = np.flatnonzero(use).astype(np.float64)
    log = np.log(speed[use])
    slope, intercept = np.polyfit(j, log, 1)
    off = np.abs(log - intercept - slope * j)
    return (float(intercept), float(slope)) if off.max() < _NEAR else None


def _snapped(value: float) -> float:
    """Return the well-known base within two thousandths, or four significant digits."""
    for number in KNOWN_BASES:
        if abs(value / number - 1) < 2e-3:
            return number
    return float(f"{value:.4g}")


def _weighted(rung: Rung) -> tuple[Float, Float, Float]:
    """Return exponents, logarithms of the frequencies, and what those may be off by."""
    speed = np.abs(rung.speed)
    use = speed > 1e-7
    error = 3e-7 + 2e-9 / speed[use]  # angles up to 128 are good to 2e-7
    return _exponent(USUAL, rung)[use], np.log(speed[use]), error


def _line(rung: Rung) -> tuple[float, float, float]:
    """Return ln of scale and base by least squares, and the largest deviation in errors."""
    e, log, error = _weighted(rung)
    slope, intercept = np.polyfit(e, log, 1, w=1 / error)
    off = float((np.abs(log - intercept - slope * e) / error).max())
    return float(intercept), float(-slope), off


def _refined(rung: Rung, base: float) -> float:
    """Return a base that explains the frequencies far better than the one they nearly have."""
    e, log, error = _weighted(rung)
    if len(e) < 4:
        return base
    claimed = float((np.abs(log + e * np.log(base)) / error).max())
    scale, own, off = _line(rung)
    found = float(f"{np.exp(own):.5g}")
    other = abs(found / base - 1) > 2e-4 and abs(scale) < 2e-5
    return found if other and off < 20 and claimed > 10 * max(off, 1.0) else base


def _simplest(rung: Rung) -> tuple[float, float]:
    """Return a usual scale, and a base with few digits, as far as the frequencies allow it."""
    e, log, error = _weighted(rung)
    scale, base, least = _line(rung)

    def off(ln_scale: float, ln_base: float) -> float:
        return float((np.abs(log - ln_scale + ln_base * e) / error).max())

    limit = 1.5 * max(least, 3.0)
    scales = [s for s in (1.0, 2.0, 0.5, 0.25, 0.125) if abs(np.log(s) - scale) < _NEAR]
    bases = [b for b in KNOWN_BASES if abs(np.log(b) - base) < _NEAR]
    scales += [float(np.exp(scale))]
    bases += [float(f"{np.exp(base):.{digits}g}") for digits in range(1, 9)]
    for total in range(len(scales) + len(bases)):
        for k in range(total + 1):
            if k < len(bases) and total - k < len(scales):
                found = bases[k], scales[total - k]
                if off(float(np.log(found[1])), float(np.log(found[0]))) <= limit:
                    return found
    return float(np.exp(base)), float(np.exp(scale))
