"""Memory that was never written, and what one call leaves for the next."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import half, rope, table
from ropespec.spec.scaling import DynamicNtk

__all__ = [
    "DoubledOnce",
    "EightEntriesByEnds",
    "GrownARowLate",
    "KeptByAddress",
    "KeptByMemory",
    "KeptBySum",
    "KeptWithoutBase",
    "KeptWithoutLayout",
    "LongestSoFar",
    "OneEntryByEnds",
    "OneEntryByLargest",
    "OneEntryByShape",
    "WornByUse",
    "tail_of_empty",
    "written_to_a_copy",
]

Array = NDArray[Any]


@wrong(
    "memory never written",
    "What a strided x gets is written to a copy of the result.",
    "ROT-19.strides",
)
def written_to_a_copy(x: Array, positions: Array) -> Array:
    """Take memory in the order of that of x, which is then no row of tokens any more."""
    out = np.empty_like(x)
    out.reshape(-1)[...] = rope(x, positions).reshape(-1)
    return out


@wrong(
    "memory never written",
    "The tail of the result is memory as it was found.",
    "ROT-14.tail",
    rotary_dim=8,
    head_dims=(16, 32),
)
def tail_of_empty(x: Array, positions: Array) -> Array:
    """Rotate into new memory, and pass nothing through."""
    out = np.empty_like(x)
    out[..., :8] = rope(x[..., :8], positions)
    return out


@wrong("C1", "Tables are kept for the last shape of positions alone.", "ROT-19.history")
class OneEntryByShape:
    """One table for all layers of a step, made anew when the shape is another."""

    def __init__(self) -> None:
        self.key: object = None
        self.kept: tuple[Array, Array] | None = None

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Look at the shape, and not at the positions."""
        key = (positions.shape, x.shape[-1])
        if self.kept is None or key != self.key:
            self.key, self.kept = key, table(positions, x.shape[-1])
        return half(x, *self.kept)


@wrong("C1", "Tables are kept for positions with the same ends.", "ROT-19.likeness")
class OneEntryByEnds:
    """One table for all layers of a step, made anew when the first or the last position differs."""

    def __init__(self) -> None:
        self.key: object = None
        self.kept: tuple[Array, Array] | None = None

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Take positions for what their ends are."""
        key = (positions.shape, x.shape[-1], *positions.ravel()[:1], *positions.ravel()[-1:])
        if self.kept is None or key != self.key:
            self.key, self.kept = key, table(positions, x.shape[-1])
        return half(x, *self.kept)


@wrong("C1", "Tables are kept for positions with the same largest.", "ROT-19.likeness")
class OneEntryByLargest(OneEntryByEnds):
    """The same, made anew when the largest position differs."""

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Take positions for what the largest of them is."""
        key = (positions.shape, x.shape[-1], int(positions.max(initial=-(2**40))))
        if self.kept is None or key != self.key:
            self.key, self.kept = key, table(positions, x.shape[-1])
        return half(x, *self.kept)


@wrong("C1", "Tables are kept for positions with the same ends.", "ROT-19.likeness")
class EightEntriesByEnds:
    """Tables by the ends of the positions, all forgotten where a ninth would come."""

    def __init__(self) -> None:
        self.kept: dict[object, tuple[Array, Array]] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Take positions for what their ends are."""
        key = (positions.shape, x.shape[-1], *positions.ravel()[:1], *positions.ravel()[-1:])
        if key not in self.kept:
            if len(self.kept) == 8:
                self.kept.clear()
            self.kept[key] = table(positions, x.shape[-1])
        return half(x, *self.kept[key])


@wrong("table grown too little", "A table that is too short is doubled once.", "FREQ-6.neighbours")
class DoubledOnce:
    """Rows for 1024 positions, and for twice as many where that is too few."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Clamp to the table, whatever the position."""
        rows = self.rows.get(x.shape[-1], 1024)
        if np.abs(positions).max(initial=0) >= rows:
            rows *= 2
        self.rows[x.shape[-1]] = rows
        return rope(x, np.clip(positions, 1 - rows, rows - 1))


