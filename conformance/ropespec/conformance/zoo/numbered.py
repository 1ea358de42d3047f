"""Rotations of other orders, as their profile claims: of numbers, of components, of results."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import right, wrong
from ropespec.conformance.zoo.parts import half, inv_freq, rope

__all__ = [
    "AsLongAsItsRows",
    "TablesOfTheSameTime",
    "axial_sections",
    "blocks_side_by_side",
    "components_for_sections",
    "doubled_sections",
    "exponent_begun_anew",
    "exponent_that_runs_on",
    "first_components",
    "frequencies_of_text_alone",
    "last_components",
    "mixed_rates",
    "numbers_exchanged",
    "pairs_come_out_apart",
    "pairs_stay_together",
    "rates_exchanged",
    "rates_of_rows_alone",
    "sections_in_turn",
    "sections_of_another_model",
    "sections_of_images",
    "sections_that_go_on",
    "text_by_two_numbers",
    "turn_for_sections",
]

Array = NDArray[Any]
FLOAT32 = {"float32": "float32-angles"}
IMAGES: dict[str, Any] = {"sections": (2, 3, 3)}
IN_TURN: dict[str, Any] = {"sections": (4, 2, 2), "sections_in_turn": True}
AXIAL: dict[str, Any] = {"sections": (2, 3, 3), "axial": True}
LAST: dict[str, Any] = {"rotary_dim": 8, "trailing": True}
APART: dict[str, Any] = {"interleaved": True, "pairs_apart": True}
CAUGHT = ("ROT-7.value", "JDG-3.precision")


def _rotated(x: Array, positions: Array, *followed: int, theta: Array | None = None) -> Array:
    """Take the angle of each pair from the row of positions that it follows."""
    number = positions[list(followed)].astype(np.float32)
    angle = np.moveaxis(number, 0, -1) * (inv_freq(x.shape[-1]) if theta is None else theta)
    return half(x, np.cos(angle), np.sin(angle))


RATES = (
    (0.5, -0.25, 0.3, 0.02, 0.4, 0.007, -0.1, 0.0),
    (0.1, 0.45, -0.3, 0.3, 0.02, -0.06, 0.2, 0.35),
)
MIXED: dict[str, Any] = {"frequencies": RATES}


def _mixed(x: Array, positions: Array, rates: Array) -> Array:
    number = np.moveaxis(positions, 0, -1).astype(np.float32)
    angle = number @ rates.astype(np.float32)
    return half(x, np.cos(angle), np.sin(angle))


BLOCKS = (0, 0, 1, 1, 1, 2, 2, 2)


def _anew(*pairs: int) -> Array:
    return np.concatenate([inv_freq(2 * one) for one in pairs])


@right("Time, height and width have consecutive pairs.", FLOAT32, **IMAGES)
def sections_of_images(x: Array, positions: Array) -> Array:
    """Rotate as Qwen2-VL does."""
    return _rotated(x, positions, 0, 0, 1, 1, 1, 2, 2, 2)


@wrong("C1", "Tables are kept as long as time stays the same.", "ROT-19.likeness", **IMAGES)
class TablesOfTheSameTime:
    """All layers of a step ask for the same tables, which are known by their times."""

    def __init__(self) -> None:
        self.kept: tuple[int, Array] = (0, np.zeros((3, 0, 0), np.int64))

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Rotate by the positions that came first with these times."""
        width, kept = self.kept
        if width != x.shape[-1] or not np.array_equal(kept[0], positions[0]):
            self.kept = (x.shape[-1], positions.copy())
        return np.asarray(sections_of_images(x, self.kept[1]))


@right("Time, height and width have pairs in turn.", FLOAT32, **IN_TURN)
def sections_in_turn(x: Array, positions: Array) -> Array:
    """Rotate as Qwen3-VL does."""
    return _rotated(x, positions, 0, 1, 2, 0, 1, 2, 0, 0)


@right("A rotation of each number, side by side.", FLOAT32, **AXIAL)
def axial_sections(x: Array, positions: Array) -> Array:
    """Rotate as vision does, halves those of all blocks together."""
    return _rotated(x, positions, *BLOCKS, theta=_anew(2, 3, 3))


@wrong("exponent that runs on", "The blocks have the frequencies of the whole.", *CAUGHT, **AXIAL)
def exponent_that_runs_on(x: Array, positions: Array) -> Array:
    """Rotate as Qwen2-VL does."""
    return _rotated(x, positions, *BLOCKS)


@wrong("exponent begun anew", "Each section has frequencies of its own.", *CAUGHT, **IMAGES)
def exponent_begun_anew(x: Array, positions: Array) -> Array:
    """Rotate by blocks."""
    return _rotated(x, positions, *BLOCKS, theta=_anew(2, 3, 3))


