"""What is kept from call to call in generation: states, traces, tables that are written to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import half, inv_freq, rope, table
from ropespec.spec.scaling import Yarn

__all__ = [
    "BaseTakenOut",
    "CachedFromItsOffset",
    "DigitsOfTheFirstCall",
    "GainOnceMore",
    "GrownForTheStart",
    "LongerForTheNextCall",
    "NextByTheFirstRow",
    "RowsOfTheCallThatAddsThem",
    "StateOfTheFirstToken",
    "TableOfAnEarlierTrace",
    "TurnedFromStepToStep",
]

Array = NDArray[Any]


@wrong(
    "stale positions",
    "A token that goes on where the call before ended is one further than the first token of that.",
    "ROT-19.generation",
)
class StateOfTheFirstToken:
    """Generation that keeps the angle of a prompt's first token, and adds one step to it."""

    def __init__(self) -> None:
        self.kept: dict[int, tuple[Array, Array]] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Go on from what is kept for this head_dim, if the position says so."""
        ends, first = self.kept.get(x.shape[-1], (np.zeros((0, 1)), positions))
        place = first + 1 if np.array_equal(positions, ends) else positions
        self.kept[x.shape[-1]] = positions[:, -1:] + 1, place[:, :1]
        return rope(x, place)


@wrong(
    "table of an earlier trace",
    "What was traced for a shape holds the table of that time, and clamps to it.",
    "ROT-19.grown",
)
class TableOfAnEarlierTrace:
    """A table that grows, and a program for each shape that has it as a constant."""

    def __init__(self) -> None:
        self.rows = 128
        self.traced: dict[Any, int] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Look up in the table that the first call of this shape had."""
        need = int(np.abs(positions).max(initial=0)) + 1
        while self.rows < need:
            self.rows *= 2
        rows = self.traced.setdefault((x.shape, x.dtype), self.rows)
        return rope(x, np.minimum(positions, rows - 1))


