"""The convention of one side, and what leads from one convention to another."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify import Identification, Name, Pairing
from ropespec.conformance.judge.budget import Machine
from ropespec.conformance.judge.precision import Precision
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.mistakes.numbers import measured
from ropespec.conformance.scaled import named
from ropespec.spec.axes import Told
from ropespec.spec.convention import Convention, Frequencies
from ropespec.spec.convention import Pairing as Claimed

__all__ = [
    "Change",
    "Exact",
    "Turn",
    "change_between",
    "channel_list",
    "into_a",
    "into_b",
    "permutation_words",
]

Float = NDArray[np.float64]

_SAID = ("S1", "P3", "offset", "R9", "L3", "R1")
"""Mistakes that another convention is said to be: sense, offset, end, order, width of the head."""

_PAIRS = {
    Pairing.INTERLEAVED: "interleaved (2i, 2i+1)",
    Pairing.HALF: "half-split (i, i+d/2)",
    Pairing.HALF_OF_HEAD: "pairs (i, i+head_dim/2)",
    Pairing.DEINTERLEAVED: "interleaved (2i, 2i+1), left de-interleaved",
}


@dataclass(frozen=True, slots=True)
class Exact:
    """What a side should return for one input, and how far off it may be.

    Attributes
    ----------
    y, length : ndarray of float64
        The result (B, S, H, D), and the length of the pair of each of its components.
    rotation : Rotation
        The same pairs, side by side.
    outputs : ndarray of int
        Where its components are in y.
    """

    y: Float
    length: Float
    rotation: Rotation
    outputs: NDArray[np.intp]

    def allowed(self, precision: Precision, machine: Machine) -> Float:
        """Return the largest error of every component of y under a class; zero in the tail."""
        allowed = np.zeros_like(self.y)
        bound = self.rotation.allowed(precision, machine)
        allowed[..., self.outputs] = bound[..., : self.outputs.size]
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
    frequencies : Frequencies
        How fast each pair rotates.
    share : Fraction
        rotary_dim / head_dim where that is fixed; 1 for all components.
    fixed : int or None
        rotary_dim where that is fixed.
    last : bool
        Whether the last components turn, not the first.
    of_head : bool
        Whether the frequencies are those of head_dim, not of rotary_dim.
    axes : tuple of int
        Which of several position numbers each pair follows; empty where a token has one.
    """

    pairing: Pairing
    clockwise: bool = False
    offset: int = 0
    frequencies: Frequencies = field(default_factory=Frequencies)
    share: Fraction = Fraction(1)
    fixed: int | None = None
    last: bool = False
    of_head: bool = False
    axes: tuple[int, ...] = ()

    def __str__(self) -> str:
        parts = [_PAIRS[self.pairing], "clockwise" if self.clockwise else "counter-clockwise"]
        mixed = isinstance(self.frequencies.scheme, Told)
        parts += [f"base {self.base:g}"] * (not mixed) + [self.scaling] * bool(self.scaling)
        parts += [measured(self.axes)[1]] if self.axes and not mixed else []
        if self.offset:
            parts.append(f"positions {self.offset:+d}")
        end = "last" if self.last else "first"
        if self.fixed is not None:
            parts.append(f"the {end} {self.fixed} components are rotated")
        elif self.share != 1:
            parts.append(f"the {end} {self.share} of the components are rotated")
        return ", ".join(parts)

    @property
    def base(self) -> float:
        """The base of the frequencies."""
        return self.frequencies.base

    @property
    def scaling(self) -> str:
        """The scheme of the frequencies in words; empty where there is none."""
        return named(self.frequencies.scheme)

    @property
    def woven(self) -> bool:
        """Whether the members of a pair are neighbours in x."""
        return self.pairing in (Pairing.INTERLEAVED, Pairing.DEINTERLEAVED)

    def rotary_dim(self, head_dim: int) -> int:
        """Return how many components turn."""
        return self.fixed if self.fixed is not None else int(head_dim * self.share)

    def inputs(self, head_dim: int) -> NDArray[np.intp]:
        """Return the components of x that turn together, towards the second: (pairs, 2)."""
        turning = self.rotary_dim(head_dim)
        start = head_dim - turning if self.last else 0
        i = np.arange(turning // 2)
        apart = head_dim // 2 if self.pairing is Pairing.HALF_OF_HEAD else turning // 2
        members = [2 * i, 2 * i + 1] if self.woven else [i, i + apart]
        # Turning (x1, x2) clockwise is turning (x2, x1) counter-clockwise.
        return start + np.stack(members[::-1] if self.clockwise else members, axis=-1)

    def outputs(self, head_dim: int) -> NDArray[np.intp]:
        """Return where they come out: (pairs, 2)."""
        if self.pairing is Pairing.DEINTERLEAVED:
            return replace(self, pairing=Pairing.HALF).inputs(head_dim)
        return self.inputs(head_dim)

    def of(self, x: NDArray[Any], positions: NDArray[np.int64]) -> Exact:
        """Turn x (B, S, H, D) by positions (B, S), or by several numbers (B, S, n), exactly."""
        dim = x.shape[-1]
        inputs, outputs = self.inputs(dim).ravel(), self.outputs(dim).ravel()
        # Frequencies of the whole head: the pairs that do not turn are empty.
        wide = dim if self.of_head else inputs.size
        pairs = np.zeros((*x.shape[:-1], wide), x.dtype)
        pairs[..., : inputs.size] = x[..., inputs]
        axes = self.axes if positions.ndim > x.ndim - 2 else ()
        by = Convention(Claimed.INTERLEAVED, self.frequencies, axes=axes)
        rotation = Rotation.of(pairs, positions + self.offset, by)
        y = x.astype(np.float64)
        length = np.abs(y)
        y[..., outputs] = rotation.y[..., : inputs.size]
        lengths = np.hypot(rotation.pairs.x1, rotation.pairs.x2)
        length[..., outputs] = np.repeat(lengths, 2, axis=-1)[..., : inputs.size]
        return Exact(y, length, rotation, outputs)

    @classmethod
    def found(cls, found: Identification) -> "Turn | None":
        """Return the convention that was identified, or None where it is none of a plain RoPE."""
        form, pairing = found.found, found.value(Name.PAIRING)
        if form is None or pairing not in _PAIRS:
            return None
        offset, end = found.value(Name.POSITION_OFFSET), found.value(Name.ROTATED_END)
        plain = (
            all(choice.key in _SAID for choice in form.beside)
            and end in ("all", "first", "last")
            and offset == round(offset)
        )
        if not plain:
            return None
        ladder = any(choice.stage == "frequency" for choice in form.beside)
        return cls(
            pairing=Pairing(pairing),
            clockwise=found.value(Name.DIRECTION) == "clockwise",
            offset=round(offset),
            frequencies=form.by.frequencies,
            share=form.share or Fraction(1),
            fixed=form.by.rotary_dim if form.share is None else None,
            last=end == "last",
            of_head=ladder,
            axes=form.by.axes,
        )


@dataclass(frozen=True, slots=True)
class Change:
    """What makes B do what A does.

    Attributes
    ----------
    layout, direction : bool
        Whether the pairing, and whether the sense of rotation differ: both are mended by
        permuting channels.
    offset : int
        Added to the positions that B is given.
    base : tuple of float or None
        The bases of A and B where they differ; B then has to be given that of A.
    rotary_dim : int or None
        What B has to be given to turn as many components as A.
    """

    layout: bool = False
    direction: bool = False
    offset: int = 0
    base: tuple[float, float] | None = None
    rotary_dim: int | None = None

    @property
    def permutes(self) -> bool:
        """Whether channels have to be permuted."""
        return self.layout or self.direction

    @property
    def needed(self) -> bool:
        """Whether anything has to be changed."""
        return self != Change()


def change_between(a: Turn, b: Turn, head_dim: int, *, b_takes_rotary_dim: bool) -> Change | None:
    """Return what makes B do what A does, or None if no change of these kinds can."""
    ours, theirs = a.rotary_dim(head_dim), b.rotary_dim(head_dim)
    if (ours != theirs and not b_takes_rotary_dim) or a.of_head != b.of_head:
        return None
    if a.frequencies.scheme != b.frequencies.scheme or a.axes != b.axes:
        return None
    return Change(
        layout=(a.pairing, a.last) != (b.pairing, b.last),
        direction=a.clockwise != b.clockwise,
        offset=a.offset - b.offset,
        base=None if a.base == b.base else (a.base, b.base),
        rotary_dim=None if ours == theirs else ours,
    )


def channel_list(a: Turn, b: Turn, head_dim: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return for each channel of B the channel of A that belongs there, before and after turning.

    The first list orders the rows of W_q and W_k within each head: W_B = W_A[list]. The second
    orders the results; it is the same but where a side does not put pairs back where they were.
    """
    before = _matched(a.inputs(head_dim), b.inputs(head_dim), head_dim)
    return before, _matched(a.outputs(head_dim), b.outputs(head_dim), head_dim)


def _matched(a: NDArray[np.intp], b: NDArray[np.intp], head_dim: int) -> tuple[int, ...]:
    order = np.empty(head_dim, dtype=np.intp)
    order[b.ravel()] = a.ravel()
    every = np.arange(head_dim)
    order[np.setdiff1d(every, b)] = np.setdiff1d(every, a)
    return tuple(int(i) for i in order)


def into_b(x: NDArray[Any], before: Sequence[int]) -> NDArray[Any]:
    """Put the channels of A's x in the order of B."""
    return np.ascontiguousarray(x[..., list(before)])


def into_a(y: NDArray[Any], after: Sequence[int]) -> NDArray[Any]:
    """Put the channels of B's y in the order of A."""
    ordered = np.empty_like(y)
    ordered[..., list(after)] = y
    return ordered


def permutation_words(a: Turn, b: Turn, order: tuple[int, ...]) -> str:
    """Say which channels of A go where in B, for any head_dim."""
    if order == tuple(range(len(order))):
        return "weights stay as they are; rotated vectors come out in another order"
    parts = []
    if a.woven and not b.woven:
        parts = ["first the even channels, then the odd ones, of the components that are rotated"]
    elif b.woven and not a.woven:
        parts = ["channels of the first and of the second half in turn"]
    elif (a.pairing, a.last) != (b.pairing, b.last):
        parts = ["each pair of A to the components of the same pair of B"]
    if a.woven != b.woven and a.last != b.last:
        parts.append("moved to the other end of the head")
    if a.clockwise != b.clockwise:
        parts.append("the two members of each pair swapped")
    if (a.pairing is Pairing.DEINTERLEAVED) != (b.pairing is Pairing.DEINTERLEAVED):
        parts.append("rotated vectors come out in another order than they went in")
    return ", ".join(parts)
