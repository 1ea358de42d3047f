"""Wrong frequencies of schemes: each is right in every scheme but one."""

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
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

__all__ = [
    "KeptWithoutTheLength",
    "all_divided_by_ntk",
    "base_of_the_other_dynamic",
    "blend_by_index",
    "blend_by_wavelength",
    "dead_llama_3",
    "factors_of_the_other_list",
    "floor_for_ceiling",
    "last_pair_for_last_component",
    "multiplied_by_the_factor",
    "partial_for_proportional",
    "plain",
    "ramp_inverted",
    "ramp_of_no_length",
    "right_of",
    "rounded_ends",
    "transformers_for_the_paper",
]

Array = NDArray[Any]
FREQUENCIES: dict[str, Any] = {"offers": "inv_freq_scaled"}


def plain(dim: int, base: float) -> Array:
    """Return theta_i."""
    return np.asarray(base ** (-np.arange(0, dim, 2) / dim))


def right_of(dim: int, base: float, scaling: Scaling) -> Array:
    """Return what the scheme makes of them."""
    return np.array([float(theta) for theta in scaling.theta(base, dim)])


def _ends(scaling: Yarn, dim: int, base: float) -> tuple[float, float]:
    """Return where the pairs stand that complete so many turns, not rounded."""
    low, high = (
        dim * math.log(scaling.original_length / (math.tau * turns)) / (2 * math.log(base))
        for turns in (scaling.beta_fast, scaling.beta_slow)
    )
    return low, high


