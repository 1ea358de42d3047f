"""cos and sin as the sparse form multiplies by them, in pages of consecutive positions."""

import functools
from typing import Any, NamedTuple

import numpy as np

from ropespec.backends.cache import Cache
from ropespec.backends.numpy.arrays import Array, quiet
from ropespec.backends.xp.frequencies import cos_sin

__all__ = ["PAGES", "Tables", "clear", "prepare", "rows_at_once", "tables_at"]

ENTRIES = 2**14
"""Entries of a table that are made at once: a float64 of each stays in the cache."""

SHORT = 2**10
"""Up to this dim the factors of single tokens are kept as well: 64 times 16 KiB at most."""


class Tables(NamedTuple):
    """Factors of one block of tokens, with an axis of length 1 for the heads.

    Attributes
    ----------
    by : ndarray
        What x is multiplied by: cos + i sin, complex, (..., 1, r/2) if pairs are interleaved, else
        cos, twice, (..., 1, r).
    across : ndarray or None
        What the other half of x is multiplied by: -sin and sin, (..., 1, 2, r/2).
    """

    by: Array
    across: Array | None


def _size(tables: Tables) -> int:
    return tables.by.nbytes + (0 if tables.across is None else tables.across.nbytes)


PAGES: Cache[Tables] = Cache(2**22, _size)
"""Tables by (dim, base, dtype, layout, first position); all of one length for one dim.

A page serves decoding at any position, where a table from 0 on would not fit.
"""


def clear() -> None:
    """Forget all kept tables."""
    PAGES.clear()
    _row.cache_clear()


def rows_at_once(pairs: int) -> int:
    """Return how many positions make a table of about `ENTRIES`: a power of two."""
    return 1 << max(ENTRIES // pairs, 1).bit_length() - 1


def prepare(cos: Array, sin: Array, work: np.dtype[Any], *, interleaved: bool) -> Tables:
    """Arrange cos and sin (..., r/2) for multiplication in the dtype `work`."""
    with quiet():  # a table of float64 may hold more than float32 can
        if interleaved:
            by = np.empty(cos.shape, np.complex128 if work == np.float64 else np.complex64)
            by.real = cos
            by.imag = sin
            return Tables(by[..., None, :], None)
        by = np.concatenate((cos, cos), axis=-1, dtype=work)
        across = np.concatenate((-sin, sin), axis=-1, dtype=work)
        halves = (*sin.shape[:-1], 1, 2, sin.shape[-1])
        return Tables(by[..., None, :], across.reshape(halves))


def tables_at(
    m: Array,
    dim: int,
    base: float,
    work: np.dtype[Any],
    *,
    interleaved: bool,
) -> Tables:
    """Return the factors of positions `m`, from a kept page where they all lie in one.

    An entry depends on its position and pair alone, so it has the same bits in either case.
    """
    if m.size == 1 and dim <= SHORT:
        return _row(m.item(), m.ndim, dim, base, work, interleaved)
    rows = rows_at_once(dim // 2)
    number = int(m.min()) // rows
    if int(m.max()) // rows != number:
        return prepare(*cos_sin(np, m, dim, base, work), work, interleaved=interleaved)
    by, across = _page(number * rows, dim, base, work, interleaved=interleaved)
    index = m.astype(np.int64) - number * rows
    return Tables(by.take(index, axis=0), None if across is None else across.take(index, axis=0))


@functools.lru_cache(maxsize=64)
def _row(
    m: int, ndim: int, dim: int, base: float, work: np.dtype[Any], interleaved: bool
) -> Tables:
    """Return the factors of one token, which every layer of a model asks for twice."""
    at = m % rows_at_once(dim // 2)
    page = _page(m - at, dim, base, work, interleaved=interleaved)
    lead = (1,) * ndim
    by, across = (table if table is None else table[at].copy() for table in page)
    assert by is not None
    row = Tables(by.reshape(*lead, *by.shape), across)
    if across is not None:
        row = Tables(row.by, across.reshape(*lead, *across.shape))
    return _frozen(row)


def _page(first: int, dim: int, base: float, work: np.dtype[Any], *, interleaved: bool) -> Tables:
    def make() -> Tables:
        # Positions wrap as the phase does, so a page may reach beyond int64.
        m = np.arange(rows_at_once(dim // 2), dtype=np.uint64) + np.uint64(first % 2**64)
        made = cos_sin(np, m, dim, base, work)
        return _frozen(prepare(*made, work, interleaved=interleaved))

    return PAGES.get((dim, base, work.char, interleaved, first), make)


def _frozen(tables: Tables) -> Tables:
    for table in tables:
        if table is not None:
            table.flags.writeable = False
    return tables
