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
    "clockwise_interleaved",
    "flat_heads",
    "half_for_adjacent",
    "left_deinterleaved",
    "lost_minus",
    "lost_sine",
    "mixed_tables",
    "mixed_tables_interleaved",
    "never_applied",
    "overwritten_operand",
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
    "L1",
    "Half-split pairs where interleaved is declared.",
    "ROT-6.pairing",
    "ROT-6.value",
    "PUB-7.bare",
    "REL-9.additive",
    "ROT-3.forms",
    "ROT-6.forms",
    interleaved=True,
)
def half_for_adjacent(x: Array, positions: Array) -> Array:
    """Rotate pairs (i, i+d/2)."""
    return rope(x, positions)


@wrong(
    "L2",
    "Tables of the interleaved layout with the half-split rotation.",
    "FREQ-8.twice",
    "ROT-2.complex",
    "FREQ-8.forms",
)
def mixed_tables(x: Array, positions: Array) -> Array:
    """Repeat each angle in place, but rotate halves."""
    angle = np.repeat(angles(positions, x.shape[-1]), 2, axis=-1)[..., None, :]
    n = x.shape[-1] // 2
    turned = np.concatenate([-x[..., n:], x[..., :n]], axis=-1)
    return np.asarray(x * np.cos(angle) + turned * np.sin(angle), dtype=x.dtype)


@wrong(
    "L2",
    "Tables of the half-split layout with the interleaved rotation.",
    "FREQ-8.twice",
    "ROT-11.norm",
    interleaved=True,
)
def mixed_tables_interleaved(x: Array, positions: Array) -> Array:
    """Tile the angles, but rotate neighbours."""
    angle = np.tile(angles(positions, x.shape[-1]), 2)[..., None, :]
    turned = np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)
    return np.asarray(x * np.cos(angle) + turned * np.sin(angle), dtype=x.dtype)


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
    "The sign of sin is flipped, for neighbours.",
    "REL-1.forms",
    "REL-2.forms",
    "REL-5.forms",
    "REL-5.middle",
    "REL-6.forms",
    "REL-9.forms",
    "DER-1.forms",
    "DER-2.forms",
    "DER-4.forms",
    "DER-5.forms",
    "DEC-1.forms",
    interleaved=True,
)
def clockwise_interleaved(x: Array, positions: Array) -> Array:
    """Rotate by -m."""
    return rope(x, -positions, pairs=True)


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


@wrong(
    "lost minus",
    "The minus of -sin is lost: the block is symmetric.",
    "ROT-11.norm",
    "ROT-2.complex",
    "REL-2.real-part",
    "REL-3.inner-product",
    "REL-4.groups",
    "REL-5.key-turned",
    "ATT-3.weights",
)
def lost_minus(x: Array, positions: Array) -> Array:
    """Add where the formula subtracts."""
    angle = angles(positions, x.shape[-1])[..., None, :]
    c, s = np.cos(angle), np.sin(angle)
    n = x.shape[-1] // 2
    a, b = x[..., :n], x[..., n:]
    return np.concatenate([a * c + b * s, b * c + a * s], axis=-1).astype(x.dtype)


@wrong("D13", "Only the real part of e^{i m theta} is kept.", "ROT-11.norm")
def lost_sine(x: Array, positions: Array) -> Array:
    """Multiply by cos alone."""
    angle = angles(positions, x.shape[-1])
    return half(x, np.cos(angle), np.zeros_like(angle))


@wrong(
    "M2",
    "The second half is made from the first half already overwritten.",
    "ROT-11.norm",
    "CPLX-3.quarter-turn",
    "CPLX-7.product",
    "REL-8.equal",
)
def overwritten_operand(x: Array, positions: Array) -> Array:
    """Reuse the variable."""
    angle = angles(positions, x.shape[-1])[..., None, :]
    c, s = np.cos(angle), np.sin(angle)
    n = x.shape[-1] // 2
    a, b = x[..., :n], x[..., n:]
    a = a * c - b * s
    b = b * c + a * s
    return np.concatenate([a, b], axis=-1).astype(x.dtype)


@wrong("A1", "The rotation is applied twice.", "FREQ-2.read-off", "ERR-1.printed")
def applied_twice(x: Array, positions: Array) -> Array:
    """Rotate a rotated x."""
    return rope(rope(x, positions), positions)


@wrong(
    "A3",
    "The rotation is never applied.",
    "FREQ-2.read-off",
    "FREQ-6.neighbours",
    "DEC-1.abel",
    "DEC-2.cosines",
)
def never_applied(x: Array, positions: Array) -> Array:  # noqa: ARG001  # the mistake itself
    """Return a copy."""
    return x.copy()


@wrong("X1", "The head axis is taken for the sequence.", "ROT-19.heads", "ROT-10.identity")
def wrong_axis(x: Array, positions: Array) -> Array:
    """Turn head h by angle h."""
    heads = np.broadcast_to(np.arange(x.shape[2]), x.shape[:3])
    return rope(x.reshape(*x.shape[:3], 1, x.shape[3]), heads + 0 * positions[..., None])[
        :, :, :, 0
    ]


@wrong("X3", "Heads are rotated as one long vector.", "ROT-19.heads", "ROT-7.value")
def flat_heads(x: Array, positions: Array) -> Array:
    """Rotate before the split into heads."""
    flat = x.reshape(*x.shape[:2], 1, -1)
    return rope(flat, positions).reshape(x.shape)


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
