"""Right and known wrong results of the functions that documents print; see `formulas`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ropespec import reference
from ropespec.conformance.diagnosis.asked import Asked, Float, drawn

__all__ = ["PRINTED"]


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
    q, k = drawn(2, 3, 4, 16, draw=draw), drawn(2, 3, 6, 16, seed=73, draw=draw)

    def turned(x: Float, factor: int = 1, start: int = 0) -> Any:  # noqa: ANN401  # an array
        where = factor * np.arange(x.shape[2]) + start
        y = reference.apply_rotary(x.transpose(0, 2, 1, 3), where, interleaved=True)
        return y.transpose(0, 2, 1, 3)

    def printed(x: Float) -> Any:  # noqa: ANN401  # an array
        where = np.arange(x.shape[2])
        cos, sin = (np.tile(part, 2) for part in reference.cos_sin(where, 16))
        other = np.stack([-x[..., 1::2], x[..., 0::2]], -1).reshape(x.shape)
        return x * cos + other * sin

    return Asked(
        (q, k),
        {},
        {
            "right": lambda: (turned(q), turned(k)),
            "from 1": lambda: (turned(q, start=1), turned(k, start=1)),
            "query from the end": lambda: (turned(q, start=2), turned(k)),
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
    x = (drawn(2, 6, 3, 8, draw=draw) + 0j).astype(np.complex64)
    return Asked(
        (cis, x),
        {},
        {
            "right": lambda: cis[None, :, None],
            "along the heads": lambda: cis[None, None],
        },
    )


def _emb(interleaved: bool, base: float, draw: int) -> Asked:  # noqa: ARG001  # as the others
    q, k = drawn(2, 6, 3, 16, draw=draw), drawn(2, 6, 3, 16, seed=73, draw=draw)
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


PRINTED: dict[str, Callable[[bool, float, int], Asked]] = {
    "sinusoidal_position_embedding": _embedding_table,
    "RoPE": _rope,
    "precompute_freqs_cis": _cis,
    "reshape_for_broadcast": _broadcast,
    "apply_rotary_emb": _emb,
}
"""What to ask of each, as in `formulas.ASKED`."""
