"""A bounded store of tables that are dear to make and never change."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Cache"]

T = TypeVar("T")


class Cache(Generic[T]):
    """Values by key, the least recently used of them forgotten once they hold too many bytes.

    Threads may share it. Two that miss the same key at once both make the value; as a value
    depends on its key alone, it does not matter whose is kept.

    Parameters
    ----------
    limit : int
        Bytes that all kept values may hold together; a larger value is made and not kept.
    size : callable
        The bytes of a value.
    """

    def __init__(self, limit: int, size: Callable[[T], int]) -> None:
        self._limit = limit
        self._size = size
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._held = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of `key`, made by `make` if it is not kept.

        Parameters
        ----------
        key : hashable
            All that the value depends on.
        make : callable
            Makes the value; runs without the lock.

        Returns
        -------
        T
            The value, shared by all who ask: not to be written to.
        """
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        value = make()
        with self._lock:
            self._forget(key)
            self._kept[key] = value
            self._held += self._size(value)
            while self._held > self._limit:
                self._forget(next(iter(self._kept)))
        return value

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._held = 0

    @property
    def held(self) -> int:
        """Bytes held at present."""
        return self._held

    def _forget(self, key: Hashable) -> None:
        value = self._kept.pop(key, None)
        if value is not None:
            self._held -= self._size(value)
