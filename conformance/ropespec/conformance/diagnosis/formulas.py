"""Right and known wrong results of the smaller functions, from the literal reference.

A wrong form is the reference with other arguments: the opposite position, one more, the other
layout, another base. What it is called says what was changed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ropespec import reference
from ropespec.conformance.diagnosis.asked import Asked, Float, Forms, drawn
from ropespec.conformance.diagnosis.printed import PRINTED

__all__ = ["ASKED"]


def _places(draw: int) -> Float:
    return np.random.default_rng([83, draw]).permutation([0, 1, 4, 2, 9 + draw])


def _other_base(base: float) -> float:
    return 10000.0 if base != 10000.0 else 500000.0


def _rotation(function: Callable[..., Any]) -> Callable[[bool, float, int], Asked]:
    """Return the forms of a rotation f(x, positions, ...)."""

    def ask(interleaved: bool, base: float, draw: int) -> Asked:  # a table of functions
        x = drawn(2, 5, 3, 16, draw=draw)
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
    x = drawn(2, 5, 3, 16, draw=draw)
    angle = drawn(2, 5, 6, seed=79, draw=draw)
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
    def forms(x: Float) -> Forms:
        return {
            "right": lambda: getattr(reference, name)(x),
            "other direction": lambda: getattr(reference, other)(x),
            "not permuted": lambda: x,
            "halves exchanged": lambda: np.roll(x, 8, axis=-1),
            "pairs exchanged": lambda: x.reshape(3, 8, 2)[..., ::-1].reshape(3, 16),
        }

    return lambda _, __, draw: Asked((x := drawn(3, 16, draw=draw),), {}, forms(x))


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


def _angles(base: float, draw: int) -> Asked:
    where, theta = 30 * _places(draw), reference.inv_freq(16, base)
    right, turn = reference.angles(where, theta), 2 * np.pi
    return Asked(
        (where, theta),
        {},
        {
            "right": lambda: right,
            "from 0 to 2 pi": lambda: np.mod(right, turn),
            "from -pi to pi": lambda: np.remainder(right + np.pi, turn) - np.pi,
            "in turns": lambda: right / turn,
            "in degrees": lambda: np.degrees(right),
        },
    )


def _score(interleaved: bool, base: float, draw: int) -> Asked:  # a table of functions
    q, k = drawn(5, 16, draw=draw), drawn(5, 16, seed=73, draw=draw)
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


def _decay(base: float, draw: int) -> Asked:
    """Return the forms of the mean of partial sums, of offsets in two axes."""
    offsets = np.array([[0, 3, 7], [-2, 40 + draw, 200]])
    terms = np.exp(1j * offsets[..., None] * reference.inv_freq(16, base))
    sums = np.cumsum(terms, axis=-1)
    return Asked(
        (offsets, 16),
        {"base": base},
        {
            "right": lambda: np.abs(sums).mean(-1),
            "real parts": lambda: np.abs(sums.real).mean(-1),
            "imaginary parts": lambda: np.abs(sums.imag).mean(-1),
            "absolute value of the mean": lambda: np.abs(sums.mean(-1)),
            "sums without the last": lambda: np.abs(sums[..., :-1]).sum(-1) / sums.shape[-1],
            "sums without the first": lambda: np.abs(sums[..., 1:]).sum(-1) / sums.shape[-1],
            "mean without the last": lambda: np.abs(sums[..., :-1]).mean(-1),
            "mean without the first": lambda: np.abs(sums[..., 1:]).mean(-1),
            "last sum alone": lambda: np.abs(sums[..., -1]),
            "squares": lambda: np.sqrt((np.abs(sums) ** 2).mean(-1)),
            "sums along another axis": lambda: np.abs(np.cumsum(terms, axis=1)).mean(-1),
            "base": lambda: reference.decay_bound(offsets, 16, _other_base(base)),
        },
    )


def _to_complex(interleaved: bool, base: float, draw: int) -> Asked:  # noqa: ARG001  # as the others
    x = drawn(3, 16, draw=draw)
    x[0, 3] = np.inf

    def paired(a: Float, b: Float) -> Float:
        z = np.empty(a.shape, np.complex128)
        z.real, z.imag = a, b
        return z

    def multiplied(a: Float, b: Float) -> Float:
        with np.errstate(invalid="ignore"):
            return np.asarray(a + 1j * b)

    return Asked(
        (x,),
        {},
        {
            "right": lambda: paired(x[..., 0::2], x[..., 1::2]),
            "product with i": lambda: multiplied(x[..., 0::2], x[..., 1::2]),
            "opposite": lambda: paired(x[..., 0::2], -x[..., 1::2]),
            "other pairing": lambda: paired(x[..., :8], x[..., 8:]),
        },
    )


def _from_complex(interleaved: bool, base: float, draw: int) -> Asked:  # noqa: ARG001  # as the others
    z = drawn(3, 8, draw=draw) + 1j * drawn(3, 8, seed=73, draw=draw)
    return Asked(
        (z.astype(np.complex64),),
        {},
        {
            "right": lambda: np.stack([z.real, z.imag], -1).reshape(3, 16),
            "opposite": lambda: np.stack([z.real, -z.imag], -1).reshape(3, 16),
            "halves": lambda: np.concatenate([z.real, z.imag], -1),
        },
    )


ASKED: dict[str, Callable[[bool, float, int], Asked]] = {
    "angles": lambda _, base, draw: _angles(base, draw),
    "rotation_matrix": _matrix,
    "apply_rotary_cos_sin": _tables,
    "apply_rotary_dense": _rotation(reference.apply_rotary_dense),
    "apply_rotary_complex": _rotation(reference.apply_rotary_complex),
    "interleaved_to_half": _permutation("interleaved_to_half", "half_to_interleaved"),
    "half_to_interleaved": _permutation("half_to_interleaved", "interleaved_to_half"),
    "to_complex": _to_complex,
    "from_complex": _from_complex,
    "relative_score": _score,
    "decay_bound": lambda _, base, draw: _decay(base, draw),
    **PRINTED,
}
"""What to ask of each function, for a layout, a base and a draw of numbers."""
