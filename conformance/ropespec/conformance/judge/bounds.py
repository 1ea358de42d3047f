"""Error bounds for what is not a rotation: tables, dot products, softmax, the decay curve (JDG-2).

Every bound is derived from the steps of the computation, for any order of its sums. Three unit
roundoffs u appear: `sum_unit`, in which sums are accumulated (float32 at least, JDG-3);
`step_unit`, in which a step may be stored before the next one, by the arithmetic of the precision
class; and that of the result. k roundings in a row cost at most gamma(k u) = k u / (1 - k u).
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge import angles, oracle
from ropespec.conformance.judge.budget import Machine, angle_error, table_error
from ropespec.conformance.judge.precision import UNIT_ROUNDOFF, Precision, arithmetic_dtype
from ropespec.conformance.judge.rotation import Rotation, from_pairs, pairs_of, rest_of
from ropespec.spec.convention import Convention, Frequencies

__all__ = [
    "Bounded",
    "Rules",
    "decay",
    "dot",
    "gamma",
    "project",
    "project_rotated",
    "score",
    "softmax",
    "stored",
    "sum_unit",
    "table",
    "unit_circle",
    "weighted_sum",
]

Float = NDArray[np.float64]

_U64 = UNIT_ROUNDOFF["float64"]
# Numbers below the normal range may be flushed; float16 has its subnormal numbers everywhere.
_FLOOR = {"float64": 2.0**-1021, "float32": 2.0**-125, "bfloat16": 2.0**-125, "float16": 2.0**-24}


class Bounded(NamedTuple):
    """Exact values and the largest error allowed of each; arrays of one shape."""

    value: Float
    allowed: Float


class Rules(NamedTuple):
    """What errors are allowed for.

    Attributes
    ----------
    precision : Precision
        The precision class.
    dtype : str
        dtype of the result.
    machine : Machine
        Constants of the mathematical library.
    """

    precision: Precision
    dtype: str
    machine: Machine

    @property
    def unit(self) -> float:
        """Unit roundoff of the result."""
        return UNIT_ROUNDOFF[self.dtype]

    @property
    def step_unit(self) -> float:
        """Unit roundoff of a step, by the arithmetic of the class."""
        return UNIT_ROUNDOFF[self.precision.arithmetic or arithmetic_dtype(self.dtype)]

    @property
    def sum_unit(self) -> float:
        """Unit roundoff of a sum: half precision never accumulates."""
        return sum_unit(self.precision, self.dtype)

    @property
    def table_error(self) -> tuple[float, float]:
        """Relative and absolute error of an entry of a table that is returned in `dtype`."""
        return self.scaled_error(1.0)

    def scaled_error(self, gain: float) -> tuple[float, float]:
        """Return those of a table that is multiplied by a gain."""
        stores = {self.precision.table or self.dtype, self.dtype}
        return table_error(self.precision, self.dtype, stores, self.machine, gain)

    @property
    def floor(self) -> float:
        """What may be lost below the normal range, in the arithmetic and in the result."""
        return _FLOOR[arithmetic_dtype(self.dtype)] + _FLOOR[self.dtype]


def sum_unit(precision: Precision, dtype: str) -> float:
    """Return the unit roundoff in which sums are accumulated: float32 at least (JDG-3)."""
    working = precision.arithmetic
    if working not in ("float32", "float64"):
        working = arithmetic_dtype(dtype)
    return max(UNIT_ROUNDOFF[working], UNIT_ROUNDOFF[arithmetic_dtype(dtype)])


def gamma(error: float) -> float:
    """Bound 1 - the product of factors (1 + e_k) with sum of abs(e_k) = `error`: e / (1 - e)."""
    return error / (1.0 - min(error, 0.5))


def stored(exact: Bounded, rules: Rules) -> Bounded:
    """Add the one rounding of the result to its dtype: u (abs(value) + allowed), and the floor."""
    lost = rules.unit * (np.abs(exact.value) + exact.allowed) + rules.floor
    return Bounded(exact.value, exact.allowed + lost)


def table(
    positions: NDArray[np.int64], dim: int, of: Frequencies, rules: Rules
) -> tuple[Bounded, Bounded]:
    """Bound cos and sin of m theta_i times their gain A, of shape positions.shape + (dim/2,).

    An angle that is off by D moves A cos by at most min(D abs(A sin) + A D^2 / 2, 2 A sin(D/2)): a
    Taylor step, or the chord of the circle. The entry adds its relative and absolute error.
    """
    return _table(positions, dim, of, rules, gain=float(of.gain))


def _table(
    positions: NDArray[np.int64], dim: int, of: Frequencies, rules: Rules, *, gain: float
) -> tuple[Bounded, Bounded]:
    cos, sin = (gain * part for part in angles.cos_sin(positions, dim, of))
    off = _off(positions[..., None], dim, of, rules)
    chord = 2 * gain * np.sin(np.minimum(off, np.pi) / 2)
    relative, absolute = rules.scaled_error(gain)
    if gain != 1.0:
        relative += 2 * _U64  # the judge's own: the gain, and its products
    constant = absolute + gain * oracle.ORACLE_ERROR + rules.floor

    def one(own: Float, other: Float) -> Bounded:
        moved = np.minimum(off * np.abs(other) + gain * off**2 / 2, chord)
        return Bounded(own, moved + relative * (np.abs(own) + moved) + constant)

    return one(cos, sin), one(sin, cos)


def unit_circle(rules: Rules) -> float:
    """Bound abs(c^2 + s^2 - 1) where c and s belong to one angle, whichever it is.

    Each is off by a relative r and an absolute a: c^2 + s^2 = 1 + 2r + r^2 + 2a (abs(c) + abs(s)) +
    2a^2, with abs(c) + abs(s) at most sqrt(2); four roundings are the judge's own.
    """
    relative, absolute = rules.table_error
    lost = 2 * relative + relative**2 + 2 * absolute * (1 + relative) * np.sqrt(2.0)
    return float(lost + 2 * absolute**2 + 4 * _U64 + rules.floor)


def dot(first: Bounded, second: Bounded) -> Bounded:
    """Bound an inner product over the last axis that the judge takes in float64.

    With a and b off by e_a and e_b it is off by sum(abs(a) e_b + abs(b) e_a + e_a e_b); the judge's
    float64 adds n u to that, for its own value and for that of the subject.
    """
    a, b = np.abs(first.value), np.abs(second.value)
    value = np.sum(first.value * second.value, axis=-1)
    carried = np.sum(a * second.allowed + (b + second.allowed) * first.allowed, axis=-1)
    size = np.sum((a + first.allowed) * (b + second.allowed), axis=-1)
    return Bounded(value, carried + 2 * gamma((a.shape[-1] + 8) * _U64) * size)


def score(
    q: NDArray[Any],
    k: NDArray[Any],
    offset: NDArray[np.int64],
    rules: Rules,
    by: Convention,
) -> Bounded:
    """Bound q^T R_offset k, a relative score of shape (...), computed in any of its forms.

    A pair contributes p = inner cos + cross sin, inner = q1 k1 + q2 k2, cross = q2 k1 - q1 k2,
    times the gains of both vectors. An angle off by D moves p by min(D abs(dp/da) + D^2 / 2, 2
    sin(D/2)) r, r the product of the two lengths. All other roundings are relative to the four
    products: size = abs(q1 k1) + ... . They are those of the table, of two products and a sum in
    pairs, of a rotated vector that is stored, and of the sum over d components. A component of the
    tail adds its plain product.
    """
    width = q.shape[-1]
    dim, gain = by.dim(width), float(by.frequencies.gain)
    cos, sin = angles.rotating(offset, dim, by)
    off = _off(angles.reached(offset, by), dim, by.frequencies, rules)
    q1, q2 = (gain * part for part in pairs_of(q.astype(np.float64), by))
    k1, k2 = pairs_of(k.astype(np.float64), by)
    inner, cross = q1 * k1 + q2 * k2, q2 * k1 - q1 * k2
    size = gain * (np.abs(q1 * k1) + np.abs(q2 * k2) + np.abs(q2 * k1) + np.abs(q1 * k2))
    radius = gain * np.hypot(q1, q2) * np.hypot(k1, k2)
    slope = np.abs(cross * cos - inner * sin)
    chord = 2 * np.sin(np.minimum(off, np.pi) / 2)
    moved = np.minimum(off * slope + off**2 / 2 * radius, chord * radius)
    relative, absolute = rules.scaled_error(gain)
    steps = relative + 4 * rules.step_unit + rules.unit + (width + 2) * rules.sum_unit
    own = gamma((width + 8) * _U64) + 2 * oracle.ORACLE_ERROR
    lost = moved * (1 + gamma(steps)) + (gamma(steps) + absolute + own) * size
    tail = rest_of(q, by).astype(np.float64) * rest_of(k, by).astype(np.float64)
    value = np.sum(inner * cos + cross * sin, axis=-1) + np.sum(tail, axis=-1)
    plain = (gamma(steps) + own) * np.sum(np.abs(tail), axis=-1)
    return stored(Bounded(value, np.sum(lost, axis=-1) + plain), rules)


def project(x: NDArray[Any], weight: NDArray[Any], rules: Rules) -> Bounded:
    """Bound W x for x (..., d_in) and weight (H, D, d_in): shape (..., H, D).

    A sum of d_in products costs d_in roundings relative to sum(abs(W) abs(x)), and one store.
    """
    left, right = x.astype(np.float64), weight.astype(np.float64)
    value = np.tensordot(left, right, axes=(-1, -1))
    size = np.tensordot(np.abs(left), np.abs(right), axes=(-1, -1))
    count = x.shape[-1] + 1
    lost = gamma(count * rules.sum_unit + rules.step_unit) + gamma(count * _U64)
    return stored(Bounded(value, lost * size), rules)


def project_rotated(
    x: NDArray[Any],
    positions: NDArray[np.int64],
    weight: NDArray[Any],
    rules: Rules,
    by: Convention,
) -> Bounded:
    """Bound R_m W x for x (B, S, d_in), positions (B, S) and weight (H, D, d_in).

    A rotation keeps the length of what W x is off by, so it reaches each member of its pair in full
    and no further; the rotation adds its own budget, for vectors longer by that error too. The
    tail is off by what the projection lost, and by one more store.
    """
    plain = project(x, weight, rules)
    dim, gain = by.dim(weight.shape[-2]), float(by.frequencies.gain)
    exact = replace(Rotation.of(plain.value, positions, by), dtype=rules.dtype)
    first, second = pairs_of(plain.allowed, by)
    length = gain * np.hypot(first, second)
    off = _off(angles.reached(positions, by), dim, by.frequencies, rules)[..., None, :]
    relative, absolute = rules.scaled_error(gain)
    again = np.minimum(off, 2.0) + relative + 2 * absolute + gamma(4 * rules.step_unit) + rules.unit
    carried = length * (1 + again)
    tail = stored(Bounded(*(rest_of(part, by) for part in plain)), rules).allowed
    allowed = exact.allowed(rules.precision, rules.machine)
    return Bounded(exact.y, allowed + from_pairs(carried, carried, tail, by))


def softmax(scores: Bounded, mask: NDArray[np.bool_], rules: Rules) -> Bounded:
    """Bound the softmax of scores over the last axis; a row without an allowed key is zero.

    A score off by e multiplies its exponential by at most exp(e), so that a weight w stays below
    w exp(e) / sum(w exp(-e)). A rounding of the score, of its distance to the largest one, or of
    the exponential adds to e; the sum of T of them and the division multiply the whole row.
    """
    keep = np.broadcast_to(mask, scores.value.shape)
    top = np.max(scores.value, axis=-1, keepdims=True, initial=-np.inf, where=keep)
    below = np.where(keep, scores.value - np.where(np.isfinite(top), top, 0.0), -np.inf)
    powers = np.exp(below)
    total = np.sum(powers, axis=-1, keepdims=True)
    weights = powers / np.where(total > 0.0, total, 1.0)
    finite = np.where(keep, below, 0.0)
    step = rules.step_unit
    e = scores.allowed + step * (2 * np.abs(finite) + np.abs(scores.value)) + 6 * step + 8 * _U64
    e = np.minimum(np.where(keep, e, 0.0), 100.0)
    least = np.sum(weights * np.exp(-e), axis=-1, keepdims=True)
    count = weights.shape[-1] + 1
    rows = gamma(count * rules.sum_unit + 2 * step) + count * _U64
    most = weights * np.exp(e) / np.where(least > 0.0, least, 1.0)
    return stored(Bounded(weights, np.minimum(most * (1 + rows) - weights, 1.0)), rules)


def weighted_sum(weights: Bounded, v: NDArray[Any], rules: Rules) -> Bounded:
    """Bound weights (..., S, T) times values (..., T, E): a dot product with exact values."""
    values = v.astype(np.float64)
    size = np.abs(values)
    count = weights.value.shape[-1] + 1
    steps = gamma(count * rules.sum_unit + rules.step_unit) + gamma(count * _U64)
    lost = weights.allowed @ size + steps * ((weights.value + weights.allowed) @ size)
    return stored(Bounded(weights.value @ values, lost), rules)


def decay(offsets: NDArray[np.int64], dim: int, of: Frequencies, rules: Rules) -> Bounded:
    """Bound B, the mean over j of abs(S_j), where S_j sums e^{i offset theta_i} over i < j.

    The points are off by their table's bounds, and a partial sum by all of its points' together;
    a sum of j terms rounds j-1 times relative to the sum of their sizes, whatever its order; a
    length costs three roundings, and the mean of n lengths n+1.
    """
    cos, sin = _table(offsets, dim, of, rules, gain=1.0)
    each = np.cumsum(np.hypot(cos.allowed, sin.allowed), axis=-1)
    unit = max(rules.unit, rules.sum_unit) + _U64
    lengths = np.hypot(np.cumsum(cos.value, axis=-1), np.cumsum(sin.value, axis=-1))
    sizes = np.hypot(np.cumsum(np.abs(cos.value), axis=-1), np.cumsum(np.abs(sin.value), axis=-1))
    count = lengths.shape[-1]
    off = each + gamma(count * unit) * (sizes + each) * np.arange(count) / count
    off = off + 3 * unit * (lengths + off)
    value, mean = np.mean(lengths, axis=-1), np.mean(off, axis=-1)
    return stored(Bounded(value, mean + gamma((count + 1) * unit) * (value + mean)), rules)


def _off(positions: NDArray[np.number[Any]], dim: int, of: Frequencies, rules: Rules) -> Float:
    """Bound the error of the angles m theta_i, in radians; positions broadcast to (..., dim/2)."""
    return angle_error(
        rules.precision.angle,
        np.abs(positions.astype(np.float64)),
        angles.speeds(dim, of),
        arithmetic=arithmetic_dtype(rules.dtype),
        machine=rules.machine,
        of=of,
    )
