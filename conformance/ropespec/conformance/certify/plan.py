"""What is to be proved, and the blocks that it falls into."""

import bisect
import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ropespec.conformance.case import Case
from ropespec.conformance.profile import Profile

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
    interleaved : bool
        Layout.
    head_dim : int
        Size of the last axis.
    rotary_dim : int or None
        How many leading components are rotated; None for all.
    base : float
        Base of the frequencies.
    precision : str
        The class whose bounds must hold (JDG-3).
    """

    dtype: str
    interleaved: bool
    head_dim: int
    rotary_dim: int | None
    base: float
    precision: str

    def case(self, tokens: int) -> Case:
        """Return the call of one row and one head that is made under this setting."""
        return Case(
            *(1, tokens, 1, self.head_dim, self.rotary_dim, self.interleaved, self.base),
            *(self.dtype, "arange", 0, 1, "normal", False, 0),
        )

    @property
    def words(self) -> str:
        """The setting as it is shown."""
        layout = "interleaved" if self.interleaved else "half"
        return f"{self.dtype}, {layout}, head_dim {self.head_dim}"


def settings_of(profile: Profile, head_dims: tuple[int, ...]) -> list[Setting]:
    """Return the settings of what is claimed, in order; the class is not known yet."""
    return [
        Setting(dtype, layout, head_dim, profile.rotary_dim, profile.base, "")
        for dtype, layout, head_dim in itertools.product(profile.dtypes, profile.layouts, head_dims)
    ]


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
            + (len(self.angles) if one.dtype in HALVES else 0)
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
            for position in self.angles if setting.dtype in HALVES else ():
                yield Block(next(number), VALUES, setting, position, position + 1)

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        found = dataclasses.asdict(self)
        return {**found, "settings": list(found["settings"]), "angles": list(self.angles)}
