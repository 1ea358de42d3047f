"""What all schemes have."""

from abc import ABC, abstractmethod
from decimal import Decimal
from typing import ClassVar

__all__ = ["Scheme"]


class Scheme(ABC):
    """One set of frequencies: fits `ropespec.spec.convention.Scheme`.

    Attributes
    ----------
    name : str
        The word it is claimed by.
    clause, gain_clause : str
        Where its frequencies and its gain are specified.
    """

    __slots__ = ()

    name: ClassVar[str]
    clause: ClassVar[str]
    gain_clause: ClassVar[str] = "SCAL-12"

    @property
    def gain(self) -> Decimal:
        """The factor on cos and sin."""
        return Decimal(1)

    @abstractmethod
    def theta(self, base: float, dim: int) -> tuple[Decimal, ...]:
        """Return the dim/2 frequencies, exact to the precision of the decimal context in force."""
