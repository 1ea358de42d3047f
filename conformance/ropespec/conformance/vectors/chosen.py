"""Which rotations are in the released set; what is here never changes, a new set is a new list."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.values import numpy_dtype
from ropespec.spec.axes import Sections, Woven
from ropespec.spec.convention import Convention, Frequencies, Pairing
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

__all__ = ["DTYPES", "RELEASE", "VECTORS", "Vector", "values"]

RELEASE = 1
"""Number of the set."""

DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class Vector:
    """A rotation of the set, in every dtype.

    Attributes
    ----------
    name : str
        It begins the names of its files.
    head_dim : int
        Components of each head.
    convention : Convention
        How they rotate.
    clauses : tuple of str
        What it is an example of.
    sections : tuple of int
        How many pairs follow each position number, if a token has several.
    """

    name: str
    head_dim: int
    convention: Convention
    clauses: tuple[str, ...]
    sections: tuple[int, ...] = ()

    @property
    def dim(self) -> int:
        """How many components rotate."""
        return self.convention.dim(self.head_dim)


def _plain() -> list[Vector]:
    half, inter = Pairing.HALF, Pairing.INTERLEAVED
    far = Frequencies(500000.0)
    return [
        Vector("half", 64, Convention(half), ("ROT-7", "FREQ-2")),
        Vector("interleaved", 64, Convention(inter), ("ROT-6", "FREQ-2")),
        Vector("half-base-500000", 128, Convention(half, far), ("ROT-7", "FREQ-2")),
        Vector("interleaved-base-500000", 128, Convention(inter, far), ("ROT-6", "FREQ-2")),
        Vector("half-partial", 64, Convention(half, rotary_dim=16), ("ROT-14", "ROT-7")),
        Vector("interleaved-partial", 64, Convention(inter, rotary_dim=24), ("ROT-14", "ROT-6")),
        Vector(
            "interleaved-trailing",
            48,
            Convention(inter, rotary_dim=16, trailing=True),
            ("AXES-6", "ROT-6"),
        ),
        Vector(
            "half-trailing",
            48,
            Convention(half, rotary_dim=16, trailing=True),
            ("AXES-6", "ROT-7"),
        ),
    ]


_SHORT = tuple(1.0 + i / 16 for i in range(16))
_LONG = tuple(1.0 + i * i / 4 for i in range(16))

_SCHEMES: dict[str, Scaling] = {
    "linear": Linear(4.0),
    "ntk": NtkAware(4.0),
    "dynamic-ntk-paper": PaperDynamicNtk(2048, 8000),
    "dynamic": DynamicNtk(2.0, 2048, 8000),
    "ntk-by-parts": NtkByParts(16.0, 4096),
    "yarn": Yarn(16.0, 4096),
    "longrope-short": LongRope(_SHORT, _LONG, 32.0, 4096, 4096),
    "longrope-long": LongRope(_SHORT, _LONG, 32.0, 4096, 4097),
    "llama3": Llama3(8.0, 1.0, 4.0, 8192),
    "proportional": Proportional(0.25),
}


def _scaled() -> list[Vector]:
    return [
        Vector(
            name,
            32,
            Convention(Pairing.HALF, Frequencies(10000.0, scheme)),
            tuple(dict.fromkeys((scheme.clause, scheme.gain_clause))),
        )
        for name, scheme in _SCHEMES.items()
    ]


def _many_axed() -> list[Vector]:
    far = Frequencies(1000000.0)
    named: dict[str, Sections | Woven] = {"AXES-2": Sections((4, 6, 6)), "AXES-3": Woven((6, 5, 5))}
    return [
        Vector(
            f"half-{type(axes).__name__.lower()}",
            32,
            Convention(Pairing.HALF, far, axes=axes.followed()),
            (clause,),
            axes.sections,
        )
        for clause, axes in named.items()
    ]


VECTORS = (*_plain(), *_scaled(), *_many_axed())


def values(shape: tuple[int, ...], dtype: str) -> NDArray[np.generic]:
    """Return the numbers of x in [-2, 2): those of SplitMix64, in the order of the components.

    They are rounded to the dtype, so that all its bits are used.
    """
    count = int(np.prod(shape))
    state = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    numbers = (state >> np.uint64(11)).astype(np.float64) * 2.0**-51 - 2.0
    return numbers.reshape(shape).astype(numpy_dtype(dtype))
