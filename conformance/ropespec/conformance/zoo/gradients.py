"""Wrong gradients of a right rotation: `apply_rotary_vjp(cotangent, positions)` beside it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import rope

__all__ = [
    "BackwardInFloat32",
    "BackwardInPlace",
    "BackwardTurnsForward",
    "BackwardWithoutPositions",
    "ConstantTailGradient",
    "NoGradient",
]

Array = NDArray[Any]
PART: dict[str, Any] = {"rotary_dim": 8, "head_dims": (16, 32)}


class _Rotation:
    """A right rotation."""

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Rotate halves."""
        return rope(x, positions)


@wrong("G1", "The backward pass rotates forward.", "ROT-20.gradient")
class BackwardTurnsForward(_Rotation):
    """The conjugate is missing."""

    def apply_rotary_vjp(self, cotangent: Array, positions: Array) -> Array:
        """Turn by +m."""
        return rope(cotangent, positions)


@wrong(
    "G2",
    "The gradient of the components that do not rotate is 1.",
    "ROT-20.gradient",
    "ROT-20.tail",
    **PART,
)
class ConstantTailGradient:
    """A backward pass that was tested with a sum."""

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Turn the first 8 components."""
        return np.concatenate([rope(x[..., :8], positions), x[..., 8:]], axis=-1)

    def apply_rotary_vjp(self, cotangent: Array, positions: Array) -> Array:
        """Write 1 into the tail."""
        turned = rope(cotangent[..., :8], -positions)
        return np.concatenate([turned, np.ones_like(cotangent[..., 8:])], axis=-1)


@wrong("G3", "The gradient is zero.", "ROT-20.gradient")
class NoGradient(_Rotation):
    """A fused operation without a backward pass."""

    def apply_rotary_vjp(self, cotangent: Array, positions: Array) -> Array:
        """Return zeros."""
        del positions
        return np.zeros_like(cotangent)


@wrong("", "The gradient of a single token is that of position 0.", "ROT-20.gradient")
class BackwardWithoutPositions(_Rotation):
    """A backward pass that forgets the offset when it decodes."""

    def apply_rotary_vjp(self, cotangent: Array, positions: Array) -> Array:
        """Count single tokens from 0."""
        return rope(cotangent, 0 * positions if cotangent.shape[1] == 1 else -positions)


@wrong("cotangent overwritten", "The cotangent is rotated in place.", "ROT-17.arguments")
class BackwardInPlace(_Rotation):
    """A backward pass that saves the memory of a gradient."""

    def apply_rotary_vjp(self, cotangent: Array, positions: Array) -> Array:
        """Turn the cotangent where it lies."""
        cotangent[...] = rope(cotangent, -positions)
        return cotangent


@wrong(
    "",
    "The gradient of float64 x goes through float32.",
    "ROT-20.gradient",
    "ROT-20.differences",
    dtypes=("float64",),
)
class BackwardInFloat32:
    """A backward pass in less than the dtype of x."""

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Rotate in float64."""
        d = x.shape[-1]
        angle = positions.astype(np.float64)[..., None] * 10000.0 ** (-np.arange(0, d, 2) / d)
        c, s = np.cos(angle)[..., None, :], np.sin(angle)[..., None, :]
        a, b = x[..., : d // 2], x[..., d // 2 :]
        return np.concatenate([a * c - b * s, b * c + a * s], axis=-1)

    def apply_rotary_vjp(self, cotangent: Array, positions: Array) -> Array:
        """Turn back in float32."""
        return rope(cotangent.astype(np.float32), -positions).astype(np.float64)
