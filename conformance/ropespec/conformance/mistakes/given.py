"""What one call is given: x, positions and the convention that is asked for."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.spec.convention import Convention, Frequencies, Pairing, Scheme

__all__ = ["Array", "Given"]

Array = NDArray[Any]


@cache
def _name(dtype: np.dtype[Any]) -> str:
    return dtype.name


@dataclass(frozen=True, slots=True)
class Given:
    """One call of a rotation.

    Attributes
    ----------
    x : ndarray
        (B, S, H, D), in the dtype of the call.
    positions : ndarray of int64
        (B, S).
    convention : Convention
        What is asked for; it follows several numbers of a token only where these are to differ.
    strided, strided_positions : bool or str
        Whether x or positions are views with gaps.
    only : int or None
        Which of these numbers is the position, where the others are 0; None for the usual ones.
    past : tuple of Given
        The calls before it to the same instance, the first one first.
    """

    x: Array
    positions: Array
    convention: Convention
    strided: bool | str = False
    strided_positions: bool | str = False
    only: int | None = None
    past: "tuple[Given, ...]" = ()

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(B, S, H, D)."""
        b, s, h, d = self.x.shape
        return b, s, h, d

    @property
    def interleaved(self) -> bool:
        """Whether neighbours are to make a pair."""
        return self.convention.pairing is Pairing.INTERLEAVED

    @property
    def base(self) -> float:
        """That of the frequencies."""
        return self.convention.frequencies.base

    @property
    def scaling(self) -> Scheme | None:
        """How frequencies are to be scaled."""
        return self.convention.frequencies.scheme

    @property
    def rotary_dim(self) -> int | None:
        """How many components are to rotate; None for all."""
        return self.convention.rotary_dim

    @property
    def axes(self) -> tuple[int, ...]:
        """Which of several numbers of a token pairs are to follow; empty where they are equal."""
        return self.convention.axes

    @property
    def turning(self) -> int:
        """How many components are to rotate."""
        return self.convention.dim(self.x.shape[-1])

    @property
    def numbers(self) -> Array:
        """Positions as they are asked for: (B, S), or (B, S, n) where they are not equal.

        The first is the position, and the others count from elsewhere, or one alone counts.
        """
        if not self.axes:
            return self.positions
        if self.only is not None:
            one = np.eye(max(*self.axes, self.only) + 1, dtype=np.int64)[self.only]
            return np.asarray(self.positions[..., None] * one)
        others = [np.abs(self.positions - 7 * axis) for axis in range(1, max(self.axes) + 1)]
        return np.stack([self.positions, *others], axis=-1)

    @property
    def dtype(self) -> str:
        """The dtype of x by name."""
        return _name(self.x.dtype)

    def following(self, axes: tuple[int, ...]) -> "Given":
        """Return the same call with other numbers followed."""
        return replace(self, convention=replace(self.convention, axes=axes))

    def rotating(self, rotary_dim: int | None) -> "Given":
        """Return the same call with another number of components that are to rotate."""
        return replace(self, convention=replace(self.convention, rotary_dim=rotary_dim))

    def scaled(self, scheme: Scheme | None, base: float | None = None) -> "Given":
        """Return the same call under other frequencies; the base stays, unless it is given."""
        frequencies = Frequencies(base or self.base, scheme)
        return replace(self, convention=replace(self.convention, frequencies=frequencies))

    def tokens(self, chosen: Array) -> "Given":
        """Return the same call with the chosen places of the sequence alone."""
        return replace(self, x=self.x[:, chosen], positions=self.positions[:, chosen])

    def alone(self) -> "Given":
        """Return the same call without what went before it."""
        return replace(self, past=())

    def index(self, axis: int) -> Array:
        """Return the index along batch, sequence or heads, of a shape that goes with x."""
        shape = [1, 1, 1, 1]
        shape[axis] = -1
        return np.arange(self.x.shape[axis]).reshape(shape)
