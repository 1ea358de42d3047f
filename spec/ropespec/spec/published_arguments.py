"""Checks of the arguments of the code functions of the documents (chapter `published`).

Like `ropespec.spec.arguments`, they look only at `shape` and `dtype`.
"""

import numpy as np

from ropespec.spec.arguments import (
    ArrayFacts,
    check_complex,
    check_dim,
    check_float_array,
    check_same_dtype,
    facts,
)
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

__all__ = ["check_freqs_cis", "check_printed_attention", "check_rope", "check_rotary_emb"]


def check_rope(q: object, k: object) -> tuple[ArrayFacts, ArrayFacts]:
    """Require q (B, H, L, d) and k (B, G, T, d) for `RoPE`, exactly four axes (PUB-2; E-60).

    Returns
    -------
    tuple of ArrayFacts
        Shape and dtype of q and of k.

    Raises
    ------
    ArgumentTypeError
        If a dtype is not one of `FLOAT_DTYPES`.
    ArgumentValueError
        If q or k has not four axes, d is not even, or k has another batch or d than q.
    """
    found = _four_axes("q", q, "(B, H, L, d)")
    other = _four_axes("k", k, "(B, G, T, d)")
    if (other.shape[0], other.shape[3]) != (found.shape[0], found.shape[3]):
        raise ArgumentValueError("k", f"of shape (B, G, T, d) to fit q of shape {found.shape}", k)
    return found, other


def check_printed_attention(q: object, k: object, v: object, mask: object) -> None:
    """Require q (B, H, L, d), k (B, H, T, d), v (B, H, T, e) and a mask for their scores (ATT-2).

    Raises
    ------
    ArgumentTypeError
        If one is not floating-point, dtypes differ, or the mask holds no numbers or bools.
    ArgumentValueError
        If one has not four axes, or the shapes do not fit each other.
    """
    found, keys, values = (_rank_four(*item) for item in (
        ("q", q, "(B, H, L, d)"), ("k", k, "(B, H, T, d)"), ("v", v, "(B, H, T, e)")
    ))  # fmt: skip
    check_same_dtype("k", keys, "q", found)
    check_same_dtype("v", values, "q", found)
    if (*keys.shape[:2], keys.shape[3]) != (*found.shape[:2], found.shape[3]):
        raise ArgumentValueError("k", f"of shape (B, H, T, d) to fit q of shape {found.shape}", k)
    if values.shape[:3] != keys.shape[:3]:
        raise ArgumentValueError("v", f"of shape (B, H, T, e) to fit k of shape {keys.shape}", v)
    if mask is not None:
        _check_mask(mask, (*found.shape[:3], keys.shape[2]))


def _check_mask(mask: object, scores: tuple[int, ...]) -> None:
    found = facts(mask)
    if not found.dtype.startswith(("bool", "int", "uint", "float", "bfloat")):
        raise ArgumentTypeError("mask", "an array of numbers or bools, 0 = excluded", mask)
    try:
        fits = np.broadcast_shapes(found.shape, scores) == scores
    except ValueError:
        fits = False
    if not fits:
        raise ArgumentValueError("mask", f"broadcastable to the scores of shape {scores}", mask)


def check_freqs_cis(freqs_cis: object, x: object) -> tuple[ArrayFacts, ArrayFacts]:
    """Require complex freqs_cis (S, c) for complex x (B, S, H, c) (PUB-4; E-61).

    Returns
    -------
    tuple of ArrayFacts
        Shape and dtype of freqs_cis and of x.

    Raises
    ------
    ArgumentTypeError
        If one of them is not complex64 or complex128.
    ArgumentValueError
        If x has not exactly four axes, or freqs_cis not the shape (S, c).
    """
    table = check_complex("freqs_cis", freqs_cis, ndim=0)
    found = check_complex("x", x, ndim=0)
    if found.ndim != 4:
        raise ArgumentValueError("x", "an array of four axes (B, S, H, c)", x)
    _check_table(freqs_cis, table, (found.shape[1], found.shape[3]))
    return table, found


def check_rotary_emb(xq: object, xk: object, freqs_cis: object) -> tuple[ArrayFacts, ArrayFacts]:
    """Require xq (B, S, H, d), xk (B, S, G, d) and freqs_cis (S, d/2) (PUB-5; E-61).

    Returns
    -------
    tuple of ArrayFacts
        Shape and dtype of xq and of xk.

    Raises
    ------
    ArgumentTypeError
        If xq or xk is not floating-point, or freqs_cis not complex.
    ArgumentValueError
        If xq or xk has not four axes, d is not even, or the shapes do not fit each other.
    """
    found = _four_axes("xq", xq, "(B, S, H, d)")
    other = _four_axes("xk", xk, "(B, S, G, d)")
    table = check_complex("freqs_cis", freqs_cis, ndim=0)
    batch, length, _, dim = found.shape
    if (*other.shape[:2], other.shape[3]) != (batch, length, dim):
        must = f"of shape (B, S, G, d) to fit xq of shape {found.shape}"
        raise ArgumentValueError("xk", must, xk)
    _check_table(freqs_cis, table, (length, dim // 2))
    return found, other


def _four_axes(name: str, value: object, layout: str) -> ArrayFacts:
    found = _rank_four(name, value, layout)
    check_dim(found.shape[3], "head_dim")
    return found


def _rank_four(name: str, value: object, layout: str) -> ArrayFacts:
    found = check_float_array(name, value, ndim=0)
    if found.ndim != 4:
        raise ArgumentValueError(name, f"an array of four axes {layout}", value)
    return found


def _check_table(freqs_cis: object, found: ArrayFacts, shape: tuple[int, int]) -> None:
    if found.shape != shape:
        raise ArgumentValueError("freqs_cis", f"of shape {shape}", freqs_cis)
