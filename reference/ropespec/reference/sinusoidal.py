"""The absolute position embedding of the Transformer paper (chapter `sinusoidal`)."""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import Floats, as_float64, as_positions, check_floats, round_to
from ropespec.reference.frequencies import cos_sin, div_term
from ropespec.spec.arguments import check_base, check_dim, check_size
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

__all__ = [
    "Component",
    "PositionalEncoding",
    "dimension_table",
    "one_hot_position",
    "pair_index",
    "pe_entry",
    "positional_encoding_table",
    "sinusoidal_embedding",
]


class Component(NamedTuple):
    """One row of the table of components (SIN-2; F-029; E-33).

    Attributes
    ----------
    j : int
        The component of the vector, from 0.
    i : int
        Its pair, j // 2.
    function : {'sin', 'cos'}
        sin where j = 2i, cos where j = 2i + 1.
    """

    j: int
    i: int
    function: Literal["sin", "cos"]


def pair_index(j: int) -> int:
    """Pair i = j // 2 of component j, whose frequency it takes (SIN-2; F-028, F-206; E-32)."""
    return j // 2


def dimension_table(dim: int) -> list[Component]:
    """List the components 0..dim-1 with pair and function (SIN-2; F-029, F-206; E-33).

    Even components are sines (F-030), odd ones cosines (F-031).

    Parameters
    ----------
    dim : int
        d_model, the size of a word vector: 512 in the Transformer paper (F-027).

    Returns
    -------
    list of Component
        One for each component, in order.

    Raises
    ------
    ArgumentTypeError
        If `dim` is not an integer.
    ArgumentValueError
        If `dim` is odd or below 2.
    """
    return [Component(j, pair_index(j), "cos" if j % 2 else "sin") for j in range(check_dim(dim))]


def one_hot_position(positions: ArrayLike, length: int) -> NDArray[np.float64]:
    """Encode a position as 1 at its own place and 0 elsewhere (SIN-4; F-024).

    Parameters
    ----------
    positions : array_like of int
        Within 0..length-1.
    length : int
        Number of positions.

    Returns
    -------
    ndarray of float64, shape positions.shape + (length,)
        Zero throughout for a position outside.

    Raises
    ------
    ArgumentTypeError
        If `positions` or `length` are not integers.
    ArgumentValueError
        If `length` is negative.
    """
    p = as_positions(positions)
    return np.equal.outer(p, np.arange(check_size("length", length))).astype(np.float64)


def pe_entry(pos: int, j: int, dim: int, base: float = 10000.0) -> float:
    """PE(pos, 2i) = sin(pos / base^(2i/dim)), and cos at 2i+1 (SIN-1; F-025, F-026).

    Parameters
    ----------
    pos : int
        Position; either sign.
    j : int
        Component, 0..dim-1.
    dim : int
        Even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    float
        Within [-1, 1].

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `sinusoidal_embedding` does.
    """
    dim, base = check_dim(dim), check_base(base)
    angle = pos / base ** (2 * pair_index(j) / dim)
    return math.cos(angle) if j % 2 else math.sin(angle)


def sinusoidal_embedding(
    positions: ArrayLike, dim: int, base: float = 10000.0
) -> NDArray[np.float64]:
    """Sines of m theta_i at component 2i, cosines at 2i + 1 (SIN-1; F-025, F-026).

    Parameters
    ----------
    positions : array_like of int
        Any shape; either sign.
    dim : int
        Even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    ndarray of float64, shape positions.shape + (dim,)
        At position 0: (0, 1, 0, 1, ...).

    Raises
    ------
    ArgumentTypeError
        If `positions` or `dim` are not integers, or `base` is not a number.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    cos, sin = cos_sin(positions, dim, base)
    embedding = np.empty((*cos.shape[:-1], 2 * cos.shape[-1]))
    embedding[..., 0::2] = sin
    embedding[..., 1::2] = cos
    return embedding


def positional_encoding_table(length: int, dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """Fill even and odd columns for positions 0..length-1 by `div_term` (SIN-3; F-032, F-187).

    Parameters
    ----------
    length : int
        Number of positions, at least 0.
    dim, base
        As in `sinusoidal_embedding`.

    Returns
    -------
    ndarray of float64, shape (length, dim)
        `pe` of the code, without its axis for the batch.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `sinusoidal_embedding` does, and if `length` is no integer of at least 0.
    """
    pe = np.zeros((check_size("length", length), check_dim(dim)))
    position = np.arange(0, length)[:, np.newaxis]
    frequencies = div_term(dim, base)
    pe[:, 0::2] = np.sin(position * frequencies)
    pe[:, 1::2] = np.cos(position * frequencies)
    return pe


class PositionalEncoding:
    """The module `PositionalEncoding`: add the table to word vectors (SIN-3, SIN-4; F-033, F-187).

    Of zero word vectors it gives the vectors of the example 我 爱 你 (F-034; E-67).
    `dropout` is accepted as printed and drops nothing: a reference is deterministic. The printed
    class puts dropout behind the sum and keeps the table as a buffer, which takes no gradient.

    Parameters
    ----------
    d_model : int
        Even, at least 2 (E-64).
    dropout : float
        From 0 to 1; without effect.
    max_len : int
        Number of positions in the table.

    Attributes
    ----------
    pe : ndarray of float64, shape (1, max_len, d_model)
        The table.

    Raises
    ------
    ArgumentTypeError
        If `d_model` or `max_len` are not integers, or `dropout` is not a number.
    ArgumentValueError
        If `d_model` is odd or below 2, `dropout` not from 0 to 1, or `max_len` negative.
    """

    def __init__(self, d_model: int, dropout: float, max_len: int = 5000) -> None:
        dim = check_dim(d_model, "d_model")
        _check_probability("dropout", dropout)
        rows = check_size("max_len", max_len)
        self.pe = positional_encoding_table(rows, dim)[np.newaxis]

    def forward(self, x: Floats) -> Floats:
        """Add the first S rows: x + pe[:, :S].

        Parameters
        ----------
        x : ndarray of float, shape (B, S, d_model)
            Word vectors at positions 0..S-1; read only.

        Returns
        -------
        ndarray, shape and dtype of `x`
            A new array: float64 arithmetic, rounded once at the end.

        Raises
        ------
        ArgumentTypeError
            If `x` is no float array of NumPy.
        ArgumentValueError
            If `x` is not (B, S, d_model) with S at most `max_len` (E-64).
        """
        check_floats("x", x, ndim=3)
        _, longest, dim = self.pe.shape
        if x.ndim != 3 or x.shape[1] > longest or x.shape[2] != dim:
            raise ArgumentValueError("x", f"of shape (B, S, {dim}) with S at most {longest}", x)
        return round_to(as_float64(x) + self.pe[:, : x.shape[1]], x.dtype)

    __call__ = forward


def _check_probability(name: str, value: object) -> None:
    must = "a number from 0 to 1"
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ArgumentTypeError(name, must, value)
    if not 0 <= value <= 1:
        raise ArgumentValueError(name, must, value)
