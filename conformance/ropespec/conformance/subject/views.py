"""Views: arrays that do not lie in memory as their shape says.

A view is named by one word, and where it needs one by the number of an axis. What lies in the gaps
of its buffer is NaN, or 1 between integers, so that whoever ignores strides meets it.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import full  # bound before a subject can put others in their place

if TYPE_CHECKING:  # a framework makes its arguments with views
    from ropespec.conformance.subject.frameworks.base import Array, Arrays

__all__ = ["GAPS", "READ_ONLY", "carve", "same_along", "spread"]

GAPS = "gaps"
"""Every other component of a buffer in which the two axes before are swapped."""

READ_ONLY = "read-only"
"""Memory that cannot be written to."""

_BEFORE, _MARGIN = 2, 6  # whole pairs, so that pairs can be read as complex numbers


def _named(view: str) -> tuple[str, list[int]]:
    word, *axes = view.split()
    return word, [int(axis) for axis in axes]


def _gap(values: np.ndarray) -> float:
    return 1.0 if values.dtype.kind in "iu" else np.nan


def _within(values: np.ndarray, axis: int, step: int) -> np.ndarray:
    """Return a buffer that is longer along an axis, and holds the values from the third on."""
    size = values.shape[axis]
    longer = [*values.shape]
    longer[axis] = step * size if step > 1 else size + _MARGIN
    buffer = full(longer, _gap(values), values.dtype)
    buffer[_cut(axis, size, step)] = values
    return buffer


def _cut(axis: int, size: int, step: int) -> tuple[Any, ...]:
    chosen = slice(None, None, step) if step > 1 else slice(_BEFORE, _BEFORE + size)
    return (*(slice(None),) * axis, chosen)


def _swapped(values: "Array") -> "Array":
    return values.swapaxes(-3, -2) if values.ndim >= 3 else values


def same_along(values: np.ndarray, view: str) -> np.ndarray:
    """Return values that a view can have: one of stride 0 is the same all along its axis."""
    word, axes = _named(view)
    if word != "still" or not values.shape[axes[0]]:
        return values
    return np.ascontiguousarray(np.broadcast_to(values.take([0], axis=axes[0]), values.shape))


def spread(values: np.ndarray, view: str) -> np.ndarray:
    """Return a buffer of which `carve` makes a view with these values.

    Parameters
    ----------
    values : ndarray
        What the view holds.
    view : str
        `gaps`, `read-only`, `offset`: from the third element of a buffer on; `swap I J`: two axes
        in the other order; `step I` and `wide I`: every other, or some, along an axis that is
        longer; `still I`: of stride 0; `back I`: of a negative stride.
    """
    word, axes = _named(view)
    match word:
        case "gaps":
            return _within(_swapped(values), values.ndim - 1, 2)
        case "offset":
            return np.concatenate([full(_BEFORE, _gap(values), values.dtype), values.reshape(-1)])
        case "swap":
            return np.ascontiguousarray(values.swapaxes(*axes))
        case "step" | "wide":
            return _within(values, axes[0], 2 if word == "step" else 1)
        case "still":
            return np.ascontiguousarray(values.take([0], axis=axes[0]))
        case "back":
            return np.ascontiguousarray(np.flip(values, axes[0]))
        case "read-only":
            return values
    raise ValueError(f"no view is called {view!r}")


def carve(framework: "Arrays", buffer: "Array", shape: tuple[int, ...], view: str) -> "Array":
    """Return the view of the buffer that `spread` made for values of that shape."""
    word, axes = _named(view)
    match word:
        case "gaps":
            return _swapped(buffer[..., ::2])
        case "offset":
            return buffer[_BEFORE:].reshape(shape)
        case "swap":
            return buffer.swapaxes(*axes)
        case "step" | "wide":
            return buffer[_cut(axes[0], shape[axes[0]], 2 if word == "step" else 1)]
        case "still":
            return framework.repeated(buffer, shape)
        case "back":
            return buffer[(*(slice(None),) * axes[0], slice(None, None, -1))]
    return framework.locked(buffer)
