"""How each claim of a profile is said: its option, what that means, and its words in a report.

Options, the line that a report prints and the commands that it proposes are made of this alone.
"""

import shlex
from dataclasses import Field, dataclass, field
from typing import Any

from ropespec.spec.errors import describe

__all__ = [
    "INT64_LIMIT",
    "Claim",
    "ProfileError",
    "claim",
    "claim_of",
    "finite_base",
    "require",
    "wide_enough",
    "with_room",
]

_KEY = "claim"
INT64_LIMIT = 2**63 - 1


class ProfileError(Exception):
    """A profile that says something impossible; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class Claim:
    """How one claim is said.

    Attributes
    ----------
    default : object
        What is claimed where nothing is said.
    option : str
        The option that makes it. One without a value claims the opposite of the default.
    help : str
        What it says of the implementation, in one sentence.
    said : str
        Its words in a report, with `{}` for the value; empty where it is told with others.
    of : type
        Of what type a value is; `bool` for an option without one, `tuple` for one list of
        integers, `list` for rows of numbers.
    choices : tuple of str
        The values it may have; empty for any.
    metavar : str
        What stands for the value in the help; empty for the usual word.
    even : bool
        Whether it is a size, and so an even number (FREQ-1).
    """

    default: object
    option: str
    help: str
    said: str
    of: type
    choices: tuple[str, ...]
    metavar: str
    even: bool

    @property
    def optional(self) -> bool:
        """Whether it may be left open, which is None."""
        return self.default is None

    def words(self, value: object) -> str:
        """Say the value in a report."""
        if self.of is list and isinstance(value, (list, tuple)):
            return self.said.format(len(value))
        if isinstance(value, (list, tuple)):
            value = " ".join(map(str, value))
        return self.said.format(f"{value:g}" if isinstance(value, float) else value)

    def arguments(self, value: object) -> list[str]:
        """Write the value as arguments of a command; none where no option says it."""
        if value is None:
            return []
        if self.of is bool:
            return [] if value == self.default else [self.option]
        if isinstance(value, (list, tuple)):
            if self.of is list:
                rows = ";".join(",".join(map(repr, row)) for row in value)
                return [f"{self.option} {shlex.quote(rows)}"]
            if self.of is tuple:
                return [f"{self.option} {','.join(map(str, value))}"]
            return [word for one in value for word in self.arguments(one)]
        said = f"{value:.10g}" if isinstance(value, float) else str(value)
        return [f"{self.option} {shlex.quote(said)}"]


def claim(
    default: object,
    option: str,
    meaning: str,
    said: str = "",
    *,
    of: type = str,
    choices: tuple[str, ...] = (),
    metavar: str = "",
    even: bool = False,
) -> Any:  # noqa: ANN401  # a field of the type that is declared
    """Declare a field of a profile; `meaning` is the help, see `Claim` for the rest."""
    of = bool if isinstance(default, bool) else of
    told = Claim(default, option, meaning, said, of, choices, metavar, even)
    return field(default=default, metadata={_KEY: told})


def claim_of(declared: "Field[Any]") -> Claim | None:
    """Return how a field was declared; None for one that has other options."""
    found: Claim | None = declared.metadata.get(_KEY)
    return found


def require(name: str, told: Claim, value: object) -> None:
    """Refuse a value of another type, or one that is none of the choices.

    Raises
    ------
    ProfileError
        One line that names the claim and the value.
    """
    option = told.option.removeprefix("--")
    values = value if isinstance(value, tuple) else (value,)
    if not values:
        raise ProfileError(f"{option} must be given at least once")
    if told.of is bool and not isinstance(value, bool):
        raise ProfileError(f"{name} must be True or False; got {describe(value)}")
    for one in () if value is None and told.optional else values:
        if told.choices and one not in told.choices:
            choices = ", ".join(told.choices)
            raise ProfileError(f"{option} must be one of {choices}; got {describe(one)}")
        if told.of is str and not isinstance(one, str):
            raise ProfileError(f"{option} must be a text; got {describe(one)}")
        if told.of in (int, tuple):
            _require_integer(option, one, even=told.even)


def _require_integer(option: str, value: object, *, even: bool) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if even and not (whole and value >= 2 and value % 2 == 0):  # type: ignore[operator]  # whole
        raise ProfileError(f"{option} must be an even integer of at least 2; got {describe(value)}")
    if not whole:
        raise ProfileError(f"{option} must be an integer; got {describe(value)}")
    if not 1 <= value <= INT64_LIMIT:  # type: ignore[operator]  # whole
        raise ProfileError(f"{option} must be in 1..2^63-1; got {value}")


def finite_base(base: object) -> float:
    """Return a base as a float; refuse what is none above 1."""
    if isinstance(base, bool) or not isinstance(base, (int, float)):
        raise ProfileError(f"base must be a number above 1; got {describe(base)}")
    try:
        found = float(base)
    except OverflowError:
        found = float("inf")
    if not 1.0 < found < float("inf"):
        raise ProfileError(f"base must be a finite number above 1; got {found}")
    return found


def wide_enough(head_dims: tuple[int, ...], smallest: int) -> tuple[int, ...]:
    """Drop the sizes below the smallest that is claimed."""
    kept = tuple(one for one in head_dims if one >= smallest)
    if not kept:
        given = ", ".join(map(str, head_dims))
        raise ProfileError(
            f"min-head-dim must be at most head-dim; got {smallest} for head-dim {given}"
        )
    return kept


def with_room(rotary_dim: int, head_dims: tuple[int, ...]) -> tuple[int, ...]:
    """Return the heads that are as wide as what rotates; refuse if there is none."""
    kept = tuple(head_dim for head_dim in head_dims if head_dim >= rotary_dim)
    if not kept:
        given = ", ".join(map(str, head_dims))
        raise ProfileError(
            f"rotary-dim must be at most head-dim; got {rotary_dim} for head-dim {given}"
        )
    return kept
