"""Wrong frequencies: base, exponent, denominator, width."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import half, rope

__all__ = [
    "base_500000",
    "base_hard_coded",
    "denominator_d_minus_2",
    "denominator_half",
    "exponent_i",
    "factor_twice",
    "index_from_1",
    "last_frequency_repeated",
    "one_scalar_theta",
    "reciprocal",
    "reversed_order",
    "rotary_dim_ignored",
    "slow_half_unturned",
    "tail_zeroed",
    "uninitialised",
    "width_of_head",
    "width_of_model",
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


@wrong("F2", "The exponent is positive: the frequencies grow.", "FREQ-2.read-off", "FREQ-5.order")
def reciprocal(x: Array, positions: Array) -> Array:
    """base^(+2i/d)."""
    return _with(x, positions, 10000.0 ** (2 * _index(x)))


@wrong("F3", "The exponent is i/d instead of 2i/d.", "FREQ-2.read-off")
def exponent_i(x: Array, positions: Array) -> Array:
    """base^(-i/d)."""
    return _with(x, positions, 10000.0 ** (-_index(x)))


@wrong("F3", "The exponent is divided by d/2 instead of d.", "FREQ-2.read-off")
def denominator_half(x: Array, positions: Array) -> Array:
    """base^(-4i/d)."""
    return _with(x, positions, 10000.0 ** (-4 * _index(x)))


@wrong("F3", "The exponent is divided by d-2 instead of d.", "FREQ-2.read-off")
def denominator_d_minus_2(x: Array, positions: Array) -> Array:
    """base^(-2i/(d-2))."""
    d = x.shape[-1]
    return _with(x, positions, 10000.0 ** (-2 * np.arange(d // 2) / max(d - 2, 1)))


@wrong("F3", "The index runs from 1.", "FREQ-2.read-off", "ERR-1.printed")
def index_from_1(x: Array, positions: Array) -> Array:
    """base^(-2(i+1)/d)."""
    return _with(x, positions, 10000.0 ** (-2 * _index(x) - 2 / x.shape[-1]))


@wrong(
    "one scalar theta", "All pairs rotate by one scalar theta.", "FREQ-2.read-off", "ERR-1.printed"
)
def one_scalar_theta(x: Array, positions: Array) -> Array:
    """Theta = 1 for every pair, as documents print it in two dimensions."""
    return _with(x, positions, np.ones(x.shape[-1] // 2))


@wrong("frequencies reversed", "The frequencies are in reverse order.", "FREQ-5.order")
def reversed_order(x: Array, positions: Array) -> Array:
    """The first pair is the slowest."""
    return _with(x, positions, 10000.0 ** (-2 * _index(x))[::-1])


def _partial(x: Array, positions: Array, width: int, rotary_dim: int, denominator: int) -> Array:
    theta = 10000.0 ** (-np.arange(0, rotary_dim, 2) / denominator)
    angle = positions.astype(np.float64)[..., None] * theta
    turned = half(x[..., :width], np.cos(angle), np.sin(angle))
    return np.concatenate([turned, x[..., width:]], axis=-1)


@wrong(
    "R1",
    "The exponent is divided by head_dim instead of rotary_dim.",
    "FREQ-2.read-off",
    "ROT-14.forms",
    "WGT-4.moved",
    rotary_dim=8,
    head_dims=(16, 32),
)
def width_of_head(x: Array, positions: Array) -> Array:
    """base^(-2i/head_dim) for the 8 components that turn."""
    return _partial(x, positions, 8, 8, x.shape[-1])


@wrong(
    "R2",
    "rotary_dim is ignored: the whole head rotates.",
    "ROT-14.tail",
    rotary_dim=8,
    head_dims=(16, 32),
)
def rotary_dim_ignored(x: Array, positions: Array) -> Array:
    """Turn everything."""
    return rope(x, positions)


@wrong(
    "R3",
    "The partial factor is applied twice: half of rotary_dim rotates.",
    "FREQ-2.read-off",
    rotary_dim=8,
    head_dims=(16, 32),
)
def factor_twice(x: Array, positions: Array) -> Array:
    """Turn 4 of 8."""
    return _partial(x, positions, 4, 4, 4)


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


@wrong("R9", "The tail is zeroed.", "ROT-14.tail", rotary_dim=8, head_dims=(16,))
def tail_zeroed(x: Array, positions: Array) -> Array:
    """Drop the tail."""
    y = np.zeros_like(x)
    y[..., :8] = rope(x[..., :8], positions)
    return y


@wrong("X3", "The exponent is divided by heads times head_dim.", "ROT-7.value")
def width_of_model(x: Array, positions: Array) -> Array:
    """base^(-2i/(H d))."""
    d = x.shape[-1]
    return _with(x, positions, 10000.0 ** (-np.arange(0, d, 2) / (d * x.shape[2])))


@wrong("I1", "The frequencies are memory that was never filled.", "FREQ-2.read-off")
def uninitialised(x: Array, positions: Array) -> Array:
    """Use what may lie in a buffer after loading."""
    left = (8.4e-45, 0.0, 6.9e-18, 1.2e-3, 3.1e-41)
    return _with(x, positions, np.resize(np.array(left), x.shape[-1] // 2))


@wrong("", "The slower half of the pairs does not rotate.", "FREQ-2.read-off")
def slow_half_unturned(x: Array, positions: Array) -> Array:
    """Zero the frequencies of the second half."""
    index = _index(x)
    return _with(x, positions, np.where(index < 0.25, 10000.0 ** (-2 * index), 0.0))


@wrong("", "The last frequency is that of the pair before.", "FREQ-2.read-off")
def last_frequency_repeated(x: Array, positions: Array) -> Array:
    """Fill one entry too few."""
    theta = 10000.0 ** (-2 * _index(x))
    return _with(
        x, positions, np.concatenate([theta[:-1], theta[-2:-1]]) if len(theta) > 1 else theta
    )
