"""Hypothesis as a check needs it: it writes nothing, and draws by the seed alone."""

import functools
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import configuration
from hypothesis.internal.conjecture import providers

__all__ = ["undisturbed"]

_HOME = "__hypothesis_home_directory"
_NUMBERS, _KEPT = "_get_local_constants", "CONSTANTS_CACHE"
_NO_NUMBERS = "Constants"
_SIZE = 1024


@contextmanager
def undisturbed() -> Iterator[None]:
    """Have Hypothesis draw the same everywhere, and leave no file behind.

    Without a database, too, it writes into the current folder: it is sent where there is no place.
    And it draws numbers that stand in the modules which happen to be loaded, those of a user or of
    a checkout of ours. What the user has set is there again afterwards.
    """
    home = getattr(configuration, _HOME, None)  # there is no getter
    theirs = {name: getattr(providers, name) for name in _ours()}
    configuration.set_hypothesis_home_dir(Path(os.devnull) / "nothing")
    _put(_ours())
    try:
        yield
    finally:
        _put(theirs)
        configuration.set_hypothesis_home_dir(home)


@functools.cache
def _ours() -> Mapping[str, Any]:
    """Return what has no numbers of modules; nothing for a version that does not look there."""
    known = vars(providers)
    if not {_NUMBERS, _KEPT, _NO_NUMBERS} <= known.keys():
        return {}
    return {_NUMBERS: known[_NO_NUMBERS], _KEPT: type(known[_KEPT])(_SIZE)}


def _put(values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(providers, name, value)
