"""The convention of one side: which components turn together, by which angle."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify import Block, Identification, Name, Pairing
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.budget import Machine, Pairs, budget
from ropespec.conformance.judge.precision import Precision
from ropespec.spec.convention import Frequencies

__all__ = ["Exact", "Turn", "turn_of"]

Float = NDArray[np.float64]

_LINES = (Pairing.INTERLEAVED, Pairing.HALF, Pairing.HALF_OF_HEAD, Pairing.DEINTERLEAVED)


@dataclass(frozen=True, slots=True)
class Exact:
    """What a side should return for one input, and how far off it may be.

    Attributes
    ----------
    y : ndarray of float64
        (B, S, H, D).
    length : ndarray of float64
        The length of the pair of each component of y, which a rotation keeps: (B, S, H, D).
    pairs : Pairs
        What y was made from.
    outputs : ndarray of int
        Components of each pair in y: (pairs, 2).
    dtype : str
        dtype of x.
    """

    y: Float
    length: Float
    pairs: Pairs
    outputs: NDArray[np.intp]
    dtype: str

    def allowed(self, precision: Precision, machine: Machine) -> Float:
        """Return the largest error of every component of y under a class; zero in the tail."""
        total = budget(self.pairs, precision, self.dtype, machine).total
        shape = self.pairs.x1.shape
        allowed = np.zeros_like(self.y)
        for member in (0, 1):
            allowed[..., self.outputs[:, member]] = np.broadcast_to(total[member], shape)
        return allowed


@dataclass(frozen=True, slots=True)
class Turn:
    """A convention of RoPE, as identified.

    Attributes
    ----------
    pairing : Pairing
        Interleaved, half, half of head, or left de-interleaved.
    clockwise : bool
        Whether pairs turn by -m theta.
    offset : int
        Added to positions.
    base : float
        Of base^(-2i/dim).
    share : Fraction
        rotary_dim / head_dim where that is fixed; 1 for all components.
    fixed : int or None
        rotary_dim where that is fixed.
    last : bool
        Whether the last components turn, not the first.
    of_head : bool
        Whether the frequencies are those of head_dim, not of rotary_dim.
    """

    pairing: Pairing
    clockwise: bool = False
    offset: int = 0
    base: float = 10000.0
    share: Fraction = Fraction(1)
    fixed: int | None = None
    last: bool = False
    of_head: bool = False

    def rotary_dim(self, head_dim: int) -> int:
        """Return how many components turn."""
        return self.fixed if self.fixed is not None else int(head_dim * self.share)

    def inputs(self, head_dim: int) -> NDArray[np.intp]:
        """Return the components of x that turn together: (pairs, 2), second last."""
        turning = self.rotary_dim(head_dim)
        start = head_dim - turning if self.last else 0
        i = np.arange(turning // 2)
        if self.pairing in (Pairing.INTERLEAVED, Pairing.DEINTERLEAVED):
            return start + np.stack([2 * i, 2 * i + 1], axis=-1)
        apart = head_dim // 2 if self.pairing is Pairing.HALF_OF_HEAD else turning // 2
        return start + np.stack([i, i + apart], axis=-1)

    def outputs(self, head_dim: int) -> NDArray[np.intp]:
        """Return where they come out: (pairs, 2)."""
        if self.pairing is Pairing.DEINTERLEAVED:
            return replace(self, pairing=Pairing.HALF).inputs(head_dim)
        return self.inputs(head_dim)

    def of(self, x: NDArray[Any], positions: NDArray[np.int64]) -> Exact:
        """Turn x (B, S, H, D) by positions (B, S), exactly."""
        dim = x.shape[-1]
        inputs, outputs = self.inputs(dim), self.outputs(dim)
        count = len(inputs)
        ladder = dim if self.of_head else 2 * count
        where, of = positions + self.offset, Frequencies(self.base)
        cos, sin = (part[..., :count] for part in oracle.cos_sin(where[..., None], ladder, of))
        if self.clockwise:
            sin = -sin
        exact = x.astype(np.float64)
        x1, x2 = exact[..., inputs[:, 0]], exact[..., inputs[:, 1]]
        magnitude = np.abs(where.astype(np.float64))[..., None, None]
        theta = oracle.frequencies(ladder, of)[:count]
        y, length = exact.copy(), np.abs(exact)
        with np.errstate(invalid="ignore"):
            y[..., outputs[:, 0]] = x1 * cos - x2 * sin
            y[..., outputs[:, 1]] = x1 * sin + x2 * cos
        length[..., outputs[:, 0]] = length[..., outputs[:, 1]] = np.hypot(x1, x2)
        pairs = Pairs(x1, x2, cos, sin, magnitude, theta)
        return Exact(y, length, pairs, outputs, x.dtype.name)


def turn_of(found: Identification) -> Turn | None:
    """Return the convention that was identified, or None where it is none of a plain RoPE."""
    pairing, offset = found.value(Name.PAIRING), found.value(Name.POSITION_OFFSET)
    base, dim = found.value(Name.BASE), found.value(Name.HEAD_DIM)
    exponent, end = found.value(Name.EXPONENT), found.value(Name.ROTATED_END)
    plain = (
        pairing in _LINES
        and found.value(Name.BLOCK) is Block.ROTATION
        and found.value(Name.POSITION_SCALE) == 1.0
        and found.value(Name.GAIN) == 1.0
        and exponent in ("2i/rotary_dim", "2i/head_dim")
        and end in ("all", "first", "last")
        and base is not None
        and base > 1
        and offset is not None
        and offset == round(offset)
    )
    if not plain:
        return None
    turning, rule = int(found.value(Name.ROTARY_DIM)), found.value(Name.ROTARY_RULE)
    return Turn(
        pairing=Pairing(pairing),
        clockwise=found.value(Name.DIRECTION) == "clockwise",
        offset=round(offset),
        base=float(base),
        share=Fraction(turning, dim) if rule == "share" else Fraction(1),
        fixed=turning if rule == "fixed" else None,
        last=end == "last",
        of_head=exponent == "2i/head_dim" and turning != dim,
    )