@wrong("halves of each block", "The halves are those of each block.", *CAUGHT, **AXIAL)
def blocks_side_by_side(x: Array, positions: Array) -> Array:
    """Rotate each block of components by itself."""
    parts = np.split(x, [4, 10], axis=-1)
    turned = [
        _rotated(one, positions, *(axis,) * (one.shape[-1] // 2)) for axis, one in enumerate(parts)
    ]
    return np.concatenate(turned, axis=-1)


@right("Pairs follow rows and columns at rates of their own.", FLOAT32, **MIXED)
def mixed_rates(x: Array, positions: Array) -> Array:
    """Rotate as one head of RoPE-Mixed does."""
    return _mixed(x, positions, np.array(RATES))


@wrong("one position number", "Columns are not looked at.", *CAUGHT, **MIXED)
def rates_of_rows_alone(x: Array, positions: Array) -> Array:
    """Rotate by the first number."""
    return _mixed(x, positions[:1], np.array(RATES[:1]))


@wrong("position numbers exchanged", "Columns come before rows.", *CAUGHT, **MIXED)
def rates_exchanged(x: Array, positions: Array) -> Array:
    """Take x for y."""
    return _mixed(x, positions, np.array(RATES[::-1]))


@wrong("one position number", "Height and width are not looked at.", *CAUGHT, **IMAGES)
def frequencies_of_text_alone(x: Array, positions: Array) -> Array:
    """Rotate by the first number."""
    return _rotated(x, positions, 0, 0, 0, 0, 0, 0, 0, 0)


@wrong(
    "position number left out",
    "Where time and height are equal throughout, width is not looked at.",
    "AXES-1.alike",
    **IMAGES,
)
def text_by_two_numbers(x: Array, positions: Array) -> Array:
    """Take the short way of text."""
    text = (positions[0] == positions[1]).all()
    return _rotated(x, positions, *((0,) * 8 if text else (0, 0, 1, 1, 1, 2, 2, 2)))


@wrong("position numbers exchanged", "Width comes before height.", *CAUGHT, **IMAGES)
def numbers_exchanged(x: Array, positions: Array) -> Array:
    """Take time, width, height."""
    return _rotated(x, positions, 0, 0, 2, 2, 2, 1, 1, 1)


@wrong("sections of components", "Sections of half as many pairs.", *CAUGHT, **IMAGES)
def components_for_sections(x: Array, positions: Array) -> Array:
    """Give what is left to the last number."""
    return _rotated(x, positions, 0, 1, 2, 2, 2, 2, 2, 2)


@wrong("sections of components", "A doubled table is cut by doubled sections.", *CAUGHT, **IMAGES)
def doubled_sections(x: Array, positions: Array) -> Array:
    """Multiply the sections by two where the list of them is to be repeated."""
    return _by_components(x, positions, *(0,) * 4, *(1,) * 6, *(2,) * 6)


@wrong("other sections", "Of a doubled table the second half goes on in turn.", *CAUGHT, **IMAGES)
def sections_that_go_on(x: Array, positions: Array) -> Array:
    """Choose 0, 1, 2 and then 1, 2, 0 where the list of sections is to be repeated."""
    return _by_components(x, positions, *(0, 0, 1, 1, 1, 2, 2, 2), *(1, 1, 2, 2, 2, 0, 0, 0))


def _by_components(x: Array, positions: Array, *numbers: int) -> Array:
    """Turn components by the number that each of them follows."""
    theta = np.tile(inv_freq(x.shape[-1]), 2)
    angle = (np.moveaxis(positions[list(numbers)], 0, -1).astype(np.float32) * theta)[:, :, None]
    a, b = np.split(x, 2, axis=-1)
    y = x * np.cos(angle) + np.concatenate([-b, a], axis=-1) * np.sin(angle)
    return np.asarray(y.astype(x.dtype))


@wrong("sections arranged otherwise", "Pairs in turn are consecutive ones.", *CAUGHT, **IN_TURN)
def turn_for_sections(x: Array, positions: Array) -> Array:
    """Take Qwen3-VL for Qwen2-VL."""
    return _rotated(x, positions, 0, 0, 0, 0, 1, 1, 2, 2)


@wrong("other sections", "The sections are those of another model.", *CAUGHT, **IMAGES)
def sections_of_another_model(x: Array, positions: Array) -> Array:
    """Take 4, 2 and 2."""
    return _rotated(x, positions, 0, 0, 0, 0, 1, 1, 2, 2)


@right("The last components rotate, after those that have no position.", FLOAT32, **LAST)
def last_components(x: Array, positions: Array) -> Array:
    """Lay out a head as DeepSeek does."""
    return np.concatenate([x[..., :-8], rope(x[..., -8:], positions)], axis=-1)


@wrong("R9", "The first components rotate, and the last are claimed.", "ROT-7.value", **LAST)
def first_components(x: Array, positions: Array) -> Array:
    """Rotate the other end."""
    return np.concatenate([rope(x[..., :8], positions), x[..., 8:]], axis=-1)


@right("Interleaved pairs come out as half-split ones.", FLOAT32, **APART)
def pairs_come_out_apart(x: Array, positions: Array) -> Array:
    """Put members together first, as transformers does for DeepSeek."""
    return rope(np.concatenate([x[..., ::2], x[..., 1::2]], axis=-1), positions)


@wrong("", "Interleaved pairs come out as they went in.", "ROT-10.identity", **APART)
def pairs_stay_together(x: Array, positions: Array) -> Array:
    """Rotate in place."""
    return rope(x, positions, pairs=True)


@wrong(
    "table as long as one number",
    "A table grows for rows alone, and columns beyond it have its last row.",
    "ROT-19.grown",
    negative_positions=False,
    max_position=1023,
    **AXIAL,
)
class AsLongAsItsRows:
    """One table for all numbers of a token."""

    def __init__(self) -> None:
        self.rows = 32

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Ask the first number how long the table must be."""
        need = int(positions[0].max(initial=0)) + 1
        if need > self.rows:
            self.rows = max(need, 2 * self.rows)
        theta = np.concatenate([inv_freq(2 * n) for n in (2, 3, 3)])
        return _rotated(
            x, np.minimum(positions, self.rows - 1), *(0,) * 2, *(1,) * 3, *(2,) * 3, theta=theta
        )
