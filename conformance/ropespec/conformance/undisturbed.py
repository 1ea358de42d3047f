"""Hypothesis as a check needs it: it writes nothing, and draws by the seed alone."""

import functools
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import configuration, control, core
from hypothesis.internal.conjecture import providers

__all__ = ["undisturbed"]

_HOME = "__hypothesis_home_directory"
_NUMBERS, _KEPT = "_get_local_constants", "CONSTANTS_CACHE"
_NO_NUMBERS = "Constants"
_SIZE = 1024
_SEEDED = ((core, "deterministic_PRNG"), (control, "deprecate_random_in_strategy"))
_Values = Mapping[tuple[ModuleType, str], Any]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Have Hypothesis draw the same everywhere, and leave no file behind.

    Without a database, too, it writes into the current folder: it is sent where there is no place.
    And it draws numbers that stand in the modules which happen to be loaded, those of a user or of
    a checkout of ours. For each case it saves, seeds and restores the generators of `random` and
    NumPy that all share, which takes longer than to draw: no case of ours asks them for a number.
    What the user has set is there again afterwards.
    """
    home = getattr(configuration, _HOME, None)  # there is no getter
    theirs = {(module, name): getattr(module, name) for module, name in _ours()}
    configuration.set_hypothesis_home_dir(Path(os.devnull) / "nothing")
    _put(_ours())
    try:
        yield
    finally:
        _put(theirs)
        configuration.set_hypothesis_home_dir(home)


@functools.cache
def _ours() -> _Values:
    """Return what has no numbers of modules, and seeds nothing; not what a version lacks."""
    seeded = {(module, name): _left_alone for module, name in _SEEDED if hasattr(module, name)}
    known = vars(providers)
    if not {_NUMBERS, _KEPT, _NO_NUMBERS} <= known.keys():
        return seeded
    kept = type(known[_KEPT])(_SIZE)
    return seeded | {(providers, _NUMBERS): known[_NO_NUMBERS], (providers, _KEPT): kept}


def _left_alone(*_: object) -> AbstractContextManager[None]:
    return nullcontext()


def _put(values: _Values) -> None:
    for (module, name), value in values.items():
        setattr(module, name, value)
