"""Schemes that keep fast pairs, divide the frequencies of slow ones, and blend between."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from ropespec.spec.arguments import check_flag
from ropespec.spec.errors import ArgumentValueError
from ropespec.spec.scaling.numbers import (
    TWO_PI,
    check_length,
    check_number,
    exact,
    logarithm,
    powers,
)
from ropespec.spec.scaling.scheme import Scheme

__all__ = ["Llama3", "NtkByParts", "Yarn"]


@dataclass(frozen=True, slots=True)
class NtkByParts(Scheme):
    """A blend that is linear in the turns of a pair within L tokens (SCAL-6).

    Parameters
    ----------
    factor : float
        s, at least 1.
    original_length : int
        L, the length that the model was trained for.
    alpha, beta : float
        Turns up to which a frequency is divided by s, and from which on it is kept; alpha < beta.
    """

    name = "ntk-by-parts"
    clause = "SCAL-6"

    factor: float
    original_length: int
    alpha: float = 1.0
    beta: float = 32.0

    def __post_init__(self) -> None:
        check_number("factor", self.factor, least=1)
        check_length("original_length", self.original_length)
        check_number("alpha", self.alpha, least=0)
        check_number("beta", self.beta, least=0)
        if not self.alpha < self.beta:
            raise ArgumentValueError("beta", f"above alpha = {self.alpha}", self.beta)

    def theta(self, base: float, dim: int) -> tuple[Decimal, ...]:
        """Return the frequencies."""
        length, alpha, beta = (exact(v) for v in (self.original_length, self.alpha, self.beta))
        found = powers(base, dim)
        kept = (_within((length * t / TWO_PI - alpha) / (beta - alpha)) for t in found)
        return _blended(found, kept, exact(self.factor))


@dataclass(frozen=True, slots=True)
class Yarn(Scheme):
    """The blend of YaRN as everybody's code has it, linear in the index (SCAL-7, SCAL-8).

    Parameters
    ----------
    factor : float
        s, at least 1.
    original_length : int
        L, the length that the model was trained for.
    beta_fast, beta_slow : float
        Turns within L tokens of the pairs where the blend begins and ends; fast at least slow.
    truncate : bool
        Whether the blend begins and ends at whole indices.
    attention_factor : float, optional
        The gain; by default it follows from s, `mscale` and `mscale_all_dim`.
    mscale, mscale_all_dim : float, optional
        Count only together, and only where neither is 0.
    """

    name = "yarn"
    clause = "SCAL-7"
    gain_clause = "SCAL-8"

    factor: float
    original_length: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True
    attention_factor: float | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None

    def __post_init__(self) -> None:
        check_number("factor", self.factor, least=1)
        check_length("original_length", self.original_length)
        check_number("beta_fast", self.beta_fast, least=0, above=True)
        check_number("beta_slow", self.beta_slow, least=0, above=True)
        if self.beta_fast < self.beta_slow:
            must = f"at least beta_slow = {self.beta_slow}"
            raise ArgumentValueError("beta_fast", must, self.beta_fast)
        check_flag("truncate", self.truncate)
        if self.attention_factor is not None:
            check_number("attention_factor", self.attention_factor, least=0, above=True)
        for name in ("mscale", "mscale_all_dim"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), least=0)

    @property
    def gain(self) -> Decimal:
        """The factor on cos and sin."""
        if self.attention_factor is not None:
            return exact(self.attention_factor)
        if self.mscale and self.mscale_all_dim:
            return self._growth(self.mscale) / self._growth(self.mscale_all_dim)
        return self._growth(1.0)

    def theta(self, base: float, dim: int) -> tuple[Decimal, ...]:
        """Return the frequencies."""
        found = powers(base, dim)
        low, high = self._ends(base, dim)
        kept = (1 - _within((i - low) / (high - low)) for i in range(len(found)))
        return _blended(found, kept, exact(self.factor))

    def _growth(self, scale: float) -> Decimal:
        return 1 + Decimal("0.1") * exact(scale) * logarithm(self.factor)

    def _ends(self, base: float, dim: int) -> tuple[Decimal, Decimal]:
        low, high = (self._index(turns, base, dim) for turns in (self.beta_fast, self.beta_slow))
        if self.truncate:
            low, high = low.to_integral_value(ROUND_FLOOR), high.to_integral_value(ROUND_CEILING)
        low, high = max(low, Decimal(0)), min(high, Decimal(dim - 1))
        return low, high if high != low else high + Decimal("0.001")

    def _index(self, turns: float, base: float, dim: int) -> Decimal:
        """Return where on the scale of i a pair completes so many turns within L tokens."""
        ratio = exact(self.original_length) / (exact(turns) * TWO_PI)
        return dim * ratio.ln() / (2 * logarithm(base))


@dataclass(frozen=True, slots=True)
class Llama3(Scheme):
    """The blend of Llama 3.1, linear in the turns of a pair within L tokens (SCAL-10).

    Parameters
    ----------
    factor : float
        s, at least 1.
    low_freq_factor, high_freq_factor : float
        Turns up to which a frequency is divided by s, and from which on it is kept; if they are
        equal, nothing is blended.
    original_length : int
        L, the length that the model was trained for.
    """

    name = "llama3"
    clause = "SCAL-10"

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_length: int

    def __post_init__(self) -> None:
        check_number("factor", self.factor, least=1)
        check_number("low_freq_factor", self.low_freq_factor, least=0, above=True)
        check_number("high_freq_factor", self.high_freq_factor, least=0, above=True)
        check_length("original_length", self.original_length)
        if self.high_freq_factor < self.low_freq_factor:
            must = f"at least low_freq_factor = {self.low_freq_factor}"
            raise ArgumentValueError("high_freq_factor", must, self.high_freq_factor)

    def theta(self, base: float, dim: int) -> tuple[Decimal, ...]:
        """Return the frequencies."""
        found = powers(base, dim)
        return _blended(found, map(self._kept, found), exact(self.factor))

    def _kept(self, theta: Decimal) -> Decimal:
        low, high = exact(self.low_freq_factor), exact(self.high_freq_factor)
        turns = exact(self.original_length) * theta / TWO_PI
        return Decimal(int(turns > high)) if low == high else _within((turns - low) / (high - low))


def _within(share: Decimal) -> Decimal:
    return min(max(share, Decimal(0)), Decimal(1))


def _blended(
    found: tuple[Decimal, ...], kept: Iterable[Decimal], factor: Decimal
) -> tuple[Decimal, ...]:
    """Return the frequencies of which this share is kept and the rest divided."""
    return tuple(
        share * theta + (1 - share) * theta / factor
        for theta, share in zip(found, kept, strict=True)
    )
