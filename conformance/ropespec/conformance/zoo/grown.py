"""Tables that grow, and what they hold where they have grown."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import half, rope, table

__all__: list[str] = []

Array = NDArray[Any]


@wrong(
    "I4",
    "A table grown for one width is taken to be grown for all.",
    "ROT-19.walk",
    max_position=4095,
)
class GrownForOneWidth:
    """One length for the tables of all widths; what lies beyond a short one reads its last row."""

    def __init__(self) -> None:
        self.length = 64
        self.tables: dict[int, tuple[Array, Array]] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Grow the table of this width if the length that was seen is not enough."""
        d, needed = x.shape[-1], int(np.abs(positions).max(initial=0)) + 1
        if d not in self.tables or needed > self.length:
            self.length = max(self.length, needed)
            self.tables[d] = table(np.arange(self.length), d)
        where = np.minimum(np.abs(positions), len(self.tables[d][0]) - 1)
        cos, sin = (part[where] for part in self.tables[d])
        return half(x, cos, sin * np.sign(positions)[..., None])


@wrong(
    "table grown wrong",
    "Rows added to a table are those of positions from 0 again.",
    "ROT-19.walk",
    negative_positions=False,
    max_position=16383,
)
class GrownFromZero:
    """One table for each width, of 256 rows at first."""

    def __init__(self) -> None:
        self.tables: dict[int, tuple[Array, Array]] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Append what is missing."""
        d, needed = x.shape[-1], int(positions.max(initial=0)) + 1
        if d not in self.tables:
            self.tables[d] = table(np.arange(max(needed, 256)), d)
        kept = self.tables[d]
        if needed > len(kept[0]):
            more = table(self.added(len(kept[0]), needed), d)
            kept = np.concatenate([kept[0], more[0]]), np.concatenate([kept[1], more[1]])
            self.tables[d] = kept
        return half(x, *(part[positions] for part in kept))

    @staticmethod
    def added(rows: int, needed: int) -> Array:
        """Return the positions of the rows that are appended."""
        return np.arange(needed - rows)


@wrong(
    "table grown wrong",
    "Rows added to a table begin with its last one again.",
    "ROT-19.walk",
    negative_positions=False,
    max_position=16383,
)
class GrownFromItsLastRow(GrownFromZero):
    """Each growth moves what is added by one."""

    @staticmethod
    def added(rows: int, needed: int) -> Array:
        """Count from the last row, so that the table is longer than it has to be."""
        return np.arange(rows - 1, needed)


@wrong(
    "table a row short",
    "A table that is doubled until it has as many rows as the largest position lacks the next one.",
    "FREQ-6.neighbours",
    negative_positions=False,
    max_position=16383,
)
class TableOneRowShort:
    """One table for each width, of 256 rows at first, that is asked for no row behind its last."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Double the rows, and take the last one for what is behind it."""
        rows, largest = self.rows.get(x.shape[-1], 256), int(positions.max(initial=0))
        if largest > rows:
            rows = self.doubled(rows, largest)
        self.rows[x.shape[-1]] = rows
        return rope(x, np.minimum(positions, rows - 1))

    @staticmethod
    def doubled(rows: int, largest: int) -> int:
        """Return how many rows there are to be."""
        while rows < largest:
            rows *= 2
        return rows


@wrong(
    "table a row short",
    "A table is doubled until the largest position fits, but only if that is beyond their number.",
    "FREQ-6.neighbours",
    negative_positions=False,
    max_position=16383,
)
class DoubledTooLate(TableOneRowShort):
    """A position that is the number of rows fits where the table has just grown."""

    @staticmethod
    def doubled(rows: int, largest: int) -> int:
        """Return a number above the position."""
        return TableOneRowShort.doubled(rows, largest + 1)


@wrong(
    "table a row short",
    "A table that is too short is doubled, or as long as the largest position if that is more.",
    "FREQ-6.neighbours",
    negative_positions=False,
    max_position=16383,
)
class DoubledOrAsLong(TableOneRowShort):
    """It is long enough where twice as many rows are more."""

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Take the last row for what is behind it."""
        rows, largest = self.rows.get(x.shape[-1], 256), int(positions.max(initial=0))
        self.rows[x.shape[-1]] = rows = max(2 * rows, largest) if largest >= rows else rows
        return rope(x, np.minimum(positions, rows - 1))


@wrong(
    "negative positions from the end of a table",
    "A position below zero is the index of a row, counted from the end of a table that grows.",
    "ROT-7.value",
    max_position=16383,
)
class RowsFromTheEnd:
    """One table for each width, as long as the largest position so far, of either sign."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Index with the position as it is."""
        needed = int(np.abs(positions).max(initial=0)) + 1
        rows = self.rows[x.shape[-1]] = max(needed, self.rows.get(x.shape[-1], 0))
        return rope(x, np.arange(rows)[positions])


@wrong(
    "table filled for one call",
    "A table is doubled, filled as far as the call needs, and repeats its first rows behind that.",
    "ROT-19.grown",
    negative_positions=False,
    max_position=16383,
)
class FilledForOneCall:
    """One table of positions for each width, of 256 rows at first, enlarged by numpy.resize."""

    def __init__(self) -> None:
        self.rows: dict[int, Array] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Double the rows until the largest position fits, and fill in what is asked for."""
        rows = self.rows.get(x.shape[-1], np.arange(256))
        have, needed = len(rows), int(positions.max(initial=0)) + 1
        if needed > have:
            rows = self.enlarged(rows, 2 ** int(needed - 1).bit_length())
            rows[have:needed] = np.arange(have, needed)
        self.rows[x.shape[-1]] = rows
        there = (rows[positions] >= 0)[..., None, None]
        return np.asarray(rope(x, rows[positions]) * there, x.dtype)

    @staticmethod
    def enlarged(rows: Array, size: int) -> Array:
        """Return so many rows, which begin again where they end."""
        return np.resize(rows, size)


@wrong(
    "table filled for one call",
    "A table is doubled by rows of zeros, and filled as far as the call needs.",
    "ROT-19.grown",
    negative_positions=False,
    max_position=16383,
)
class ZerosForLater(FilledForOneCall):
    """Cosine and sine are zero in rows that nobody has filled in, here below zero."""

    @staticmethod
    def enlarged(rows: Array, size: int) -> Array:
        """Return so many rows, which are empty behind the old ones."""
        return np.concatenate([rows, np.full(size - len(rows), -1)])


@wrong(
    "slots overwritten",
    "Rows of a call that share a slot of a cache are all filled in before any is read.",
    "ROT-19.tokens",
)
class SlotsOverwritten:
    """Slots of 16384 rows for each width, and whose row each of them has."""

    def __init__(self) -> None:
        self.rows: dict[int, tuple[NDArray[np.int64], Array, Array]] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Fill in what is not there, then take all."""
        d, slot = x.shape[-1], positions % 2**14
        if d not in self.rows:
            self.rows[d] = np.full(2**14, -(2**40)), *table(np.zeros(2**14, np.int64), d)
        there, cos, sin = self.rows[d]
        new = positions[there[slot] != positions]
        there[new % 2**14] = new
        cos[new % 2**14], sin[new % 2**14] = table(new, d)
        return half(x, cos[slot], sin[slot])
