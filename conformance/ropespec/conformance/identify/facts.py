"""What identification can say: a closed set of facts."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ropespec.conformance.frameworks import DEFAULT

__all__ = ["Block", "Fact", "Identification", "Name", "Pairing", "Source"]


class Name(StrEnum):
    """The names of facts, in the order they are reported."""

    ANSWER = "answer"  # values, raises, crash, timeout, another shape, no array
    AXES = "axes"  # order of batch, sequence, heads, head_dim
    AXES_TRIED = "axes tried"
    POSITIONS = "positions"  # (B, S) or (S,)
    HEAD_DIM = "head_dim"  # at which the rest was measured
    PAIRING = "pairing"
    LAYOUTS = "layouts"  # pairings with interleaved=True and interleaved=False
    BLOCK = "block"  # the 2x2 matrix of a pair
    DIRECTION = "direction"  # counter-clockwise or clockwise
    ROTARY_DIM = "rotary_dim"
    ROTATED_END = "rotated end"  # all, first, last, middle
    TAIL = "tail"  # none, kept, zeroed
    ROTARY_RULE = "rotary_dim rule"  # all, fixed, share: how rotary_dim follows head_dim
    BASE = "base"  # under base^(-2i/rotary_dim)
    EXPONENT = "exponent"
    SCHEME = "scheme"  # unscaled, or the nearest known scheme
    FREQUENCIES = "frequencies"  # radians per position, by pair
    POSITION_SCALE = "position scale"
    POSITION_OFFSET = "position offset"
    GAIN = "attention factor"
    ROWS = "rows"  # whose positions turn a row
    TOKENS = "tokens"  # which position turns a token
    HEADS = "heads"
    REACH = "reach"  # whose components a token is made of
    PATHS = "special paths"  # S = 1, B = 1, H = 1, equal sizes, dtypes
    HISTORY = "history"
    NEGATIVE = "negative positions"
    LARGEST = "largest position"
    ANGLES = "angles"  # dtype of positions, frequencies, angles
    TABLE = "table"
    ARITHMETIC = "arithmetic"
    PRECISION = "precision"  # class by dtype of x
    RESULT_DTYPE = "result dtype"
    WRITES = "writes"
    ALIAS = "alias"
    STRIDES = "strides"
    LINEAR = "linear"
    CONTAINMENT = "not-a-number"
    EMPTY = "empty"
    STORES = "stores"  # how often a turned x was rounded to its dtype
    GRADIENT = "gradient"
    FLAGS = "keywords"  # those taken and not obeyed
    OTHERS = "other functions"  # mistakes read off sinusoidal_embedding, attention ...


class Pairing(StrEnum):
    """Which components turn together."""

    INTERLEAVED = "interleaved"
    HALF = "half"
    HALF_OF_HEAD = "half of head"
    CROSSING_HEADS = "crossing heads"
    NONE = "none"
    OTHER = "other"
    DEINTERLEAVED = "left de-interleaved"
    PERMUTED = "left in another order"


_CLAIMED_AS = {
    Pairing.INTERLEAVED: "--interleaved",
    Pairing.DEINTERLEAVED: "--interleaved",
    Pairing.HALF: "--half",
    Pairing.HALF_OF_HEAD: "--half",
}
"""The option that claims a pairing, where one does."""


class Block(StrEnum):
    """The form of the 2x2 matrix by which a pair turns."""

    ROTATION = "rotation"
    LOST_SINE = "sine lost"
    LOST_MINUS = "minus lost"
    OVERWRITTEN = "overwritten operand"
    EXCHANGED = "members exchanged"
    UNEQUAL = "two angles"
    PARTLY = "rotation, but not of every pair"
    OTHER = "other"


class Source(StrEnum):
    """Where the position of a row or token comes from."""

    OWN = "own"
    COUNTED = "counted from 0"
    FROM_FIRST = "counted from the first"
    ONE = "one for all"
    ROW = "those of one row"
    LARGEST = "the largest of the batch"
    HEAD = "the head index"
    STALE = "those of an earlier call"
    FIRST_PART = "those of the first part"
    LOCAL = "counted in each part"
    MOVED = "those of other tokens"
    TAKEN = "those of another token or row"
    LEFT = "none for some"
    SHARED = "shared by the call"
    UNEVEN = "not the same for all"
    OTHER = "other"
    NOTHING = "no position at all"


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing found out.

    Attributes
    ----------
    name : Name
        What it is about.
    value : object
        A word, number, or tuple of these.
    certainty : float
        In [0, 1].
    sentence : str
        For a reader.
    """

    name: Name
    value: Any
    certainty: float
    sentence: str


