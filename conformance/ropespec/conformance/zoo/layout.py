"""Wrong pairing, direction and application of the rotation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import angles, half, interleaved, rope

__all__ = [
    "adjacent_for_half",
    "applied_twice",
    "clockwise",
    "left_deinterleaved",
    "lost_sine",
    "wrong_axis",
    "wrong_block",
]

Array = NDArray[Any]


@wrong(
    "L1",
    "Adjacent pairs where half-split is declared.",
    "ROT-7.pairing",
    "ROT-7.value",
    "DER-1.blocks",
    "DER-3.modulus",
    "ROT-4.forms",
    "DER-5.all-pairs",
    "WGT-1.moved",
    "WGT-2.moved",
    "WGT-3.moved",
    "WGT-5.moved",
    "WGT-6.moved",
    "WGT-7.moved",
    "WGT-8.moved",
    "WGT-9.moved",
)
def adjacent_for_half(x: Array, positions: Array) -> Array:
    """Rotate pairs (2i, 2i+1)."""
    return rope(x, positions, pairs=True)


@wrong(
    "L3",
    "The rotated pairs are left de-interleaved.",
    "ROT-10.identity",
    interleaved=True,
)
def left_deinterleaved(x: Array, positions: Array) -> Array:
    """Concatenate what should be woven."""
    angle = angles(positions, x.shape[-1])[..., None, :]
    c, s = np.cos(angle), np.sin(angle)
    a, b = x[..., 0::2], x[..., 1::2]
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1).astype(x.dtype)


@wrong(
    "S1",
    "The sign of sin is flipped.",
    "ROT-1.direction",
    "ERR-1.printed",
    "DER-2.equations",
    "DER-4.progression",
    "DER-5.solution",
    "JDG-1.reference",
    "CPLX-4.euler",
    "CPLX-6.halves",
    "REL-6.anchor",
    "REL-7.swap",
    "CPLX-1.forms",
    "CPLX-4.forms",
    "CPLX-5.forms",
    "ROT-1.forms",
    "ROT-2.forms",
    "ROT-7.forms",
    "ROT-12.forms",
    "ROT-13.forms",
)
def clockwise(x: Array, positions: Array) -> Array:
    """Turn the other way."""
    angle = angles(positions, x.shape[-1])
    return half(x, np.cos(angle), -np.sin(angle))


@wrong("D13", "Only the real part of e^{i m theta} is kept.", "ROT-11.norm")
def lost_sine(x: Array, positions: Array) -> Array:
    """Multiply by cos alone."""
    angle = angles(positions, x.shape[-1])
    return half(x, np.cos(angle), np.zeros_like(angle))


@wrong("A1", "The rotation is applied twice.", "FREQ-2.read-off", "ERR-1.printed")
def applied_twice(x: Array, positions: Array) -> Array:
    """Rotate a rotated x."""
    return rope(rope(x, positions), positions)


@wrong("X1", "The head axis is taken for the sequence.", "ROT-19.heads", "ROT-10.identity")
def wrong_axis(x: Array, positions: Array) -> Array:
    """Turn head h by angle h."""
    heads = np.broadcast_to(np.arange(x.shape[2]), x.shape[:3])
    return rope(x.reshape(*x.shape[:3], 1, x.shape[3]), heads + 0 * positions[..., None])[
        :, :, :, 0
    ]


@wrong(
    "operands confused",
    "The last block has (sin, cos) in the row of (cos, -sin), as document 002 prints it.",
    "ERR-1.printed",
    "ROT-11.norm",
    interleaved=True,
)
def wrong_block(x: Array, positions: Array) -> Array:
    """Copy the misprint E-19."""
    angle = angles(positions, x.shape[-1])
    y = interleaved(x, np.cos(angle), np.sin(angle))
    c, s = np.cos(angle[..., -1:]), np.sin(angle[..., -1:])
    y[..., -2] = x[..., -2] * s + x[..., -1] * c
    return y
