"""Checks of arguments, written once for every framework.

They look only at `shape` and `dtype`, never at the elements of an array, so they cost the same for
any size and work on arrays that are being traced.
"""

import math
import numbers
import operator
from typing import Any, NamedTuple, NoReturn, cast

import numpy as np

from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError, dtype_name

__all__ = [
    "FLOAT_DTYPES",
    "POSITION_DTYPES",
    "ArrayFacts",
    "check_array_type",
    "check_attention",
    "check_base",
    "check_complex",
    "check_dim",
    "check_flag",
    "check_float_array",
    "check_inv_freq",
    "check_mask",
    "check_offset",
    "check_out",
    "check_pair",
    "check_positions",
    "check_positions_fit",
    "check_rotary_dim",
    "check_same_dtype",
    "check_size",
    "check_tables",
    "check_weight",
    "facts",
    "refuse_overlap",
]

FLOAT_DTYPES = ("float16", "bfloat16", "float32", "float64")
POSITION_DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")


class ArrayFacts(NamedTuple):
    """What a check may know of an array.

    Attributes
    ----------
    shape : tuple of int
        The shape.
    dtype : str
        The bare name of the dtype, such as `float32`, in every framework.
    """

    shape: tuple[int, ...]
    dtype: str

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)


def facts(value: Any) -> ArrayFacts:  # noqa: ANN401  # an array of any framework
    """Read shape and dtype name of an array of any framework.

    Parameters
    ----------
    value : array
        Anything with `shape` and `dtype`.

    Returns
    -------
    ArrayFacts
        Shape and dtype name.
    """
    return ArrayFacts(tuple(value.shape), dtype_name(value.dtype))


def check_array_type(name: str, value: object, kind: type, kind_name: str) -> None:
    """Require `value` to be an array of the framework, such as a `torch.Tensor`.

    Raises
    ------
    ArgumentTypeError
        If it is anything else.
    """
    if not isinstance(value, kind):
        raise ArgumentTypeError(name, f"a {kind_name}", value)


def check_dim(dim: object, name: str = "dim") -> int:
    """Require an even integer of at least 2: pairs need two components (FREQ-1).

    Returns
    -------
    int
        `dim` as a Python integer.

    Raises
    ------
    ArgumentTypeError
        If it is not an integer.
    ArgumentValueError
        If it is odd or below 2.
    """
    must = "an even integer of at least 2"
    value = _integer(name, must, dim)
    if value < 2 or value % 2:
        raise ArgumentValueError(name, must, dim)
    return value


def check_base(base: object, name: str = "base") -> float:
    """Require a finite real number above 1 (FREQ-2); document 004 names it `theta` (PUB-3).

    Returns
    -------
    float
        `base` as a float.

    Raises
    ------
    ArgumentTypeError
        If it is not a real number.
    ArgumentValueError
        If it is not finite or not above 1.
    """
    must = "a finite number above 1"
    if isinstance(base, bool) or not isinstance(base, (numbers.Real, np.integer, np.floating)):
        raise ArgumentTypeError(name, must, base)
    try:
        value = float(base)
    except OverflowError:
        raise ArgumentValueError(name, must, base) from None
    if not (math.isfinite(value) and value > 1.0):
        raise ArgumentValueError(name, must, base)
    return value


