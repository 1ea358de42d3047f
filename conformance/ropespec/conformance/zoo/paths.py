"""Special paths: one shape, row, head, token, dtype or width is done otherwise than the rest."""

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import rope

__all__ = [
    "bfloat16_by_another_base",
    "bfloat16_pairs_neighbours",
    "doubled_at_one_token",
    "float16_angles_for_float16",
    "last_token_unturned",
    "one_head_unturned",
    "one_row_unturned",
    "other_base_at_one_token",
    "pairs_neighbours_at_one_token",
    "second_head_by_its_index",
    "second_row_by_the_first",
    "tile_of_16_tokens",
    "unturned_beyond_the_grid",
    "unturned_rows_beyond_the_grid",
    "width_80_by_powers_of_two",
    "wrong_when_seq_is_heads",
]

Array = NDArray[Any]
BF16 = ml_dtypes.bfloat16
GRID = 65535


@wrong("A3", "With one head x comes back unrotated.", "ROT-7.value")
def one_head_unturned(x: Array, positions: Array) -> Array:
    """Skip the kernel for a single head."""
    return x.copy() if x.shape[2] == 1 else rope(x, positions)


@wrong("A3", "With one row x comes back unrotated.", "ROT-19.rows")
def one_row_unturned(x: Array, positions: Array) -> Array:
    """Skip the kernel for a single row."""
    return x.copy() if x.shape[0] == 1 else rope(x, positions)


@wrong("", "The last token of a sequence is not rotated.", "ROT-19.tokens", "ROT-9.rows")
def last_token_unturned(x: Array, positions: Array) -> Array:
    """Loop one too short."""
    y = rope(x, positions)
    y[:, 1:][:, -1:] = x[:, 1:][:, -1:]
    return y


@wrong(
    "rotated by the position of another",
    "Row 1 of the batch is rotated by the positions of row 0, the others by their own.",
    "ROT-19.rows",
)
def second_row_by_the_first(x: Array, positions: Array) -> Array:
    """Index one row wrongly."""
    where = positions.copy()
    where[1:2] = positions[:1] if len(positions) > 1 else where[1:2]
    return rope(x, where)


@wrong(
    "heads rotated differently",
    "Heads from the second on are rotated one position further each.",
    "ROT-19.heads",
)
def second_head_by_its_index(x: Array, positions: Array) -> Array:
    """Add the head to the position."""
    heads = [rope(x[:, :, h : h + 1], positions + h) for h in range(x.shape[2])]
    return np.concatenate(heads, axis=2) if heads else x.copy()


@wrong(
    "",
    "Tokens beyond a tile of 16 are rotated by the positions of the first tile.",
    "ROT-19.tokens",
)
def tile_of_16_tokens(x: Array, positions: Array) -> Array:
    """Forget the offset of the second tile."""
    where = positions.copy()
    where[:, 16:] = positions[:, : max(positions.shape[1] - 16, 0)][:, : where[:, 16:].shape[1]]
    return rope(x, where)


@wrong("O3", "Tokens beyond 65535 are not rotated.", "ROT-19.many")
def unturned_beyond_the_grid(x: Array, positions: Array) -> Array:
    """Put the sequence on an axis of the grid that ends."""
    y = rope(x, positions)
    y[:, GRID:] = x[:, GRID:]
    return y


@wrong("O3", "Rows beyond 65535 are not rotated.", "ROT-19.many")
def unturned_rows_beyond_the_grid(x: Array, positions: Array) -> Array:
    """Put the batch on an axis of the grid that ends."""
    y = rope(x, positions)
    y[GRID:] = x[GRID:]
    return y


@wrong(
    "",
    "A sequence as long as there are heads is taken with its axes swapped.",
    "ROT-19.heads",
    "ROT-19.tokens",
)
def wrong_when_seq_is_heads(x: Array, positions: Array) -> Array:
    """Guess the order of the axes from their sizes."""
    if x.shape[1] == x.shape[2] > 1:
        return rope(x.transpose(0, 2, 1, 3), positions).transpose(0, 2, 1, 3)
    return rope(x, positions)


@wrong("L6", "With one token the other pairs are rotated.", "ROT-19.tokens", "ROT-7.pairing")
def pairs_neighbours_at_one_token(x: Array, positions: Array) -> Array:
    """Decode with the kernel of another layout."""
    return rope(x, positions, pairs=x.shape[1] == 1)


@wrong(
    "L6",
    "In bfloat16 the other pairs are rotated.",
    "ROT-7.pairing",
    dtypes=("float32", "bfloat16"),
)
def bfloat16_pairs_neighbours(x: Array, positions: Array) -> Array:
    """Dispatch to the kernel of another layout."""
    return rope(x, positions, pairs=x.dtype == BF16)


@wrong("K12", "With one token another base is used.", "ROT-19.tokens")
def other_base_at_one_token(x: Array, positions: Array) -> Array:
    """Decode with the table of another model."""
    return rope(x, positions, base=500000.0 if x.shape[1] == 1 else 10000.0)


@wrong("M6", "With one token the table is advanced by the position twice.", "ROT-19.tokens")
def doubled_at_one_token(x: Array, positions: Array) -> Array:
    """Slice the table in the caller and in the kernel."""
    return rope(x, 2 * positions if x.shape[1] == 1 else positions)


@wrong(
    "F1",
    "In bfloat16 another base is used.",
    "FREQ-2.read-off",
    dtypes=("float32", "bfloat16"),
)
def bfloat16_by_another_base(x: Array, positions: Array) -> Array:
    """Dispatch to the table of another model."""
    return rope(x, positions, base=500000.0 if x.dtype == BF16 else 10000.0)


@wrong(
    "D2",
    "For float16 x positions are float16.",
    "FREQ-6.neighbours",
    "REL-1.shift",
    dtypes=("float32", "float16"),
)
def float16_angles_for_float16(x: Array, positions: Array) -> Array:
    """Build positions in the dtype of x."""
    near = np.clip(positions, -60000, 60000)
    return rope(x, near.astype(x.dtype).astype(np.int64) if x.dtype == np.float16 else positions)


@wrong(
    "", "A width that is no power of two takes the frequencies of the next one.", "FREQ-2.read-off"
)
def width_80_by_powers_of_two(x: Array, positions: Array) -> Array:
    """Pad with zeros, rotate and cut."""
    d = x.shape[-1]
    wide = 1 << (d - 1).bit_length()
    padded = np.zeros((*x.shape[:-1], wide), x.dtype)
    n, m = d // 2, wide // 2
    padded[..., :n], padded[..., m : m + n] = x[..., :n], x[..., n:]
    y = rope(padded, positions)
    return np.concatenate([y[..., :n], y[..., m : m + n]], axis=-1)
