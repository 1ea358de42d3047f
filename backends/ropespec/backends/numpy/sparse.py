"""The sparse form, block by block, so that what is computed stays in the cache until stored."""

import math
from collections.abc import Callable, Iterator

import numpy as np

from ropespec.backends.numpy.arrays import Array, quiet
from ropespec.backends.numpy.plan import Plan
from ropespec.backends.numpy.tables import Tables, rows_at_once

__all__ = ["blocks", "turn", "turn_in_blocks"]

BLOCK = 2**15
"""Components in a block that needs memory of its own."""

Slices = tuple[slice, ...]


def blocks(shape: tuple[int, ...], limit: int) -> Iterator[Slices]:
    """Cut an array into slices of at most `limit` elements, or of one last axis."""
    if len(shape) == 1 or math.prod(shape) <= limit:
        yield ()
        return
    inner = math.prod(shape[1:])
    if inner <= limit:
        step = limit // inner
        yield from ((slice(i, i + step),) for i in range(0, shape[0], step))
        return
    for i in range(shape[0]):
        yield from ((slice(i, i + 1), *rest) for rest in blocks(shape[1:], limit))


def turn_in_blocks(x: Array, out: Array, plan: Plan, tables: Callable[[Slices], Tables]) -> None:
    """Turn the components of `x` that turn, with tables made for a few tokens at a time.

    Parameters
    ----------
    x : ndarray of float, shape (..., S, H, D)
        Any strides.
    out : ndarray, shape and dtype of `x`
        Written; `x` itself or apart from it.
    plan : Plan
        What to do.
    tables : callable
        Makes the factors of a slice of the tokens that have angles of their own.
    """
    if x.size == 0:
        return
    dim, angles = plan.rotary_dim, plan.angles
    if dim != x.shape[-1]:
        if out is not x:  # the other components pass through bit for bit (ROT-14)
            bits = f"u{x.itemsize}"
            np.copyto(out[..., dim:].view(bits), x[..., dim:].view(bits))
        x, out = x[..., :dim], out[..., :dim]
    if plan.at_once:
        turn(x, tables(()), out)
        return
    for part in blocks((*angles, 1), rows_at_once(dim // 2)):
        region = tuple(slice(None) if n == 1 else s for n, s in zip(angles, part, strict=False))
        turn(x[region], tables(part), out[region])


def turn(x: Array, tables: Tables, out: Array) -> None:
    """Turn all components of `x` (..., H, r) by the factors of its tokens, which broadcast.

    The bits of a result depend on values alone: a multiplication of complex numbers, which may be
    fused, always sees its pairs side by side.
    """
    by, across = tables
    work = by.real.dtype if across is None else across.dtype
    apart = x.dtype != work or out.dtype != work
    if across is None:
        apart = apart or not (x.strides[-1] == out.strides[-1] == x.itemsize)
    with quiet():
        if x.size <= BLOCK or (across is None and not apart):
            held = np.empty(x.shape, work) if apart else None
            _turn_block(x, tables, held, None, out)
            return
        size = max(BLOCK, x.shape[-1])
        spare = None if across is None else np.empty(size, work)
        wide = np.empty(size, work) if apart else None
        for cut in blocks(x.shape, BLOCK):
            one = x[cut]
            held = None if wide is None else wide[: one.size].reshape(one.shape)
            _turn_block(one, _cut(tables, cut), held, spare, out[cut])


def _turn_block(
    x: Array, tables: Tables, held: Array | None, spare: Array | None, out: Array
) -> None:
    """Turn one block, by way of `held` if there is one, rounding once; `spare` is for products."""
    if held is None:
        _rotate(x, tables, spare, out)
        return
    np.copyto(held, x)
    _rotate(held, tables, spare, held)
    np.copyto(out, held, casting="unsafe")


def _cut(tables: Tables, cut: Slices) -> Tables:
    """Cut the factors as `x` is cut; the last two axes of `x`, heads and components, they share."""
    by, across = tables
    at = tuple(slice(None) if n == 1 else s for n, s in zip(by.shape[:-2], cut, strict=False))
    return Tables(by[at], None if across is None else across[at])


def _rotate(x: Array, tables: Tables, spare: Array | None, out: Array) -> None:
    """Rotate one block into `out`, which may be `x`."""
    by, across = tables
    if across is None:
        np.multiply(x.view(by.dtype), by, out=out.view(by.dtype))
        return
    product = np.empty(x.shape, x.dtype) if spare is None else spare[: x.size].reshape(x.shape)
    # Splitting one axis makes a view, whatever its stride.
    halves = (*x.shape[:-1], 2, x.shape[-1] // 2)
    np.multiply(x.reshape(halves)[..., ::-1, :], across, out=product.reshape(halves))
    np.multiply(x, by, out=out)
    np.add(out, product, out=out)
