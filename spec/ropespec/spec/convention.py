"""A convention: all that tells one rotary embedding from another, as one value.

Which components make a pair, how fast each pair rotates and which way round, how many components
rotate and at which end, and which position number each pair follows.
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from typing import Any, Protocol, Self, TypedDict, Unpack

from ropespec.spec.scaling.numbers import powers

__all__ = ["Convention", "Frequencies", "Keywords", "Pairing", "Scheme"]


class Pairing(Enum):
    """Which components make pair i of r that rotate."""

    INTERLEAVED = "interleaved"
    """2i and 2i+1 (ROT-6)."""

    HALF = "half"
    """i and i + r/2 (ROT-7)."""

    @classmethod
    def of(cls, interleaved: bool) -> Self:
        """Return the pairing that the keyword `interleaved` stands for."""
        return cls("interleaved" if interleaved else "half")


class Scheme(Protocol):
    """How frequencies differ from base^(-2i/r): a value that can be a key, such as YaRN's."""

    @property
    def name(self) -> str:
        """The word it is claimed by."""

    @property
    def gain(self) -> Decimal:
        """What cos and sin are multiplied by; 1 if nothing."""

    def theta(self, base: float, dim: int) -> tuple[Decimal, ...]:
        """Return the dim/2 frequencies, none of them negative.

        Each is within a relative 10^(8-p), p the precision of the decimal context in force.
        """


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How far each pair rotates per position, exactly.

    Attributes
    ----------
    base : float
        Above 1.
    scheme : Scheme or None
        How they are scaled; None for base^(-2i/dim) themselves (FREQ-2).
    """

    base: float = 10000.0
    scheme: Scheme | None = None

    @property
    def gain(self) -> Decimal:
        """What cos and sin are multiplied by."""
        return Decimal(1) if self.scheme is None else self.scheme.gain

    def theta(self, dim: int) -> tuple[Decimal, ...]:
        """Return the dim/2 frequencies in the decimal context in force, as a `Scheme` does."""
        if self.scheme is not None:
            return self.scheme.theta(self.base, dim)
        return powers(Decimal(self.base), dim)


class Keywords(TypedDict, total=False):
    """Those keywords of the API that say something of a convention."""

    interleaved: bool
    base: float
    rotary_dim: int | None


@dataclass(frozen=True, slots=True)
class Convention:
    """A rotary embedding, but for the sizes and the dtype of x.

    Attributes
    ----------
    pairing : Pairing
        Which components make a pair.
    frequencies : Frequencies
        How far each pair rotates per position.
    rotary_dim : int or None
        How many components rotate; None for all of them.
    trailing : bool
        Whether the last components rotate and not the first.
    clockwise : bool
        Whether pairs rotate by minus their angle.
    axes : tuple of int
        Which of the position numbers of a token each pair follows; empty where it has only one.
    """

    pairing: Pairing
    frequencies: Frequencies = Frequencies()
    rotary_dim: int | None = None
    trailing: bool = False
    clockwise: bool = False
    axes: tuple[int, ...] = ()

    @classmethod
    def of(cls, *, interleaved: bool, base: float = 10000.0, rotary_dim: int | None = None) -> Self:
        """Return the convention that keywords of the API stand for."""
        return cls(Pairing.of(interleaved), Frequencies(base), rotary_dim)

    @property
    def keywords(self) -> dict[str, Any]:
        """The keywords of the API that say what they can of it."""
        return {
            "interleaved": self.pairing is Pairing.INTERLEAVED,
            "base": self.frequencies.base,
            "rotary_dim": self.rotary_dim,
        }

    def stating(self, **keywords: Unpack[Keywords]) -> Self:
        """Return the convention in which these keywords of the API are others."""
        said = {**self.keywords, **keywords}
        return replace(
            self,
            pairing=Pairing.of(said["interleaved"]),
            frequencies=Frequencies(said["base"], self.frequencies.scheme),
            rotary_dim=said["rotary_dim"],
        )

    @property
    def text(self) -> Self:
        """The convention where all position numbers of a token are equal: that of one (AXES-1)."""
        return replace(self, axes=())

    def dim(self, width: int) -> int:
        """Return how many of `width` components rotate."""
        return width if self.rotary_dim is None else self.rotary_dim

    def places(self, width: int) -> tuple[slice, slice, slice]:
        """Return where among `width` components the first and second members and the rest are."""
        dim = self.dim(width)
        start = width - dim if self.trailing else 0
        middle, end = start + dim // 2, start + dim
        rest = slice(0, start) if self.trailing else slice(end, width)
        if self.pairing is Pairing.INTERLEAVED:
            return slice(start, end, 2), slice(start + 1, end, 2), rest
        return slice(start, middle), slice(middle, end), rest
