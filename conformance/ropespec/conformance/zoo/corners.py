"""Mistakes in one corner of the input space: two levels that meet, one position, one large call."""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ropespec.conformance.zoo.attention_parts import allowed, attend, mixed, scores
from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import half, rope, table, turn

__all__ = [
    "BackwardOfAMillionTokens",
    "TablesOfTheOldBase",
    "assumes_whole_tokens",
    "clears_the_mask",
    "counts_down_as_up",
    "in_the_order_of_memory",
    "index_in_float32",
    "infinity_meets_zero",
    "lone_last_row",
    "mask_beyond_32_keys_dropped",
    "mask_of_one_query_dropped",
    "million_tokens",
    "of_the_first_row_if_the_last_is_it",
    "one_maximum_for_all_queries",
    "one_wrong_entry",
    "renormalised_by_squares",
    "rows_before_tokens",
    "sorts_the_positions",
    "three_products",
    "wraps_at_2_to_27",
]

Array = NDArray[Any]
MILLION = 2**20
BLOCK = 96
WRAP = 2**27
ENTRY = 77777
BITS = 32
FAR: dict[str, Any] = {"max_position": 2**31 - 1}
PART: dict[str, Any] = {"rotary_dim": 8, "head_dims": (16, 32)}
DTYPES: dict[str, Any] = {"dtypes": ("float32", "bfloat16")}


@wrong(
    "", "Positions wrap at 2^27, where float32 angles may be off by anything.", "JDG-3.break", **FAR
)
def wraps_at_2_to_27(x: Array, positions: Array) -> Array:
    """Keep 27 bits of the phase."""
    return turn(x, np.sign(positions) * (np.abs(positions) % WRAP))


@wrong("", "The entry of one position is that of the one before.", "ROT-9.every")
def one_wrong_entry(x: Array, positions: Array) -> Array:
    """Damage one row of a table."""
    return rope(x, np.where(positions == ENTRY, ENTRY - 1, positions))


@wrong(
    "taken for a run",
    "Where the first row and the last have the same positions, the first serves all.",
    "ROT-19.shortcuts",
)
def of_the_first_row_if_the_last_is_it(x: Array, positions: Array) -> Array:
    """Look at two rows."""
    alike = len(positions) and (positions[0] == positions[-1]).all()
    return rope(x, np.broadcast_to(positions[:1], positions.shape) if alike else positions)


@wrong("beyond a block", "Of all rows together, tokens beyond 2^20 are not rotated.", "ROT-19.many")
def million_tokens(x: Array, positions: Array) -> Array:
    """Launch a million threads, one for each token of each row."""
    y = rope(x, positions)
    y.reshape(-1, *x.shape[2:])[MILLION:] = x.reshape(-1, *x.shape[2:])[MILLION:]
    return y


@wrong("beyond a block", "Elements beyond 2^24 are not rotated.", "ROT-19.many")
def index_in_float32(x: Array, positions: Array) -> Array:
    """Lose count of the elements."""
    y = rope(x, positions)
    y.reshape(-1)[2**24 :] = x.reshape(-1)[2**24 :]
    return y


@wrong("beyond a block", "A last block of one row comes back as it was.", "ROT-19.many")
def lone_last_row(x: Array, positions: Array) -> Array:
    """End the loop over blocks of a kernel one row too soon."""
    y = rope(x, positions)
    if len(rows := y.reshape(-1, *x.shape[2:])) > BLOCK and len(rows) % BLOCK == 1:
        rows[-1] = x.reshape(rows.shape)[-1]
    return y