@wrong(
    "multiplied again",
    "The attention factor of YaRN is multiplied into what is kept of a table, at every call.",
    "FREQ-2.read-off",
    scaling={"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096},
)
class GainOnceMore:
    """A cache that hands out its own arrays."""

    def __init__(self) -> None:
        self.kept: dict[Any, tuple[Array, Array]] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Write the factor where the table lies."""
        scheme, dim = Yarn(16.0, 4096), x.shape[-1]
        key = dim, positions.shape, positions.tobytes()
        if key not in self.kept:
            angle = positions[..., None] * np.array(scheme.theta(10000.0, dim), dtype=np.float64)
            self.kept[key] = np.cos(angle), np.sin(angle)
        for part in self.kept[key]:
            np.multiply(part, float(scheme.gain), out=part)
        return half(x, *self.kept[key])


@wrong(
    "slice moved back",
    "A table is doubled while a run would begin behind it, and the run may end behind it.",
    "ROT-19.grown",
    negative_positions=False,
)
class GrownForTheStart:
    """One table for each head_dim, of which each run of a row is a slice."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Slice as `dynamic_slice` does, which moves the start back."""
        d = x.shape[-1]
        ends = np.ones(positions.shape, dtype=bool)
        ends[:, :-1] = np.diff(positions) != 1
        runs = np.split(positions.ravel(), np.flatnonzero(ends)[:-1] + 1)
        found = [self.slice(d, run) for run in runs]
        return rope(x, np.concatenate(found).reshape(positions.shape))

    def slice(self, d: int, run: Array) -> Array:
        """Return which rows of the table are taken."""
        rows, start = self.rows.get(d, 256), run.min(initial=2**17)
        while len(run) > rows or (run.size and start >= rows):
            rows *= 2
        self.rows[d] = rows
        return np.asarray(min(start, rows - len(run)) + np.arange(len(run)))


@wrong(
    "F1",
    "The base is taken out of a registry, and the next head_dim finds the default one.",
    "ROT-19.walk",
    base=500000.0,
)
class BaseTakenOut:
    """Options that are popped when frequencies are made."""

    def __init__(self) -> None:
        self.options = {"base": 500000.0}
        self.bases: dict[int, float] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Rotate by the base that was found for this head_dim."""
        d = x.shape[-1]
        if d not in self.bases:
            self.bases[d] = self.options.pop("base", 10000.0)
        return rope(x, positions, base=self.bases[d])


@wrong(
    "changed by earlier calls",
    "A step of generation turns what the step before has left, in the dtype of x.",
    "ROT-19.generation",
    dtypes=("bfloat16",),
    negative_positions=False,
)
class TurnedFromStepToStep:
    """Cosines and sines of the last token, for the one that goes on from it."""

    def __init__(self) -> None:
        self.last: dict[tuple[int, ...], tuple[Array, Array]] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Add one step to the last angle, or begin anew."""
        key, one = (x.shape[-1], *positions.shape), inv_freq(x.shape[-1])
        ends, phase = self.last.get(key, (positions, np.zeros(0)))
        if positions.shape[1] != 1 or not np.array_equal(positions, ends + 1):
            phase = np.exp(1j * positions[..., None] * one)
        else:
            phase = phase * np.exp(1j * one)
        parts = phase.real.astype(x.dtype), phase.imag.astype(x.dtype)
        cos, sin = (np.asarray(part, dtype=np.float32) for part in parts)
        self.last[key] = positions.copy(), cos + 1j * sin
        return half(x, cos, sin)


@wrong(
    "stale dtype",
    "Rows that are added to a table have the dtype of the call that needs them.",
    "ROT-19.dtypes",
    dtypes=("float32", "bfloat16"),
)
class RowsOfTheCallThatAddsThem:
    """One table for each head_dim, of 256 rows at first, and doubled."""

    def __init__(self) -> None:
        self.tables: dict[int, tuple[Array, Array]] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Add what is missing, and look up sizes."""
        d, far = x.shape[-1], np.abs(positions)
        if d not in self.tables:
            self.tables[d] = table(np.arange(256), d)
        cos, sin = self.tables[d]
        rows = more = len(cos)
        while more <= far.max(initial=0):
            more *= 2
        added = (part.astype(x.dtype) for part in table(np.arange(rows, more), d))
        cos, sin = (
            np.concatenate([kept, new.astype(np.float32)])
            for kept, new in zip((cos, sin), added, strict=True)
        )
        self.tables[d] = cos, sin
        return half(x, cos[far], sin[far] * np.sign(positions)[..., None])


@wrong(
    "bits of the first call",
    "Squares of the first rotation are kept for as many digits as the first call has.",
    "ROT-19.walk",
)
class DigitsOfTheFirstCall:
    """R_m by the binary digits of m."""

    def __init__(self) -> None:
        self.digits: dict[int, int] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Lose the digits above."""
        farthest = int(np.abs(positions).max(initial=1))
        digits = self.digits.setdefault(x.shape[-1], farthest.bit_length())
        near = np.sign(positions) * (np.abs(positions) % 2**digits)
        return half(x, *table(near, x.shape[-1]))


@wrong(
    "table grown a call late",
    "A call beyond the table asks for a longer one, and is served by the one there is.",
    "ROT-7.value",
    max_position=16383,
)
class LongerForTheNextCall:
    """A table that is made longer in the background."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Take the last row for what is beyond it."""
        d, need = x.shape[-1], int(np.abs(positions).max(initial=0)) + 1
        rows = self.rows.get(d, 2048)
        self.rows[d] = max(rows, 1 << (need - 1).bit_length())
        return half(x, *table(np.clip(positions, 1 - rows, rows - 1), d))


@wrong(
    "moved by earlier calls",
    "What is kept of a run that began later is read as if it began at 0.",
    "ROT-7.value",
)
class CachedFromItsOffset:
    """The angles of the last run that was longer than what is kept."""

    def __init__(self) -> None:
        self.start, self.rows = 0, 0

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Look a run up, or make and keep it."""
        run = positions[:1, :1] + np.arange(positions.shape[1])
        if not positions.size or (positions != run).any() or positions.min() < 0:
            return rope(x, positions)
        if positions.max() < self.rows:
            return rope(x, positions + self.start)
        self.start, self.rows = int(positions[0, 0]), positions.shape[1]
        return rope(x, positions)


@wrong(
    "moved by earlier calls",
    "Whether all rows go on by one is asked of the first.",
    "ROT-19.generation",
)
class NextByTheFirstRow:
    """The positions of the last call of one token, and of the ends of prompts."""

    def __init__(self) -> None:
        self.last = np.zeros((0, 1), dtype=np.int64)

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Take a step for all rows where the first takes one."""
        last, place = self.last, positions
        if positions.shape == last.shape and last.size and positions[0, 0] == last[0, 0] + 1:
            place = last + 1
        self.last = place[:, -1:]
        return rope(x, place)