@wrong("C1", "Tables are kept for the sum of the positions.", "ROT-19.likeness")
class KeptBySum:
    """Tables by the shape and a checksum of positions."""

    def __init__(self) -> None:
        self.kept: dict[object, tuple[Array, Array]] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Add positions up."""
        key = (positions.shape, x.shape[-1], int(positions.sum()))
        if key not in self.kept:
            self.kept[key] = table(positions, x.shape[-1])
        return half(x, *self.kept[key])


@wrong(
    "base of another call",
    "Tables are kept for positions, and not for the base.",
    "ROT-19.walk",
)
class KeptWithoutBase:
    """Tables by the positions."""

    def __init__(self) -> None:
        self.kept: dict[object, tuple[Array, Array]] = {}

    def apply_rotary(self, x: Array, positions: Array, *, base: float = 10000.0) -> Array:
        """Take the base that came first."""
        key = (positions.shape, x.shape[-1], positions.tobytes())
        if key not in self.kept:
            self.kept[key] = table(positions, x.shape[-1], base)
        return half(x, *self.kept[key])


@wrong(
    "tables of the other layout",
    "Tables that list each angle twice are kept for positions, and not for the layout.",
    "ROT-19.walk",
    layouts=(True, False),
)
class KeptWithoutLayout:
    """Tables as wide as a head, by the positions."""

    def __init__(self) -> None:
        self.kept: dict[object, tuple[Array, Array]] = {}

    def apply_rotary(self, x: Array, positions: Array, *, interleaved: bool) -> Array:
        """Take the order that came first."""
        key = (positions.shape, x.shape[-1], positions.tobytes())
        if key not in self.kept:
            parts = table(positions, x.shape[-1])
            listed = np.repeat if interleaved else _tiled
            self.kept[key] = tuple(listed(part, 2, axis=-1)[..., None, :] for part in parts)  # type: ignore[assignment]  # two of them
        cos, sin = self.kept[key]
        turned = np.empty_like(x)
        one, other = (
            (slice(0, None, 2), slice(1, None, 2))
            if interleaved
            else (slice(x.shape[-1] // 2), slice(x.shape[-1] // 2, None))
        )
        turned[..., one], turned[..., other] = -x[..., other], x[..., one]
        return np.asarray(x * cos + turned * sin, dtype=x.dtype)


def _tiled(part: Array, times: int, axis: int) -> Array:
    return np.concatenate([part] * times, axis=axis)


@wrong(
    "kept by memory",
    "The result is kept for the array of positions, whatever it holds.",
    "ROT-19.refilled",
)
class KeptByMemory:
    """A cache that asks whether it is the same array."""

    def __init__(self) -> None:
        self.positions: Array | None = None
        self.tables: Any = None

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Make tables anew for another array, or another shape of x."""
        if positions is not self.positions or x.shape[-1] != 2 * self.tables[0].shape[-1]:
            self.positions, self.tables = positions, table(positions, x.shape[-1])
        return half(x, *self.tables)


@wrong(
    "kept by memory",
    "Tables are kept for the address of positions, where others lie by and by.",
    "ROT-19.refilled",
)
class KeptByAddress:
    """A cache whose key is a pointer and a shape."""

    def __init__(self) -> None:
        self.tables: dict[tuple[Any, ...], Any] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Take the tables that were made for this address and width."""
        key = (positions.ctypes.data, positions.shape, x.shape[-1])
        if key not in self.tables:
            self.tables[key] = table(positions, x.shape[-1])
        return half(x, *self.tables[key])


@wrong(
    "changed by earlier calls",
    "Each shape that was ever seen turns all later calls a little further.",
    "ROT-19.history",
)
class WornByUse:
    """A count that goes into the base."""

    def __init__(self) -> None:
        self.shapes: set[tuple[int, ...]] = set()

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Rotate by the base for the first shape, and by less for any after it."""
        self.shapes.add(x.shape)
        return rope(x, positions, base=10000.0 / (0.99 + 0.01 * len(self.shapes)))


@wrong(
    "table a row short",
    "A table grows by 256 rows once a position is beyond its length, and not at it.",
    "ROT-19.grown",
    negative_positions=False,
)
class GrownARowLate:
    """One table for each head_dim, as long as the largest position in whole steps."""

    def __init__(self) -> None:
        self.tables: dict[int, Any] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Look rows up, and at the end of the table the last one."""
        d, most = x.shape[-1], max(int(positions.max(initial=1)), 1)
        if d not in self.tables or most > len(self.tables[d][0]):
            self.tables[d] = table(np.arange(-(-most // 256) * 256), d)
        cos, sin = self.tables[d]
        row = np.minimum(positions, len(cos) - 1)
        return half(x, cos[row], sin[row])


@wrong(
    "K2",
    "The length of a dynamic scheme grows with the largest position so far, and stays.",
    "ROT-7.value",
    scaling=DynamicNtk(2.0, 4096, 8192),
    head_dims=(32, 64),
)
class LongestSoFar:
    """Frequencies that are made anew when a position is beyond the length they were made for."""

    def __init__(self) -> None:
        self.length = 8192

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Rotate by the frequencies of the longest sequence."""
        self.length = max(self.length, 1 + int(positions.max(initial=0)))
        d, ratio = x.shape[-1], 2.0 * self.length / 4096 - 1.0
        return rope(x, positions, base=10000.0 * ratio ** (d / (d - 2)))
