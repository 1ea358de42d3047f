"""What an implementation claims: the conventions and limits under which it is judged.

What is not claimed is skipped, and the report says so.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ropespec.conformance.claims import (
    Claim,
    ProfileError,
    claim,
    claim_of,
    finite_base,
    require,
    wide_enough,
    with_room,
)
from ropespec.conformance.frameworks import ARRAYS, DEFAULT, FRAMEWORKS, Framework
from ropespec.conformance.judge.precision import PRECISIONS
from ropespec.conformance.scaled import arguments as scaling_arguments
from ropespec.spec.arguments import FLOAT_DTYPES
from ropespec.spec.axes import Anew, Mixed, Sections, Told, Woven
from ropespec.spec.convention import Convention, Frequencies, Pairing, Scheme
from ropespec.spec.errors import ArgumentError, ConfigError, describe
from ropespec.spec.scaling import Scaling, check_scaled_dim, words

__all__ = [
    "ALIASES",
    "AXES",
    "CLAIMS",
    "STYLE",
    "WAIVERS",
    "Profile",
    "ProfileError",
    "as_options",
]

AXES = ("bshd", "bhsd", "sbhd", "shd")
HEAD_DIMS = (
    *(2, 4, 6, 8, 16, 20, 32, 40, 48, 64, 72, 80, 96),
    *(100, 112, 120, 128, 160, 192, 256),
)
MOST_HEAD_DIM = 4096
"""A limit of this suite, which looks at matrices of head_dim by head_dim."""
ALIASES = {"dtype": "dtypes", "head_dim": "head_dims", "interleaved": "layouts"}
"""Other names of claims."""

WAIVERS = "waivers"
"""The name under which waivers stand beside claims; they are none (see `waivers`)."""

STYLE = "style"
"""The name under which the style that binds a target stands beside claims; it is none."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The claims of an implementation under test.

    Attributes
    ----------
    layouts : tuple of bool
        The values of `interleaved` it implements: `(True,)`, `(False,)` or both.
    array : str
        The framework its arrays belong to: one of `frameworks.ARRAYS`.
    axes : str
        Order of the axes of x: one of `AXES` (batch, sequence, heads, head_dim).
    dtypes : tuple of str
        dtypes of x.
    base : float
        The base of the frequencies.
    scaling : Scaling or None
        How its frequencies are scaled; None for not at all.
    sections : tuple of int or None
        How many pairs follow each of several position numbers of a token; None where it has one.
    sections_in_turn : bool
        Whether pairs follow the numbers in turn, as far as each section goes.
    axial : bool
        Whether each section has the frequencies of a rotation of its own, from the first on.
    frequencies : tuple of tuple of float or None
        At which rates pairs follow each of several position numbers; None where they have a base.
    rotary_dim : int or None
        How many components are rotated; None for all of them.
    trailing : bool
        Whether these are the last ones, and not the first.
    pairs_apart : bool
        Whether the members of interleaved pairs come out in two halves.
    head_dims : tuple of int
        Head dimensions it accepts.
    precision : str or None
        The precision class it claims; None to have the class measured.
    max_position : int
        The largest absolute position.
    negative_positions : bool
        Whether positions below zero are accepted.
    shared_positions : bool
        Whether positions are one vector (S,) for the whole batch instead of (B, S).
    device : str or None
        Where its arrays live, in the framework's own words; None for the default.
    refusals : bool
        Whether it promises the errors of clause ROT-21.
    gradients : bool
        Whether gradients can be taken, in whatever mode; what is for inference alone has none.
    strided : bool
        Whether arrays that are not contiguous are taken.
    empty : bool
        Whether an axis may have length zero.
    subnormals : bool
        Whether numbers below the normal range of a dtype are kept, and not flushed to zero.
    max_tokens : int or None
        The most tokens of one call, batch times sequence; None for any number.
    min_head_dim : int
        The smallest head dimension it accepts; smaller ones are dropped from `head_dims`.
    constant_tables : bool
        Whether no gradient flows into tables that a caller gives (ROT-22).
    compiled : bool
        Whether it is compiled for every new shape, so that few of them are asked for.
    """

    layouts: tuple[bool, ...]
    array: str = claim(DEFAULT, "--array", "Its arrays.", choices=ARRAYS)
    axes: str = claim(
        "bshd", "--axes", "Order of batch, sequence, heads, head_dim in x.", choices=AXES
    )
    dtypes: tuple[str, ...] = claim(
        ("float32",), "--dtype", "dtype of x; may be repeated.", choices=FLOAT_DTYPES
    )
    base: float = claim(10000.0, "--base", "Base of the frequencies.", "base {}", of=float)
    scaling: Scaling | None = None
    sections: tuple[int, ...] | None = claim(
        None,
        "--sections",
        "Positions are (n, batch, sequence): so many pairs follow each of the n numbers (AXES-2).",
        "sections {}",
        of=tuple,
        metavar="N,N,...",
    )
    sections_in_turn: bool = claim(
        False,
        "--sections-in-turn",
        "Pairs follow the numbers in turn, as far as each section goes (AXES-3).",
        "in turn",
    )
    axial: bool = claim(
        False,
        "--axial",
        "Each section has the frequencies of a rotation of its own (AXES-4).",
        "axial",
    )
    frequencies: tuple[tuple[float, ...], ...] | None = claim(
        None,
        "--frequencies",
        "Positions are (n, batch, sequence): rows of the rate at which each pair follows each "
        "number, as JSON in a file or written out (AXES-5).",
        "mixed frequencies of {} numbers",
        of=list,
        metavar="FILE|X,X,...;X,X,...",
    )
    rotary_dim: int | None = claim(
        None,
        "--rotary-dim",
        "How many components are rotated, the first ones.",
        "rotary_dim {}",
        of=int,
        even=True,
    )
    trailing: bool = claim(
        False,
        "--trailing",
        "The last rotary_dim components are rotated, not the first (AXES-6).",
        "the last components",
    )
    pairs_apart: bool = claim(
        False,
        "--pairs-apart",
        "Interleaved pairs come out as half-split ones do (AXES-7).",
        "pairs come out apart",
    )
    head_dims: tuple[int, ...] = claim(
        HEAD_DIMS,
        "--head-dim",
        "A size of the last axis; may be repeated.",
        "head_dim {}",
        of=int,
        even=True,
    )
    precision: str | None = claim(
        None,
        "--precision",
        "Precision it claims; measured if absent. See `ropespec spec judging`.",
        "precision {}",
        choices=tuple(PRECISIONS),
        metavar="CLASS",
    )
    max_position: int = claim(
        2**17 - 1, "--max-position", "Largest absolute position.", of=int, metavar="N"
    )
    negative_positions: bool = claim(
        True, "--no-negative-positions", "It takes no positions below zero."
    )
    shared_positions: bool = claim(
        False,
        "--shared-positions",
        "Positions are one vector (sequence,), not (batch, sequence).",
        "shared by the batch",
    )
    device: str | None = claim(
        None, "--device", "Where its arrays live, such as cuda:0.", "on {}", metavar="TEXT"
    )
    refusals: bool = claim(
        False,
        "--refusals",
        "It refuses bad arguments by the errors of ROT-21, so these are asked for.",
        "refusals",
    )
    gradients: bool = claim(
        True,
        "--inference-only",
        "No gradient is taken through it, in any mode; none is asked for.",
        "no gradients",
    )
    strided: bool = claim(
        True,
        "--contiguous-only",
        "It takes contiguous arrays alone: no views with gaps or axes in another order.",
        "contiguous arrays only",
    )
    empty: bool = claim(True, "--no-empty", "No axis may have length zero.", "no empty axes")
    subnormals: bool = claim(
        True,
        "--flushes-subnormals",
        "Numbers below the normal range, 2^-126 for float32, may become zero.",
        "subnormals flushed",
    )
    max_tokens: int | None = claim(
        None,
        "--max-tokens",
        "One call has at most N tokens, batch times sequence.",
        "at most {} tokens a call",
        of=int,
        metavar="N",
    )
    min_head_dim: int = claim(
        2,
        "--min-head-dim",
        "Smallest size of the last axis; the usual ones from there on are asked for.",
        "head_dim from {} on",
        of=int,
        metavar="N",
        even=True,
    )
    constant_tables: bool = claim(
        False,
        "--constant-tables",
        "Tables that a caller gives are constants: no gradient flows into them (ROT-22).",
        "tables constant",
    )
    compiled: bool = claim(
        False,
        "--compiled",
        "Each new shape is compiled, as Triton and jit do: few shapes are asked for.",
        "compiled for each shape",
    )

    def __post_init__(self) -> None:
        """Refuse claims that contradict the specification or each other."""
        if not self.layouts or not all(isinstance(item, bool) for item in self.layouts):
            raise ProfileError("layouts must name at least one of interleaved and half")
        for name, told in CLAIMS.items():
            require(name, told, getattr(self, name))
        if (most := max(self.head_dims)) > MOST_HEAD_DIM:
            raise ProfileError(f"head-dim must be at most {MOST_HEAD_DIM} here; got {most}")
        object.__setattr__(self, "head_dims", wide_enough(self.head_dims, self.min_head_dim))
        object.__setattr__(self, "base", finite_base(self.base))
        if self.frequencies is not None:
            _require_mixed(self)
        if self.rotary_dim is not None:
            object.__setattr__(self, "head_dims", with_room(self.rotary_dim, self.head_dims))
        if self.axial and (self.sections is None or self.sections_in_turn):
            raise ProfileError("axial needs sections, and these one after the other")
        if self.scaling is not None:
            object.__setattr__(self, "head_dims", _scalable(self))
        object.__setattr__(self, "head_dims", _parted(self))
        if self.trailing and self.rotary_dim is None:
            raise ProfileError("trailing needs rotary-dim: how many of the last components")
        if self.pairs_apart and self.layouts != (True,):
            raise ProfileError("pairs-apart is of interleaved pairs, and of no others")

    @property
    def numbers(self) -> int:
        """How many position numbers a token has; 0 where it has one, in an axis of no length."""
        return len(self.sections or self.frequencies or ())

    @property
    def scheme(self) -> Scheme | None:
        """How its frequencies are others than those of its base; None if they are not."""
        if self.frequencies is not None:
            return Told(self.frequencies)
        if self.axial and self.sections is not None:
            return Anew(self.sections, self.scaling)
        return self.scaling

    @property
    def keywords(self) -> dict[str, Any]:
        """The keywords of the API that say what they can of how it rotates, in its first layout."""
        return {"interleaved": self.layouts[0], "base": self.base, "rotary_dim": self.rotary_dim}

    @property
    def convention(self) -> Convention:
        """How it rotates; where both layouts are claimed, in the first of them."""
        return Convention(
            Pairing.of(self.layouts[0]),
            Frequencies(self.base, self.scheme),
            self.rotary_dim,
            trailing=self.trailing,
            axes=_followed(self),
        )

    @property
    def rotation(self) -> Convention:
        """The convention by which x is judged: that with the components first that rotate."""
        return dataclasses.replace(self.convention, trailing=False)

    @property
    def framework(self) -> Framework:
        """What is known of the framework of its arrays."""
        return FRAMEWORKS[self.array]

    @property
    def compiles(self) -> bool:
        """Whether a new shape is dear: its framework compiles for each, or it does itself."""
        return self.compiled or self.framework.compiles

    @classmethod
    def from_mapping(cls, claims: Mapping[str, Any]) -> "Profile":
        """Build a profile from a `PROFILE` mapping or from keywords.

        Parameters
        ----------
        claims : mapping
            The attributes by name. `interleaved` (True or False) stands for `layouts`, and single
            values are accepted for `dtypes` and `head_dims`. `head_dim` and `dtype` are accepted
            as names too. `scaling` is a scheme, or a mapping as `ropespec.spec.scaling.words`
            reads it; one that is of sequences up to the original length claims no longer ones,
            unless `max_position` does.

        Raises
        ------
        ProfileError
            For an unknown name or an impossible value.
        """
        values = {name.replace("-", "_"): value for name, value in claims.items()}
        for old, new in ALIASES.items():
            if old in values:
                values[new] = values.pop(old)
        known = {item.name for item in dataclasses.fields(cls)}
        if unknown := sorted(set(values) - known):
            raise ProfileError(
                f"unknown claim {', '.join(unknown)}; known are {', '.join(sorted(known))}"
            )
        if "layouts" not in values:
            raise ProfileError(
                "the pairing is not known: say interleaved=True for pairs (2i, 2i+1) or "
                "interleaved=False for half-split pairs (i, i+d/2); "
                "`ropespec identify TARGET` finds out"
            )
        for name in values.keys() & {"layouts", "dtypes", "head_dims", "sections"}:
            value = values[name]
            if value is None:
                continue
            values[name] = tuple(value) if isinstance(value, (list, tuple)) else (value,)
        if isinstance(rows := values.get("frequencies"), (list, tuple)):
            values["frequencies"] = tuple(
                tuple(row) if isinstance(row, (list, tuple)) else row for row in rows
            )
        if values.get("scaling") is not None:
            values = {**_longest(values["scaling"]), **values}
            values["scaling"] = _scheme(values["scaling"])
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Return the claims as plain JSON values."""
        plain = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        plain["scaling"] = None if self.scaling is None else words.say(self.scaling)
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in plain.items()
        }


