"""Wrong positions: offset, broadcast over rows, sign, range, kept between calls."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import angles, half, rope

__all__ = [
    "absolute_value",
    "as_the_first_document",
    "cached_by_length",
    "clamped_at_zero",
    "counted_from_the_first",
    "counted_if_the_ends_fit",
    "counts_calls",
    "counts_on",
    "doubled_positions",
    "first_row_only_at_one_dense_token",
    "first_row_only_at_one_token",
    "ignored_positions",
    "largest_row",
    "of_the_first_row_if_all_begin_alike",
    "passes_through_at_4096",
    "positions_divided_by_4",
    "positions_from_1",
    "row_0_for_all",
    "row_that_ends_last",
    "single_position",
    "table_of_2048",
    "table_of_first_dtype",
    "unsigned_16",
    "wraps_at_4096",
]

Array = NDArray[Any]


@wrong("P3", "Positions start at 1.", "ROT-10.identity", "ROT-13.composition")
def positions_from_1(x: Array, positions: Array) -> Array:
    """Add one."""
    return rope(x, positions + 1)


@wrong("P1", "Positions are ignored: every call starts at 0.", "ROT-19.tokens", "FREQ-6.neighbours")
def ignored_positions(x: Array, positions: Array) -> Array:
    """Count from zero."""
    return rope(x, np.broadcast_to(np.arange(x.shape[1]), positions.shape))


@wrong(
    "P4",
    "One position is used for the whole sequence.",
    "ROT-9.rows",
    "ROT-19.tokens",
    "ROT-9.forms",
)
def single_position(x: Array, positions: Array) -> Array:
    """Use the last position of each row."""
    return rope(x, np.broadcast_to(positions[:, -1:], positions.shape))


@wrong(
    "P6", "The largest position of the batch is used in all rows.", "ROT-19.rows", "PROJ-5.tokens"
)
def largest_row(x: Array, positions: Array) -> Array:
    """Share one vector over a ragged batch."""
    most = positions.max(axis=0, initial=0)
    return rope(x, np.broadcast_to(most, positions.shape))


@wrong("B5", "All rows use the positions of row 0.", "ROT-19.rows")
def row_0_for_all(x: Array, positions: Array) -> Array:
    """Ignore the batch index."""
    return rope(x, np.broadcast_to(positions[:1], positions.shape))


@wrong(
    "rotated by the position of another",
    "Distinct positions are repeated as often as each occurs, which sorts them over the batch.",
    "ROT-9.rows",
)
def sorted_over_the_batch(x: Array, positions: Array) -> Array:
    """Forget the inverse of `np.unique`."""
    each, count = np.unique(positions, return_counts=True)
    return rope(x, np.repeat(each, count).reshape(positions.shape))


@wrong(
    "B6", "With one token only the first row of the batch is rotated.", "ROT-19.rows", "ROT-7.value"
)
def first_row_only_at_one_token(x: Array, positions: Array) -> Array:
    """Forget the batch in the decode path."""
    y = rope(x, positions)
    if x.shape[1] == 1:
        y[1:] = x[1:]
    return y


@wrong(
    "B6", "Of one token in one piece only the first row is rotated.", "ROT-19.rows", "ROT-7.value"
)
def first_row_only_at_one_dense_token(x: Array, positions: Array) -> Array:
    """Forget the batch in the decode path, which memory with gaps does not take."""
    y = rope(x, positions)
    if x.shape[1] == 1 and x.flags.c_contiguous:
        y[1:] = x[1:]
    return y


@wrong(
    "negative positions clamped",
    "Negative positions are clamped at zero.",
    "FREQ-6.negative",
    "ROT-12.inverse",
)
def clamped_at_zero(x: Array, positions: Array) -> Array:
    """Clip."""
    return rope(x, np.maximum(positions, 0))


@wrong(
    "sign of positions lost",
    "The sign of a position is lost.",
    "FREQ-6.negative",
    "ROT-12.inverse",
    "CPLX-2.conjugate",
    "REL-1.shift",
)
def absolute_value(x: Array, positions: Array) -> Array:
    """Take the distance."""
    return rope(x, np.abs(positions))


@wrong("C5", "Positions beyond a table of 2048 are clamped.", "FREQ-6.neighbours")
def table_of_2048(x: Array, positions: Array) -> Array:
    """Read the last row for all that is beyond."""
    return rope(x, np.clip(positions, -2047, 2047))


@wrong("positions in 16 bits", "Positions wrap at 16 bits.", "FREQ-6.neighbours")
def unsigned_16(x: Array, positions: Array) -> Array:
    """Store positions in int16."""
    return rope(x, positions.astype(np.int16).astype(np.int64))


_kept: dict[int, Array] = {}


@wrong("C1", "The cache is keyed by length alone and forgets the offset.", "ROT-19.tokens")
def cached_by_length(x: Array, positions: Array) -> Array:
    """Keep the first positions ever seen of each length."""
    row = _kept.setdefault(x.shape[1], positions[:1].copy())
    return rope(x, np.broadcast_to(row, positions.shape))


_calls = [0]


@wrong("P2", "An offset advances with every call.", "ROT-19.history")
def counts_calls(x: Array, positions: Array) -> Array:
    """Add the number of calls so far."""
    _calls[0] += 1
    return rope(x, positions + _calls[0])


_tables: dict[int, tuple[Array, Array]] = {}


@wrong(
    "C4",
    "The table keeps the dtype of the first call.",
    "ROT-7.value",
    dtypes=("bfloat16", "float32"),
    max_position=1023,
)
def table_of_first_dtype(x: Array, positions: Array) -> Array:
    """Build the table once for each head_dim, in the dtype of whatever came first."""
    d = x.shape[-1]
    if d not in _tables:
        table = angles(np.arange(1024), d)
        _tables[d] = np.cos(table).astype(x.dtype), np.sin(table).astype(x.dtype)
    cos, sin = (part.astype(np.float32)[np.abs(positions)] for part in _tables[d])
    return half(x, cos, sin * np.sign(positions)[..., None].astype(np.float32))


@wrong("B2", "Positions count on where a new document begins.", "ROT-9.rows", "FREQ-6.negative")
def counts_on(x: Array, positions: Array) -> Array:
    """Go on counting wherever positions fall back."""
    where = positions.copy()
    for t in range(1, positions.shape[1]):
        falls = positions[:, t] <= positions[:, t - 1]
        where[:, t] = np.where(falls, where[:, t - 1] + 1, positions[:, t])
    return rope(x, where)


@wrong(
    "counted from the first position",
    "Tokens are counted from the first position.",
    "ROT-19.tokens",
)
def counted_from_the_first(x: Array, positions: Array) -> Array:
    """Add arange to the first position of each row."""
    return rope(x, positions[:, :1] + np.arange(x.shape[1]))


@wrong("C5", "Positions beyond a table of 4096 wrap to its beginning.", "FREQ-6.neighbours")
def wraps_at_4096(x: Array, positions: Array) -> Array:
    """Take the remainder."""
    return rope(x, np.fmod(positions, 4096))


@wrong(
    "C5", "Tokens beyond a table of 4096 pass through.", "FREQ-6.neighbours", "ROT-13.composition"
)
def passes_through_at_4096(x: Array, positions: Array) -> Array:
    """Leave them as they are."""
    return np.where(np.abs(positions)[..., None, None] >= 4096, x, rope(x, positions))


@wrong("K6", "Positions are doubled.", "FREQ-2.read-off")
def doubled_positions(x: Array, positions: Array) -> Array:
    """Scale by the default of another scheme."""
    return rope(x, 2 * positions)


@wrong("K1", "Frequencies are divided by 4, as for a longer context.", "FREQ-2.read-off")
def positions_divided_by_4(x: Array, positions: Array) -> Array:
    """Interpolate positions that nobody wanted interpolated."""
    angle = angles(positions, x.shape[-1]) / np.float32(4)
    return half(x, np.cos(angle), np.sin(angle))


@wrong(
    "taken for a run",
    "Where all rows begin with the same position, the first row serves all.",
    "ROT-19.shortcuts",
)
def of_the_first_row_if_all_begin_alike(x: Array, positions: Array) -> Array:
    """Look at the first position of each row alone."""
    alike = positions.size and (positions[:, 0] == positions[0, 0]).all()
    return rope(x, np.broadcast_to(positions[:1], positions.shape) if alike else positions)


@wrong(
    "taken for a run",
    "Where each row ends as a run from its first position does, it is one.",
    "ROT-19.shortcuts",
)
def counted_if_the_ends_fit(x: Array, positions: Array) -> Array:
    """Look at both ends of each row alone."""
    steps = positions.shape[-1] - 1
    if steps < 0 or (positions[:, -1] - positions[:, 0] != steps).any():
        return rope(x, positions)
    return rope(x, positions[:, :1] + np.arange(steps + 1))


@wrong("taken for a run", "Where the first row goes on by one, all rows do.", "ROT-7.value")
def runs_if_the_first_row_is_one(x: Array, positions: Array) -> Array:
    """Look at one row alone."""
    if not positions.size or (np.diff(positions[0]) != 1).any():
        return rope(x, positions)
    return rope(x, positions[:, :1] + np.arange(positions.shape[1]))


@wrong("taken for a run", "Where the last row goes on by one, all rows do.", "ROT-7.value")
def runs_if_the_last_row_is_one(x: Array, positions: Array) -> Array:
    """Look at one row alone."""
    y: Array = runs_if_the_first_row_is_one(x[::-1], positions[::-1])
    return y[::-1]


@wrong("P6", "The row that ends last rotates all rows of a batch.", "ROT-9.rows", "ROT-19.tokens")
def row_that_ends_last(x: Array, positions: Array) -> Array:
    """Take the positions of the longest sequence, as where all are padded to it."""
    if not positions.size:
        return rope(x, positions)
    longest = positions[positions[:, -1].argmax()]
    return rope(x, np.broadcast_to(longest, positions.shape))


@wrong(
    "positions restart",
    "Where positions fall back, a document begins where the first one of its row began.",
    "ROT-9.rows",
)
def as_the_first_document(x: Array, positions: Array) -> Array:
    """Use the rows of the first document for those packed behind it."""
    counted = positions.astype(np.int64)
    for row in counted:
        for begin in np.flatnonzero(np.diff(row) < 0)[::-1] + 1:
            row[begin:] += row[0] - row[begin]
    return rope(x, counted)
