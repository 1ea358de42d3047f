"""Entries of the zoo and their registration.

An entry is a rotation f(x, positions), a function of another chapter, or a class of several. What
needs a framework lies in a module that only a worker imports, and is registered by its name.
"""

import functools
import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ropespec.conformance.profile import Profile

__all__ = ["Offering", "Right", "Subject", "Wrong", "elsewhere", "right", "wrong", "zoo"]

Subject = Callable[..., Any]

_ROTATION = "apply_rotary"
_MODULES = (
    "attention",
    "axial",
    "claimed",
    "complex_plane",
    "contract",
    "corners",
    "few_bits",
    "flags",
    "frameworks",
    "frequency",
    "given",
    "going_on",
    "gradients",
    "grown",
    "into",
    "kept_dtypes",
    "layout",
    "made",
    "memory",
    "misprints",
    "numbered",
    "partial",
    "paths",
    "position",
    "precision",
    "projection",
    "published",
    "scaled",
    "scaled_tables",
    "scores",
    "sharding",
    "sinusoidal",
    "state",
    "styles",
    "tables",
    "unseen",
)
_entries: dict[str, "Wrong | Right"] = {}


class Offering:
    """A subject that offers one function, under the name it has in the API."""

    def __init__(self, name: str, function: Subject) -> None:
        setattr(self, name, function)


@dataclass(frozen=True, slots=True)
class Wrong:
    """An implementation with one mistake.

    Attributes
    ----------
    name : str
        Name of the function.
    target : str
        What `ropespec check` takes.
    catalogue : str
        The name that its diagnosis must have: an id of the catalogue of real defects, else words;
        empty where no name is known for it, so that none that is given counts as right.
    sentence : str
        The mistake.
    killed_by : tuple of str
        Checks that must fail on it, the most telling first.
    claims : mapping
        The profile under which it is wrong.
    function : callable or None
        The function or class; None where its module is left to a worker.
    offers : str
        The function of the API it stands for; empty for a class.
    """

    name: str
    target: str
    catalogue: str
    sentence: str
    killed_by: tuple[str, ...]
    claims: Mapping[str, Any] = field(hash=False)
    function: Subject | None
    offers: str = _ROTATION

    @property
    def profile(self) -> Profile:
        """The claims as a profile."""
        return Profile.from_mapping(self.claims)

    @property
    def bare(self) -> bool:
        """Whether it is a NumPy function f(x, positions) and no more."""
        return _is_bare(self.function, self.offers)


@dataclass(frozen=True, slots=True)
class Right:
    """A correct implementation in one of the ways people write it.

    Attributes
    ----------
    name, target, sentence, claims, function, offers
        As for `Wrong`; the sentence says what is particular.
    measured : mapping of str to str
        The class that must be measured, per dtype.
    """

    name: str
    target: str
    sentence: str
    measured: Mapping[str, str] = field(hash=False)
    claims: Mapping[str, Any] = field(hash=False)
    function: Subject | None
    offers: str = _ROTATION

    @property
    def profile(self) -> Profile:
        """The claims as a profile."""
        return Profile.from_mapping(self.claims)

    @property
    def bare(self) -> bool:
        """Whether it is a NumPy function f(x, positions) and no more."""
        return _is_bare(self.function, self.offers)


def wrong(
    catalogue: str,
    sentence: str,
    *killed_by: str,
    offers: str = _ROTATION,
    **claims: Any,  # noqa: ANN401  # claims are checked by Profile
) -> Callable[[Subject], Any]:
    """Register the decorated function or class as a wrong implementation.

    Parameters
    ----------
    catalogue : str
        Id in the catalogue, else the name that its diagnosis must have, or "".
    sentence : str
        The mistake.
    *killed_by : str
        Checks that must fail on it.
    offers : str
        The function of the API it stands for.
    **claims
        Claims of its profile; half-split unless `interleaved` or `layouts` says otherwise.
    """

    def register(function: Subject) -> Any:  # noqa: ANN401  # as it was, or an offering
        name, offered = _name_of(function), "" if inspect.isclass(function) else offers
        claimed = _claimed(claims)
        target = f"{function.__module__}:{function.__name__}"
        _add(Wrong(name, target, catalogue, sentence, killed_by, claimed, function, offered))
        return _subject(function, offered)

    return register


def right(
    sentence: str,
    measured: Mapping[str, str],
    /,
    offers: str = _ROTATION,
    **claims: Any,  # noqa: ANN401  # claims are checked by Profile
) -> Callable[[Subject], Any]:
    """Register the decorated function or class as a right implementation.

    Parameters
    ----------
    sentence : str
        What is particular about it.
    measured : mapping
        The class that must be measured, per dtype; empty without a rotation.
    offers : str
        The function of the API it stands for.
    **claims
        Claims of its profile; half-split unless `interleaved` or `layouts` says otherwise.
    """

    def register(function: Subject) -> Any:  # noqa: ANN401  # as it was, or an offering
        name, offered = _name_of(function), "" if inspect.isclass(function) else offers
        dtypes = {"dtypes": tuple(measured)} if measured else {}
        claimed = _claimed({**dtypes, **claims})
        target = f"{function.__module__}:{function.__name__}"
        _add(Right(name, target, sentence, measured, claimed, function, offered))
        return _subject(function, offered)

    return register


def elsewhere(
    module: str,
    name: str,
    sentence: str,
    *,
    catalogue: str = "",
    killed_by: tuple[str, ...] = (),
    measured: Mapping[str, str] | None = None,
    **claims: Any,  # noqa: ANN401  # claims are checked by Profile
) -> None:
    """Register what lies in a module that is not imported here: right if `measured` is given.

    Parameters
    ----------
    module : str
        Module of the zoo.
    name : str
        The attribute, and the name of the entry.
    sentence, catalogue, killed_by, measured, **claims
        As for `wrong` and `right`.
    """
    target = f"ropespec.conformance.zoo.{module}:{name}"
    if measured is None:
        _add(Wrong(name, target, catalogue, sentence, killed_by, _claimed(claims), None))
    else:
        claimed = _claimed({"dtypes": tuple(measured), **claims})
        _add(Right(name, target, sentence, measured, claimed, None))


@functools.cache
def zoo() -> tuple[Wrong | Right, ...]:
    """All entries, by module and in the order written."""
    for module in _MODULES:
        importlib.import_module(f"ropespec.conformance.zoo.{module}")
    return tuple(_entries.values())


def _add(entry: Wrong | Right) -> None:
    if entry.name in _entries:
        raise ValueError(f"names in the zoo must be unique; {entry.name} is taken")
    _entries[entry.name] = entry


def _claimed(claims: Mapping[str, Any]) -> dict[str, Any]:
    return dict(claims) if "layouts" in claims else {"interleaved": False, **claims}


def _name_of(function: Subject) -> str:
    """Return the name of a function, and that of a class as a function would have it."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", function.__name__).lower()


def _subject(function: Subject, offers: str) -> Any:  # noqa: ANN401  # as it was, or an offering
    return function if offers in ("", _ROTATION) else Offering(offers, function)


def _is_bare(function: Subject | None, offers: str) -> bool:
    if function is None or offers != _ROTATION:
        return False
    return list(inspect.signature(function).parameters) == ["x", "positions"]
