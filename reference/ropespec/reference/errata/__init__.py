"""What the documents print wrong, to compute with: each form as printed beside the right one.

`printed("E-04", ...)` and `right("E-04", ...)` compute on the data that the chapter `errata` gives
in its tables; the numbers stand there and nowhere else. `PRINTED` holds, by function of the API,
the forms with that function's signature. All of it is for negative tests only.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.reference import published
from ropespec.reference.attention import softmax
from ropespec.reference.complex_plane import conjugate, euler, to_complex
from ropespec.reference.errata.code import (
    PRINTED_CODE,
    caches,
    positional_encoding,
)
from ropespec.reference.errata.rotations import PRINTED_ROTATIONS, twice_the_cosine
from ropespec.reference.errata.scores import (
    PRINTED_SCORES,
    by_score,
    by_trace,
    filled_scores,
    is_dimension,
    near_first,
    overwritten_scores,
    smallest_power,
)
from ropespec.reference.frequencies import angles, even_indices, inv_freq
from ropespec.reference.projection import project_key, project_value
from ropespec.reference.relative import relative_score
from ropespec.reference.relative_plane import inner_product
from ropespec.reference.rotation import apply_rotary, rotation_matrix
from ropespec.reference.sinusoidal import PositionalEncoding, sinusoidal_embedding
from ropespec.spec.errata import errata, shown, values

__all__ = ["FORMS", "PRINTED", "Pair", "printed", "recomputed", "right"]

Vector = NDArray[Any]
Form = Callable[..., Any]


class Pair(NamedTuple):
    """What is printed and what is right, as functions of the same keywords."""

    printed: Form
    right: Form


PRINTED: Mapping[str, Mapping[str, Form]] = MappingProxyType(
    {**PRINTED_ROTATIONS, **PRINTED_SCORES, **PRINTED_CODE}
)
"""By function of the API and erratum: the form that is printed wrong."""


def printed(erratum: str, **data: object) -> Any:  # noqa: ANN401  # numbers, arrays or words
    """Compute a form exactly as a document prints it (ERR-1; P-45).

    Parameters
    ----------
    erratum : str
        Its id, such as `E-04`; one of `FORMS`.
    **data
        The symbols that the form needs, under the names of its table; tuples become arrays.

    Returns
    -------
    object
        A number, an array, several of them or words; never what `right` gives on the same data.
    """
    return FORMS[erratum].printed(**_arrays(data))


def right(erratum: str, **data: object) -> Any:  # noqa: ANN401  # numbers, arrays or words
    """Compute what is right instead of a printed form, by the functions of the reference (ERR-1).

    Parameters and result as in `printed`.
    """
    return FORMS[erratum].right(**_arrays(data))


def recomputed(erratum: str, data: str) -> tuple[str, str]:
    """Compute a row of the table of an erratum, written as the table writes it (ERR-1; P-45).

    Parameters
    ----------
    erratum : str
        Its id; one of `FORMS`.
    data : str
        The first cell of the row, such as `q = (1, 0), k = (0, 1), m = 1, n = 0`.

    Returns
    -------
    printed, right : str
        The other two cells; the name of the error for a form that raises one.
    """
    given = values(data)
    return _cell(printed, erratum, given), _cell(right, erratum, given)


def _cell(form: Form, erratum: str, data: Mapping[str, object]) -> str:
    try:
        return shown(form(erratum, **data))
    except (AssertionError, IndexError, ValueError) as error:
        return type(error).__name__


def _arrays(data: Mapping[str, object]) -> dict[str, Any]:
    """Make arrays of tuples and lists: integers where they are positions, else floats."""
    found: dict[str, Any] = {}
    for name, value in data.items():
        found[name] = value
        if isinstance(value, (tuple, list)):
            whole = name in ("positions", "distances")
            found[name] = np.asarray(value, np.int64 if whole else np.float64)
    return found


# --- one vector, and two of them


def _rotate(x: Vector, m: int, rotation: Form = apply_rotary) -> Vector:
    """R_m x for one vector, interleaved."""
    return np.asarray(rotation(x[None, None], np.array([m]), interleaved=True)[0, 0])


def _score(q: Vector, k: Vector, m: int, n: int, score: Form = relative_score) -> Any:  # noqa: ANN401  # a number, or what is printed for one
    """q^T R_{n-m} k, interleaved."""
    return score(q, k, np.array(n - m), interleaved=True)


def _rows(rows: Vector, positions: Vector, rotation: Form = apply_rotary) -> Vector:
    """Rotate row j at position p_j."""
    return np.asarray(rotation(rows[:, None], positions, interleaved=True)[:, 0])


def _matrix(m: int, d: int, matrix: Form = rotation_matrix) -> Vector:
    return np.asarray(matrix(m, d, interleaved=True))


def _no_conjugate(q: Vector, k: Vector, m: int, n: int) -> complex:
    """y_m y_n of complex y, as equations (1) to (3) of document 000 have it."""
    left, over = to_complex(q)[0] * np.exp(1j * m), to_complex(k)[0] * np.exp(1j * n)
    return complex(left * over)


def _without_real_part(q: Vector, k: Vector) -> complex:
    return complex(_score(q, k, 0, 0, PRINTED["relative_score"]["E-47"]))


def _vectors(erratum: str) -> Pair:
    return Pair(partial(_rotate, rotation=PRINTED["apply_rotary"][erratum]), _rotate)


def _scores(erratum: str) -> Pair:
    return Pair(partial(_score, score=PRINTED["relative_score"][erratum]), _score)


def _frequencies(erratum: str) -> Pair:
    form = PRINTED["inv_freq"][erratum]
    return Pair(lambda d, base=10000.0: form(d, base), lambda d, base=10000.0: inv_freq(d, base))


# --- code


def _cache(positions: Vector, d: int, axes: int) -> tuple[Vector, Vector]:
    xb_theta = angles(positions, inv_freq(d))
    return caches(xb_theta if axes == 2 else xb_theta[None])


def _table_of_the_example(position: int) -> Vector:
    """Read the numbers of E-55 out of the quotation."""
    (quoted,) = (one.text for one in errata()["E-55"].quotations if "tensor" in one.text)
    numbers = quoted[quoted.index("tensor") :].strip("tensor()[]").replace("[", "").split("],")
    return np.array([float(x) for x in numbers[position].split(",")])


def _rope(q: Vector, m: int, rope: Form) -> Vector:
    """Rotate the one vector q at position m of a sequence of copies of it."""
    rows = np.broadcast_to(q, (1, 1, m + 1, len(q)))
    return np.asarray(rope(rows, rows)[0][0, 0, m])


def _emb(x: Vector, emb: Form) -> Vector:
    """Apply emb to x, whose first token stands at position 1; any rank."""
    rows = x.shape[1] if x.ndim > 2 else x.shape[-1] // 2
    return np.asarray(emb(x, x, published.precompute_freqs_cis(x.shape[-1], rows + 1)[1:])[0])


def _masked(logits: Vector, mask: Vector) -> tuple[Vector, Vector]:
    """Scores and weights where a key without weight has the score -inf."""
    weights = softmax(logits, mask != 0)
    return np.where(weights > 0, logits, -np.inf), weights


def _masked_as_printed(logits: Vector, mask: Vector) -> tuple[Vector, Vector]:
    filled = filled_scores(logits, mask != 0)
    return filled, softmax(filled)


def _zeros(length: int, d: int) -> Vector:
    return np.zeros((1, length, d))


def _encoded(d: int, length: int, max_len: int) -> Vector:
    return PositionalEncoding(d, 0.1, max_len)(_zeros(length, d))


def _weighted(x: Vector, n: int, W: Vector) -> Vector:
    return np.asarray(project_key(x[None], np.array([n]), W[None], interleaved=True)[0, 0])


FORMS: Mapping[str, Pair] = MappingProxyType(
    {
        **{id_: _vectors(id_) for id_ in ("E-02", "E-09", "E-10", "E-17", "E-27", "E-46")},
        **{id_: _vectors(id_) for id_ in ("E-65", "E-66")},
        **{id_: _scores(id_) for id_ in ("E-04", "E-05", "E-21", "E-22", "E-28", "E-31")},
        **{id_: _scores(id_) for id_ in ("E-40", "E-41", "E-43", "E-49", "E-68")},
        **{id_: _frequencies(id_) for id_ in ("E-26", "E-32", "E-37", "E-45", "E-52")},
        "E-03": Pair(
            lambda x, n, W_q, **_: _weighted(x, n, W_q), lambda x, n, W_k, **_: _weighted(x, n, W_k)
        ),
        "E-06": Pair(_no_conjugate, _score),
        "E-07": Pair(
            lambda m, theta: complex(*twice_the_cosine(np.cos(m * theta), np.sin(m * theta))),
            lambda m, theta: euler(m * theta),
        ),
        "E-11": Pair(_cache, lambda positions, d, **_: published.cos_sin_cached(positions, d)),
        "E-13": Pair(lambda m, d, **_: _matrix(m, d), lambda n, d, **_: _matrix(n, d)),
        "E-14": Pair(partial(_rows, rotation=PRINTED["apply_rotary"]["E-14"]), _rows),
        "E-15": Pair(partial(_rows, rotation=PRINTED["apply_rotary"]["E-15"]), _rows),
        "E-19": Pair(partial(_matrix, matrix=PRINTED["rotation_matrix"]["E-19"]), _matrix),
        "E-20": Pair(lambda x, m: _matrix(m, len(x)), _rotate),
        "E-24": Pair(lambda q, k, m, **_: _rotate(q, m) @ k, _score),
        "E-25": Pair(near_first, by_score),
        "E-29": Pair(near_first, by_trace),
        "E-30": Pair(lambda z, w: z * w, lambda z, w: conjugate(z) * conjugate(w)),
        "E-34": Pair(lambda **_: "underflow", smallest_power),
        "E-36": Pair(lambda d: d - 1, lambda d: even_indices(d)[-1]),
        "E-38": Pair(_weighted, lambda x, W, **_: project_value(x[None], W[None])[0, 0]),
        "E-42": Pair(
            lambda A, B, C, D: A * C * B * D, lambda A, B, C, D: inner_product([A, B], [C, D])
        ),
        "E-44": Pair(lambda d: d >= 2, is_dimension),
        "E-47": Pair(_without_real_part, inner_product),
        "E-48": Pair(_without_real_part, inner_product),
        "E-51": Pair(
            lambda q, m, start: q * np.exp(1j * (start + m)), lambda q, m, **_: q * euler(m)
        ),
        "E-53": Pair(
            lambda d, length: angles(np.arange(length), inv_freq(d)).ravel()[:3],
            lambda d, length: angles(np.arange(length), inv_freq(d))[:3],
        ),
        "E-55": Pair(_table_of_the_example, lambda position: sinusoidal_embedding(position, 8)),
        "E-56": Pair(
            partial(_rope, rope=PRINTED["RoPE"]["E-56"]), partial(_rope, rope=published.RoPE)
        ),
        "E-58": Pair(_masked_as_printed, _masked),
        "E-59": Pair(
            lambda logits, mask: overwritten_scores(logits, mask != 0),
            lambda logits, mask: softmax(logits, mask != 0),
        ),
        "E-60": Pair(PRINTED["RoPE"]["E-60"], published.RoPE),
        "E-61": Pair(
            partial(_emb, emb=PRINTED["apply_rotary_emb"]["E-61"]),
            partial(_emb, emb=published.apply_rotary_emb),
        ),
        "E-62": Pair(
            partial(_emb, emb=PRINTED["apply_rotary_emb"]["E-62"]),
            partial(_emb, emb=published.apply_rotary_emb),
        ),
        "E-64": Pair(
            lambda d, length, max_len: positional_encoding(_zeros(length, d), max_len), _encoded
        ),
        "E-70": Pair(PRINTED["to_complex"]["E-70"], to_complex),
    }
)
"""By erratum: what can be computed of it. The others say in their section why nothing can."""
