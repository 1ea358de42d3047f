"""Keywords and refusals: what is taken and not obeyed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import half, rope, table
from ropespec.conformance.zoo.parts import interleaved as woven

__all__ = [
    "LayoutOfTheFirstShape",
    "accepts_anything",
    "base_flag_ignored",
    "layout_flag_ignored",
    "layout_flag_ignored_at_one_token",
    "rotary_dim_flag_ignored",
]

Array = NDArray[Any]
BOTH = (True, False)


@wrong("L6", "The flag for the layout is taken and not obeyed.", "ROT-5.layouts", layouts=BOTH)
def layout_flag_ignored(x: Array, positions: Array, *, interleaved: bool) -> Array:
    """Rotate halves, always."""
    del interleaved
    return rope(x, positions)


@wrong(
    "L6",
    "The fast path of one token drops the flag for the layout.",
    "ROT-5.layouts",
    "ROT-19.tokens",
    layouts=BOTH,
)
def layout_flag_ignored_at_one_token(x: Array, positions: Array, *, interleaved: bool) -> Array:
    """Rotate halves when decoding."""
    return rope(x, positions, pairs=interleaved and x.shape[1] > 1)


@wrong(
    "pairs of another call",
    "What is compiled for a shape in one layout serves the other.",
    "ROT-19.walk",
    layouts=BOTH,
)
class LayoutOfTheFirstShape:
    """Programs by shape and dtype; the layout is told and not compared."""

    def __init__(self) -> None:
        self.programs: dict[object, bool] = {}

    def apply_rotary(self, x: Array, positions: Array, *, interleaved: bool) -> Array:
        """Take the program that is there."""
        return rope(x, positions, pairs=self.programs.setdefault((x.shape, x.dtype), interleaved))


@wrong("R2", "The keyword rotary_dim is taken and not obeyed.", "ROT-14.tail")
def rotary_dim_flag_ignored(x: Array, positions: Array, *, rotary_dim: int | None = None) -> Array:
    """Turn the whole head."""
    del rotary_dim
    return rope(x, positions)


@wrong("F1", "The keyword base is taken and not obeyed.", "FREQ-2.read-off")
def base_flag_ignored(x: Array, positions: Array, *, base: float = 10000.0) -> Array:
    """Rotate with base 10000."""
    del base
    return rope(x, positions)


@wrong(
    "",
    "Bad arguments are not refused.",
    "ROT-21.refused",
    layouts=BOTH,
    refusals=True,
    precision="float64-angles",
)
def accepts_anything(
    x: Array,
    positions: Array,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Array:
    """Rotate whatever comes."""
    dim = x.shape[-1] if rotary_dim is None else rotary_dim
    tables = table(np.asarray(positions), dim, base)
    turned = (woven if interleaved else half)(x[..., :dim], *tables)
    return np.concatenate([turned, x[..., dim:]], axis=-1)
