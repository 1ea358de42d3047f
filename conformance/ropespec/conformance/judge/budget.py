"""The error budget of a rotation, stage by stage (clause JDG-2).

A pair (x1, x2) turns by the angle a = m * theta: y1 = x1 C - x2 S, y2 = x1 S + x2 C.
Let the computed angle be off by at most D, the table by a relative `relative` and an absolute
`absolute`, the products and the sum by the unit roundoff of their dtype, the store by that of x's.
Then each stage adds one term, and their sum bounds the error of the element:

* angle: min(D |y_other| + D^2 r / 2, 2 sin(min(D, pi)/2) r), r = A hypot(x1, x2): a Taylor step,
  or the chord of the circle (A is the attention factor, 1 in plain RoPE);
* table: relative * T_D + absolute (|x1| + |x2|), where T_D bounds |x1 C| + |x2 S| at the computed
  angle;
* arithmetic: the roundings of two products and a sum, in any order of contraction;
* store: one rounding to x's dtype, and the smallest numbers.

The bound is not relative to |y|: where the two products cancel, losing |y| altogether is legal.
"""

import functools
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.frameworks import FRAMEWORKS
from ropespec.conformance.judge.oracle import ORACLE_ERROR
from ropespec.conformance.judge.precision import (
    NORMAL,
    SMALLEST,
    UNIT_ROUNDOFF,
    Precision,
    arithmetic_dtype,
)
from ropespec.conformance.judge.scaled import roundings
from ropespec.spec.axes import Told
from ropespec.spec.convention import Frequencies

__all__ = [
    "SMALLEST",
    "STAGES",
    "Budget",
    "Machine",
    "Pairs",
    "angle_error",
    "budget",
    "rounding",
    "table_error",
    "turned",
]

STAGES = ("angle", "table", "arithmetic", "store")
"""What adds to an error, in turn."""

Float = NDArray[np.float64]
_Shares = tuple[float, ...]

_U64 = UNIT_ROUNDOFF["float64"]
_PLAIN = Frequencies()
_U32 = UNIT_ROUNDOFF["float32"]


@dataclass(frozen=True, slots=True)
class Machine:
    """Constants of the mathematical library in use.

    Attributes
    ----------
    power : float
        Error of a float32 power, in units of 2^-24, rounded up.
    trigonometry : float
        Error of a float32 cos or sin, in units of 2^-24.
    flushes : bool
        Whether numbers below the normal range may be replaced by zero.
    """

    power: float = 4.0
    trigonometry: float = 3.0
    flushes: bool = False

    @classmethod
    def of(cls, array: str, device: str | None, *, subnormals: bool) -> "Machine":
        """Return the constants for a framework and a device, and whether subnormals are claimed."""
        power, trigonometry, flushes = FRAMEWORKS[array].library_on(device)
        return cls(power, trigonometry, flushes or not subnormals)

    def flushed(self, dtype: str) -> float:
        """Return the magnitude below which a number of this dtype may become zero; 0 for none."""
        if not self.flushes:
            return 0.0
        return NORMAL["float32" if dtype == "float16" else dtype]  # it is computed in float32


class Pairs(NamedTuple):
    """Rotated pairs and where they came from; all arrays broadcast to (B, S, H, r/2)."""

    x1: Float
    x2: Float
    cos: Float
    sin: Float
    position: Float
    theta: Float
    gain: float = 1.0  # what cos and sin were multiplied by: the attention factor A
    reach: float = 1.0  # the radius of their circle: A, or what bounds tables that are given
    of: Frequencies = _PLAIN  # what theta is, for what a scheme adds to its error


@np.errstate(invalid="ignore")  # of what is infinite
def turned(pairs: Pairs) -> Float:
    """Return y1 and y2, one after the other."""
    x1, x2, cos, sin, *_ = pairs
    y1: Float = x1 * cos
    both = np.empty((2, *y1.shape))
    np.subtract(y1, x2 * sin, out=both[0])
    np.add(x1 * sin, x2 * cos, out=both[1])
    return both


class Budget(NamedTuple):
    """The bound for the two members of each pair: each stage is so much of five lengths.

    Attributes
    ----------
    lengths : ndarray
        Shape (5, 2, B, S, H, r/2): what the angle moves y by, what bounds the products at the
        computed angle, |x1| + |x2|, |y|, and |x1 C| + |x2 S|.
    shares : tuple
        How much of each length a stage has, for the stages of `STAGES` in turn.
    floor : float
        What the store has beside.
    """

    lengths: Float
    shares: tuple[_Shares, ...]
    floor: float

    def of(self, *stages: str) -> Float:
        """Return what these of `STAGES` may add to an error, of shape (2, B, S, H, r/2)."""
        some = [self.shares[STAGES.index(stage)] for stage in stages]
        weights = [sum(of_each) for of_each in zip(*some, strict=True)]
        found: Float = np.einsum("k,k...->...", weights, self.lengths)
        if "store" in stages:
            found += self.floor
        return found

    @property
    def total(self) -> Float:
        """The largest error allowed."""
        return self.of(*STAGES)


