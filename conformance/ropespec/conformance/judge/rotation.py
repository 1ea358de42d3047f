"""The exact rotation of a drawn input, and the comparison of a result with it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge import angles
from ropespec.conformance.judge.budget import Budget, Machine, Pairs, budget, turned
from ropespec.conformance.judge.precision import Precision
from ropespec.spec.convention import Convention, Pairing

__all__ = ["Rotation", "error_ratios", "from_pairs", "pairs_of", "rest_of"]

Float = NDArray[np.float64]


def pairs_of(x: NDArray[Any], by: Convention) -> tuple[Any, Any]:
    """Split the components that rotate into the two members of each pair (views)."""
    first, second, _ = by.places(x.shape[-1])
    return x[..., first], x[..., second]


def rest_of(x: NDArray[Any], by: Convention) -> NDArray[Any]:
    """Return the components that do not rotate (a view)."""
    return x[..., by.places(x.shape[-1])[2]]


def from_pairs(
    first: NDArray[Any], second: NDArray[Any], rest: NDArray[Any], by: Convention
) -> NDArray[Any]:
    """Put the members of the pairs and the rest back into the components of x."""
    *lead, pairs = first.shape
    width = 2 * pairs + rest.shape[-1]
    x = np.empty((*lead, width), np.result_type(first, second, rest))
    for place, part in zip(by.places(width), (first, second, rest), strict=True):
        x[..., place] = part
    return x


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
    by : Convention
        How it rotates.
    dtype : str
        dtype of x.
    """

    y: Float
    pairs: Pairs
    tail: Float
    by: Convention
    dtype: str

    @classmethod
    def of(cls, x: NDArray[Any], positions: NDArray[np.int64], by: Convention) -> "Rotation":
        """Rotate x of shape (B, S, H, D) by positions of shape (B, S), or (B, S, n) for n axes."""
        dim, frequencies = by.dim(x.shape[-1]), by.frequencies
        exact = x.astype(np.float64)
        cos, sin = (part[..., None, :] for part in angles.rotating(positions, dim, by))
        x1, x2 = pairs_of(exact, by)
        magnitude = angles.reached(positions, by)[..., None, :]
        theta, gain = angles.speeds(dim, frequencies), float(frequencies.gain)
        pairs = Pairs(x1, x2, cos, sin, magnitude, theta, gain, gain, frequencies)
        return cls.turning(pairs, rest_of(exact, by), by, x.dtype.name)

    @classmethod
    def turning(cls, pairs: Pairs, tail: Float, by: Convention, dtype: str) -> "Rotation":
        """Turn these pairs; the tail passes through."""
        first, second = turned(pairs)
        return cls(from_pairs(first, second, tail, by), pairs, tail, by, dtype)

    @classmethod
    def by_tables(
        cls, x: NDArray[Any], cos: NDArray[Any], sin: NDArray[Any], pairing: Pairing
    ) -> "Rotation":
        """Turn x of shape (B, S, H, D) by tables of shape (S, r/2) or (B, S, r/2), as they are.

        The tables need not lie on the unit circle, so nothing but abs(x1 C) + abs(x2 S) itself
        bounds the products.
        """
        by = Convention(pairing, rotary_dim=2 * cos.shape[-1])
        exact = x.astype(np.float64)
        c, s = (part.astype(np.float64)[..., None, :] for part in (cos, sin))
        x1, x2 = pairs_of(exact, by)
        zero = np.zeros(cos.shape[-1])
        reach = 4.0 * max(np.abs([c, s]).max(initial=0.0), 1.0)
        pairs = Pairs(x1, x2, c, s, zero, zero, reach=reach)
        return cls.turning(pairs, rest_of(exact, by), by, x.dtype.name)

    def budget(self, precision: Precision, machine: Machine) -> Budget:
        """Bound the error of the turning components under a class."""
        return budget(self.pairs, precision, self.dtype, machine)

    def allowed(self, precision: Precision, machine: Machine) -> Float:
        """Return the largest error allowed of every component of y; zero in the tail."""
        first, second = self.budget(precision, machine).total
        return from_pairs(first, second, np.zeros_like(self.tail), self.by)

    def ratios(self, y: NDArray[Any], precision: Precision, machine: Machine) -> Float:
        """Return error / budget of every component; infinite where a result is not a number."""
        return error_ratios(y, self.y, self.allowed(precision, machine))


def error_ratios(got: NDArray[Any], expected: Float, allowed: Float) -> Float:
    """Return abs(got - expected) / allowed; 0 for 0 / 0, infinite for what is not finite."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        error = np.abs(got.astype(np.float64) - expected)
        ratio = np.where(error == 0.0, 0.0, error / allowed)
    return np.where(np.isnan(ratio), np.inf, ratio)
