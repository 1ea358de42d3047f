"""What reads the same in NumPy and CuPy, over a namespace `xp`: the module `numpy` or `cupy`."""

import abc
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ropespec.backends.derived import Primitives, members
from ropespec.backends.phase import Steps, turns
from ropespec.spec.api import ArrayT

__all__ = ["NamespacePrimitives", "Turning", "arithmetic", "cos_sin", "inv_freq", "phase"]

Array = Any  # numpy.ndarray or cupy.ndarray
Dtype = Any  # a NumPy dtype, which CuPy shares
Namespace = Any  # the module numpy or cupy

RADIANS = math.ldexp(math.tau, -64)
"""Radians in one unit of phase, a 2^-64 turn."""


def arithmetic(xp: Namespace, dtype: Dtype) -> Dtype:
    """Return float64 for float64, float32 for everything narrower (JDG-3)."""
    return xp.dtype(xp.float64 if dtype == xp.float64 else xp.float32)


def phase(xp: Namespace, positions: Array, dim: int, base: float) -> Array:
    """(m * T_i) mod 2^64 as int64 in units of 2^-64 turn: positions.shape + (dim/2,).

    Read as a signed number it is the angle reduced to half a turn, without any rounding.
    """
    table = xp.asarray(turns(dim, base))
    return (positions.astype(xp.int64).view(xp.uint64)[..., None] * table).view(xp.int64)


def cos_sin_by(xp: Namespace, positions: Array, steps: Steps) -> tuple[Array, Array]:
    """Return A cos and A sin by exact phase, float64; positions are (n, ...) where `steps` are."""
    m, turns = positions.astype(xp.int64).view(xp.uint64), xp.asarray(steps.turns)
    if turns.ndim == 1:
        m, turns = m[None], turns[None]
    units = m[0, ..., None] * turns[0]
    for axis in range(1, len(turns)):
        units = units + m[axis, ..., None] * turns[axis]
    angle = units.view(xp.int64).astype(xp.float64) * RADIANS
    cos, sin = xp.cos(angle), xp.sin(angle)
    return (cos, sin) if steps.gain == 1 else (cos * steps.gain, sin * steps.gain)


def cos_sin(
    xp: Namespace, positions: Array, dim: int, base: float, dtype: Dtype = "float64"
) -> tuple[Array, Array]:
    """Return cos and sin of m * theta_i by exact phase (FREQ-9).

    Parameters
    ----------
    xp : module
        numpy or cupy.
    positions : array of integers, any shape
        m.
    dim : int
        Even.
    base : float
        Above 1.
    dtype : dtype
        What the values, computed in float64, are rounded to once.

    Returns
    -------
    cos, sin : array of dtype, positions.shape + (dim/2,)
        An int64 becomes a float64 by one rounding, relative to the reduced angle.
    """
    angle = phase(xp, positions, dim, base).astype(xp.float64)
    angle *= RADIANS
    return xp.cos(angle).astype(dtype, copy=False), xp.sin(angle).astype(dtype, copy=False)


class Turning(NamedTuple):
    """How much tokens turn: what `cos_sin` takes."""

    positions: Array
    dim: int
    base: float
    dtype: Dtype


class NamespacePrimitives(Primitives[ArrayT]):
    """The primitives that are alike in NumPy and CuPy."""

    @property
    @abc.abstractmethod
    def xp(self) -> Namespace:
        """The module numpy or cupy."""

    def work(self, dtype: Dtype) -> Dtype:
        """Return float64 for float64, else float32."""
        return arithmetic(self.xp, dtype)

    def wide(self) -> Dtype:
        """Return float64."""
        return self.xp.float64

    def cast(self, x: Array, dtype: Dtype) -> Array:
        """Convert arrays, and the scalars that NumPy makes of arrays without axes."""
        return self.xp.asarray(x).astype(dtype, copy=False)

    def circle(self, turning: Turning) -> tuple[Array, Array]:
        """Return cos and sin by exact phase."""
        return cos_sin(self.xp, *turning)

    def circle_by(
        self,
        positions: Array,
        steps: Steps,
        x: Array | None,  # noqa: ARG002  # where several devices are, a subclass looks at it
    ) -> tuple[Array, ...]:
        """Return A cos and A sin by exact phase, float64."""
        return cos_sin_by(self.xp, positions, steps)

    def join_pairs(self, first: Array, second: Array, *, interleaved: bool) -> Array:
        """Write both into a new array, whose bytes are ordered as theirs."""
        *lead, half = first.shape
        out = self.xp.empty((*lead, 2 * half), dtype=first.dtype)
        a, b = members(2 * half, interleaved=interleaved)
        out[..., a] = first
        out[..., b] = second
        return out

    def with_diagonals(self, dim: int, blocks: Sequence[tuple[slice, slice, Array]]) -> Array:
        """Write the diagonals into zeros."""
        *_, (_, _, values) = blocks
        *lead, count = values.shape
        out = self.xp.zeros((*lead, dim, dim), dtype=values.dtype)
        i = self.xp.arange(count)
        for rows, columns, diagonal in blocks:
            out[..., rows, columns][..., i, i] = diagonal
        return out

    def with_tail(self, head: Array, x: Array) -> Array:
        """Write the head into a copy of x, whose tail so stays bit for bit."""
        out = self.xp.array(x)
        out[..., : head.shape[-1]] = head.astype(x.dtype, copy=False)
        return out

    def contiguous(self, x: Array) -> Array:
        """Copy, for what was broadcast may not be written to."""
        return self.xp.array(x, order="C")

    def complex(self, real: Array, imag: Array) -> Array:
        """Write both parts into a new array."""
        kind = self.xp.complex128 if real.dtype == self.xp.float64 else self.xp.complex64
        out = self.xp.empty(real.shape, dtype=kind)
        out.real = real
        out.imag = imag
        return out

    def matmul(self, a: Array, b: Array) -> Array:
        """Multiply matrices."""
        return self.xp.matmul(a, b)

    def softmax(self, scores: Array, mask: Array | None) -> Array:
        """Softmax over the last axis among the allowed keys."""
        xp = self.xp
        if scores.shape[-1] == 0:
            return scores
        floor = xp.asarray(-math.inf, dtype=scores.dtype)
        if mask is not None:
            scores = xp.where(mask, scores, floor)
        top = xp.max(scores, axis=-1, keepdims=True)
        weights = xp.exp(scores - top)
        weights /= xp.sum(weights, axis=-1, keepdims=True)
        if mask is not None:
            # Also where the row is empty (inf - inf): nothing comes from a key that is masked.
            weights = xp.where(mask, weights, xp.zeros((), dtype=scores.dtype))
        return weights


def inv_freq(xp: Namespace, dim: int, base: float) -> Array:
    """theta_i = base^(-2i/dim): float64 (dim/2,), radians per position (FREQ-2)."""
    return xp.power(xp.float64(base), xp.arange(0, dim, 2, dtype=xp.float64) / -dim)
