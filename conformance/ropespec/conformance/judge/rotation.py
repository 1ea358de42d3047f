"""The exact rotation of a drawn input, and the comparison of a result with it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge import angles, oracle
from ropespec.conformance.judge.budget import Budget, Machine, Pairs, budget
from ropespec.conformance.judge.precision import Precision

__all__ = ["Rotation", "error_ratios", "from_pairs", "pairs_of"]

Float = NDArray[np.float64]


def pairs_of(x: NDArray[Any], rotary_dim: int, *, interleaved: bool) -> tuple[Any, Any]:
    """Split the first `rotary_dim` components into the two members of each pair (views)."""
    if interleaved:
        return x[..., 0:rotary_dim:2], x[..., 1:rotary_dim:2]
    return x[..., : rotary_dim // 2], x[..., rotary_dim // 2 : rotary_dim]


def from_pairs(
    first: NDArray[Any], second: NDArray[Any], tail: NDArray[Any], *, interleaved: bool
) -> NDArray[Any]:
    """Put the members of the pairs and the tail back into the components of x."""
    if interleaved:
        *lead, pairs = first.shape
        turned = np.stack([first, second], axis=-1).reshape(*lead, 2 * pairs)
    else:
        turned = np.concatenate([first, second], axis=-1)
    return np.concatenate([turned, tail], axis=-1)


@dataclass(frozen=True, slots=True)
class Rotation:
    """R_m x for one input, exactly, with everything a budget needs.

    Attributes
    ----------
    y : ndarray of float64
        The exact result, of the shape of x.
    pairs : Pairs
        The pairs it was made from.
    tail : ndarray of float64
        The components that pass through.
    interleaved : bool
        The layout.
    dtype : str
        dtype of x.
    """

    y: Float
    pairs: Pairs
    tail: Float
    interleaved: bool
    dtype: str

    @classmethod
    def of(
        cls,
        x: NDArray[Any],
        positions: NDArray[np.int64],
        *,
        interleaved: bool,
        base: float,
        rotary_dim: int | None = None,
        gain: float = 1.0,
    ) -> "Rotation":
        """Rotate x of shape (B, S, H, D) by positions of shape (B, S); cos and sin times `gain`."""
        dim = x.shape[-1] if rotary_dim is None else rotary_dim
        exact = x.astype(np.float64)
        cos, sin = (gain * part for part in angles.cos_sin(positions[..., None], dim, base))
        x1, x2 = pairs_of(exact, dim, interleaved=interleaved)
        with np.errstate(invalid="ignore"):
            y1, y2 = x1 * cos - x2 * sin, x1 * sin + x2 * cos
        magnitude = np.abs(positions.astype(np.float64))[..., None, None]
        pairs = Pairs(x1, x2, cos, sin, magnitude, oracle.frequencies(dim, base), gain)
        tail = exact[..., dim:]
        y = from_pairs(y1, y2, tail, interleaved=interleaved)
        return cls(y, pairs, tail, interleaved, x.dtype.name)

    @classmethod
    def by_tables(
        cls, x: NDArray[Any], cos: NDArray[Any], sin: NDArray[Any], *, interleaved: bool
    ) -> "Rotation":
        """Turn x of shape (B, S, H, D) by tables of shape (S, r/2) or (B, S, r/2), as they are.

        The tables need not lie on the unit circle, so nothing but abs(x1 C) + abs(x2 S) itself
        bounds the products.
        """
        dim = 2 * cos.shape[-1]
        exact = x.astype(np.float64)
        c, s = (part.astype(np.float64)[..., None, :] for part in (cos, sin))
        x1, x2 = pairs_of(exact, dim, interleaved=interleaved)
        zero = np.zeros(dim // 2)
        pairs = Pairs(x1, x2, c, s, zero, zero, 4.0 * max(np.abs([c, s]).max(initial=0.0), 1.0))
        tail = exact[..., dim:]
        y = from_pairs(x1 * c - x2 * s, x1 * s + x2 * c, tail, interleaved=interleaved)
        return cls(y, pairs, tail, interleaved, x.dtype.name)

    def budget(self, precision: Precision, machine: Machine) -> Budget:
        """Bound the error of the turning components under a class."""
        return budget(self.pairs, precision, self.dtype, machine)

    def allowed(self, precision: Precision, machine: Machine) -> Float:
        """Return the largest error allowed of every component of y; zero in the tail."""
        total = self.budget(precision, machine).total
        first, second = np.broadcast_to(total, (2, *self.pairs.x1.shape))
        return from_pairs(first, second, np.zeros_like(self.tail), interleaved=self.interleaved)

    def ratios(self, y: NDArray[Any], precision: Precision, machine: Machine) -> Float:
        """Return error / budget of every component; infinite where a result is not a number."""
        return error_ratios(y, self.y, self.allowed(precision, machine))


def error_ratios(got: NDArray[Any], expected: Float, allowed: Float) -> Float:
    """Return abs(got - expected) / allowed; 0 for 0 / 0, infinite for what is not finite."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        error = np.abs(got.astype(np.float64) - expected)
        ratio = np.where(error == 0.0, 0.0, error / allowed)
    return np.where(np.isnan(ratio), np.inf, ratio)
