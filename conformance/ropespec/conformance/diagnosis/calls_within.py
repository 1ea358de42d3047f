"""How a rotation is asked of functions that have one in them: arguments, and what of it is y."""

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ropespec.conformance.mistakes.chain import claimed_pairs, ladder
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["OF_SCHEMES", "OF_TABLES", "ROTATING", "Call", "projected"]

_MOST_SCORED = 2**19
"""Components of all vectors that are scored in one call."""

_FARTHEST = 5000
"""How long a table may be that is made for one call."""


class Call(NamedTuple):
    """How a rotation is asked of a function: its arguments, and what of its results is y."""

    arrays: tuple[Any, ...]
    read: Callable[..., Array]


def projected(given: Given, positions: Array) -> Call:
    """Let weights of 0 and 1, others in each call, give each head its own components of x."""
    b, s, h, d = given.shape
    order = np.random.default_rng(zlib.crc32(given.x.tobytes())).permutation(h * d)
    weight = np.eye(h * d)[np.argsort(order)].reshape(h, d, h * d).astype(given.x.dtype)
    return Call((given.x.reshape(b, s, h * d)[..., order], positions, weight), lambda y: y)


def _by_scores(given: Given, positions: Array) -> Call | None:
    """Score each unit vector with x, by the position as an offset: components of x rotated."""
    d = given.shape[-1]
    if given.x.size * d > _MOST_SCORED:
        return None
    keys = np.broadcast_to(given.x[..., None, :], (*given.shape, d)).reshape(-1, d)
    units = np.tile(np.eye(d, dtype=given.x.dtype), (given.x.size // d, 1))
    places = np.broadcast_to(positions[..., None, None], given.shape)
    arrays = units, np.ascontiguousarray(keys), places.reshape(-1)
    return Call(arrays, lambda scores: scores.reshape(given.shape))


def _with_tables(given: Given, positions: Array) -> Call:
    wide = np.float64 if given.dtype == "float64" else np.float32
    cos, sin = (part.astype(wide) for part in _tables(given, positions))
    return Call((given.x, cos, sin), lambda y: y)


def _with_complex(given: Given, positions: Array) -> Call | None:
    """Give the printed function what all rows have, and take its query."""
    if positions.ndim == 2 and (positions != positions[:1]).any():
        return None
    cos, sin = _tables(given, positions.reshape(-1, given.x.shape[1])[0])
    return Call((given.x, given.x, (cos + 1j * sin).astype(np.complex64)), lambda q, _: q)


def _tables(given: Given, positions: Array) -> tuple[Array, Array]:
    angle = positions[..., None] * ladder(given)
    return np.cos(angle), np.sin(angle)


def _by_tables(given: Given, positions: Array) -> Call:
    return Call((positions, given.turning), lambda c, s: _turned(given, c, s))


def _by_embedding(given: Given, positions: Array) -> Call:
    return Call((positions, given.turning), lambda pe: _turned(given, pe[..., 1::2], pe[..., 0::2]))


def _by_angles(given: Given, positions: Array) -> Call:
    return Call(
        (positions, ladder(given)), lambda angle: _turned(given, np.cos(angle), np.sin(angle))
    )


def _by_rows(given: Given, positions: Array) -> Call | None:
    """Ask for a table as long as it must be, and take the rows of the positions."""
    least, most = int(positions.min(initial=0)), int(positions.max(initial=0))
    if least < 0 or most > _FARTHEST:
        return None
    arrays = given.turning, most + 1, given.base
    return Call(arrays, lambda cis: _turned(given, cis.real[positions], cis.imag[positions]))


def _by_frequencies(given: Given, positions: Array) -> Call:
    def read(theta: Array) -> Array:
        angle = positions[..., None] * theta
        return _turned(given, np.cos(angle), np.sin(angle))

    return Call((given.turning,), read)


def _turned(given: Given, cos: Array, sin: Array) -> Array:
    """Rotate x by tables of (B, S, pairs) or (S, pairs)."""
    first, second, *_ = claimed_pairs(given)
    y = given.x.astype(np.float64)
    c, s = (np.asarray(part, dtype=np.float64)[..., None, :] for part in (cos, sin))
    a, b = y[..., first], y[..., second]
    y[..., first], y[..., second] = a * c - b * s, b * c + a * s
    return y


def _by_scaled_frequencies(given: Given, positions: Array) -> Call:
    """Rotate x by frequencies of a scheme, and lengthen it as the scheme does."""
    gain = 1.0 if given.scaling is None else float(given.scaling.gain)
    call = _by_frequencies(given, positions)

    def read(theta: Array) -> Array:
        y = call.read(theta)
        y[..., : given.turning] *= gain
        return y

    return Call(call.arrays, read)


def _rotated(given: Given, positions: Array) -> Call:
    return Call((given.x, positions), lambda y: y)


def _by_matrices(given: Given, positions: Array) -> Call:
    def read(matrices: Array) -> Array:
        turned = given.x[..., : given.turning].astype(np.float64)
        of_tokens = np.broadcast_to(matrices, (*given.shape[:2], *matrices.shape[-2:]))
        y = np.einsum("bsde,bshe->bshd", of_tokens, turned)
        return np.concatenate([y, given.x[..., given.turning :]], axis=-1)

    return Call((positions, given.turning), read)


ROTATING: dict[str, Callable[[Given, Array], Call | None]] = {
    "apply_rotary_cos_sin": _with_tables,
    "apply_rotary_emb": _with_complex,
    "project_query": projected,
    "project_key": projected,
    "relative_score": _by_scores,
}
"""How each function of x is asked for a rotation."""

OF_TABLES: dict[str, Callable[[Given, Array], Call | None]] = {
    "rotation_matrix": _by_matrices,
    "cos_sin": _by_tables,
    "sinusoidal_embedding": _by_embedding,
    "angles": _by_angles,
    "precompute_freqs_cis": _by_rows,
    "inv_freq": _by_frequencies,
}
"""How each of the others is, whose result rotates x here."""

OF_SCHEMES: dict[str, Callable[[Given, Array], Call | None]] = {
    "inv_freq_scaled": _by_scaled_frequencies,
    "cos_sin_scaled": _by_tables,
    "apply_rotary_scaled": _rotated,
}
"""How those that take a scheme are."""
