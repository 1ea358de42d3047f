"""What is kept for later calls in the dtype of the call that needed it first."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import half, table

__all__ = [
    "BlocksOfTheFirstDtype",
    "ComputedInTheFirstDtype",
    "DoubledInTheFirstDtype",
    "FrequenciesOfTheFirstDtype",
    "InTheDtypeBefore",
    "NarrowedForGood",
    "OfOneSizeInOneDtype",
]

Array = NDArray[Any]


@wrong(
    "C4",
    "Tables are kept for the positions of the call before, in its dtype.",
    "ROT-19.walk",
    dtypes=("float32", "bfloat16"),
)
class InTheDtypeBefore:
    """One table for all layers of a step, made anew when the positions are others."""

    def __init__(self) -> None:
        self.key: object = None
        self.kept: tuple[Array, Array] | None = None

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Make tables in the dtype of x, and look at the positions alone later."""
        key = (positions.shape, x.shape[-1], positions.tobytes())
        if self.kept is None or key != self.key:
            cos, sin = table(positions, x.shape[-1])
            self.key, self.kept = key, (cos.astype(x.dtype), sin.astype(x.dtype))
        cos, sin = self.kept
        return half(x, cos.astype(np.float32), sin.astype(np.float32))


@wrong(
    "C4",
    "Pages of a table are kept in the dtype of the call that first needed them.",
    "ROT-19.dtypes",
    dtypes=("float32", "bfloat16"),
)
class BlocksOfTheFirstDtype:
    """Tables of 256 positions each, made where a position of theirs is asked for."""

    def __init__(self) -> None:
        self.pages: dict[tuple[int, int], Any] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Make pages in the dtype of x, and take those that are there as they are."""
        width = x.shape[-1]
        cos, sin = table(positions, width)
        pages = positions // 256
        for page in np.unique(pages):
            kind = self.pages.setdefault((width, int(page)), x.dtype)
            at = pages == page
            cos[at], sin[at] = cos[at].astype(kind), sin[at].astype(kind)
        return half(x, cos, sin)


@wrong(
    "C4",
    "Frequencies are kept by head_dim, in the dtype of the call that came first.",
    "ROT-19.dtypes",
    dtypes=("float32", "float64"),
)
class FrequenciesOfTheFirstDtype:
    """Frequencies made once for each head_dim."""

    def __init__(self) -> None:
        self.kept: dict[int, Array] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Make angles in float64, of frequencies in the dtype of the first call."""
        width = x.shape[-1]
        exact = 10000.0 ** (-np.arange(0, width, 2) / width)
        angle = positions[..., None] * self.kept.setdefault(width, exact.astype(x.dtype))
        return half(x, np.cos(angle), np.sin(angle))


@wrong(
    "C4",
    "Tables of 512 rows, doubled when they are too short, have the dtype of a call before.",
    "ROT-7.value",
    dtypes=("float32", "float16"),
    negative_positions=False,
    max_position=16383,
)
class DoubledInTheFirstDtype:
    """One table for each width."""

    def __init__(self) -> None:
        self.tables: dict[int, tuple[Array, Array]] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Double the rows until the call fits, in the dtype of x."""
        d, needed = x.shape[-1], int(positions.max(initial=0)) + 1
        if d not in self.tables or len(self.tables[d][0]) < needed:
            rows = max(512, 1 << (needed - 1).bit_length())
            cos, sin = table(np.arange(rows), d)
            self.tables[d] = cos.astype(x.dtype), sin.astype(x.dtype)
        return half(x, *(part[positions].astype(np.float32) for part in self.tables[d]))


@wrong(
    "C4",
    "A table is kept while calls need as many rows, in the dtype of the first of these.",
    "ROT-19.walk",
    dtypes=("float32", "bfloat16"),
    negative_positions=False,
)
class OfOneSizeInOneDtype:
    """One table, whose rows are a power of two."""

    def __init__(self) -> None:
        self.rows, self.kind = 0, np.dtype(np.float32)

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Make the table anew when calls grow, or shrink, beyond a power of two."""
        rows = 1 << int(positions.max(initial=15)).bit_length()
        if rows != self.rows:
            self.rows, self.kind = rows, x.dtype
        cos, sin = (part.astype(self.kind) for part in table(positions, x.shape[-1]))
        return half(x, cos.astype(np.float32), sin.astype(np.float32))


@wrong(
    "C4",
    "Frequencies are cast to the dtype of x where they are kept, and no digit comes back.",
    "ROT-7.value",
    dtypes=("float32", "bfloat16"),
)
class NarrowedForGood:
    """Frequencies by head_dim."""

    def __init__(self) -> None:
        self.kept: dict[int, Array] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Cast in place, as a module does that is moved to a dtype."""
        width = x.shape[-1]
        exact = 10000.0 ** (-np.arange(0, width, 2) / width)
        theta = self.kept[width] = self.kept.get(width, exact).astype(x.dtype)
        angle = positions[..., None] * theta.astype(np.float64)
        return half(x, np.cos(angle), np.sin(angle))


@wrong(
    "C4",
    "Frequencies of a head_dim are computed in the dtype of its first call.",
    "ROT-19.dtypes",
    dtypes=("float32", "float64"),
)
class ComputedInTheFirstDtype(FrequenciesOfTheFirstDtype):
    """Frequencies by a power of that dtype, whose errors are no rounding of the right ones."""

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Look at the head_dim, and not at the dtype."""
        d, kind = x.shape[-1], x.dtype.type
        if d not in self.kept:
            self.kept[d] = kind(10000) ** (-np.arange(0, d, 2, dtype=x.dtype) / kind(d))
        angle = positions[..., None].astype(x.dtype) * self.kept[d]
        return half(x, np.cos(angle), np.sin(angle))
