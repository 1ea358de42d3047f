"""Schemes drawn for a case, with their exact tables."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.judge import oracle
from ropespec.spec.convention import Frequencies
from ropespec.spec.scaling import (
    DynamicNtk,
    Linear,
    Llama3,
    LongRope,
    NtkAware,
    NtkByParts,
    PaperDynamicNtk,
    Proportional,
    Scaling,
    Yarn,
)

__all__ = ["DRAWN", "Draw", "any_scheme", "exact_tables", "index_of", "scaled"]

Float = NDArray[np.float64]
_AWAY = 1e-2


class Draw(NamedTuple):
    """What a scheme is drawn from.

    Attributes
    ----------
    rng : Generator
        Of the case.
    dim : int
        Components that rotate.
    base : float
        The base.
    """

    rng: np.random.Generator
    dim: int
    base: float

    @property
    def factor(self) -> float:
        """A factor that no power of 2 hides."""
        return float(self.rng.choice([1.7, 3.0, 10.0, 40.0]))

    def length(self, at: float) -> int:
        """Return L for which the pair at this share of all completes four turns."""
        slowest = float(self.base**at)
        return max(round(4 * math.tau * slowest), 8)


def index_of(turns: float, dim: int, base: float, length: int) -> float:
    """Return the index at which a pair completes so many turns within L tokens (SCAL-7)."""
    return dim * math.log(length / (math.tau * turns)) / (2 * math.log(base))


def _yarn(draw: Draw) -> Yarn:
    """Draw one whose ends are not near whole indices, where floor and ceiling jump."""
    fast, slow = 12.0, 1.3
    length = draw.length(float(draw.rng.uniform(0.3, 0.7)))
    while any(_near_whole(index_of(n, draw.dim, draw.base, length)) for n in (fast, slow)):
        length += 1 + length // 50
    truncate = bool(draw.rng.integers(2))
    return Yarn(draw.factor, length, fast, slow, truncate=truncate)


def _near_whole(index: float) -> bool:
    return abs(index - round(index)) < _AWAY


def _long(draw: Draw) -> LongRope:
    pairs = draw.dim // 2
    short, long = (tuple(np.linspace(1.0, last, pairs).tolist()) for last in (1.9, 40.0))
    length = int(draw.rng.choice([100, 4096, 4097, 9000]))
    return LongRope(short, tuple(3 + e for e in long), 32.0, 4096, length)


DRAWN: dict[str, Callable[[Draw], Scaling]] = {
    "SCAL-2": lambda draw: Linear(draw.factor),
    "SCAL-3": lambda draw: NtkAware(draw.factor),
    "SCAL-4": lambda draw: PaperDynamicNtk(100, int(draw.rng.choice([50, 101, 250, 3000]))),
    "SCAL-5": lambda draw: DynamicNtk(draw.factor, 100, int(draw.rng.choice([50, 101, 250, 3000]))),
    "SCAL-6": lambda draw: NtkByParts(draw.factor, draw.length(0.5), 1.3, 12.0),
    "SCAL-7": _yarn,
    "SCAL-9": _long,
    "SCAL-10": lambda draw: Llama3(draw.factor, 1.3, 9.0, draw.length(0.5)),
    "SCAL-11": lambda draw: Proportional(float(draw.rng.choice([0.25, 0.5, 0.8])), draw.factor),
}
"""By clause: how a scheme of it is drawn."""

_IN_TURN = tuple(f"SCAL-{number}" for number in (7, 2, 9, 3, 7, 4, 10, 5, 7, 6, 9, 11))
"""Twelve, for seeds have all remainders by it; of any four in a row one has a gain in any case."""


def any_scheme(case: Case, clause: str = "", *, dim: int | None = None) -> Scaling:
    """Draw a scheme of a clause, or of each in turn, for the components that rotate or for so many.

    One pair has no scaled base; its scheme has factors, and depends on the length as well.
    """
    rng = np.random.default_rng([case.seed, 31])
    chosen = clause or _IN_TURN[case.seed % len(_IN_TURN)]
    dim = case.dim if dim is None else dim
    if dim == 2 and chosen in ("SCAL-3", "SCAL-4", "SCAL-5"):
        chosen = "SCAL-9"
    return DRAWN[chosen](Draw(rng, dim, case.frequencies.base))


def scaled(case: Case, scheme: Scaling) -> Frequencies:
    """Return the frequencies that a scheme makes of those of the case."""
    return Frequencies(case.frequencies.base, scheme)


def exact_tables(case: Case, scheme: Scaling, positions: NDArray[np.int64]) -> tuple[Float, Float]:
    """Return A cos and A sin for the components that rotate."""
    gain = float(scheme.gain)
    cos, sin = oracle.cos_sin(positions, case.dim, scaled(case, scheme))
    return gain * cos, gain * sin
