"""Entries of the zoo and their registration."""

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.profile import Profile

__all__ = ["Right", "Rotate", "Wrong", "right", "wrong", "zoo"]

Rotate = Callable[[NDArray[Any], NDArray[np.int64]], Any]

_MODULES = ("contract", "frequency", "layout", "position", "precision", "styles")
_entries: dict[str, "Wrong | Right"] = {}


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
        Id in the catalogue of real defects; empty for one that is not in it.
    sentence : str
        The mistake.
    killed_by : tuple of str
        Checks that must fail on it, the most telling first.
    claims : mapping
        The profile under which it is wrong.
    function : callable
        f(x, positions).
    """

    name: str
    target: str
    catalogue: str
    sentence: str
    killed_by: tuple[str, ...]
    claims: Mapping[str, Any] = field(hash=False)
    function: Rotate

    @property
    def profile(self) -> Profile:
        """The claims as a profile."""
        return Profile.from_mapping(self.claims)


@dataclass(frozen=True, slots=True)
class Right:
    """A correct implementation in one of the ways people write it.

    Attributes
    ----------
    name, target, sentence, claims, function
        As for `Wrong`; the sentence says what is particular.
    measured : mapping of str to str
        The class that must be measured, per dtype.
    """

    name: str
    target: str
    sentence: str
    measured: Mapping[str, str] = field(hash=False)
    claims: Mapping[str, Any] = field(hash=False)
    function: Rotate

    @property
    def profile(self) -> Profile:
        """The claims as a profile."""
        return Profile.from_mapping(self.claims)


def wrong(
    catalogue: str,
    sentence: str,
    *killed_by: str,
    **claims: Any,  # noqa: ANN401  # claims are checked by Profile
) -> Callable[[Rotate], Rotate]:
    """Register the decorated function as a wrong implementation.

    Parameters
    ----------
    catalogue : str
        Id in the catalogue, or "".
    sentence : str
        The mistake.
    *killed_by : str
        Checks that must fail on it.
    **claims
        Claims of its profile; half-split unless `interleaved` says otherwise.
    """

    def register(function: Rotate) -> Rotate:
        name = function.__name__
        claimed = {"interleaved": False, **claims}
        _add(Wrong(name, _target(function), catalogue, sentence, killed_by, claimed, function))
        return function

    return register


def right(
    sentence: str,
    measured: Mapping[str, str],
    /,
    **claims: Any,  # noqa: ANN401  # claims are checked by Profile
) -> Callable[[Rotate], Rotate]:
    """Register the decorated function as a right implementation.

    Parameters
    ----------
    sentence : str
        What is particular about it.
    measured : mapping
        The class that must be measured, per dtype.
    **claims
        Claims of its profile; half-split unless `interleaved` says otherwise.
    """

    def register(function: Rotate) -> Rotate:
        name = function.__name__
        claimed = {"interleaved": False, "dtypes": tuple(measured), **claims}
        _add(Right(name, _target(function), sentence, measured, claimed, function))
        return function

    return register


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


def _target(function: Rotate) -> str:
    return f"{function.__module__}:{function.__name__}"