def check_flag(name: str, value: object) -> bool:
    """Require True or False, as for `interleaved`.

    Raises
    ------
    ArgumentTypeError
        If it is anything else, 0 and 1 included.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(name, "True or False", value)
    return bool(value)


def check_float_array(name: str, value: object, *, ndim: int) -> ArrayFacts:
    """Require a real floating-point array with at least `ndim` axes.

    Returns
    -------
    ArrayFacts
        Its shape and dtype.

    Raises
    ------
    ArgumentTypeError
        If the dtype is not one of `FLOAT_DTYPES`.
    ArgumentValueError
        If it has fewer axes.
    """
    found = facts(value)
    if found.dtype not in FLOAT_DTYPES:
        raise ArgumentTypeError(name, f"of dtype {_choice(FLOAT_DTYPES)}", value)
    if found.ndim < ndim:
        raise ArgumentValueError(name, f"an array of at least {ndim} axes", value)
    return found


def check_inv_freq(value: object) -> ArrayFacts:
    """Require a vector of frequencies: a float array with exactly one axis (FREQ-7).

    Returns
    -------
    ArrayFacts
        Its shape and dtype.

    Raises
    ------
    ArgumentTypeError
        If the dtype is not one of `FLOAT_DTYPES`.
    ArgumentValueError
        If it has no axis or more than one.
    """
    found = check_float_array("inv_freq", value, ndim=0)
    if found.ndim != 1:
        raise ArgumentValueError("inv_freq", "an array of one axis", value)
    return found


def check_positions(value: object, name: str = "positions") -> ArrayFacts:
    """Require an integer array (FREQ-6: integers of either sign).

    Returns
    -------
    ArrayFacts
        Its shape and dtype.

    Raises
    ------
    ArgumentTypeError
        If the dtype is not one of `POSITION_DTYPES`.
    """
    found = facts(value)
    if found.dtype not in POSITION_DTYPES:
        raise ArgumentTypeError(name, "integers that fit in int64", value)
    return found


def check_positions_fit(
    positions: ArrayFacts, rows: tuple[int, ...], name: str = "positions"
) -> None:
    """Require `positions` of shape (S,) or (..., S) for rows of shape (..., S).

    The last axis must be S itself: one position silently used for a whole sequence is a known
    defect, not a convenience.
    Leading axes broadcast against the batch axes, never the other way round.

    Parameters
    ----------
    positions : ArrayFacts
        What is passed.
    rows : tuple of int
        The shape of x up to and including the sequence axis.
    name : str
        The argument in messages.

    Raises
    ------
    ArgumentValueError
        If they do not fit.
    """
    *batch, length = rows
    lead = positions.shape[:-1]
    fits = positions.ndim >= 1 and positions.shape[-1] == length and len(lead) <= len(batch)
    if fits:
        fits = all(p in (1, b) for p, b in zip(lead[::-1], batch[::-1], strict=False))
    if not fits:
        must = f"of shape ({length},)" + (f" or {rows}" if batch else "")
        raise ArgumentValueError(name, must, _Shape(positions))


def check_offset(offset: ArrayFacts, rows: tuple[int, ...]) -> tuple[int, ...]:
    """Require offsets that broadcast against the leading axes of q and k (REL-5).

    Returns
    -------
    tuple of int
        The shape of the scores.

    Raises
    ------
    ArgumentValueError
        If they do not broadcast.
    """
    try:
        return np.broadcast_shapes(offset.shape, rows)
    except ValueError:
        must = f"broadcastable to the leading axes {rows} of q"
        raise ArgumentValueError("offset", must, _Shape(offset)) from None


def check_rotary_dim(rotary_dim: object, head_dim: int) -> int:
    """Resolve `rotary_dim`: None stands for `head_dim` (ROT-14).

    Returns
    -------
    int
        The number of leading components that turn.

    Raises
    ------
    ArgumentTypeError
        If it is not an integer.
    ArgumentValueError
        If it is odd, below 2 or above `head_dim`.
    """
    if rotary_dim is None:
        return check_dim(head_dim, "head_dim")
    value = check_dim(rotary_dim, "rotary_dim")
    if value > head_dim:
        raise ArgumentValueError("rotary_dim", f"at most head_dim = {head_dim}", rotary_dim)
    return value


def check_pair(name: str, value: ArrayFacts, other_name: str, other: ArrayFacts) -> None:
    """Require two arrays of one shape, such as q and k of a score.

    Raises
    ------
    ArgumentValueError
        If the shapes differ.
    """
    if value.shape != other.shape:
        must = f"of the shape of {other_name}, {other.shape}"
        raise ArgumentValueError(name, must, _Shape(value))


def check_same_dtype(name: str, value: ArrayFacts, other_name: str, other: ArrayFacts) -> None:
    """Require two arrays of one dtype: nothing is promoted silently.

    Raises
    ------
    ArgumentTypeError
        If the dtypes differ.
    """
    if value.dtype != other.dtype:
        raise ArgumentTypeError(name, f"of the dtype of {other_name}, {other.dtype}", _Shape(value))


def check_complex(name: str, value: object, *, ndim: int) -> ArrayFacts:
    """Require a complex array with at least `ndim` axes.

    Raises
    ------
    ArgumentTypeError
        If the dtype is not complex64 or complex128.
    ArgumentValueError
        If it has fewer axes.
    """
    found = facts(value)
    if found.dtype not in ("complex64", "complex128"):
        raise ArgumentTypeError(name, "of dtype complex64 or complex128", value)
    if found.ndim < ndim:
        raise ArgumentValueError(name, f"an array of at least {ndim} axes", value)
    return found


def check_weight(weight: object, x: ArrayFacts) -> ArrayFacts:
    """Require a projection weight of shape (H, D, d_in) for `x` of shape (..., S, d_in) (PROJ-1).

    Raises
    ------
    ArgumentTypeError
        If the dtype differs from that of `x`.
    ArgumentValueError
        If the shape does not fit.
    """
    found = check_float_array("weight", weight, ndim=1)
    if found.ndim != 3 or found.shape[-1] != x.shape[-1]:
        must = f"of shape (H, D, {x.shape[-1]}) to fit x of shape {x.shape}"
        raise ArgumentValueError("weight", must, weight)
    check_same_dtype("weight", found, "x", x)
    return found


def check_attention(q: ArrayFacts, k: ArrayFacts, v: ArrayFacts) -> None:
    """Require q (..., S, H, D), k (..., T, G, D) and v (..., T, G, E) with H a multiple of G.

    Raises
    ------
    ArgumentTypeError
        If the dtypes differ.
    ArgumentValueError
        If the shapes do not fit.
    """
    check_same_dtype("k", k, "q", q)
    check_same_dtype("v", v, "q", q)
    if k.shape[:-3] != q.shape[:-3] or k.shape[-1] != q.shape[-1]:
        raise ArgumentValueError(
            "k", f"of shape (..., T, G, D) to fit q of shape {q.shape}", _Shape(k)
        )
    if v.shape[:-1] != k.shape[:-1]:
        raise ArgumentValueError(
            "v", f"of shape (..., T, G, E) to fit k of shape {k.shape}", _Shape(v)
        )
    heads, groups = q.shape[-2], k.shape[-2]
    if (heads % groups if groups else heads) != 0:
        raise ArgumentValueError(
            "k", f"of a number of heads that divides the {heads} of q", _Shape(k)
        )


def check_mask(mask: object, scores: tuple[int, ...]) -> None:
    """Require a boolean mask that broadcasts to the scores (..., H, S, T); True may attend.

    Raises
    ------
    ArgumentTypeError
        If it is not boolean: 0 and 1, or additive masks, mean different things to different people.
    ArgumentValueError
        If it does not broadcast.
    """
    found = facts(mask)
    if found.dtype != "bool":
        raise ArgumentTypeError("mask", "of dtype bool, True where a query may attend", mask)
    fits = found.ndim <= len(scores) and all(
        m in (1, s) for m, s in zip(found.shape[::-1], scores[::-1], strict=False)
    )
    if not fits:
        raise ArgumentValueError("mask", f"broadcastable to the scores of shape {scores}", mask)


def check_size(name: str, value: object) -> int:
    """Require a length: an integer of at least 0 (PUB-1, PUB-3).

    Raises
    ------
    ArgumentTypeError
        If it is not an integer.
    ArgumentValueError
        If it is negative.
    """
    must = "an integer of at least 0"
    size = _integer(name, must, value)
    if size < 0:
        raise ArgumentValueError(name, must, value)
    return size


def check_tables(cos: object, sin: object, x: ArrayFacts) -> int:
    """Require tables of shape (S, r/2) or (..., S, r/2) for `x` of shape (..., S, H, D) (ROT-22).

    Leading axes broadcast as those of positions do.

    Returns
    -------
    int
        r, the number of leading components that turn.

    Raises
    ------
    ArgumentTypeError
        If one is no float array, or their dtypes differ.
    ArgumentValueError
        If their shapes differ, or do not fit `x`, or r is below 2 or above D.
    """
    found = check_float_array("cos", cos, ndim=1)
    other = check_float_array("sin", sin, ndim=1)
    check_same_dtype("sin", other, "cos", found)
    check_pair("sin", other, "cos", found)
    rows, (*lead, pairs) = x.shape[:-2], found.shape
    fits = 1 <= pairs <= x.shape[-1] // 2 and 1 <= len(lead) <= len(rows) and lead[-1] == rows[-1]
    if fits:
        fits = all(c in (1, b) for c, b in zip(lead[-2::-1], rows[-2::-1], strict=False))
    if not fits:
        axes = ", ".join(str(length) for length in rows)
        must = f"of shape ({rows[-1]}, n)" + (f" or ({axes}, n)" if len(rows) > 1 else "")
        must += f" with n from 1 to {x.shape[-1] // 2}"
        raise ArgumentValueError("cos", must, cos)
    return 2 * pairs


def check_out(out: object, x: ArrayFacts) -> None:
    """Require `out` of the shape and dtype of `x` (ROT-23).

    Raises
    ------
    ArgumentTypeError
        If the dtype differs.
    ArgumentValueError
        If the shape differs.
    """
    found = facts(out)
    check_same_dtype("out", found, "x", x)
    check_pair("out", found, "x", x)


def refuse_overlap(out: object) -> NoReturn:
    """Refuse an `out` that shares memory with an argument without being `x` itself (ROT-23).

    Raises
    ------
    ArgumentValueError
        Always: whether memory overlaps is for each framework to find out.
    """
    must = "x itself, or writable and free of overlap with itself and the arguments"
    raise ArgumentValueError("out", must, out)


class _Shape:
    """Stands for an array in an error message when only its facts are at hand."""

    def __init__(self, found: ArrayFacts) -> None:
        self.shape, self.dtype = found.shape, found.dtype


def _integer(name: str, must: str, value: object) -> int:
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(name, must, value)
    try:
        return operator.index(cast("Any", value))
    except TypeError:
        raise ArgumentTypeError(name, must, value) from None


def _choice(names: tuple[str, ...]) -> str:
    return ", ".join(names[:-1]) + " or " + names[-1]
