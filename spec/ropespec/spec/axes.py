"""Several position numbers a token, as values: which pair follows which (chapter `axes`)."""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import TypeAlias

from ropespec.spec.arguments import ArrayFacts, check_dim, check_size
from ropespec.spec.convention import Frequencies, Scheme
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError
from ropespec.spec.scaling.numbers import check_number, exact

__all__ = [
    "Anew",
    "Axes",
    "Axial",
    "Mixed",
    "Sections",
    "Told",
    "Woven",
    "check_axes",
    "check_rows",
]

_EVERY_DIGIT = 2000
"""Digits that a sum of floats may have: from 2^1024 to 2^-1074."""

Rows: TypeAlias = tuple[tuple[Decimal, ...], ...]
"""Frequencies by position number and pair; 0 where a pair does not follow a number."""


@dataclass(frozen=True, slots=True)
class Sections:
    """Consecutive pairs follow one number each: M-RoPE of Qwen2-VL (AXES-2).

    Parameters
    ----------
    sections : tuple of int
        How many pairs follow each position number; together all of them.
    """

    sections: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_sections(self.sections)

    @property
    def count(self) -> int:
        """How many position numbers a token has."""
        return len(self.sections)

    def followed(self) -> tuple[int, ...]:
        """Return which number each pair follows."""
        return tuple(axis for axis, pairs in enumerate(self.sections) for _ in range(pairs))

    def rows(self, frequencies: Frequencies, dim: int) -> Rows:
        """Return the frequencies of the whole, each for the number that its pair follows."""
        return _parted(self, frequencies, dim)


@dataclass(frozen=True, slots=True)
class Woven:
    """Pairs follow the numbers in turn, as far as each section goes: Qwen3-VL (AXES-3).

    Parameters
    ----------
    sections : tuple of int
        How many pairs follow each position number; the first takes what the others leave.
    """

    sections: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_sections(self.sections)
        count, pairs = self.count, sum(self.sections)
        for axis, own in enumerate(self.sections[1:], 1):
            if own and axis + count * (own - 1) >= pairs:
                most = (pairs - axis - 1) // count + 1
                must = f"at most {most} of {pairs} pairs, every {count}th from {axis} on"
                raise ArgumentValueError(f"sections[{axis}]", must, own)

    @property
    def count(self) -> int:
        """How many position numbers a token has."""
        return len(self.sections)

    def followed(self) -> tuple[int, ...]:
        """Return which number each pair follows."""
        count = self.count
        return tuple(
            i % count if i < count * self.sections[i % count] else 0
            for i in range(sum(self.sections))
        )

    def rows(self, frequencies: Frequencies, dim: int) -> Rows:
        """Return the frequencies of the whole, each for the number that its pair follows."""
        return _parted(self, frequencies, dim)


@dataclass(frozen=True, slots=True)
class Axial:
    """A rotation of its own for each number, side by side: vision, video (AXES-4).

    Parameters
    ----------
    sections : tuple of int
        How many pairs each has; its frequencies begin at theta_0 and have its own width.
    """

    sections: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_sections(self.sections)

    @property
    def count(self) -> int:
        """How many position numbers a token has."""
        return len(self.sections)

    def rows(self, frequencies: Frequencies, dim: int) -> Rows:
        """Return the frequencies of each block in its own columns."""
        own = Frequencies(frequencies.base, Anew(self.sections, frequencies.scheme))
        return _parted(Sections(self.sections), own, dim)


@dataclass(frozen=True, slots=True)
class Anew:
    """Frequencies that begin anew with each section: fits `ropespec.spec.convention.Scheme`.

    What `Axial` has in place of the frequencies of the whole; where all numbers of a token are
    equal, a rotation by these alone.

    Parameters
    ----------
    sections : tuple of int
        As in `Axial`.
    scheme : Scheme or None
        How the frequencies of each section are scaled.
    """

    sections: tuple[int, ...]
    scheme: Scheme | None = None

    @property
    def name(self) -> str:
        """The word it is claimed by."""
        return "axial"

    @property
    def gain(self) -> Decimal:
        """What cos and sin are multiplied by."""
        return Decimal(1) if self.scheme is None else self.scheme.gain

    def theta(self, base: float, dim: int) -> tuple[Decimal, ...]:
        """Return the frequencies of a rotation of each section, one after the other."""
        _check_pairs(sum(self.sections), dim)
        own = Frequencies(base, self.scheme)
        return tuple(one for pairs in self.sections if pairs for one in own.theta(2 * pairs))


