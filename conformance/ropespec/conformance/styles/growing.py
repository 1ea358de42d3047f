"""Instances with tables that grow: made for their own length first, as by most who use them."""

import contextlib
from collections.abc import Callable
from typing import Any

from ropespec.conformance.styles.arrays import Array, Result, Space
from ropespec.conformance.styles.base import Setting
from ropespec.conformance.styles.made import Maker

__all__ = ["Growing"]


_AGAIN = 2
"""How many times farther it is tried again: a table that is doubled has grown by then."""


class Growing:
    """Calls an instance for its own length as long as that is enough or grows, else a whole one.

    An instance made for all positions that are claimed never grows, so what goes wrong there would
    not be seen. What does not grow, raises or clamps is no mistake: it was made for less. It is
    tried again at positions twice as large, for it may grow a call too late.

    Parameters
    ----------
    maker : Maker
        What makes the instances.
    """

    def __init__(self, maker: Maker) -> None:
        self._maker = maker
        self._grown: set[object] = set()
        self._ended: dict[object, int] = {}

    @property
    def told(self) -> str:
        """How instances are made, in words."""
        own = ", and for its own length where it grows or that is enough"
        return f"made as {self._maker.told}{own if self._maker.own_length else ''}"

    def call(
        self,
        setting: Setting,
        x: Array,
        positions: Array,
        use: Callable[[Any], Result],
        *,
        interleaved: bool,
    ) -> Result:
        """Return what `use` returns of the instance for x and positions."""
        sizes, own = (setting, x.shape[-1], x.dtype), self._maker.own_length
        key = (*sizes[1:], interleaved)
        most = _largest(setting.space, positions)
        if own and most is not None and most >= _AGAIN * self._ended.get(key, 0):
            short = self._maker.made(*sizes, interleaved=interleaved, whole=False)
            before = _shapes(short)
            try:
                y = use(short)
            except Exception:
                if most < own:
                    raise
            else:
                if _shapes(short) != before:
                    self._grown.add(key)
                    self._ended.pop(key, None)
                if most < own or key in self._grown:
                    return y
            self._ended[key] = most
        return use(self._maker.made(*sizes, interleaved=interleaved))


def _largest(space: Space, positions: Array) -> int | None:
    """Return the largest position; None of what is traced, which has no values."""
    with contextlib.suppress(Exception):  # each framework has an error of its own
        return int(space.row(positions).max(initial=0))
    return None


def _shapes(module: object) -> list[object]:
    """Return the shapes of the arrays that an instance holds."""
    held = dict(getattr(module, "__dict__", {}))
    buffers = held.get("_buffers")
    values = [*held.values(), *(buffers.values() if isinstance(buffers, dict) else ())]
    inner = [one for value in values if isinstance(value, list | tuple) for one in value]
    return [tuple(one.shape) for one in (*values, *inner) if hasattr(one, "shape")]