def angle_error(
    kind: str,
    position: Float,
    theta: Float,
    *,
    arithmetic: str,
    machine: Machine,
    of: Frequencies = _PLAIN,
) -> Float:
    """Bound the error D of the angle position * theta in radians.

    Parameters
    ----------
    kind : str
        `Precision.angle`.
    position : ndarray
        Absolute positions.
    theta : ndarray
        Frequencies, broadcastable to `position`.
    arithmetic : str
        dtype in which cos and sin are taken.
    machine : Machine
        Constants of the mathematical library.
    of : Frequencies
        What theta is.
    """
    a = position * theta
    if kind == "exact":
        return np.zeros_like(a)
    # What a rounded exponent or logarithm of the base is multiplied by.
    exponent = -np.log(np.where((theta > 0.0) & (theta < 1.0), theta, 1.0))
    if kind == "float64":
        # 2^-64 of a turn is the grid of a 64-bit phase; an angle reduced below half a turn is
        # rounded once where cos and sin are taken in float32.
        reduced = 0.0 if arithmetic == "float64" else 2 * _U32
        grid = np.pi * 2.0**-64 * position
        steps = 5 + 3 * exponent
        if of.scheme is not None:
            steps = steps + roundings(2 * theta.shape[-1], of, machine.power)
        return steps * _U64 * a + grid + reduced * np.minimum(a, np.pi)
    index = np.arange(theta.shape[-1])
    rounded = np.where(position > 2**24, _U32, 0.0)
    if of.scheme is not None:
        rounded = rounded + _U32 * roundings(2 * theta.shape[-1], of, machine.power)
    general = (1 + machine.power + 3 * exponent) * _U32 * a + rounded * a
    if kind == "float32":
        return general
    worst = []
    if kind in ("recurrence", "any"):
        worst += [general, (index + 1) * (1 + machine.power) * _U32 * a + rounded * a]
    if kind in ("fast", "any"):
        worst += [(36 + 3 * exponent) * _U32 * a + rounded * a]
    if worst:
        return functools.reduce(np.maximum, worst)
    return general + _defect(kind, position, a)


def _defect(kind: str, position: Float, a: Float) -> Float:
    """What a class that is a defect adds to the error of a float32 angle."""
    match kind:
        case "tf32":
            return 2.01 * UNIT_ROUNDOFF["tf32"] * a
        case "bf16-inv_freq":
            return 1.01 * UNIT_ROUNDOFF["bfloat16"] * a
        case "float16-inv_freq":
            return 1.01 * UNIT_ROUNDOFF["float16"] * a + 2.0**-25 * position
        case "bf16-angles":
            return 3.03 * UNIT_ROUNDOFF["bfloat16"] * a
        case "float16-angles":
            return 3.03 * UNIT_ROUNDOFF["float16"] * a + 2.0**-24 * (position + 1)
    raise ValueError(f"kind must be the angle of a precision class; got {kind!r}")


@np.errstate(invalid="ignore")  # of what is infinite nothing is bounded
def budget(pairs: Pairs, precision: Precision, dtype: str, machine: Machine) -> Budget:
    """Bound the error of every element of a rotation.

    Parameters
    ----------
    pairs : Pairs
        The exact pairs, and cos and sin from the oracle.
    precision : Precision
        The class that is claimed or tried.
    dtype : str
        dtype of x and of the result.
    machine : Machine
        Constants of the mathematical library.

    Returns
    -------
    Budget
        Of y1 and y2, stage by stage.
    """
    working = arithmetic_dtype(dtype)
    arithmetic = precision.arithmetic or working
    stores = {precision.table or arithmetic}
    relative, absolute = table_error(precision, working, stores, machine, pairs.gain)
    off = angle_error(
        precision.angle,
        pairs.position,
        pairs.theta,
        arithmetic=working,
        machine=machine,
        of=pairs.of,
    )
    shares = _shares(pairs, dtype, arithmetic, relative, absolute)
    return Budget(_lengths(pairs, off), shares, _floor(dtype, arithmetic, machine))


def _lengths(pairs: Pairs, off: Float) -> Float:
    """Return the five lengths of a `Budget`, where the angle is off by so much."""
    c, s = np.abs(pairs.cos), np.abs(pairs.sin)
    first, second = np.abs(pairs.x1), np.abs(pairs.x2)
    y = turned(pairs)
    lengths = np.empty((5, *y.shape))
    moved, products, size, own, direct = lengths
    np.abs(y, out=own)
    np.add(first, second, out=size)
    # What is turned is at most this, whatever the signs.
    np.add(first * c, second * s, out=direct[0])
    np.add(first * s, second * c, out=direct[1])
    radius = pairs.reach * np.hypot(first, second)
    chord = 2 * np.sin(np.minimum(off, np.pi) / 2) * radius
    curve = 0.5 * off**2
    np.minimum(off * own[::-1] + curve * radius, chord, out=moved)
    crossed = off * direct[::-1] + pairs.reach * curve * size
    np.minimum(radius, direct + crossed, out=products)
    return lengths


