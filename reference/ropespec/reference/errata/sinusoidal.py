"""Printed forms of the sinusoidal embedding and its worked example that are wrong."""

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "printed_cosine_row",
    "printed_embeddings",
    "printed_first_three_elements",
    "printed_ids",
    "printed_pos_emb",
    "printed_positional_encoding",
    "printed_table",
    "printed_theta_list",
]

Vector = NDArray[np.float64]


def printed_ids(output_dim: int) -> NDArray[np.int64]:
    """Return ids = [0, 0, 1, 1, ..., d/2-1, d/2-1] (E-52; F-207).

    Returns
    -------
    ndarray of int64, shape (d,)
        Right is each number once, shape (d/2,).
    """
    return np.repeat(np.arange(output_dim // 2), 2)


def printed_theta_list(output_dim: int, base: float = 10000.0) -> Vector:
    """Return the list of 1 / base^(2i/d), every entry twice (E-52; F-208).

    Returns
    -------
    ndarray of float64, shape (d,)
        Right is `inv_freq(d)` of shape (d/2,).
    """
    return np.asarray(1.0 / base ** (2.0 * printed_ids(output_dim) / output_dim))


def printed_embeddings(max_len: int, output_dim: int) -> Vector:
    """Return the products position * theta, every entry twice (E-52; F-209).

    Returns
    -------
    ndarray of float64, shape (L, d)
        Right is shape (L, d/2): stacked with its cosine this one has 2 L d entries, not L d.
    """
    return np.multiply.outer(np.arange(max_len, dtype=np.float64), printed_theta_list(output_dim))


def printed_first_three_elements(embeddings: Vector) -> Vector:
    """Return the first three elements of the table, as document 004 says (E-53; F-209).

    Returns
    -------
    ndarray of float64, shape (3,)
        Three angles of position 0; meant are the rows of positions 0, 1 and 2.
    """
    return embeddings.ravel()[:3]


def printed_cosine_row() -> tuple[str, ...]:
    """Split the cosine row of position 1 at its commas (E-54; F-211).

    Returns
    -------
    tuple of str
        Six items, one of them empty; right are five.
    """
    row = "cos(1/10000^(0/512)),cos(1/10000^(2/512)), cos(1/10000^(4/512)),..., ,"
    return tuple(item.strip() for item in f"{row}cos(1/10000^(510/512))".split(","))


def printed_table() -> tuple[tuple[str, ...], ...]:
    """Return the rows that are left of the table of components (E-33; F-029).

    Returns
    -------
    tuple of tuple of str
        One column, the component; i, 2i, 2i+1 and the function are lost.
    """
    return (("0",), ("1",), ("2",), ("3",), ("4",), ("5",), ("6",), ("....",), ("510",), ("511",))


def printed_pos_emb() -> Vector:
    """Return the table of the example with 8 components, as printed (E-55; F-214).

    Returns
    -------
    ndarray of float64, shape (1, 1, 3, 8)
        Sines in front, cosines behind, of angles that are no m theta_i.
    """
    rows = [
        [0.0000, 0.8415, 0.9093, 0.1411, 1.0000, 0.5403, -0.4161, -0.9900],
        [0.8415, 0.5403, 0.1411, -0.7568, 0.5403, -0.8415, -0.9900, -0.6536],
        [0.9093, -0.4161, -0.8415, -0.9589, -0.4161, -0.9093, -0.6536, 0.2836],
    ]
    return np.array([[rows]])


def printed_positional_encoding(x: Vector, max_len: int) -> Vector:
    """`PositionalEncoding` of document 004 without dropout (E-64; F-187).

    Parameters
    ----------
    x : ndarray of float64, shape (B, S, d)
        Word vectors.
    max_len : int
        Rows of the table.

    Returns
    -------
    ndarray of float64, shape (B, S, d)
        x plus the table; right for even d and S <= max_len.

    Raises
    ------
    ValueError
        From NumPy, about shapes, for odd d or S > max_len.
    """
    d_model = x.shape[-1]
    pe = np.zeros((max_len, d_model))
    position = np.arange(max_len)[:, None]
    div_term = np.exp(np.arange(0, d_model, 2) * -(np.log(10000.0) / d_model))
    pe[:, 0::2] = np.sin(position * div_term)
    pe[:, 1::2] = np.cos(position * div_term)
    return x + pe[None][:, : x.shape[1]]