@wrong("", "The gradient of tokens beyond 2^20, of all rows together, is lost.", "ROT-20.many")
class BackwardOfAMillionTokens:
    """A backward pass with a grid of its own."""

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Rotate halves."""
        return rope(x, positions)

    def apply_rotary_vjp(self, cotangent: Array, positions: Array) -> Array:
        """Rotate back, up to a number of tokens."""
        back = rope(cotangent, -positions)
        back.reshape(-1, *cotangent.shape[2:])[MILLION:] = 0
        return back


@wrong("M3", "The heads of a token are taken to be all there is of it.", "ROT-7.value")
def assumes_whole_tokens(x: Array, positions: Array) -> Array:
    """Use the stride of heads, and the product of sizes for that of tokens."""
    _, tokens, heads, dim = x.shape
    step = x.itemsize
    if x.strides[2:] == (dim * step, step) and x.strides[0] == tokens * x.strides[1]:
        dense = heads * dim * step
        x = as_strided(x, x.shape, (tokens * dense, dense, dim * step, step))
    return rope(x, positions)


@wrong("M3", "Rows and tokens in the other order are read as if they were not.", "ROT-7.value")
def rows_before_tokens(x: Array, positions: Array) -> Array:
    """Look at the last two strides alone."""
    if (
        x.size
        and x.strides[0] < x.strides[1]
        and x.strides[2:] == (x.shape[3] * x.itemsize, x.itemsize)
    ):
        x = as_strided(x, x.shape, np.empty(x.shape, x.dtype).strides)
    return rope(x, positions)


@wrong("M3", "Elements are taken in the order in which they lie in memory.", "ROT-7.value")
def in_the_order_of_memory(x: Array, positions: Array) -> Array:
    """Ravel a transposed view as it lies."""
    lies = np.all(np.asarray(x.strides) > 0) and not x.flags.c_contiguous
    return rope(x.ravel(order="K").reshape(x.shape) if lies else x, positions)


@wrong(
    "three multiplications",
    "Sums of members are multiplied, which overflow where the members do not.",
    "ROT-10.identity",
)
def three_products(x: Array, positions: Array) -> Array:
    """Multiply (a + b) by (c + s), and subtract both products of the first member."""
    cos, sin = (part[..., None, :].astype(np.float32) for part in table(positions, x.shape[-1]))
    a, b = np.split(x.astype(np.float32), 2, axis=-1)
    with np.errstate(all="ignore"):
        first, second = cos * a, sin * b
        both = (cos + sin) * (a + b) - first - second
        return np.concatenate([first - second, both], axis=-1).astype(x.dtype)


@wrong(
    "",
    "Positions that go down one by one are taken to go up.",
    "ROT-7.value",
    negative_positions=False,
)
def counts_down_as_up(x: Array, positions: Array) -> Array:
    """Know a run by its ends."""
    first, last = positions[..., :1], positions[..., -1:]
    run = first + np.arange(positions.shape[-1]) if positions.shape[-1] else positions
    return rope(x, np.where(first - last == positions.shape[-1] - 1, run, positions))


@wrong("", "A vector is brought back to its length by its square, which overflows.", "ROT-7.value")
def renormalised_by_squares(x: Array, positions: Array) -> Array:
    """Undo what rounding did to the length."""
    y = turn(x, positions)
    with np.errstate(over="ignore", invalid="ignore"):
        before, after = (np.sqrt((one * one).sum(-1, keepdims=True)) for one in (x, y))
        return np.where(after > 0, y * (before / np.where(after > 0, after, 1)), y).astype(x.dtype)


@wrong("", "What does not rotate is multiplied by 1 and its partner by 0.", "ROT-14.tail", **PART)
def infinity_meets_zero(x: Array, positions: Array) -> Array:
    """Make tables as wide as the head, with cosine 1 and sine 0 in the tail."""
    part, partner = x[..., :8], np.roll(x, 1, axis=-1)[..., 8:]
    with np.errstate(invalid="ignore"):
        tail = x[..., 8:] * np.float32(1) + partner * np.float32(0)
    return np.concatenate([rope(part, positions), tail], axis=-1)


@wrong(
    "", "Tables that are made anew for another dtype keep the old base.", "ROT-19.walk", **DTYPES
)
class TablesOfTheOldBase:
    """A cache that looks at one thing at a time."""

    def __init__(self) -> None:
        self.dtype: Any = None
        self.base = 10000.0

    def apply_rotary(self, x: Array, positions: Array, base: float = 10000.0) -> Array:
        """Rotate by the base that is known, which is looked at where the dtype is as it was."""
        if x.dtype == self.dtype or self.dtype is None:
            self.base = base
        self.dtype = x.dtype
        cos, sin = table(positions, x.shape[-1], self.base)
        return half(x, cos, sin)


@wrong("", "One query attends to all keys, whatever the mask.", "ATT-2.value", offers="attention")
def mask_of_one_query_dropped(q: Array, k: Array, v: Array, **given: Any) -> tuple[Array, Array]:  # noqa: ANN401  # keywords of the API
    """Decode without a mask, as if all keys were earlier ones."""
    if q.shape[1] == 1 and k.shape[1] > 1:
        given["mask"] = None
    return attend(q, scores(q, k, **given), v, given)


@wrong("", "Keys from 32 on are never masked.", "ATT-2.value", offers="attention")
def mask_beyond_32_keys_dropped(q: Array, k: Array, v: Array, **given: Any) -> tuple[Array, Array]:  # noqa: ANN401  # keywords of the API
    """Keep the mask of a query in one word."""
    if given.get("mask") is not None:
        seen = np.arange(k.shape[1]) >= BITS
        given["mask"] = given["mask"] | seen
    return attend(q, scores(q, k, **given), v, given)


@wrong(
    "largest score of other queries",
    "The largest score of all queries of a head is taken off before the exponential.",
    "ATT-1.plain",
    offers="attention",
)
def one_maximum_for_all_queries(
    q: Array, k: Array, v: Array, **given: object
) -> tuple[Array, Array]:
    """Let what lies far below the largest score of a head underflow."""
    s = scores(q, k, **given)
    s = np.where(allowed(given, s.shape), s, -np.inf)
    top = s.max(axis=(-2, -1), keepdims=True, initial=-1e300)
    powers = np.exp((s - top).astype(q.dtype if q.dtype == np.float64 else np.float32))
    total = powers.sum(axis=-1, keepdims=True)
    return mixed(q, powers / np.where(total > 0, total, 1.0), v)


@wrong(
    "", "The mask is cleared when it is no longer needed.", "ROT-17.arguments", offers="attention"
)
def clears_the_mask(q: Array, k: Array, v: Array, **given: Any) -> tuple[Array, Array]:  # noqa: ANN401  # keywords of the API
    """Tidy up what is the caller's."""
    found = attend(q, scores(q, k, **given), v, given)
    if given.get("mask") is not None:
        given["mask"][...] = False
    return found


@wrong("", "Positions are left sorted.", "ROT-17.arguments", offers="cos_sin")
def sorts_the_positions(positions: Array, dim: int, base: float = 10000.0) -> tuple[Array, Array]:
    """Leave the argument in another order."""
    found = table(positions, dim, base)
    positions[...] = -np.sort(-positions)
    return found
