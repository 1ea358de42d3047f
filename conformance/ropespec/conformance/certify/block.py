"""One block: call the subject, and hold every component against its bound."""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.certify.found import Element, Found, nearest
from ropespec.conformance.certify.plan import POSITIONS, Block, Setting
from ropespec.conformance.judge.precision import PRECISIONS
from ropespec.conformance.judge.rotation import from_pairs
from ropespec.conformance.judge.values import numpy_dtype
from ropespec.conformance.trial import Trial

__all__ = ["every_value", "inputs", "judged", "unit_inputs"]

SHIFTS = 4
"""Pairs in which each number of a 16-bit dtype is tried, at each of the chosen positions."""

AT_ONCE = 2**15
"""Components that are judged at once: as many as the caches hold in float64."""

Float = NDArray[np.floating]
Input = tuple[str, NDArray[np.floating]]


def judged(trial: Trial, block: Block) -> Found:
    """Call the subject with all inputs of a block, and judge what comes back.

    Parameters
    ----------
    trial : Trial
        The subject.
    block : Block
        What it is asked.

    Raises
    ------
    SubjectError
        If it gave no result.
    Unfit
        If the result is none of a rotation.
    """
    setting, digest, seen = block.setting, hashlib.sha256(), _Seen()
    for words, x in inputs(block):
        run = _run(block, x.shape[1])
        positions = setting.places(run)
        y = trial.rotate(setting.case(x.shape[1]), x, positions)
        digest.update(np.ascontiguousarray(y).tobytes())
        step = max(1, AT_ONCE // setting.head_dim)
        for start in range(0, x.shape[1], step):
            part = slice(start, start + step)
            case = setting.case(x[:, part].shape[1])
            exact = trial.expect(case, x[:, part], positions[:, part])
            ratio = exact.ratios(y[:, part], PRECISIONS[setting.precision], trial.machine)
            seen.note(words, run[0, part], y[0, part, 0], exact.y[0, :, 0], ratio[0, :, 0])
            if block.kind == POSITIONS:  # what other numbers are off by says nothing of a position
                error = np.abs(y[0, part, 0].astype(np.float64) - exact.y[0, :, 0])
                seen.note_decades(run[0, part], ratio[0, :, 0], error)
    shown = {name: getattr(seen, name) for name in seen.__slots__}
    return Found(number=block.number, digest=digest.hexdigest(), **shown)


@dataclass(slots=True)
class _Seen:
    """What the parts of a block showed so far; the attributes are those of `Found`."""

    elements: int = 0
    wrong: int = 0
    first: int | None = None
    worst: Element | None = None
    decades: dict[str, tuple[float, float]] = field(default_factory=dict)

    def note(
        self, words: str, positions: NDArray[np.int64], y: Float, exact: Float, ratio: Float
    ) -> None:
        """Count the components of some tokens, and keep the worst."""
        self.elements += ratio.size
        off = np.any(ratio > 1, axis=-1)
        if off.any():
            self.wrong += int(np.count_nonzero(ratio > 1))
            self.first = nearest(self.first, int(min(positions[off], key=abs)))
        token, component = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
        worst = float(ratio[token, component])
        if self.worst is None or worst > self.worst.ratio:
            got, expected = float(y[token, component]), float(exact[token, component])
            at = int(positions[token]), int(component)
            self.worst = Element(worst, abs(got - expected), *at, words, got, expected)

    def note_decades(self, positions: NDArray[np.int64], ratio: Float, error: Float) -> None:
        """Keep the largest ratio and error of the positions of each number of digits."""
        size = np.maximum(np.abs(positions), 1).astype(np.float64)
        digits = np.floor(np.log10(size)).astype(int) + 1
        for count in np.unique(digits):
            rows = digits == count
            before = self.decades.get(str(count), (0.0, 0.0))
            found = float(ratio[rows].max()), float(error[rows].max())
            self.decades[str(count)] = max(before[0], found[0]), max(before[1], found[1])


def inputs(block: Block) -> Iterator[Input]:
    """Yield what is rotated in a block, in words and as x of shape (1, S, 1, D)."""
    if block.kind == POSITIONS:
        yield from unit_inputs(block.setting, block.stop - block.start)
        return
    yield from every_value(block.setting)


def unit_inputs(setting: Setting, tokens: int) -> Iterator[Input]:
    """Yield x with 1 in the first member of every pair, and x with 1 in the second."""
    for first, second in ((1.0, 0.0), (0.0, 1.0)):
        shape = (1, tokens, 1, _dim(setting) // 2)
        x = _x(setting, np.full(shape, first), np.full(shape, second))
        yield f"pairs ({first:g}, {second:g})", x


def every_value(setting: Setting) -> Iterator[Input]:
    """Yield x in which every number of a 16-bit dtype is the member of some pair.

    Numbers above max / sqrt(2) are left out: their rotation need not be a number of the dtype.
    Each number comes alone, as either member, and beside another, in `SHIFTS` pairs.
    """
    values, pairs = _finite(setting.dtype), _dim(setting) // 2
    tokens = math.ceil(values.size / pairs)
    for shift in range(min(SHIFTS, pairs)):
        index = (np.arange(tokens * pairs) + shift * (pairs // SHIFTS or 1)) % values.size
        one = values[index].reshape(1, tokens, 1, pairs)
        other = values[::-1][index].reshape(one.shape)
        zero = np.zeros_like(one)
        yield "pairs (x, 0)", _x(setting, one, zero)
        yield "pairs (0, x)", _x(setting, zero, one)
        yield "pairs (x, x')", _x(setting, one, other)


def _finite(dtype: str) -> NDArray[np.float64]:
    """Every number of a 16-bit dtype up to max / sqrt(2), in float64."""
    kind = numpy_dtype(dtype)
    with np.errstate(invalid="ignore"):  # NaN is among them
        patterns = np.arange(2**16, dtype=np.uint16).view(kind).astype(np.float64)
    largest = np.max(patterns[np.isfinite(patterns)])
    return patterns[np.abs(patterns) <= largest / math.sqrt(2)]


def _x(
    setting: Setting, first: NDArray[np.float64], second: NDArray[np.float64]
) -> NDArray[np.floating]:
    tail = np.ones((*first.shape[:-1], setting.head_dim - _dim(setting)))
    x = from_pairs(first, second, tail, setting.convention)
    return x.astype(numpy_dtype(setting.dtype))


def _dim(setting: Setting) -> int:
    return setting.convention.dim(setting.head_dim)


def _run(block: Block, tokens: int) -> NDArray[np.int64]:
    if block.kind == POSITIONS:
        return np.arange(block.start, block.stop, dtype=np.int64)[None]
    return np.full((1, tokens), block.start, dtype=np.int64)
