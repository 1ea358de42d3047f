"""Rotations by tables that are given: wrong and right ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import right, wrong
from ropespec.conformance.zoo.parts import half, interleaved, table, working

__all__: list[str] = []

Array = NDArray[Any]
OFFERS = "apply_rotary_cos_sin"


def turned(x: Array, cos: Array, sin: Array, *, pairs: bool = False) -> Array:
    """Turn as many components as the tables are wide, in float32 at least."""
    r = 2 * cos.shape[-1]
    apply, dtype = interleaved if pairs else half, working(x)
    front = apply(x[..., :r], cos.astype(dtype), sin.astype(dtype))
    return np.concatenate([front, x[..., r:]], axis=-1)


@wrong(
    "direction reversed",
    "The tables are read with the sign of sin changed.",
    "ROT-22.value",
    "ROT-22.reference",
    offers=OFFERS,
)
def tables_backwards(x: Array, cos: Array, sin: Array) -> Array:
    """Turn clockwise."""
    return turned(x, cos, -sin)


@wrong(
    "wrong pairing",
    "The tables given rotate the pairs of the other layout.",
    "ROT-22.value",
    offers=OFFERS,
)
def tables_in_other_layout(x: Array, cos: Array, sin: Array) -> Array:
    """Turn neighbours where halves are claimed."""
    return turned(x, cos, sin, pairs=True)


@wrong(
    "tables ignored", "Tables are made anew, for positions from 0.", "ROT-22.value", offers=OFFERS
)
def tables_ignored(x: Array, cos: Array, sin: Array) -> Array:
    """Take no more than the width from the tables."""
    del sin
    counted = np.arange(x.shape[-3])
    return turned(x, *table(counted, 2 * cos.shape[-1]))


@wrong(
    "tables brought to the unit circle",
    "Tables are brought back to the unit circle.",
    "ROT-22.scaled",
    offers=OFFERS,
)
def tables_normalised(x: Array, cos: Array, sin: Array) -> Array:
    """Divide by hypot(C, S)."""
    size = np.hypot(cos.astype(np.float64), sin.astype(np.float64))
    return turned(x, cos / size, sin / size)


@wrong(
    "tables of one row for all",
    "The tables of the first row rotate all rows.",
    "ROT-22.rows",
    offers=OFFERS,
)
def tables_of_one_row(x: Array, cos: Array, sin: Array) -> Array:
    """Drop the batch axis of the tables."""
    return turned(x, *(part[0] if part.ndim == 3 else part for part in (cos, sin)))


@wrong(
    "wrong end rotates, or tail dropped",
    "Components beyond the width of the tables are zero.",
    "ROT-22.tail",
    offers=OFFERS,
)
def tables_without_tail(x: Array, cos: Array, sin: Array) -> Array:
    """Write the turned part into zeros."""
    y, r = np.zeros_like(x), 2 * cos.shape[-1]
    y[..., :r] = turned(x[..., :r], cos, sin)
    return y


@wrong(
    "dtype of the tables",
    "The result has the dtype of the tables.",
    "ROT-22.dtype",
    offers=OFFERS,
    dtypes=("float16",),
)
def tables_promote(x: Array, cos: Array, sin: Array) -> Array:
    """Turn in the common dtype of x and tables, and leave it at that."""
    common = np.result_type(x.dtype, cos.dtype)
    return turned(x.astype(common), cos, sin)


@wrong(
    "tables overwritten",
    "The sign of sin is changed in the caller's table.",
    "ROT-17.arguments",
    offers=OFFERS,
)
def tables_overwritten(x: Array, cos: Array, sin: Array) -> Array:
    """Negate in place, and forget to undo it."""
    sin *= -1
    return turned(x, cos, -sin)


@wrong(
    "tables not checked",
    "One row of the tables is stretched over all tokens.",
    "ROT-22.refused",
    offers=OFFERS,
    refusals=True,
)
def tables_stretched(x: Array, cos: Array, sin: Array) -> Array:
    """Let broadcasting decide what fits."""
    return turned(x, cos, sin)


@right("Tables given, interleaved.", {}, OFFERS, interleaved=True, dtypes=("float32", "float16"))
def tables_given(x: Array, cos: Array, sin: Array) -> Array:
    """Turn pairs (2i, 2i+1)."""
    return turned(x, cos, sin, pairs=True)


@right(
    "Tables given, multiplied in float16.",
    {},
    OFFERS,
    dtypes=("float16",),
    precision="float16-arithmetic",
)
def tables_in_float16(x: Array, cos: Array, sin: Array) -> Array:
    """Round tables and products to float16."""
    r, n = 2 * cos.shape[-1], cos.shape[-1]
    c, s = (part.astype(x.dtype)[..., None, :] for part in (cos, sin))
    a, b = x[..., :n], x[..., n:r]
    return np.concatenate([a * c - b * s, b * c + a * s, x[..., r:]], axis=-1)
