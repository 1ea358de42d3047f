"""Schemes in the words of model configurations: `{"rope_type": "yarn", "factor": 16.0, ...}`."""

import dataclasses
import difflib
import typing
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ropespec.spec.errors import ArgumentError, ConfigError
from ropespec.spec.scaling import Scaling

__all__ = ["SCHEMES", "WORDS", "Word", "keys", "near", "read", "say"]

SCHEMES: Mapping[str, type[Scaling]] = MappingProxyType(
    {scheme.name: scheme for scheme in typing.get_args(Scaling)}
)
"""Each scheme by its name."""

_KEYS = {
    "original_length": "original_max_position_embeddings",
    "short_factors": "short_factor",
    "long_factors": "long_factor",
    "proportion": "partial_rotary_factor",
}
_TYPE = "rope_type"


class Word(NamedTuple):
    """One number of a scheme.

    Attributes
    ----------
    field : str
        Its name in the scheme.
    of : type
        float, int, bool, or tuple for a list of numbers.
    """

    field: str
    of: type


def _words(scheme: type[Scaling]) -> dict[str, Word]:
    hints = typing.get_type_hints(scheme)
    return {
        _KEYS.get(one.name, one.name): Word(one.name, _plain(hints[one.name]))
        for one in dataclasses.fields(scheme)
    }


def _plain(hint: object) -> type:
    if typing.get_origin(hint) is tuple:
        return tuple
    found = [one for one in (*typing.get_args(hint), hint) if isinstance(one, type)]
    return next(one for one in found if one is not type(None))


_OF = {name: _words(scheme) for name, scheme in SCHEMES.items()}

WORDS: Mapping[str, Word] = MappingProxyType(
    {key: word for words in _OF.values() for key, word in words.items()}
)
"""Every number that any scheme has, by the word for it."""


def keys(name: str) -> tuple[str, ...]:
    """Return the words for the numbers of a scheme."""
    return tuple(_OF[name])


def near(word: str, known: Iterable[str]) -> str:
    """Say which of the known words was probably meant, as the end of a sentence."""
    listed = list(known)
    found = difflib.get_close_matches(word, listed, n=1, cutoff=0.6)
    return f"; did you mean {found[0]}?" if found else f"; known are {', '.join(sorted(listed))}"


def read(told: Mapping[str, Any]) -> Scaling:
    """Make the scheme that a mapping names.

    Parameters
    ----------
    told : mapping
        `rope_type`, one of `SCHEMES`, and the numbers of that scheme; None is as if not said. A
        scheme that depends on the length of a sequence is that of the original length where no
        `length` is said.

    Raises
    ------
    ConfigError
        If the scheme or a key is not known, a number is missing, or one is impossible.
    """
    name = told.get(_TYPE)
    if name not in _OF:
        raise ConfigError(f"{_TYPE} must be one of {', '.join(_OF)}; got {name!r}")
    words, given = _OF[name], {key: one for key, one in told.items() if one is not None}
    for key in given.keys() - {_TYPE, *words}:
        raise ConfigError(f"{key!r} is no number of {name}{near(key, words)}")
    if "length" in words:
        given.setdefault("length", given.get("original_max_position_embeddings"))
    numbers = {word.field: _number(given[key]) for key, word in words.items() if key in given}
    for one in dataclasses.fields(SCHEMES[name]):
        if one.default is dataclasses.MISSING and one.name not in numbers:
            raise ConfigError(f"{name} needs {_KEYS.get(one.name, one.name)}")
    try:
        make: Callable[..., Scaling] = SCHEMES[name]
        return make(**numbers)
    except ArgumentError as problem:
        key = _KEYS.get(problem.argument, problem.argument)
        said = str(problem).replace(problem.argument, key, 1)
        raise ConfigError(f"of {name}: {said}") from None


def _number(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def say(scheme: Scaling) -> dict[str, Any]:
    """Return the mapping that `read` makes the scheme of, as plain JSON values."""
    told: dict[str, Any] = {_TYPE: scheme.name}
    for key, word in _OF[scheme.name].items():
        value = getattr(scheme, word.field)
        if value is not None:
            told[key] = list(value) if word.of is tuple else value
    return told
