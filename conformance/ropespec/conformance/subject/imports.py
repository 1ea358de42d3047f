"""What the calls of a worker import, told to the copy from which fresh workers are forked.

Many packages import their parts when they are first used, which takes seconds. The copy imports
them itself, once, so that not each fresh worker has to; it calls nothing of the subject. Runs
inside the worker.
"""

import contextlib
import gc
import importlib
import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["Imports", "seldom_collecting", "settle"]

_PACKET = 2**18  # bytes: the system takes no longer ones
_SELDOM = 10**5  # objects: an import of a large framework makes five times as many


class Imports:
    """The modules that are imported from a moment on, and a line over which they are told."""

    def __init__(self) -> None:
        self._here, self._there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self._here, self._there):
            end.setblocking(False)
        self._after: Any = None
        self._given_up = False
        self.begin()

    def begin(self) -> None:
        """Take what has been imported so far for known."""
        self._known = frozenset(sys.modules)
        self._count = len(self._known)

    def tell(self) -> None:
        """Tell which modules have come, if any, and what the environment and the path are now."""
        if len(sys.modules) != self._count:
            self._count = len(sys.modules)
            # Nobody listens, there is no room, or the path is not of text: this only saves time.
            with contextlib.suppress(OSError, TypeError, ValueError):
                self._here.send(json.dumps([list(self._new()), _around()]).encode())

    def told(self) -> list[str]:
        """Return the names that have come and are not imported here, without waiting."""
        names: list[str] = []
        with contextlib.suppress(OSError, ValueError):  # no more, or what the subject sent
            while packet := self._there.recv(_PACKET):
                come, self._after = json.loads(packet)
                names += come
        if self._given_up:
            return []
        return [name for name in dict.fromkeys(names) if name not in sys.modules]

    def give_up(self) -> None:
        """Hear no more of it: what was told cannot be imported here."""
        self._given_up = True

    def take(self, names: list[str]) -> bool:
        """Import modules; whether the environment and the path are what they were told to be.

        Otherwise the subject has changed them, and what it imported then may be another thing.

        Raises
        ------
        BaseException
            Whatever an import raises.
        """
        for name in names:
            importlib.import_module(name)
        settle()
        return bool(_around() == self._after)

    def _new(self) -> Iterator[str]:
        folder = str(Path.cwd()) + os.sep
        for name, module in list(sys.modules.items()):
            if name not in self._known and _installed(name, module, folder):
                yield name


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Look for garbage a hundred times less often: modules that are imported are none.

    A subject that says how often, has it as it says.
    """
    usual = gc.get_threshold()
    ours = (_SELDOM, *usual[1:])
    gc.set_threshold(*ours)
    try:
        yield
    finally:
        if gc.get_threshold() == ours:
            gc.set_threshold(*usual)


def settle() -> None:
    """Prepare for a fork of what has been imported.

    What is there stays: to look through it again and again takes seconds. Numba reads its tables
    of functions when it first compiles or loads one, which takes a quarter of a second.
    """
    if "numba" in sys.modules:
        with contextlib.suppress(Exception):  # another version may have them elsewhere
            target = importlib.import_module("numba.core.registry").cpu_target
            target.typing_context.refresh()
            target.target_context.refresh()
    gc.freeze()


def _installed(name: str, module: object, folder: str) -> bool:
    """Whether a module comes from its own file, which is none of the subject's folder."""
    spec = vars(module).get("__spec__") if isinstance(module, ModuleType) else None
    origin = getattr(spec, "origin", None)
    return (
        getattr(spec, "name", None) == name
        and isinstance(origin, str)
        and not origin.startswith(folder)
    )


def _around() -> list[Any]:
    return [dict(os.environ), sys.path]