@dataclass(frozen=True, slots=True)
class Mixed:
    """Every pair follows all numbers, each at a rate of its own: RoPE-Mixed (AXES-5).

    Parameters
    ----------
    frequencies : tuple of tuple of float
        A row for each position number, a column for each pair; any sign.
    """

    frequencies: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        must = "a tuple of tuples of numbers, all of one length"
        rows = self.frequencies
        if not (isinstance(rows, tuple) and all(isinstance(row, tuple) for row in rows)):
            raise ArgumentTypeError("frequencies", must, rows)
        if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
            raise ArgumentValueError("frequencies", must, rows)
        for axis, row in enumerate(rows):
            for pair, one in enumerate(row):
                check_number(f"frequencies[{axis}][{pair}]", one)

    @property
    def count(self) -> int:
        """How many position numbers a token has."""
        return len(self.frequencies)

    def rows(self, frequencies: Frequencies, dim: int) -> Rows:
        """Return them; a scheme has no say, nor has a base."""
        if frequencies.scheme is not None:
            raise ArgumentValueError("scaling", "None with frequencies given", frequencies.scheme)
        _check_pairs(len(self.frequencies[0]), dim)
        return tuple(tuple(exact(one) for one in row) for row in self.frequencies)


@dataclass(frozen=True, slots=True)
class Told:
    """Frequencies that are given for each number: fits `ropespec.spec.convention.Scheme`.

    Those of `Mixed` where all numbers of a token are equal: sums over the numbers, of either sign.

    Parameters
    ----------
    frequencies : tuple of tuple of float
        As in `Mixed`.
    """

    frequencies: tuple[tuple[float, ...], ...]

    @property
    def name(self) -> str:
        """The word it is claimed by."""
        return "mixed"

    @property
    def gain(self) -> Decimal:
        """What cos and sin are multiplied by."""
        return Decimal(1)

    @property
    def each(self) -> "tuple[Told, ...]":
        """The frequencies of each number alone."""
        return tuple(Told((row,)) for row in self.frequencies)

    def theta(self, base: float, dim: int) -> tuple[Decimal, ...]:
        """Return the sums, exactly; there is no base."""
        del base
        _check_pairs(len(self.frequencies[0]), dim)
        with localcontext(prec=_EVERY_DIGIT):
            return tuple(
                sum((exact(one) for one in column), start=Decimal(0))
                for column in zip(*self.frequencies, strict=True)
            )


Axes: TypeAlias = Sections | Woven | Axial | Mixed
"""Any of them."""


def check_axes(axes: object) -> Axes:
    """Require a value of this module (AXES-1).

    Raises
    ------
    ArgumentTypeError
        If it is anything else, a list of sections included.
    """
    if not isinstance(axes, Axes):
        must = "a value of ropespec.spec.axes, such as Sections((16, 24, 24))"
        raise ArgumentTypeError("axes", must, axes)
    return axes


def check_rows(positions: ArrayFacts, axes: Axes) -> None:
    """Require positions (n, ...) with a row for each position number (AXES-1).

    Raises
    ------
    ArgumentValueError
        If there are more or fewer.
    """
    if not positions.shape or positions.shape[0] != axes.count:
        must = f"of shape ({axes.count}, ...), a row for each position number"
        raise ArgumentValueError("positions", must, _Facts(positions))


class _Facts:
    """Stands for an array in an error message when only its facts are at hand."""

    def __init__(self, found: ArrayFacts) -> None:
        self.shape, self.dtype = found.shape, found.dtype


def _check_sections(sections: object) -> None:
    must = "a tuple of numbers of pairs"
    if not isinstance(sections, tuple):
        raise ArgumentTypeError("sections", must, sections)
    for axis, pairs in enumerate(sections):
        check_size(f"sections[{axis}]", pairs)
    if not sum(sections):
        raise ArgumentValueError("sections", f"{must}, at least one in all", sections)


def _check_pairs(pairs: int, dim: int) -> None:
    if 2 * pairs != check_dim(dim):
        must = f"of {dim // 2} pairs in all, for {dim} components that rotate"
        raise ArgumentValueError("axes", must, pairs)


def _parted(axes: Sections | Woven, frequencies: Frequencies, dim: int) -> Rows:
    followed = axes.followed()
    _check_pairs(len(followed), dim)
    theta, zero = frequencies.theta(dim), Decimal(0)
    return tuple(
        tuple(one if own == axis else zero for one, own in zip(theta, followed, strict=True))
        for axis in range(axes.count)
    )
