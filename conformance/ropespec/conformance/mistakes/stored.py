# ruff: noqa: ARG005  # a stage is given what any choice for it may need
"""What is done to x before, to the tail, and to the result."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.chain import RIGHT, Store, zeroed
from ropespec.conformance.mistakes.choice import Choice, Shown
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.moved_tokens import MOVED
from ropespec.conformance.mistakes.rounding import rounded

__all__ = ["MISTAKES", "STORES", "clipped_at"]

MISTAKES = entries("""
X3 rotated before the split into heads
    Heads are rotated as one long vector, or the width is that of the model; split into heads
    first and use head_dim.
made of another token
    A token carries components of another one; read each from its own place.
result cut off
    The result is cut to its dtype and not rounded, so all are too small by half a step on average;
    round to nearest.
not the identity at 0
    At position 0 the result is not x, bit for bit; cosine is 1 and sine 0, and nothing that is
    rounded may come in between.
result through another half
    The result passes through the other half dtype, which has less range, or less digits; cast to
    the dtype of x at once.
tail scaled
    The components that do not rotate are multiplied by a factor; return them as they are.
large components clipped
    Large components saturate; remove the clipping.
heads mixed up
    Heads come back in the places of others; transpose back as there.
rows mixed up
    Rows come back in the places of others; index the batch alike on both sides.
tail computed
    The components that do not rotate are multiplied by 1 and added to 0 times themselves or each
    other, which spoils infinities and spreads NaN; pass them as they are.
tail reversed
    The components that do not rotate come back in reverse; pass them as they are.
tail rounded
    The components that do not rotate are rounded; pass them bit for bit.