def _shares(
    pairs: Pairs, dtype: str, arithmetic: str, relative: float, absolute: float
) -> tuple[_Shares, ...]:
    """Return how much of each length the stages of a `Budget` have."""
    unit = UNIT_ROUNDOFF[arithmetic]
    # The judge's own roundings: products and sum in float64, cos and sin of the oracle.
    ours, of_products = ORACLE_ERROR, 2 * _U64
    if isinstance(pairs.of.scheme, Told):  # of several numbers: a product for each
        ours += 4 * len(pairs.of.scheme.frequencies) * _U64
    if pairs.gain != 1.0:  # which was rounded too, and so were its products
        ours, of_products = ours + pairs.gain * ORACLE_ERROR, 2 * of_products
    x_is_rounded = UNIT_ROUNDOFF[dtype] < unit
    of_y = 0.0, 0.0, 0.0, 1.0, 0.0
    angle = 1.0, 0.0, 0.0, 0.0, 0.0
    table = 0.0, relative, absolute, 0.0, 0.0
    rounded = (
        unit,
        unit * ((1 + unit) * (1 + relative) + relative + x_is_rounded),
        unit * (2 + unit) * absolute + ours,
        unit + 2 * _U64,
        of_products,
    )
    step = UNIT_ROUNDOFF[dtype] if dtype != arithmetic else 0.0
    store = tuple(step * sum(each) for each in zip(angle, table, rounded, of_y, strict=True))
    return angle, table, rounded, store


def rounding(
    radius: Float, precision: Precision, dtype: str, machine: Machine, *, gain: float = 1.0
) -> Float:
    """Bound what table, arithmetic and store may add to a pair of length `radius`, at any angle.

    Parameters
    ----------
    radius : ndarray
        hypot(x1, x2).
    precision, dtype, machine
        As in `budget`.
    gain : float
        What cos and sin are multiplied by.
    """
    radius = gain * radius
    working = arithmetic_dtype(dtype)
    arithmetic = precision.arithmetic or working
    unit = UNIT_ROUNDOFF[arithmetic]
    stores = {precision.table or arithmetic}
    relative, absolute = table_error(precision, working, stores, machine, gain)
    table = (relative + 2 * absolute) * radius
    lost = unit * (1 + unit) * (radius + table) + unit * (radius + table)
    if UNIT_ROUNDOFF[dtype] < unit:
        lost = lost + unit * radius
    lost = table + lost + 4 * _U64 * radius
    if dtype != arithmetic:
        lost = lost + UNIT_ROUNDOFF[dtype] * (radius + lost)
    return lost + _floor(dtype, arithmetic, machine)


def table_error(
    precision: Precision, working: str, stores: AbstractSet[str], machine: Machine, gain: float = 1
) -> tuple[float, float]:
    """Return the relative and the absolute error of an entry of a cos or sin table.

    A library function costs `Machine.trigonometry` units of float32, or 3 of float64; a store in
    half precision one more unit, and in float16 half of its smallest number as well; the fast
    functions of a GPU cost 2^-21. An attention factor is rounded, and so is its product with them.

    Parameters
    ----------
    precision : Precision
        The precision class.
    working : str
        dtype in which cos and sin are taken.
    stores : set of str
        dtypes in which the entry is stored.
    machine : Machine
        Constants of the mathematical library.
    gain : float
        The attention factor.
    """
    if precision.table == "exact":
        return 0.0, 0.0
    exact = working == "float64" and precision.table is None
    relative = 3 * _U64 if exact else machine.trigonometry * _U32
    if gain != 1.0:
        relative += 2 * UNIT_ROUNDOFF[working]
    absolute = 2.0**-21 if precision.angle in ("fast", "any") else 0.0
    for name in sorted(stores & {"float16", "bfloat16"}):
        relative += UNIT_ROUNDOFF[name] * (1 + relative)
        absolute += 2.0**-25 if name == "float16" else 0.0
    return relative, max(gain, 1.0) * absolute


def _floor(dtype: str, arithmetic: str, machine: Machine) -> float:
    smallest = NORMAL if machine.flushes else SMALLEST
    compute = smallest[arithmetic] if arithmetic in ("float32", "float64") else SMALLEST[arithmetic]
    out = smallest[dtype] if dtype != "float16" else SMALLEST[dtype]
    # A flushed operand, product and result each lose up to the smallest normal number.
    return (4.0 if machine.flushes else 1.5) * compute + (1.0 if machine.flushes else 0.5) * out