def _ramped(dim: int, base: float, factor: float, low: float, high: float) -> Array:
    ramp = np.clip((np.arange(dim // 2) - low) / max(high - low, 1e-3), 0, 1)
    theta = plain(dim, base)
    return np.asarray(theta / factor * ramp + theta * (1 - ramp))


@wrong("", "Linear scaling multiplies.", "SCAL-2.value", "SCAL-1.reference", **FREQUENCIES)
def multiplied_by_the_factor(dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
    """Take s for 1/s."""
    if isinstance(scaling, Linear):
        return plain(dim, base) * scaling.factor
    return right_of(dim, base, scaling)


@wrong(
    "scheme of another call",
    "Frequencies are kept by all that a scheme says but its length.",
    "SCAL-1.apart",
)
class KeptWithoutTheLength:
    """One list of frequencies for all lengths of a dynamic scheme."""

    def __init__(self) -> None:
        self.kept: dict[object, Array] = {}

    def inv_freq_scaled(self, dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
        """Look the frequencies up."""
        told = {**dataclasses.asdict(scaling), "length": None}
        key = (dim, base, type(scaling), repr(told))
        if key not in self.kept:
            self.kept[key] = right_of(dim, base, scaling)
        return self.kept[key]


@wrong("", "NTK-aware scaling divides all frequencies alike.", "SCAL-3.value", **FREQUENCIES)
def all_divided_by_ntk(dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
    """Divide by what the base is to be multiplied by."""
    if isinstance(scaling, NtkAware):
        return np.asarray(plain(dim, base) / scaling.factor ** (dim / (dim - 2)))
    return right_of(dim, base, scaling)


@wrong("", "The dynamic base of the paper grows as in transformers.", "SCAL-4.value", **FREQUENCIES)
def transformers_for_the_paper(dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
    """Take a factor of 2."""
    if isinstance(scaling, PaperDynamicNtk):
        scaling = DynamicNtk(2.0, scaling.original_length, scaling.length)
    return right_of(dim, base, scaling)


@wrong("", "The dynamic base of transformers grows as in the paper.", "SCAL-5.value", **FREQUENCIES)
def base_of_the_other_dynamic(dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
    """Leave the factor out."""
    if isinstance(scaling, DynamicNtk):
        scaling = PaperDynamicNtk(scaling.original_length, scaling.length)
    return right_of(dim, base, scaling)


@wrong("", "NTK by parts blends linearly in the index.", "SCAL-6.value", **FREQUENCIES)
def blend_by_index(dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
    """Take the code for the paper."""
    if isinstance(scaling, NtkByParts):
        ends = scaling.beta, scaling.alpha
        scaling = Yarn(scaling.factor, scaling.original_length, *ends, truncate=False)
    return right_of(dim, base, scaling)


@wrong("", "NTK by parts blends linearly in the wavelength.", "SCAL-6.value", **FREQUENCIES)
def blend_by_wavelength(dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
    """Take 2 pi / theta for the turns."""
    if not isinstance(scaling, NtkByParts):
        return right_of(dim, base, scaling)
    theta = plain(dim, base)
    shortest, longest = (scaling.original_length / n for n in (scaling.beta, scaling.alpha))
    share = np.clip((2 * np.pi / theta - shortest) / (longest - shortest), 0, 1)
    return np.asarray(share * theta / scaling.factor + (1 - share) * theta)


@wrong("", "The ramp of YaRN is inverted: slow pairs are kept.", "SCAL-7.value", **FREQUENCIES)
def ramp_inverted(dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
    """Exchange what is kept and what is divided."""
    found, theta = right_of(dim, base, scaling), plain(dim, base)
    return theta + theta / scaling.factor - found if isinstance(scaling, Yarn) else found


@wrong("", "A ramp of YaRN that has no length divides all pairs.", "SCAL-7.equal", **FREQUENCIES)
def ramp_of_no_length(dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
    """Turn what is no number into 1."""
    if isinstance(scaling, Yarn) and scaling.beta_fast == scaling.beta_slow:
        return np.asarray(plain(dim, base) / scaling.factor)
    return right_of(dim, base, scaling)


@wrong("", "Both ends of the ramp of YaRN are rounded down.", "SCAL-7.whole", **FREQUENCIES)
def floor_for_ceiling(dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
    """Take the floor of the upper end too."""
    if not (isinstance(scaling, Yarn) and scaling.truncate):
        return right_of(dim, base, scaling)
    low, high = _ends(scaling, dim, base)
    ends = max(math.floor(low), 0), min(math.floor(high), dim - 1)
    return _ramped(dim, base, scaling.factor, *ends)


@wrong(
    "", "The ends of the ramp of YaRN are rounded to the nearest.", "SCAL-7.whole", **FREQUENCIES
)
def rounded_ends(dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
    """Round instead of floor and ceiling."""
    if not (isinstance(scaling, Yarn) and scaling.truncate):
        return right_of(dim, base, scaling)
    low, high = _ends(scaling, dim, base)
    ends = max(round(low), 0), min(round(high), dim - 1)
    return _ramped(dim, base, scaling.factor, *ends)


@wrong("", "The ramp of YaRN ends at the last pair at most.", "SCAL-7.clamp", **FREQUENCIES)
def last_pair_for_last_component(dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
    """Clamp to d/2 - 1."""
    if not (isinstance(scaling, Yarn) and scaling.truncate):
        return right_of(dim, base, scaling)
    low, high = _ends(scaling, dim, base)
    ends = max(math.floor(low), 0), min(math.ceil(high), dim // 2 - 1)
    return _ramped(dim, base, scaling.factor, *ends)


@wrong("", "LongRoPE takes the long factors for short sequences.", "SCAL-9.value", **FREQUENCIES)
def factors_of_the_other_list(dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
    """Look at the length that is possible, and not at the one that is there."""
    if isinstance(scaling, LongRope):
        scaling = dataclasses.replace(scaling, length=10**9)
    return right_of(dim, base, scaling)


@wrong("", "The scaling of Llama 3 is read and not applied.", "SCAL-10.value", **FREQUENCIES)
def dead_llama_3(dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
    """Return the plain frequencies."""
    return plain(dim, base) if isinstance(scaling, Llama3) else right_of(dim, base, scaling)


@wrong("", "Proportional is taken for a partial rotation.", "SCAL-11.value", **FREQUENCIES)
def partial_for_proportional(dim: int, base: float = 10000.0, *, scaling: Scaling) -> Array:
    """Spread the frequencies over the pairs that turn."""
    found = right_of(dim, base, scaling)
    if isinstance(scaling, Proportional):
        turning = int((found > 0).sum())
        found[:turning] = plain(2 * turning, base) / scaling.factor
    return found
