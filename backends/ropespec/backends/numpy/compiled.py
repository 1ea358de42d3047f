"""The sparse form by the kernel for CPUs, which sees arrays by their addresses and strides.

What follows from dtypes, shapes, strides and options is found out once for all calls that look
alike: a small rotation takes no longer than to find it out.
"""

import contextlib
import ctypes
import functools
import os
import sys
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ropespec.backends.cpu.machine import is_able
from ropespec.backends.cpu.plan import Given, Plan, plan_of
from ropespec.backends.cpu.rotate import Turns, rotate, turns_of
from ropespec.backends.cpu.threads import Team
from ropespec.backends.glance import is_plainly_apart
from ropespec.backends.numpy.arguments import check_call, check_cos_sin
from ropespec.backends.numpy.arrays import Array
from ropespec.spec.errors import ArgumentError

__all__ = ["turn_at_once"]

HEAD = object.__basicsize__
"""Bytes of an array before the address of its elements, which comes first (`PyArrayObject`)."""

Form: TypeAlias = tuple[tuple[int, ...], np.dtype[Any], tuple[int, ...]]
"""Shape, dtype and strides."""

Span: TypeAlias = tuple[int, int]
"""Bytes from the first element to the lowest byte, and to the one after the highest."""

_pointer = ctypes.c_size_t.from_address


class Look(NamedTuple):
    """What is the same for all calls that look alike.

    Attributes
    ----------
    plan : Plan
        How the rotation is cut.
    turns : Turns or None
        What positions are multiplied by.
    is_apart : bool
        Whether all elements of `out` are plainly apart from each other.
    out, x, given, sin : Span
        Of the arrays.
    """

    plan: Plan
    turns: Turns | None
    is_apart: bool
    out: Span
    x: Span
    given: Span
    sin: Span


def turn_at_once(
    x: object,
    given: object,
    other: object,
    *,
    interleaved: object,
    out: object = None,
    is_checked: bool = False,
) -> Array | None:
    """Turn arguments of which nothing may be known yet, if they are plainly right.

    Parameters
    ----------
    x : ndarray
        What is turned.
    given : ndarray
        Positions of int64, or cos.
    other : tuple or ndarray
        The base and `rotary_dim`, or sin.
    interleaved : bool
        The layout.
    out : ndarray, optional
        Where to write.
    is_checked : bool
        Whether it is known that `out` may be written to.

    Returns
    -------
    ndarray or None
        `out`, or new memory; None, and nothing is done, if there is no kernel or any doubt.
    """
    if not (isinstance(x, np.ndarray) and isinstance(given, np.ndarray) and is_able()):
        return None
    sin, base, dim = None, 0.0, None
    if isinstance(other, tuple):
        base, dim = other
    elif isinstance(other, np.ndarray):
        sin = other
    else:
        return None
    if out is None:
        target = np.empty(x.shape, x.dtype)
    elif isinstance(out, np.ndarray) and out.flags.writeable:
        target = out
    else:
        return None
    try:
        forms = _form(x), _form(target), _form(given), None if sin is None else _form(sin)
        look = _look(*forms, base, dim, interleaved, out is not None)
    except TypeError:  # an option that cannot be looked up
        return None
    if look is None:
        return None
    source, start, first = _address(x), _address(target), _address(given)
    second = 0 if sin is None else _address(sin)
    if out is not None and not is_checked:
        is_itself = out is x or (source == start and x.strides == target.strides)
        if not look.is_apart or _reaches(look, start, 0 if is_itself else source, first, second):
            return None
    rotate(look.plan, source, start, first, look.turns or second, _team)
    return target


def _reaches(look: Look, out: int, x: int, given: int, sin: int) -> bool:
    """Tell whether `out` may have memory of an argument; an address of 0 is of none."""
    low, high = out + look.out[0], out + look.out[1]
    return (
        (low < given + look.given[1] and given + look.given[0] < high)
        or (x > 0 and low < x + look.x[1] and x + look.x[0] < high)
        or (sin > 0 and low < sin + look.sin[1] and sin + look.sin[0] < high)
    )


# 1 and True are equal, but only one of them is a flag: typed.
@functools.lru_cache(maxsize=1024, typed=True)
def _look(
    x: Form,
    out: Form,
    given: Form,
    sin: Form | None,
    base: float,
    rotary_dim: int | None,
    interleaved: bool,
    reused: bool,
) -> Look | None:
    """Return what is the same for all such calls, or None where the kernel cannot take them."""
    (shape, dtype, strides), (rows, kind, steps) = x, given
    if out[:2] != x[:2] or not (dtype.isnative and kind.isnative):
        return None
    if sin is not None and not sin[1].isnative:  # which no check asks for
        return None
    turns = None
    try:
        if sin is not None:
            interleaved, pairs = check_cos_sin(*x[:2], *given[:2], *sin[:2], interleaved)
            look: Given = kind.name, rows[:-1], steps, sin[2]
        elif kind == np.int64:
            interleaved, base, dim = check_call(*x[:2], *given[:2], interleaved, base, rotary_dim)
            turns = turns_of(dim, base)
            pairs, look = turns.pairs, ("int64", rows, steps, ())
        else:
            return None
    except ArgumentError:
        return None
    plan = plan_of(dtype.name, shape, strides, out[2], look, 1, pairs, interleaved, False, reused)
    spans = _span(out), _span(x), _span(given), (0, 0) if sin is None else _span(sin)
    return Look(plan, turns, is_plainly_apart(out[0], out[2]), *spans)


def _form(array: Array) -> Form:
    return array.shape, array.dtype, array.strides


def _span(form: Form) -> Span:
    shape, dtype, strides = form
    if 0 in shape:
        return 0, 0
    ends = [(n - 1) * step for n, step in zip(shape, strides, strict=True)]
    return sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends) + dtype.itemsize


def _address(array: Array) -> int:
    """Return where the first element lies.

    `__array_interface__` tells it as well, and takes as long as all else here together.
    """
    address: int = _pointer(id(array) + HEAD).value
    return address


def _team() -> Team:
    """Return as many threads as Numba is set to, or would be, without making it start any."""
    started = sys.modules.get("numba.np.ufunc.parallel")
    if started is not None and started._is_initialized:  # noqa: SLF001  # asking would start them
        return Team(started.get_num_threads())
    numba = sys.modules.get("numba")
    return Team(_threads() if numba is None else numba.config.NUMBA_NUM_THREADS)


@functools.cache
def _threads() -> int:
    """Return how many threads Numba would start, from what it would read."""
    told = os.environ.get("NUMBA_NUM_THREADS", "")
    if told.isdecimal() and int(told) > 0:
        return int(told)
    with contextlib.suppress(AttributeError):  # not everywhere
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