@dataclass(frozen=True, slots=True)
class Identification:
    """Everything found out about one subject.

    Attributes
    ----------
    target : str
        As given.
    facts : tuple of Fact
        At most one of each name, in the order of `Name`.
    calls : int
        How often the subject was called.
    seconds : float
        How long it took.
    array : str
        The framework of its arrays.
    stated : str
        Options that were given of it and that nothing found replaces, for the command.
    """

    target: str
    facts: tuple[Fact, ...]
    calls: int
    seconds: float
    array: str = DEFAULT
    stated: str = ""

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts)

    def fact(self, name: Name) -> Fact | None:
        """Return the fact of a name, or None if it could not be found out."""
        return next((fact for fact in self.facts if fact.name is name), None)

    def value(self, name: Name) -> Any:  # noqa: ANN401  # as `Fact.value`
        """Return the value of a fact, or None if it could not be found out."""
        fact = self.fact(name)
        return None if fact is None else fact.value

    @property
    def told(self) -> tuple[Fact, ...]:
        """The facts that can be relied on: of what answers with no array like x, its answer."""
        if not self.is_nothing:
            return self.facts
        return tuple(fact for fact in self.facts if fact.name is Name.ANSWER)

    @property
    def is_nothing(self) -> bool:
        """Whether nothing was found out: it answered with no numbers, and so follows nothing."""
        return self.value(Name.ANSWER) not in (None, "values") and not self.fact(Name.PAIRING)

    @property
    def has_both_layouts(self) -> bool:
        """Whether both values of its keyword `interleaved` were seen to do what they say."""
        return bool(self.value(Name.LAYOUTS) == (Pairing.INTERLEAVED, Pairing.HALF))

    def command(self, target: str | None = None) -> str:
        """Return the line that checks the subject under the conventions found.

        Parameters
        ----------
        target : str, optional
            The target to name instead of the one identified.

        Returns
        -------
        str
            All that was found and can be claimed; empty where no pairing was that can be.
        """
        pairing = self.value(Name.PAIRING)
        if pairing not in _CLAIMED_AS:
            return ""
        claimed = "--interleaved --half" if self.has_both_layouts else _CLAIMED_AS[pairing]
        words = ["ropespec check", target or self.target, claimed]
        words += [*self._called(), *self._frequencies(), *self._limits(), self.stated]
        return " ".join(word for word in words if word)

    def _called(self) -> list[str]:
        array, axes = self.array, self.value(Name.AXES)
        words = [f"--array {array}"] if array != DEFAULT else []
        return words + ([f"--axes {axes}"] if axes not in (None, "bshd") else [])

    def _frequencies(self) -> list[str]:
        base, dim = self.value(Name.BASE), self.fact(Name.HEAD_DIM)
        words = [f"--base {base:.10g}"] if base is not None and 1 < base != 10000.0 else []
        partial = self.value(Name.ROTARY_RULE) in ("fixed", "share")
        words += [f"--rotary-dim {self.value(Name.ROTARY_DIM)}"] if partial else []
        if dim is not None and (partial or dim.certainty < 0.9):
            words.append(f"--head-dim {dim.value}")
        return words

    def _limits(self) -> list[str]:
        limit, words = self._limit(), list[str]()
        if limit is not None and "--max-position" not in self.stated:
            words.append(f"--max-position {limit}")
        if self.value(Name.POSITIONS) == "(S,)" and self.value(Name.AXES) != "shd":
            words.append("--shared-positions")
        if self.value(Name.NEGATIVE) in ("raises", "other", "zeroed"):
            words.append("--no-negative-positions")
        return words

    def _limit(self) -> int | None:
        """Return the largest position that is right, where the next is not."""
        policy, limit = self.value(Name.LARGEST) or ("right", 0)
        if policy == "raises":
            return int(limit)
        return int(limit) - 1 if policy in ("clamped", "wraps", "identity", "filled") else None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "target": self.target,
            "facts": [
                {
                    "name": str(fact.name),
                    "value": _plain(fact.value),
                    "certainty": fact.certainty,
                    "sentence": fact.sentence,
                }
                for fact in self.told
            ],
            "command": self.command(),
            "calls": self.calls,
            "seconds": round(self.seconds, 3),
        }


def _plain(value: Any) -> Any:  # noqa: ANN401  # as `Fact.value`
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, StrEnum) else value
