"""Whether a result may be written to an array (ROT-23)."""

from types import SimpleNamespace

import cupy
import numpy as np

from ropespec.backends.cupy.arrays import Array, check_array
from ropespec.backends.overlap import overlaps_itself, same, share
from ropespec.spec.arguments import ArrayFacts, check_out, refuse_overlap
from ropespec.spec.errors import ArgumentValueError

__all__ = ["check_target"]


def check_target(out: object, found: ArrayFacts, x: Array, *others: Array) -> None:
    """Require `out` to be `x` itself, or apart from itself and all arguments, on the same device.

    Parameters
    ----------
    out : cupy.ndarray
        What is to be written.
    found : ArrayFacts
        Shape and dtype of `x`.
    x : cupy.ndarray
        What is turned.
    *others : cupy.ndarray or ndarray
        Positions or tables.

    Raises
    ------
    ArgumentTypeError
        If it is no array of CuPy, or of another dtype.
    ArgumentValueError
        If it has another shape, lies on another device, or overlaps.
    """
    check_array("out", out)
    check_out(out, found)
    to, source = _addresses(out), _addresses(x)
    if getattr(out, "device", None) != x.device:
        raise ArgumentValueError("out", f"on the device of x, {x.device}", out)
    if (
        overlaps_itself(to)
        or (not same(to, source) and share(to, source))
        or any(share(to, _addresses(other)) for other in others)
    ):
        refuse_overlap(out)


def _addresses(array: Array) -> Array:
    """Return a NumPy array at the addresses of a CuPy array; its elements must not be read."""
    if not isinstance(array, cupy.ndarray):
        return array
    interface = {
        "version": 3,
        "shape": array.shape,
        "strides": array.strides,
        "typestr": f"|V{array.itemsize}",
        "data": (array.data.ptr, False),
    }
    return np.asarray(SimpleNamespace(__array_interface__=interface))