""")


def _tail_of_token(step: int, axis: int) -> Callable[[Given, Array], Array]:
    def tail(g: Given, x: Array) -> Array:
        y = x.copy()
        y[..., g.turning :] = np.roll(x[..., g.turning :], step, axis=axis)
        return y

    return tail


def _tail_rounded(kind: str) -> Callable[[Given, Array], Array]:
    def tail(g: Given, x: Array) -> Array:
        y = x.copy()
        y[..., g.turning :] = rounded(x[..., g.turning :], kind)
        return y

    return tail


def _tail_computed(g: Given, x: Array) -> Array:
    y = x.copy()
    with np.errstate(invalid="ignore"):
        y[..., g.turning :] = x[..., g.turning :] * 1.0 + x[..., g.turning :] * 0.0
    return y


def _tail_reversed(g: Given, x: Array) -> Array:
    y = x.copy()
    y[..., g.turning :] = x[..., g.turning :][..., ::-1]
    return y


def _heads_as_one(g: Given) -> Given:
    return replace(g, x=g.x.reshape(*g.x.shape[:2], 1, -1))


def _heads_last(g: Given) -> Given:
    b, s, heads, dim = g.shape
    return replace(g, x=g.x.reshape(b, s, dim, heads).swapaxes(2, 3))


def _in_front(g: Given, y: Array) -> Array:
    return np.concatenate([y[..., g.turning :], y[..., : g.turning]], axis=-1)


def _behind(g: Given, y: Array) -> Array:
    return np.concatenate([y[..., -g.turning :], y[..., : -g.turning]], axis=-1)


def _apart_behind(g: Given, y: Array) -> Array:
    """Move pairs that come out apart to the other end, and weave what is last for these."""
    r = g.turning
    moved = np.concatenate([y[..., 0:r:2], y[..., 1:r:2], y[..., r:]], axis=-1)
    last = moved[..., -r:][..., np.arange(r).reshape(2, -1).T.ravel()]
    return np.concatenate([last, moved[..., :-r]], axis=-1)


def _clipped(limit: float) -> Callable[[Given, Array], Array]:
    return lambda g, y: np.clip(y, -limit, limit)


_KEPT = {"bfloat16": 8, "float16": 11}
"""How many bits of each number a dtype keeps."""


def _cut(dtype: str, moved: float = 0.0) -> Store:
    """Return the store that drops what a dtype does not keep."""

    def store(g: Given, y: Array) -> Array:
        if g.dtype != dtype:
            return y
        size = np.abs(g.x.astype(np.float64)).max(axis=-1, keepdims=True, initial=0.0)
        mantissa, exponent = np.frexp(y + moved * 2.0**-21 * size)
        bits = _KEPT[dtype]
        return np.asarray(np.ldexp(np.trunc(np.ldexp(mantissa, bits)), exponent - bits))

    return store


def _through_float16(g: Given, y: Array) -> Array:
    return rounded(y, "float16") if g.dtype == "bfloat16" else y


def _cut_to(dtype: str) -> Choice:
    nudged = tuple(replace(RIGHT, store=_cut(dtype, moved)) for moved in (-1.0, 1.0))
    change = {"store": _cut(dtype), "nudged": nudged}
    return Choice("result cut off", "store", f"results are cut to {dtype}, not rounded", change)


STORES: tuple[Choice, ...] = (
    Choice(
        "R9",
        "tail",
        "the tail is zero",
        {"tail": zeroed},
        shown=(Shown.by("tailzeroed", "ROT-14.tail", rotary_dim=8, head_dims=(16,)),),
    ),
    Choice(
        "made of another token",
        "tail",
        "the tail is that of the token before",
        {"tail": _tail_of_token(1, 1)},
    ),
    Choice(
        "made of another token",
        "tail",
        "the tail is that of the token after",
        {"tail": _tail_of_token(-1, 1)},
    ),
    Choice(
        "made of another token",
        "tail",
        "the tail is that of the head before",
        {"tail": _tail_of_token(1, 2)},
    ),
    Choice(
        "made of another token",
        "tail",
        "the tail is that of the row before",
        {"tail": _tail_of_token(1, 0)},
    ),
    Choice(
        "tail rounded",
        "tail",
        "the tail is rounded to bfloat16",
        {"tail": _tail_rounded("bfloat16")},
    ),
    Choice(
        "tail rounded", "tail", "the tail is rounded to float16", {"tail": _tail_rounded("float16")}
    ),
    Choice(
        "tail computed", "tail", "the tail is itself plus 0 times itself", {"tail": _tail_computed}
    ),
    Choice("tail reversed", "tail", "the tail is in reverse order", {"tail": _tail_reversed}),
    Choice("R9", "store", "the tail is moved to the front", {"store": _in_front}),
    Choice("R9", "store", "what rotates is moved to the other end", {"store": _behind}),
    Choice(
        "R9", "store", "what rotates comes out apart at the other end", {"store": _apart_behind}
    ),
    Choice(
        "pairs in another order",
        "store",
        "components come back in reverse order",
        {"store": lambda g, y: y[..., ::-1]},
    ),
    Choice(
        "pairs in another order",
        "store",
        "the halves of the head change places",
        {"store": lambda g, y: np.roll(y, y.shape[-1] // 2, -1)},
    ),
    *MOVED,
    Choice(
        "made of another token",
        "store",
        "each token is that of the token before",
        {"store": lambda g, y: np.roll(y, 1, 1)},
    ),
    Choice(
        "heads mixed up",
        "store",
        "the heads come back in reverse order",
        {"store": lambda g, y: y[:, :, ::-1]},
    ),
    Choice(
        "heads mixed up",
        "store",
        "each head is that of the head before",
        {"store": lambda g, y: np.roll(y, 1, 2)},
    ),
    Choice(
        "heads mixed up",
        "store",
        "the result of (H, S) is read as (S, H)",
        {"store": lambda g, y: y.transpose(0, 2, 1, 3).reshape(y.shape)},
    ),
    Choice(
        "heads mixed up",
        "store",
        "all heads are the first",
        {"store": lambda g, y: np.broadcast_to(y[:, :, :1], y.shape).copy()},
    ),
    Choice(
        "rows mixed up",
        "store",
        "all rows are row 0",
        {"store": lambda g, y: np.broadcast_to(y[:1], y.shape).copy()},
    ),
    Choice("zeroed", "store", "the result is zero", {"store": lambda g, y: np.zeros_like(y)}),
    Choice(
        "not a number",
        "store",
        "the result is not a number",
        {"store": lambda g, y: np.full_like(y, np.nan)},
    ),
    *(_cut_to(dtype) for dtype in _KEPT),
    Choice(
        "result through another half",
        "store",
        "results of bfloat16 are rounded to float16 first",
        {"store": _through_float16},
        2.0,
    ),
    Choice(
        "heads mixed up",
        "call",
        "the components of all heads are split into (head_dim, heads)",
        {"call": _heads_last},
    ),
    Choice(
        "X3",
        "call",
        "heads are rotated as one long vector",
        {"call": lambda g: _heads_as_one(g.rotating(None))},
        shown=(Shown.by("flat_heads", "ROT-19.heads", "ROT-7.value"),),
    ),
    Choice(
        "X3",
        "call",
        "heads are one long vector, of which rotary_dim components rotate",
        {"call": _heads_as_one},
        1.1,
    ),
)
"""What else is done to x before and to y after."""


def clipped_at(limit: float) -> Choice:
    """Return the result cut at a size."""
    what = f"the result is clipped at {limit:g}"
    return Choice("large components clipped", "store", what, {"store": _clipped(limit)}, 2.0)
