"""Schemes that divide all frequencies by one number, or take another base."""

from dataclasses import dataclass
from decimal import Decimal

from ropespec.spec.arguments import check_base, check_dim
from ropespec.spec.errors import ArgumentValueError
from ropespec.spec.scaling.numbers import check_length, check_number, exact, powers
from ropespec.spec.scaling.scheme import Scheme

__all__ = ["DynamicNtk", "Linear", "NtkAware", "PaperDynamicNtk", "check_stretched"]


@dataclass(frozen=True, slots=True)
class Linear(Scheme):
    """theta_i / s: position interpolation (SCAL-2).

    Parameters
    ----------
    factor : float
        s, at least 1.
    """

    name = "linear"
    clause = "SCAL-2"

    factor: float

    def __post_init__(self) -> None:
        check_number("factor", self.factor, least=1)

    def theta(self, base: float, dim: int) -> tuple[Decimal, ...]:
        """Return the frequencies."""
        factor = exact(self.factor)
        return tuple(theta / factor for theta in powers(base, dim))


@dataclass(frozen=True, slots=True)
class NtkAware(Scheme):
    """base' = base s^(d/(d-2)): the last frequency divided by s, the first as it was (SCAL-3).

    Parameters
    ----------
    factor : float
        s, at least 1; alpha in some implementations.
    """

    name = "ntk"
    clause = "SCAL-3"

    factor: float

    def __post_init__(self) -> None:
        check_number("factor", self.factor, least=1)

    def theta(self, base: float, dim: int) -> tuple[Decimal, ...]:
        """Return the frequencies."""
        return _stretched(base, dim, exact(self.factor))


@dataclass(frozen=True, slots=True)
class PaperDynamicNtk(Scheme):
    """NTK-aware with s = max(1, l/L), as the paper of YaRN has it (SCAL-4).

    Parameters
    ----------
    original_length : int
        L, the length that the model was trained for.
    length : int
        l, the current one.
    """

    name = "paper-dynamic"
    clause = "SCAL-4"

    original_length: int
    length: int

    def __post_init__(self) -> None:
        check_length("original_length", self.original_length)
        check_length("length", self.length)

    def theta(self, base: float, dim: int) -> tuple[Decimal, ...]:
        """Return the frequencies."""
        original = int(self.original_length)
        ratio = Decimal(max(int(self.length), original)) / original
        return _stretched(base, dim, ratio)


@dataclass(frozen=True, slots=True)
class DynamicNtk(Scheme):
    """base' = base (s l/L - (s-1))^(d/(d-2)), l at least L, as transformers has it (SCAL-5).

    Parameters
    ----------
    factor : float
        s, at least 1.
    original_length : int
        L, the length that the model was trained for.
    length : int
        l, the current one; what is below L counts as L.
    """

    name = "dynamic"
    clause = "SCAL-5"

    factor: float
    original_length: int
    length: int

    def __post_init__(self) -> None:
        check_number("factor", self.factor, least=1)
        check_length("original_length", self.original_length)
        check_length("length", self.length)

    def theta(self, base: float, dim: int) -> tuple[Decimal, ...]:
        """Return the frequencies."""
        factor, original = exact(self.factor), int(self.original_length)
        ratio = Decimal(max(int(self.length), original)) / original
        return _stretched(base, dim, factor * ratio - (factor - 1))


def check_stretched(dim: int) -> int:
    """Require a dimension for which d/(d-2) is a number (SCAL-3).

    Raises
    ------
    ArgumentTypeError
        If it is not an integer.
    ArgumentValueError
        If it is odd or below 4.
    """
    dim = check_dim(dim)
    if dim == 2:
        raise ArgumentValueError("dim", "above 2 for a base that grows by dim/(dim - 2)", dim)
    return dim


def _stretched(base: float, dim: int, factor: Decimal) -> tuple[Decimal, ...]:
    dim = check_stretched(dim)
    power = (factor.ln() * dim / (dim - 2)).exp()
    return powers(exact(check_base(base)) * power, dim)
