"""Source that makes a view: the buffer it is cut from, and the cut."""

import numpy as np

from ropespec.conformance.subject.views import GAPS

__all__ = ["viewed"]


def viewed(name: str, array: np.ndarray, view: bool | str) -> tuple[str, str] | None:
    """Write the buffer of a view and what cuts the view out of it; None if a copy must do.

    Parameters
    ----------
    name : str
        An expression for the NumPy array.
    array : ndarray
        The array.
    view : bool or str
        A view of `ropespec.conformance.subject.views`; True for that with gaps.
    """
    word, *axes = (GAPS if view is True else str(view or "whole")).split()
    axis = int(axes[0]) if axes else 0
    before = ":, " * axis
    match word:
        case "gaps":
            swap = ".swapaxes(-3, -2)" if array.ndim >= 3 else ""
            return f"np.repeat({name}{swap}, 2, axis=-1)", f"[..., ::2]{swap}"
        case "offset":
            return f"np.append(np.zeros(2, {name}.dtype), {name})", f"[2:].reshape({array.shape})"
        case "swap":
            cut = f".swapaxes({', '.join(axes)})"
            return f"{name}{cut}", cut
        case "step":
            return f"np.repeat({name}, 2, axis={axis})", f"[{before}::2]"
        case "wide":
            widths = [(2, 4) if n == axis else (0, 0) for n in range(array.ndim)]
            return f"np.pad({name}, {widths})", f"[{before}2:{2 + array.shape[axis]}]"
        case "back":
            return f"np.flip({name}, {axis})", f"[{before}::-1]"
    return None
