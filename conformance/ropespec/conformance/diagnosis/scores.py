"""Attention in its right form and in the wrong ones that are known."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST_OF", "Given", "Turn", "attention_forms"]

Float = NDArray[np.float64]


class Turn(Protocol):
    """Rotates x by the positions of a call times a factor, in the other layout on demand."""

    def __call__(self, x: Float, factor: float, other: bool = False) -> Float:
        """Return x turned."""


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of one call.

    Attributes
    ----------
    q, k, v : ndarray
        (B, S, H, D).
    mask : ndarray of bool
        (S, S), True = may attend.
    turn : callable
        Rotates by the positions times a factor, in the other layout on demand.
    """

    q: NDArray[np.floating]
    k: NDArray[np.floating]
    v: NDArray[np.floating]
    mask: NDArray[np.bool_]
    turn: Turn


def attention_forms(given: Given) -> dict[str, Callable[[], tuple[Float, Float]]]:
    """Return the forms by name; each makes output (B, S, H, D) and weights (B, H, S, S)."""
    dim, heads = given.q.shape[-1], given.q.shape[2]
    mask, turn = given.mask, given.turn
    q, k, v = (part.astype(np.float64) for part in (given.q, given.k, given.v))

    def scores(q: Float, k: Float) -> Float:
        return np.asarray(np.einsum("bshd,bthd->bhst", q, k) / np.sqrt(dim))

    def plain() -> Float:
        return scores(turn(q, 1.0), turn(k, 1.0))

    def out(weights: Float, values: Float = v) -> tuple[Float, Float]:
        return np.einsum("bhst,bthd->bshd", weights, values), weights

    def masked(raw: Float, keep: NDArray[np.bool_] = mask) -> Float:
        return _softmax(np.where(keep, raw, -np.inf))

    def scrambled() -> tuple[Float, Float]:
        weights = masked(plain())
        mixed = np.einsum("bhst,bthd->bhsd", weights, v)
        return mixed.reshape(given.q.shape), weights

    def underflown(left: float, axes: tuple[int, ...] = ()) -> tuple[Float, Float]:
        """Leave a number where a masked key, or another query, has by far the largest score."""
        raw = plain()
        tops = np.where(mask, raw, -np.inf)
        top = tops.max(axis=-1)
        largest = tops.max(axis=axes, keepdims=True)[..., 0] if axes else raw.max(axis=-1)
        lost = np.isfinite(top) & (largest - top > _UNDERFLOW)
        output, weights = out(masked(raw))
        output[lost.swapaxes(1, 2)], weights[lost] = left, left
        return output, weights

    return {
        "right": lambda: out(masked(plain())),
        "largest of masked keys": lambda: underflown(0.0),
        "largest of masked keys: not a number": lambda: underflown(np.nan),
        **{
            f"largest score of {of}{said}": partial(underflown, left, axes)
            for of, axes in LARGEST_OF.items()
            for said, left in (("", 0.0), (": not a number", np.nan))
        },
        "scaled by the model": lambda: out(masked(plain() / np.sqrt(heads))),
        "not scaled": lambda: out(masked(plain() * np.sqrt(dim))),
        "mask after softmax": lambda: out(np.where(mask, _softmax(plain()), 0.0)),
        "mask times score": lambda: out(_softmax(plain() * mask)),
        "small fill": lambda: out(_softmax(np.where(mask, plain(), -1.0))),
        "mask ignored": lambda: out(_softmax(plain())),
        "mask inverted": lambda: out(masked(plain(), ~mask)),
        "heads scrambled": scrambled,
        "sum of positions": lambda: out(masked(scores(turn(q, 1.0), turn(k, -1.0)))),
        "opposite sum": lambda: out(masked(scores(turn(q, -1.0), turn(k, 1.0)))),
        "opposite": lambda: out(masked(scores(turn(q, -1.0), turn(k, -1.0)))),
        "other pairing": lambda: out(
            masked(scores(turn(q, 1.0, other=True), turn(k, 1.0, other=True)))
        ),
        "twice": lambda: out(masked(scores(turn(q, 2.0), turn(k, 2.0)))),
        "not rotated": lambda: out(masked(scores(q, k))),
        "query not rotated": lambda: out(masked(scores(q, turn(k, 1.0)))),
        "key not rotated": lambda: out(masked(scores(turn(q, 1.0), k))),
        "query for key": lambda: out(masked(scores(q, turn(q, 2.0)))),
        "query for key once": lambda: out(masked(scores(turn(q, 1.0), turn(q, 1.0)))),
        "values rotated": lambda: out(masked(plain()), turn(v, 1.0)),
        "empty row: mean": lambda: out(_softmax(np.where(mask, plain(), -1e9))),
        "empty row: not a number": lambda: _not_a_number(out(masked(plain())), mask),
    }


LARGEST_OF = {"a head": (2, 3), "a row": (1, 2, 3), "all": (0, 1, 2, 3)}
"""The axes of scores (B, H, S, S) over which one largest score may be taken for several queries."""

_UNDERFLOW = 750.0
"""An exponential of minus so much is zero in any dtype."""


def _softmax(raw: Float) -> Float:
    top = raw.max(axis=-1, keepdims=True)
    powers = np.exp(raw - np.where(np.isfinite(top), top, 0.0))
    total = powers.sum(axis=-1, keepdims=True)
    return np.asarray(powers / np.where(total > 0, total, 1.0))


def _not_a_number(parts: tuple[Float, Float], mask: NDArray[np.bool_]) -> tuple[Float, Float]:
    output, weights = parts[0].copy(), parts[1].copy()
    empty = ~mask.any(axis=-1)
    output[:, empty], weights[:, :, empty] = np.nan, np.nan
    return output, weights