CLAIMS: Mapping[str, Claim] = {
    item.name: told for item in dataclasses.fields(Profile) if (told := claim_of(item)) is not None
}
"""How each claim is said, by its name; layouts and scaling have options of their own."""


def as_options(claims: Mapping[str, Any], usual: Mapping[str, Any]) -> list[str]:
    """Write claims as the options of a command.

    Parameters
    ----------
    claims : mapping
        As `Profile.as_dict` returns them.
    usual : mapping
        What is claimed anyway, and so not written.
    """
    scaling = claims.get("scaling")
    return [
        *(() if scaling == usual.get("scaling") else scaling_arguments(scaling)),
        *(
            word
            for name, told in CLAIMS.items()
            if name in claims and claims[name] != usual.get(name)
            for word in told.arguments(claims[name])
        ),
    ]


def _scheme(told: object) -> Scaling:
    if isinstance(told, Scaling):
        return told
    if not isinstance(told, Mapping):
        raise ProfileError(f"scaling must be a table with a rope_type; got {describe(told)}")
    try:
        return words.read(told)
    except ConfigError as problem:
        raise ProfileError(f"scaling: {problem}") from None


def _longest(told: object) -> dict[str, int]:
    """Return the largest position that has these frequencies, as a claim; none where any has."""
    scheme = _scheme(told)
    original, length = (getattr(scheme, name, 0) for name in ("original_length", "length"))
    return {"max_position": original - 1} if original > 1 and 0 < length <= original else {}


