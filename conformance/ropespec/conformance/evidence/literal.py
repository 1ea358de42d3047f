"""Arrays as Python source: literal while short, a recipe where one says the same."""

import base64
import zlib
from typing import Any

import numpy as np

__all__ = ["TOO_LONG", "array_source", "holds_bfloat16"]

LISTED = 64
PACKED_BYTES = 4096
TOO_LONG = "of the failing case is too long to print; random values of its shape instead."
"""How a script admits that its values are others."""


def array_source(name: str, array: np.ndarray[Any, Any]) -> list[str]:
    """Write the statements that build an array under a name with NumPy alone.

    Parameters
    ----------
    name : str
        The variable.
    array : ndarray
        Any numeric or boolean array. bfloat16, which NumPy alone does not have, is written as
        float32 of the same values.

    Returns
    -------
    list of str
        One or two lines. An array too long to print is replaced by random values of its shape,
        and a comment says so.
    """
    if holds_bfloat16(array):
        array = array.astype(np.float32)
    dtype = f"np.{'bool_' if array.dtype == np.bool_ else array.dtype.name}"
    if array.size == 0:
        return [f"{name} = np.zeros({array.shape}, dtype={dtype})"]
    if array.size <= LISTED:
        return [f"{name} = np.array({_nested(array)}, dtype={dtype})"]
    if array.dtype.kind in "iu":
        return [f"{name} = {_integers(array, dtype)}"]
    # -0.0 is not written by np.full(0.0) nor kept by a list of non-zeros.
    signed = array.dtype.kind != "b" and bool(np.signbit(array.real).any())
    if not signed and (array == array.flat[0]).all():
        return [f"{name} = np.full({array.shape}, {_scalar(array.flat[0])}, dtype={dtype})"]
    if not signed and np.count_nonzero(array) <= LISTED // 4:
        where = tuple(index.tolist() for index in np.nonzero(array))
        values = _nested(array[np.nonzero(array)])
        return [f"{name} = np.zeros({array.shape}, dtype={dtype})", f"{name}[{where}] = {values}"]
    return _packed(name, array, dtype)


def holds_bfloat16(array: np.ndarray[Any, Any]) -> bool:
    """Whether the dtype is bfloat16 of ml_dtypes."""
    return str(array.dtype) == "bfloat16"


def _packed(name: str, array: np.ndarray[Any, Any], dtype: str) -> list[str]:
    data = zlib.compress(np.ascontiguousarray(array).tobytes(), 9)
    if len(data) <= PACKED_BYTES:
        text = base64.b85encode(data).decode("ascii")
        return [
            "import base64, zlib",
            f"{name} = zlib.decompress(base64.b85decode({text!r}))",
            f"{name} = np.frombuffer({name}, dtype={dtype}).reshape({array.shape}).copy()",
        ]
    return [
        f"# {name} {TOO_LONG}",
        f"{name} = np.random.default_rng(0).standard_normal({array.shape}).astype({dtype})",
    ]


def _integers(array: np.ndarray[Any, Any], dtype: str) -> str:
    rows = array.reshape(-1, array.shape[-1])
    first = rows[0]
    if (array == first[0]).all():
        return f"np.full({array.shape}, {int(first[0])}, dtype={dtype})"
    if (np.diff(first) == 1).all() and (rows == first).all():
        row = f"np.arange({int(first[0])}, {int(first[0]) + len(first)}, dtype={dtype})"
        return row if array.ndim == 1 else f"np.tile({row}, {(*array.shape[:-1], 1)})"
    return f"np.array({_nested(array)}, dtype={dtype})"


def _nested(array: np.ndarray[Any, Any]) -> str:
    if array.ndim == 0:
        return _scalar(array[()])
    return f"[{', '.join(_nested(np.asarray(item)) for item in array)}]"


def _scalar(value: Any) -> str:  # noqa: ANN401  # any NumPy scalar
    if isinstance(value, (np.bool_, np.integer)):
        return repr(value.item())
    if isinstance(value, np.complexfloating):
        return f"complex({_scalar(value.real)}, {_scalar(value.imag)})"
    if not np.isfinite(value):
        sign = "-" if np.signbit(value) and not np.isnan(value) else ""
        return f"{sign}np.{'nan' if np.isnan(value) else 'inf'}"
    # The shortest text that reads back as this value in its own dtype.
    return str(value)
