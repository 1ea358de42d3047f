"""Wrong frequencies: base, exponent, denominator, width."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import half, rope

__all__ = [
    "base_500000",
    "base_hard_coded",
    "slow_half_unturned",
    "uninitialised",
    "wrong_end",
]

Array = NDArray[Any]


def _with(x: Array, positions: Array, theta: Array) -> Array:
    angle = positions.astype(np.float64)[..., None] * theta
    return half(x, np.cos(angle), np.sin(angle))


def _index(x: Array) -> Array:
    return np.asarray(np.arange(x.shape[-1] // 2) / x.shape[-1])


@wrong("F1", "The base is 500000 instead of 10000.", "FREQ-2.read-off")
def base_500000(x: Array, positions: Array) -> Array:
    """Rotate with the base of another model."""
    return rope(x, positions, base=500000.0)


@wrong("F1", "The base is 10000 where 500000 is declared.", "FREQ-2.read-off", base=500000.0)
def base_hard_coded(x: Array, positions: Array) -> Array:
    """Rotate with the default base."""
    return rope(x, positions)


def _partial(x: Array, positions: Array, width: int, rotary_dim: int, denominator: int) -> Array:
    theta = 10000.0 ** (-np.arange(0, rotary_dim, 2) / denominator)
    angle = positions.astype(np.float64)[..., None] * theta
    turned = half(x[..., :width], np.cos(angle), np.sin(angle))
    return np.concatenate([turned, x[..., width:]], axis=-1)


@wrong(
    "R9",
    "The last components rotate instead of the first.",
    "ROT-14.tail",
    rotary_dim=8,
    head_dims=(16,),
)
def wrong_end(x: Array, positions: Array) -> Array:
    """Turn the wrong end."""
    return np.concatenate([x[..., :8], rope(x[..., 8:], positions)], axis=-1)


@wrong("I1", "The frequencies are memory that was never filled.", "FREQ-2.read-off")
def uninitialised(x: Array, positions: Array) -> Array:
    """Use what may lie in a buffer after loading."""
    left = (8.4e-45, 0.0, 6.9e-18, 1.2e-3, 3.1e-41)
    return _with(x, positions, np.resize(np.array(left), x.shape[-1] // 2))


@wrong(
    "some pairs do not rotate", "The slower half of the pairs does not rotate.", "FREQ-2.read-off"
)
def slow_half_unturned(x: Array, positions: Array) -> Array:
    """Zero the frequencies of the second half."""
    index = _index(x)
    return _with(x, positions, np.where(index < 0.25, 10000.0 ** (-2 * index), 0.0))
