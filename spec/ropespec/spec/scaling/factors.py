"""Schemes that say of every pair what becomes of it."""

from dataclasses import dataclass
from decimal import Decimal

from ropespec.spec.arguments import check_dim
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError
from ropespec.spec.scaling.numbers import check_length, check_number, exact, logarithm, powers
from ropespec.spec.scaling.scheme import Scheme

__all__ = ["LongRope", "Proportional"]


@dataclass(frozen=True, slots=True)
class LongRope(Scheme):
    """theta_i / e_i with searched factors, one list up to L tokens and one beyond (SCAL-9).

    Parameters
    ----------
    short_factors, long_factors : tuple of float
        e_i for each pair, above 0: for a length up to L, and above it.
    factor : float
        s, at least 1: the length that the model is used for over L.
    original_length : int
        L, the length that the model was trained for.
    length : int
        The one by which a list is chosen.
    attention_factor : float, optional
        The gain; by default it follows from s and L.
    """

    name = "longrope"
    clause = "SCAL-9"
    gain_clause = "SCAL-9"

    short_factors: tuple[float, ...]
    long_factors: tuple[float, ...]
    factor: float
    original_length: int
    length: int
    attention_factor: float | None = None

    def __post_init__(self) -> None:
        for name in ("short_factors", "long_factors"):
            _check_factors(name, getattr(self, name))
        check_number("factor", self.factor, least=1)
        check_length("original_length", self.original_length)
        check_length("length", self.length)
        if self.attention_factor is not None:
            check_number("attention_factor", self.attention_factor, least=0, above=True)
        elif self.factor > 1 and self.original_length == 1:
            raise ArgumentValueError("original_length", "above 1 if factor is", 1)

    @property
    def gain(self) -> Decimal:
        """The factor on cos and sin."""
        if self.attention_factor is not None:
            return exact(self.attention_factor)
        if self.factor == 1:
            return Decimal(1)
        return (1 + logarithm(self.factor) / logarithm(self.original_length)).sqrt()

    def theta(self, base: float, dim: int) -> tuple[Decimal, ...]:
        """Return the frequencies."""
        self.check_pairs(dim)
        is_long = self.length > self.original_length
        factors = self.long_factors if is_long else self.short_factors
        return tuple(t / exact(e) for t, e in zip(powers(base, dim), factors, strict=True))

    def check_pairs(self, dim: int) -> None:
        """Require a factor for each pair, in both lists: which is taken depends on the length.

        Raises
        ------
        ArgumentValueError
            If there are more or fewer.
        """
        for name in ("short_factors", "long_factors"):
            factors: tuple[float, ...] = getattr(self, name)
            if len(factors) != dim // 2:
                must = f"of {dim // 2} numbers, one for each pair of dim = {dim}"
                raise ArgumentValueError(name, must, factors)


@dataclass(frozen=True, slots=True)
class Proportional(Scheme):
    """The first frequencies of a whole head, and 0 for the pairs behind (SCAL-11).

    Parameters
    ----------
    proportion : float
        p, above 0 and at most 1.
    factor : float
        s, at least 1: all frequencies are divided by it.
    """

    name = "proportional"
    clause = "SCAL-11"

    proportion: float
    factor: float = 1.0

    def __post_init__(self) -> None:
        check_number("proportion", self.proportion, least=0, above=True, most=1)
        check_number("factor", self.factor, least=1)

    def theta(self, base: float, dim: int) -> tuple[Decimal, ...]:
        """Return the frequencies."""
        found, factor = powers(base, check_dim(dim)), exact(self.factor)
        # As the code has it, which rounds the product before it halves it.
        turning = int(float(self.proportion) * dim // 2)
        still = (Decimal(0),) * (len(found) - turning)
        return (*(theta / factor for theta in found[:turning]), *still)


def _check_factors(name: str, value: object) -> None:
    must = "a tuple of finite numbers above 0"
    if not isinstance(value, tuple):
        raise ArgumentTypeError(name, must, value)
    if not value:
        raise ArgumentValueError(name, must, value)
    for index, one in enumerate(value):
        check_number(f"{name}[{index}]", one, least=0, above=True)
