"""Whether a result may be written to an array (ROT-23)."""

import numpy as np

from ropespec.backends.numpy.arrays import Array, check_array
from ropespec.backends.overlap import overlaps_itself, same, share
from ropespec.spec.arguments import check_out, facts, refuse_overlap

__all__ = ["check_target"]


def check_target(out: object, x: Array, *others: Array) -> Array:
    """Require `out` to be `x` itself, or writable and apart from itself and all arguments.

    Parameters
    ----------
    out : ndarray
        What is to be written.
    x : ndarray
        What is turned.
    *others : ndarray
        Positions or tables.

    Returns
    -------
    ndarray
        `out`.

    Raises
    ------
    ArgumentTypeError
        If it is no array of NumPy, or of another dtype.
    ArgumentValueError
        If it has another shape, cannot be written, or overlaps.
    """
    check_array("out", out)
    assert isinstance(out, np.ndarray)
    if out.dtype != x.dtype or out.shape != x.shape:
        check_out(out, facts(x))
    if (
        not out.flags.writeable
        or (not out.flags.c_contiguous and overlaps_itself(out))
        or (out is not x and share(out, x) and not same(out, x))
        or any(share(out, other) for other in others)
    ):
        refuse_overlap(out)
    return out
