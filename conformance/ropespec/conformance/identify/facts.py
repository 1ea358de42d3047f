"""What identification can say: a closed set of facts, and what the convention found explains."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ropespec.conformance.frameworks import DEFAULT
from ropespec.conformance.identify.found import Explained, Found
from ropespec.conformance.identify.ranges import limit_of
from ropespec.conformance.mistakes.numbers import sectioned
from ropespec.conformance.profile import CLAIMS
from ropespec.conformance.scaled import arguments
from ropespec.spec.scaling import LongRope, words

__all__ = ["Fact", "Identification", "Name", "Pairing"]


class Name(StrEnum):
    """The names of facts, in the order they are reported."""

    ANSWER = "answer"  # values, raises, crash, timeout, another shape, no array
    AXES = "axes"  # order of batch, sequence, heads, head_dim
    AXES_TRIED = "axes tried"
    POSITIONS = "positions"  # (B, S) or (S,)
    HEAD_DIM = "head_dim"  # at which the rest was measured; alone if no other was taken
    PAIRING = "pairing"
    LAYOUTS = "layouts"  # pairings with interleaved=True and interleaved=False
    ROTATION = "rotation"  # whether every pair is multiplied by a rotation
    DIRECTION = "direction"  # counter-clockwise or clockwise
    ROTARY_DIM = "rotary_dim"
    ROTATED_END = "rotated end"  # all, first, last, middle
    TAIL = "tail"  # none, kept, zeroed
    ROTARY_RULE = "rotary_dim rule"  # all, fixed, share: how rotary_dim follows head_dim
    NUMBERS = "position numbers"  # which of several each pair follows
    EXPONENT = "exponent"  # axial: the frequencies begin anew with each section; given: mixed
    BASE = "base"
    SCHEME = "scheme"  # unscaled, or the scheme with its numbers
    BESIDE = "beside"  # what no claim says of it
    FREQUENCIES = "frequencies"  # radians per position, by pair
    POSITION_OFFSET = "position offset"
    GAIN = "attention factor"
    CONFIRMED = "confirmed"  # components explained, of all, in so many fresh calls
    REACH = "reach"  # whose components a token is made of
    NEGATIVE = "negative positions"
    LARGEST = "largest position"
    PRECISION = "precision"  # class by dtype of x
    RESULT_DTYPE = "result dtype"
    WRITES = "writes"
    ALIAS = "alias"
    STRIDES = "strides"
    LINEAR = "linear"
    CONTAINMENT = "not-a-number"
    EMPTY = "empty"
    GRADIENT = "gradient"
    FLAGS = "keywords"  # those taken and not obeyed


class Pairing(StrEnum):
    """Which components turn together."""

    INTERLEAVED = "interleaved"
    HALF = "half"
    HALF_OF_HEAD = "half of head"
    CROSSING_HEADS = "crossing heads"
    NONE = "none"
    OTHER = "other"
    DEINTERLEAVED = "left de-interleaved"

    @property
    def is_woven(self) -> bool:
        """Whether members of a pair are neighbours in x."""
        return self in (Pairing.INTERLEAVED, Pairing.DEINTERLEAVED)

    @property
    def is_claimable(self) -> bool:
        """Whether an option claims it, or the nearest to it."""
        return self.is_woven or self in (Pairing.HALF, Pairing.HALF_OF_HEAD)


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was measured.

    Attributes
    ----------
    name : Name
        What it is about.
    value : object
        A word, number, or tuple of these.
    sentence : str
        For a reader.
    """

    name: Name
    value: Any
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
    found : Found or None
        Its convention; None if none was proposed.
    explained : Explained or None
        What that makes of fresh calls.
    """

    target: str
    facts: tuple[Fact, ...]
    calls: int
    seconds: float
    array: str = DEFAULT
    stated: str = ""
    found: Found | None = None
    explained: Explained | None = None

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
    def confirmed(self) -> bool:
        """Whether the convention explains every component of the fresh calls."""
        return self.explained is not None and self.explained.is_whole

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
        if pairing is None or not pairing.is_claimable:
            return ""
        claimed = "--interleaved" if pairing.is_woven else "--half"
        claimed = "--interleaved --half" if self.has_both_layouts else claimed
        words_ = ["ropespec check", target or self.target, claimed]
        words_ += [*self._called(), *self._frequencies(), *self._limits(), self.stated]
        return " ".join(word for word in words_ if word)

    def _called(self) -> list[str]:
        array, axes = self.array, self.value(Name.AXES)
        said = [f"--array {array}"] if array != DEFAULT else []
        return said + ([f"--axes {axes}"] if axes not in (None, "bshd") else [])

    def _frequencies(self) -> list[str]:
        if self.found is None:
            return []
        by, dim = self.found.by, self.value(Name.HEAD_DIM)
        base, scheme = by.frequencies.base, self.found.scheme
        said = self._numbers(self.found)
        said += [f"--base {base:.10g}"] if base != 10000.0 else []
        said += arguments(None if scheme is None else words.say(scheme))
        said += [f"--rotary-dim {by.rotary_dim}"] if by.rotary_dim is not None else []
        alone = dim is not None and len(dim) == 1
        if dim is not None and (alone or by.rotary_dim is not None or isinstance(scheme, LongRope)):
            said.append(f"--head-dim {dim[0]}")
        return said

    @staticmethod
    def _numbers(found: Found) -> list[str]:
        if found.rates is not None:
            return CLAIMS["frequencies"].arguments(found.rates)
        claimed = sectioned(found.by.axes) if found.by.axes else None
        if claimed is None:
            return []
        said = [f"--sections {','.join(map(str, claimed.sections))}"]
        said += ["--sections-in-turn"] * claimed.in_turn
        return said + ["--axial"] * found.axial

    def _limits(self) -> list[str]:
        limit, said = limit_of(self.value(Name.LARGEST)), list[str]()
        if limit is not None and "--max-position" not in self.stated:
            said.append(f"--max-position {limit}")
        if self.value(Name.POSITIONS) == "(S,)" and self.value(Name.AXES) != "shd":
            said.append("--shared-positions")
        if self.value(Name.NEGATIVE) in ("raises", "other", "zeroed"):
            said.append("--no-negative-positions")
        return said

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "target": self.target,
            "facts": [
                {"name": str(fact.name), "value": _plain(fact.value), "sentence": fact.sentence}
                for fact in self.told
            ],
            "command": self.command(),
            "confirmed": self.confirmed,
            "calls": self.calls,
            "seconds": round(self.seconds, 3),
        }


def _plain(value: Any) -> Any:  # noqa: ANN401  # as `Fact.value`
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, StrEnum) else value
