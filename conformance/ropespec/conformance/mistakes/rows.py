"""Positions that are looked up by what a row, or a number of a token, is taken to say."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.orders import Source, of_rows, spread

__all__ = [
    "OF_ROWS",
    "bits_of",
    "distinct_in",
    "found_in_a_row",
    "in_bits",
    "rows_by_both_ends",
    "rows_by_their_ends",
    "rows_by_their_firsts",
    "run_by_its_ends",
    "runs_by_all_ends",
    "runs_by_one_row",
    "runs_by_their_range",
    "runs_in_steps",
    "sorted_if_all_differ",
    "steps_in_8_bits",
    "token_by_a_shift",
    "token_from_the_end",
    "token_in",
    "token_of_the_first",
    "without_repeats",
]


def run_by_its_ends(g: Given) -> Array:
    """Count from the first of a row if its last fits."""
    p = g.positions
    counted = p[:, :1] + np.arange(p.shape[1])
    return spread(np.where(p[:, -1:] == counted[:, -1:], counted, p), g)


def runs_by_all_ends(g: Given) -> Array:
    """Count from the first of each row if the last of every row fits."""
    p = g.positions
    counted = p[:, :1] + np.arange(p.shape[1])
    return spread(counted if np.array_equal(p[:, -1:], counted[:, -1:]) else p, g)


def runs_by_one_row(row: int) -> Source:
    """Count from the first of each row if one row goes on by one."""

    def source(g: Given) -> Array:
        p = g.positions
        if not len(p) or (np.diff(p[row]) != 1).any():
            return spread(p, g)
        return spread(p[:, :1] + np.arange(p.shape[1]), g)

    return source


def runs_by_their_range(g: Given, axis: int | None = 1) -> Array:
    """Count from the smallest position of a row if the largest is as far as the last of a run.

    Without an axis it is the smallest and the largest of all rows.
    """
    p = g.positions
    if not p.size:
        return spread(p, g)
    least = p.min(axis=axis, keepdims=True)
    fits = p.max(axis=axis, keepdims=True) - least == p.shape[1] - 1
    return spread(np.where(fits, least + np.arange(p.shape[1]), p), g)


def runs_in_steps(size: int, *, aligned: bool) -> Source:
    """Count so many tokens from the first of them if the last fits.

    They begin wherever those before end, or at whole multiples of their number.
    """

    def source(g: Given) -> Array:
        p = g.positions.copy()
        fits = p[:, size - 1 :] - p[:, : max(p.shape[1] - size + 1, 0)] == size - 1
        for row, begins in zip(p, fits, strict=True):
            free = 0
            for at in map(int, np.flatnonzero(begins)):
                if at >= free and not (aligned and at % size):
                    row[at : at + size] = row[at] + np.arange(size)
                    free = at + size
        return spread(p, g)

    return source


def without_repeats(*, in_front: bool, of_next: bool) -> Source:
    """Return 0 for a token whose next, or the one before, has the same position.

    In front, or behind, is where no token between it and the end of the row has another.
    """

    def pick(p: Array) -> Array:
        same = p[:, :-1] == p[:, 1:]
        same = same if of_next else same[:, ::-1]
        same = np.logical_and.accumulate(same, axis=1) if in_front else same
        taken = np.concatenate([same, np.zeros_like(p[:, :1], dtype=bool)], axis=1)
        return np.where(taken if of_next else taken[:, ::-1], 0.0, p)

    return of_rows(pick)


def rows_by_their_ends(g: Given) -> Array:
    """Take the first row for all if the last has the same."""
    p = g.positions
    same = len(p) > 0 and np.array_equal(p[0], p[-1])
    return spread(np.broadcast_to(p[:1], p.shape) if same else p, g)


def rows_by_both_ends(g: Given) -> Array:
    """Take the first row for all if all begin and end with the same."""
    p = g.positions
    same = p.size > 0 and bool((p[:, [0, -1]] == p[0, [0, -1]]).all())
    return spread(np.broadcast_to(p[:1], p.shape) if same else p, g)


def sorted_if_all_differ(g: Given) -> Array:
    """Put all positions in increasing order, if none occurs twice."""
    p = g.positions
    unique = np.unique(p)
    return spread(unique.reshape(p.shape) if unique.size == p.size else p, g)


def rows_by_their_firsts(g: Given) -> Array:
    """Take the first row for all if all begin with the same."""
    p = g.positions
    same = p.size > 0 and bool((p[:, 0] == p[0, 0]).all())
    return spread(np.broadcast_to(p[:1], p.shape) if same else p, g)


def found_in_a_row(row: int | None) -> Source:
    """Look each position up among those of one row; what is not there is the next larger one.

    Without a number it is the row with the largest position.
    """

    def source(g: Given) -> Array:
        p = g.positions
        if not p.size:
            return spread(p, g)
        there = np.unique(p[p.max(axis=1).argmax() if row is None else row])
        return spread(there[np.minimum(np.searchsorted(there, p), len(there) - 1)], g)

    return source


def in_bits(dtype: str) -> Source:
    """Return the position as an integer of so many bits, signed or not."""

    def source(g: Given) -> Array:
        bits = int(dtype.lstrip("uint"))
        wrapped = np.mod(g.positions, 2**bits)
        if dtype.startswith("i"):
            wrapped = np.where(wrapped >= 2 ** (bits - 1), wrapped - 2**bits, wrapped)
        return spread(wrapped, g)

    return source


def steps_in_8_bits(g: Given) -> Array:
    """Sum up steps that were taken in 8 bits."""
    p = g.positions
    steps = np.diff(p, axis=1).astype(np.int8).astype(np.int64)
    return spread(np.concatenate([p[:, :1], p[:, :1] + np.cumsum(steps, axis=1)], 1), g)


def token_in(bits: int) -> Source:
    """Count the tokens of the batch in so many bits."""

    def source(g: Given) -> Array:
        flat = np.arange(g.positions.size) % 2**bits
        return spread(g.positions.ravel()[flat].reshape(g.positions.shape), g)

    return source


def token_from_the_end(bits: int) -> Source:
    """Count the tokens of the batch in so many bits with a sign; below 0 it is from the end."""

    def source(g: Given) -> Array:
        count, half = g.positions.size, 2 ** (bits - 1)
        index = (np.arange(count) + half) % (2 * half) - half
        flat = np.where(index < 0, np.maximum(index + count, 0), index)
        return spread(g.positions.ravel()[flat].reshape(g.positions.shape), g)

    return source


def bits_of(most: Callable[[Array], Array]) -> Source:
    """Take of each position as many bits as the size of another has."""

    def source(g: Given) -> Array:
        p = g.positions
        if not p.size:
            return spread(p, g)
        bits = np.frexp(most(np.abs(p)).astype(np.float64))[1].astype(np.int64)
        return spread(np.sign(p) * (np.abs(p) % 2**bits), g)

    return source


def distinct_in(bits: int, *, signed: bool) -> Source:
    """Count the distinct positions in so many bits; with a sign it is from the end below zero."""

    def source(g: Given) -> Array:
        values, row = np.unique(g.positions, return_inverse=True)
        half = 2 ** (bits - 1) if signed else 0
        row = (row.reshape(g.positions.shape) + half) % 2**bits - half
        return spread(values[np.maximum(row, -len(values))], g)

    return source


def token_by_a_shift(g: Given) -> Array:
    """Find the token of a head by the bits above those of the number of heads."""
    b, s, heads, _ = g.shape
    token = np.arange(b * s * heads) >> max(heads.bit_length() - 1, 0)
    place = g.positions.ravel()[np.minimum(token, b * s - 1)] if token.size else token
    return np.asarray(place.reshape(b, s, heads, 1), dtype=np.float64)


def token_of_the_first(size: int) -> Source:
    """Find one token for each so many heads, counted through the batch: that of the first."""

    def source(g: Given) -> Array:
        b, s, heads, _ = g.shape
        token = np.arange(b * s * heads) // size * size // max(heads, 1)
        found = g.positions.ravel()[token] if token.size else token
        return np.asarray(found.reshape(b, s, heads, 1), dtype=np.float64)

    return source


OF_ROWS: dict[str, tuple[str, str, Source]] = {
    "row 0": ("B5", "the position at its place in row 0", of_rows(lambda p: p[:1])),
    "last row": ("B5", "the position at its place in the last row", of_rows(lambda p: p[-1:])),
    "first of all": ("P4", "the first position of row 0", of_rows(lambda p: p[:1, :1])),
    "last of all": ("P4", "the last position of the last row", of_rows(lambda p: p[-1:, -1:])),
    "last of row 0": ("P4", "the last position of row 0", of_rows(lambda p: p[:1, -1:])),
    "largest": (
        "P6",
        "the largest position at its place in any row",
        of_rows(lambda p: p.max(0, keepdims=True)),
    ),
    "largest, 0 at least": (
        "P6",
        "the largest position at its place in any row, and 0 at least",
        of_rows(lambda p: p.max(0, keepdims=True, initial=0)),
    ),
    "of the farthest row": (
        "P6",
        "that at its place in the row with the largest position",
        of_rows(lambda p: p[[p.max(axis=1).argmax()]]),
    ),
    "of the row that ends last": (
        "P6",
        "that at its place in the row whose last position is the largest",
        of_rows(lambda p: p[[p[:, -1].argmax()]]),
    ),
    "smallest": (
        "P6",
        "the smallest position at its place in any row",
        of_rows(lambda p: p.min(0, keepdims=True)),
    ),
    "sum": (
        "P6",
        "the sum of the positions at its place in all rows",
        of_rows(lambda p: p.sum(0, keepdims=True)),
    ),
    "mean": (
        "P6",
        "the mean of the positions at its place in all rows",
        of_rows(lambda p: p.mean(0, keepdims=True)),
    ),
}
"""Positions of another row, or of several: as `SOURCES` has them."""