def _scalable(profile: Profile) -> tuple[int, ...]:
    """Drop the sizes that a scheme has no frequencies for."""
    assert profile.scaling is not None
    found, refused = [], None
    for head_dim in profile.head_dims:
        try:
            for dim in _widths(profile, head_dim):
                check_scaled_dim(profile.scaling, dim)
        except ArgumentError as problem:
            refused = problem
        else:
            found.append(head_dim)
    if not found:
        raise ProfileError(f"scaling {profile.scaling.name}: {refused}")
    return tuple(found)


def _widths(profile: Profile, head_dim: int) -> list[int]:
    """Return of how many components the rotations are that have frequencies of their own."""
    if profile.axial and profile.sections is not None:
        return [2 * pairs for pairs in profile.sections]
    return [profile.convention.dim(head_dim)]


def _followed(profile: Profile) -> tuple[int, ...]:
    """Return which position number each pair follows; each of them where rates are given."""
    if profile.sections is None:
        return tuple(range(profile.numbers))
    try:
        return (Woven if profile.sections_in_turn else Sections)(profile.sections).followed()
    except ArgumentError as problem:
        raise ProfileError(f"sections: {problem}") from None


def _parted(profile: Profile) -> tuple[int, ...]:
    """Drop the sizes that have more pairs than the sections, or fewer."""
    by, name, pairs = profile.convention, "sections", len(profile.convention.axes)
    if profile.sections is None and profile.sections_in_turn:
        raise ProfileError("sections-in-turn needs sections")
    if profile.frequencies is not None:
        name, pairs = "frequencies", len(profile.frequencies[0])
    elif profile.sections is None:
        return profile.head_dims
    found = tuple(dim for dim in profile.head_dims if by.dim(dim) == 2 * pairs)
    if not found:
        dims = ", ".join(str(by.dim(one) // 2) for one in profile.head_dims)
        must = f"must have all the pairs that rotate, {dims} of them"
        raise ProfileError(f"{name} {must}; got {pairs}")
    return found


def _require_mixed(profile: Profile) -> None:
    """Refuse rows that are none, or stand beside what says frequencies, too."""
    assert profile.frequencies is not None
    try:
        Mixed(profile.frequencies)
    except ArgumentError as problem:
        raise ProfileError(str(problem)) from None
    for name in ("sections", "scaling"):
        if getattr(profile, name) is not None:
            raise ProfileError(f"frequencies that are given have no {name}")
