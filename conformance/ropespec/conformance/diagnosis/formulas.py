"""Right and known wrong results of the smaller functions, from the literal reference.

A wrong form is the reference with other arguments: the opposite position, one more, the other
layout, another base. What it is called says what was changed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference

__all__ = ["ASKED", "Asked", "Forms"]

Float = NDArray[Any]
Forms = Mapping[str, Callable[[], Any]]


def _places(draw: int) -> Float:
    return np.random.default_rng([83, draw]).permutation([0, 1, 4, 2, 9 + draw])


@dataclass(frozen=True, slots=True)
class Asked:
    """One call and what may come of it.

    Attributes
    ----------
    arrays : tuple
        Positional arguments.
    keywords : dict
        Keywords, those a function does not take left out.
    forms : mapping
        Results by name, the right one first; each an array or a tuple of arrays.
    """

    arrays: tuple[Any, ...]
    keywords: dict[str, Any]
    forms: Forms


def _x(*shape: int, draw: int, seed: int = 71) -> Float:
    return np.random.default_rng([seed, draw]).standard_normal(shape).astype(np.float32)


def _other_base(base: float) -> float:
    return 10000.0 if base != 10000.0 else 500000.0


def _rotation(function: Callable[..., Any]) -> Callable[[bool, float, int], Asked]:
    """Return the forms of a rotation f(x, positions, ...)."""

    def ask(interleaved: bool, base: float, draw: int) -> Asked:  # a table of functions
        x = _x(2, 5, 3, 16, draw=draw)
        where = np.broadcast_to(_places(draw), (2, 5)).copy()
        layout = {} if function is reference.apply_rotary_complex else {"interleaved": interleaved}

        def turned(p: Float, b: float = base, *, flip: bool = False) -> Any:  # noqa: ANN401  # an array
            if flip:
                return reference.apply_rotary(x, p, interleaved=not interleaved, base=b)
            return function(x, p, base=b, **layout)

        return Asked(
            (x, where),
            {"interleaved": interleaved, "base": base},
            {
                "right": lambda: turned(where),
                "opposite": lambda: turned(-where),
                "from 1": lambda: turned(where + 1),
                "twice": lambda: turned(2 * where),
                "base": lambda: turned(where, _other_base(base)),
                "not rotated": lambda: x,
                "other pairing": lambda: turned(where, flip=True),
            },
        )

    return ask


def _tables(interleaved: bool, base: float, draw: int) -> Asked:  # a table of functions
    """Return the forms of a rotation by tables of any angles, which carry a factor."""
    x = _x(2, 5, 3, 16, draw=draw)
    angle = _x(2, 5, 6, seed=79, draw=draw)
    cos, sin = 1.5 * np.cos(angle), 1.5 * np.sin(angle)

    def turned(c: Float, s: Float, *, flip: bool = False) -> Any:  # noqa: ANN401  # an array
        return reference.apply_rotary_cos_sin(x, c, s, interleaved=interleaved != flip)

    right = turned(cos, sin)
    dropped = right.copy()
    dropped[..., 12:] = 0.0
    return Asked(
        (x, cos, sin),
        {"interleaved": interleaved},
        {
            "right": lambda: right,
            "opposite": lambda: turned(cos, -sin),
            "other pairing": lambda: turned(cos, sin, flip=True),
            "not rotated": lambda: x,
            "tables ignored": lambda: turned(*reference.cos_sin(np.arange(5), 12, base)),
            "unit circle": lambda: turned(np.cos(angle), np.sin(angle)),
            "tables of one row": lambda: turned(cos[0], sin[0]),
            "tail dropped": lambda: dropped,
            **({} if interleaved else {"partners by head_dim": lambda: _across(x, cos, sin)}),
        },
    )


def _across(x: Float, cos: Float, sin: Float) -> Float:
    """Pair i with i + D/2, where tables have fewer pairs."""
    n, step = cos.shape[-1], x.shape[-1] // 2
    y, a, b = x.copy(), x[..., :n], x[..., step : step + n]
    cos, sin = cos[..., None, :], sin[..., None, :]
    y[..., :n] = a * cos - b * sin
    y[..., step : step + n] = b * cos + a * sin
    return y


def _permutation(name: str, other: str) -> Callable[[bool, float, int], Asked]:
    def ask(interleaved: bool, base: float, draw: int) -> Asked:  # noqa: ARG001  # as the others
        x = _x(3, 16, draw=draw)
        return Asked(
            (x,),
            {},
            {
                "right": lambda: getattr(reference, name)(x),
                "other direction": lambda: getattr(reference, other)(x),
                "not permuted": lambda: x,
                "halves exchanged": lambda: np.roll(x, 8, axis=-1),
                "pairs exchanged": lambda: x.reshape(3, 8, 2)[..., ::-1].reshape(3, 16),
            },
        )

    return ask


def _matrix(interleaved: bool, base: float, draw: int) -> Asked:  # a table of functions
    def dense(p: Float, b: float = base, *, flip: bool = False) -> Any:  # noqa: ANN401  # an array
        return reference.rotation_matrix(p, 16, interleaved=interleaved != flip, base=b)

    return Asked(
        (_places(draw), 16),
        {"interleaved": interleaved, "base": base},
        {
            "right": lambda: dense(_places(draw)),
            "opposite": lambda: dense(-_places(draw)),
            "from 1": lambda: dense(_places(draw) + 1),
            "base": lambda: dense(_places(draw), _other_base(base)),
            "other pairing": lambda: dense(_places(draw), flip=True),
        },
    )


def _score(interleaved: bool, base: float, draw: int) -> Asked:  # a table of functions
    q, k = _x(5, 16, draw=draw), _x(5, 16, seed=73, draw=draw)
    offset = np.array([0, 3, -2, 7, 1])

    def made(n: Float, b: float = base, *, flip: bool = False) -> Any:  # noqa: ANN401  # an array
        return reference.relative_score(q, k, n, interleaved=interleaved != flip, base=b)

    return Asked(
        (q, k, offset),
        {"interleaved": interleaved, "base": base},
        {
            "right": lambda: made(offset),
            "opposite": lambda: made(-offset),
            "from 1": lambda: made(offset + 1),
            "base": lambda: made(offset, _other_base(base)),
            "other pairing": lambda: made(offset, flip=True),
            "distance": lambda: made(np.abs(offset)),
        },
    )


def _to_complex(interleaved: bool, base: float, draw: int) -> Asked:  # noqa: ARG001  # as the others
    x = _x(3, 16, draw=draw)
    return Asked(
        (x,),
        {},
        {
            "right": lambda: x[..., 0::2] + 1j * x[..., 1::2],
            "opposite": lambda: x[..., 0::2] - 1j * x[..., 1::2],
            "other pairing": lambda: x[..., :8] + 1j * x[..., 8:],
        },
    )


def _from_complex(interleaved: bool, base: float, draw: int) -> Asked:  # noqa: ARG001  # as the others
    z = _x(3, 8, draw=draw) + 1j * _x(3, 8, seed=73, draw=draw)
    return Asked(
        (z.astype(np.complex64),),
        {},
        {
            "right": lambda: np.stack([z.real, z.imag], -1).reshape(3, 16),
            "opposite": lambda: np.stack([z.real, -z.imag], -1).reshape(3, 16),
            "halves": lambda: np.concatenate([z.real, z.imag], -1),
        },
    )


def _embedding_table(interleaved: bool, base: float, draw: int) -> Asked:  # noqa: ARG001  # as the others
    pe = reference.sinusoidal_position_embedding(2, 3, 6, 16, None)
    later = reference.sinusoidal_position_embedding(2, 3, 7, 16, None)[:, :, 1:]
    s, c = pe[..., 0::2], pe[..., 1::2]
    return Asked(
        (2, 3, 6, 16),
        {"device": None},
        {
            "right": lambda: pe,
            "from 1": lambda: later,
            "sines then cosines": lambda: np.concatenate([s, c], -1),
            "cosine first": lambda: np.stack([c, s], -1).reshape(pe.shape),
        },
    )


def _rope(interleaved: bool, base: float, draw: int) -> Asked:  # noqa: ARG001  # as the others
    q, k = _x(2, 3, 6, 16, draw=draw), _x(2, 3, 6, 16, seed=73, draw=draw)

    def turned(x: Float, factor: int = 1, start: int = 0) -> Any:  # noqa: ANN401  # an array
        where = factor * np.arange(6) + start
        y = reference.apply_rotary(x.transpose(0, 2, 1, 3), where, interleaved=True)
        return y.transpose(0, 2, 1, 3)

    def printed(x: Float) -> Any:  # noqa: ANN401  # an array
        cos, sin = (np.tile(part, 2) for part in reference.cos_sin(np.arange(6), 16))
        other = np.stack([-x[..., 1::2], x[..., 0::2]], -1).reshape(x.shape)
        return x * cos + other * sin

    return Asked(
        (q, k),
        {},
        {
            "right": lambda: (turned(q), turned(k)),
            "from 1": lambda: (turned(q, start=1), turned(k, start=1)),
            "opposite": lambda: (turned(q, -1), turned(k, -1)),
            "sum of positions": lambda: (turned(q), turned(k, -1)),
            "not rotated": lambda: (q, k),
            "query for key": lambda: (q, turned(q, 2)),
            "query for key once": lambda: (q, turned(q)),
            "tables of the other layout": lambda: (printed(q), printed(k)),
        },
    )


def _cis(interleaved: bool, base: float, draw: int) -> Asked:  # noqa: ARG001  # as the others
    def made(start: int = 0) -> Any:  # noqa: ANN401  # an array
        return reference.precompute_freqs_cis(16, 6 + start)[start:]

    return Asked(
        (16, 6),
        {},
        {
            "right": made,
            "from 1": lambda: made(1),
            "opposite": lambda: made().conj(),
            "swapped": lambda: made().imag + 1j * made().real,
        },
    )


def _broadcast(interleaved: bool, base: float, draw: int) -> Asked:  # noqa: ARG001  # as the others
    cis = reference.precompute_freqs_cis(16, 6).astype(np.complex64)
    x = (_x(2, 6, 3, 8, draw=draw) + 0j).astype(np.complex64)
    return Asked(
        (cis, x),
        {},
        {
            "right": lambda: cis[None, :, None],
            "along the heads": lambda: cis[None, None],
        },
    )


def _emb(interleaved: bool, base: float, draw: int) -> Asked:  # noqa: ARG001  # as the others
    q, k = _x(2, 6, 3, 16, draw=draw), _x(2, 6, 3, 16, seed=73, draw=draw)
    cis = reference.precompute_freqs_cis(16, 6).astype(np.complex64)

    def turned(turn: Float) -> Any:  # noqa: ANN401  # two arrays
        return reference.apply_rotary_emb(q, k, turn)

    return Asked(
        (q, k, cis),
        {},
        {
            "right": lambda: turned(cis),
            "opposite": lambda: turned(cis.conj()),
            "query opposite": lambda: (turned(cis.conj())[0], turned(cis)[1]),
            "key opposite": lambda: (turned(cis)[0], turned(cis.conj())[1]),
            "not rotated": lambda: (q, k),
            "query not rotated": lambda: (q, turned(cis)[1]),
            "key not rotated": lambda: (turned(cis)[0], k),
        },
    )


ASKED: dict[str, Callable[[bool, float, int], Asked]] = {
    "rotation_matrix": _matrix,
    "apply_rotary_cos_sin": _tables,
    "apply_rotary_dense": _rotation(reference.apply_rotary_dense),
    "apply_rotary_complex": _rotation(reference.apply_rotary_complex),
    "interleaved_to_half": _permutation("interleaved_to_half", "half_to_interleaved"),
    "half_to_interleaved": _permutation("half_to_interleaved", "interleaved_to_half"),
    "to_complex": _to_complex,
    "from_complex": _from_complex,
    "relative_score": _score,
    "sinusoidal_position_embedding": _embedding_table,
    "RoPE": _rope,
    "precompute_freqs_cis": _cis,
    "reshape_for_broadcast": _broadcast,
    "apply_rotary_emb": _emb,
}
"""What to ask of each function, for a layout, a base and a draw of numbers."""
