"""What is kept between calls, and what it does to the later ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import half, rope, table

__all__ = [
    "AdvancesOffset",
    "BaseGrows",
    "BatchOfTheFirstCall",
    "EveryFifthCall",
    "LengthOfTheFirstCall",
    "TablesOfTheFirstDtype",
    "TailOfTheFirstCall",
    "TurnedAgain",
    "WidthOfTheFirstCall",
]

Array = NDArray[Any]


@wrong("P9", "What has been rotated is kept, and rotated again when it is read.", "ROT-19.history")
class TurnedAgain:
    """Keys that are cached rotated, and rotated with the whole cache at each step."""

    def __init__(self) -> None:
        self.kept: dict[bytes, Array] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Turn x, or what became of it last time."""
        name = x.tobytes() + positions.tobytes()
        self.kept = {name: rope(self.kept.get(name, x), positions)}
        return self.kept[name].copy()


@wrong("P2", "After one token the offset counts on by itself.", "ROT-19.tokens")
class AdvancesOffset:
    """Decoding adds the length of the last sequence once too often."""

    def __init__(self) -> None:
        self.prompt = 0

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Remember the length of a sequence, and add it to single tokens."""
        if x.shape[1] != 1:
            self.prompt = x.shape[1] - 1
            return rope(x, positions)
        return rope(x, positions + max(self.prompt, 0))


@wrong("K2", "A position beyond 2048 raises the base for all later calls.", "ROT-7.value")
class BaseGrows:
    """Frequencies that are made for a long sequence and never put back."""

    def __init__(self) -> None:
        self.base = 10000.0

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Rotate, and remember the largest position."""
        y = rope(x, positions, base=self.base)
        most = int(np.abs(positions).max(initial=0))
        self.base = max(self.base, 10000.0 * max(most // 2048, 1))
        return y


@wrong(
    "C4",
    "Tables that were made for float16 serve float32 until they have to be longer.",
    "ROT-7.value",
    dtypes=("float32", "float16"),
    negative_positions=False,
    max_position=16383,
)
class TablesOfTheFirstDtype:
    """One table for each width, made anew when it is too short."""

    def __init__(self) -> None:
        self.tables: dict[int, tuple[Array, Array]] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Make a table in the dtype of x, as long as the call needs."""
        d, needed = x.shape[-1], int(positions.max(initial=0)) + 1
        if d not in self.tables or len(self.tables[d][0]) < needed:
            cos, sin = table(np.arange(needed), d)
            self.tables[d] = cos.astype(x.dtype), sin.astype(x.dtype)
        return half(x, *(part[positions].astype(np.float32) for part in self.tables[d]))


@wrong(
    "E3",
    "The length of the first call is baked in: later tokens are not rotated.",
    "ROT-9.rows",
    "ROT-19.walk",
)
class LengthOfTheFirstCall:
    """A traced function whose loop ends where the first sequence ended."""

    def __init__(self) -> None:
        self.length = 0

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Turn as many tokens as the first call had."""
        self.length = self.length or x.shape[1]
        y = rope(x, positions)
        y[:, self.length :] = x[:, self.length :]
        return y


@wrong(
    "shape of the first call",
    "The batch of the first call is baked in: later rows are not rotated.",
    "ROT-19.rows",
)
class BatchOfTheFirstCall:
    """A traced function whose loop ends where the first batch ended."""

    def __init__(self) -> None:
        self.rows = 0

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Turn as many rows as the first call had."""
        self.rows = self.rows or x.shape[0]
        y = rope(x, positions)
        y[self.rows :] = x[self.rows :]
        return y


@wrong(
    "frequencies of the first width",
    "The frequencies of the first width are used for narrower ones.",
    "FREQ-2.read-off",
)
class WidthOfTheFirstCall:
    """A table that is cut to the width it is asked for."""

    def __init__(self) -> None:
        self.theta = np.zeros(0)

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Cut the widest table seen."""
        d = x.shape[-1]
        if d // 2 > len(self.theta):
            self.theta = 10000.0 ** (-np.arange(0, d, 2) / d)
        angle = positions.astype(np.float64)[..., None] * self.theta[: d // 2]
        return half(x, np.cos(angle), np.sin(angle))


@wrong("", "Every fifth call is rotated one position further.", "ROT-19.history")
class EveryFifthCall:
    """A buffer that is reused too early."""

    def __init__(self) -> None:
        self.calls = 0

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Count calls."""
        self.calls += 1
        return rope(x, positions + (self.calls % 5 == 0))


@wrong(
    "tail of another call",
    "What passes by is copied when a buffer is made, and not again.",
    "ROT-14.tail",
    rotary_dim=8,
    head_dims=(16, 24),
)
class TailOfTheFirstCall:
    """A buffer for each shape."""

    def __init__(self) -> None:
        self.buffers: dict[object, Array] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Write what rotates, and nothing else."""
        y = self.buffers.setdefault((x.shape, x.dtype), x.copy())
        y[..., :8] = rope(x[..., :8], positions)
        return y.copy()
