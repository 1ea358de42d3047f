"""What is to be proved, and the blocks that it falls into."""

import bisect
import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.profile import Profile
from ropespec.spec.convention import Convention

__all__ = ["HALVES", "POSITIONS", "VALUES", "Block", "Plan", "Setting", "settings_of"]

HALVES = ("float16", "bfloat16")
"""The dtypes that have so few numbers that all of them can be tried."""

POSITIONS, VALUES = "positions", "values"
"""The kinds of a block: unit inputs at a run of positions; all numbers of a dtype at one."""

ELEMENTS = 2**19
"""Components of one call: enough for a second of work in a block, few enough for any memory."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One convention in one dtype and size.

    Attributes
    ----------
    dtype : str
        dtype of x.
    convention : Convention
        How x is rotated.
    head_dim : int
        Size of the last axis.
    precision : str
        The class whose bounds must hold (JDG-3).
    numbers : tuple of int or None
        The position numbers of a token, None for the one that takes every value of the range while
        the others stand still; empty where a token has one number, or n equal ones, as in text.
    """

    dtype: str
    convention: Convention
    head_dim: int
    precision: str
    numbers: tuple[int | None, ...] = ()

    def case(self, tokens: int) -> Case:
        """Return the call of one row and one head that is made under this setting."""
        sizes = (1, tokens, 1, self.head_dim)
        drawn = ("arange", 0, 1, "normal")
        return Case(*sizes, self.convention, self.dtype, *drawn, strided=False, seed=0)

    def places(self, run: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of tokens (B, S) at a run of the range: (B, S), or (B, S, n)."""
        if not self.numbers:
            return run
        each = [run if one is None else np.full_like(run, one) for one in self.numbers]
        return np.stack(each, axis=-1)

    @property
    def has_values(self) -> bool:
        """Whether all numbers of its dtype are tried: once, whatever walks."""
        return self.dtype in HALVES and not self.numbers

    @property
    def words(self) -> str:
        """The setting as it is shown."""
        said = f"{self.dtype}, {self.convention.pairing.value}, head_dim {self.head_dim}"
        return f"{said}, numbers ({self.walk})" if self.numbers else said

    @property
    def walk(self) -> str:
        """The numbers of a token, with p for the one that walks; `equal` where all of them do."""
        return ", ".join("p" if one is None else str(one) for one in self.numbers) or "equal"

    def as_dict(self) -> dict[str, Any]:
        """Return the setting as plain JSON values."""
        return {
            **self.convention.keywords,
            **{name: getattr(self, name) for name in ("dtype", "head_dim", "precision")},
            **({"numbers": list(self.numbers)} if self.numbers else {}),
        }


def settings_of(
    profile: Profile, head_dims: tuple[int, ...], positions: tuple[int, int]
) -> list[Setting]:
    """Return the settings of what is claimed, in order; the class is not known yet.

    Where a token has several position numbers, all of them walk together, as in text, and then each
    one alone.
    """
    sizes = itertools.product(
        profile.dtypes, profile.layouts, head_dims, _walks(profile, positions)
    )
    return [
        Setting(dtype, by.stating(interleaved=layout), head_dim, "", numbers)
        for dtype, layout, head_dim, numbers in sizes
        for by in [profile.rotation if numbers else profile.rotation.text]
    ]


def _walks(profile: Profile, positions: tuple[int, int]) -> list[tuple[int | None, ...]]:
    """Return the position numbers of each walk: those that stand still differ, if they can."""
    start, stop = positions
    count = profile.numbers
    still = [start + (stop - start) * (2 * axis + 1) // (2 * count) for axis in range(count)]
    each = range(count)
    return [(), *(tuple(None if axis == one else still[axis] for axis in each) for one in each)]


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of work that can be done anywhere and again.

    Attributes
    ----------
    number : int
        Its place in the plan.
    kind : str
        `POSITIONS` or `VALUES`.
    setting : Setting
        What is called.
    start, stop : int
        The positions, from `start` to `stop` - 1.
    """

    number: int
    kind: str
    setting: Setting
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a certificate is about, and all that a worker has to know.

    Attributes
    ----------
    target : str
        The subject.
    claims : mapping
        What is claimed of it, as `open_subject` takes it.
    start, stop : int
        The range of positions, from `start` to `stop` - 1.
    settings : tuple of Setting
        One after the other.
    angles : tuple of int
        The positions at which all numbers of a 16-bit dtype are tried.
    most_tokens : int or None
        The most tokens of one call.
    environment : mapping
        Versions, as the subject's process tells them.
    timeout : float
        Seconds for one call.
    """

    target: str
    claims: Mapping[str, Any]
    start: int
    stop: int
    settings: tuple[Setting, ...]
    angles: tuple[int, ...]
    most_tokens: int | None
    environment: Mapping[str, str]
    timeout: float

    def tokens(self, setting: Setting) -> int:
        """Return how many tokens a call has."""
        most = max(1, ELEMENTS // setting.head_dim)
        return most if self.most_tokens is None else min(most, self.most_tokens)

    def sizes(self) -> list[int]:
        """Return how many blocks each setting has."""
        return [
            -((self.start - self.stop) // self.tokens(one))
            + (len(self.angles) if one.has_values else 0)
            for one in self.settings
        ]

    def setting_of(self, number: int) -> int:
        """Return the index of the setting that a block is of."""
        return bisect.bisect_right(list(itertools.accumulate(self.sizes())), number)

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in their order; there may be millions."""
        number = itertools.count()
        for setting in self.settings:
            step = self.tokens(setting)
            for start in range(self.start, self.stop, step):
                stop = min(start + step, self.stop)
                yield Block(next(number), POSITIONS, setting, start, stop)
            for position in self.angles if setting.has_values else ():
                yield Block(next(number), VALUES, setting, position, position + 1)

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        found = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        settings = [one.as_dict() for one in self.settings]
        schemes = {one.convention.frequencies.scheme for one in self.settings} - {None}
        scaled = {"schemes": sorted(map(repr, schemes))} if schemes else {}
        return {**found, "settings": settings, "angles": list(self.angles), **scaled}
