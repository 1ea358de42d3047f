"""Wrong projections: layout of the weights, order of turning and projecting, a turned value."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import half, table, turn
from ropespec.conformance.zoo.parts import interleaved as pairs

__all__ = [
    "KeyWeightsNotPermuted",
    "WeightsByShape",
    "key_by_the_inverse",
    "key_rotates_its_tail",
    "query_by_frequencies_of_the_head",
    "query_projected_only",
    "value_turned_by_its_index",
    "value_with_a_transposed_weight",
    "value_without_its_odd_component",
]

Array = NDArray[Any]


def _project(x: Array, weight: Array) -> Array:
    return np.tensordot(x.astype(np.float64), weight.astype(np.float64), axes=(-1, -1))


@wrong("L4", "W_k is not permuted to the layout of the kernel, W_q is.", "PROJ-5.projected")
class KeyWeightsNotPermuted:
    """A half-split kernel that is fed interleaved weights on one load path."""

    def project_query(
        self,
        x: Array,
        positions: Array,
        weight: Array,
        *,
        interleaved: bool,
        base: float = 10000.0,
    ) -> Array:
        """W_q is right."""
        y = turn(_project(x, weight), positions, pairs=interleaved, base=base)
        return y.astype(x.dtype)

    def project_key(
        self,
        x: Array,
        positions: Array,
        weight: Array,
        *,
        interleaved: bool,
        base: float = 10000.0,
    ) -> Array:
        """W_k is in the other layout."""
        y = turn(_project(x, weight), positions, pairs=not interleaved, base=base)
        return y.astype(x.dtype)


@wrong("weights of another call", "Weights are packed once for each shape.", "PROJ-1.query")
class WeightsByShape:
    """A layer that packs its weights, and sees another layer's as its own."""

    def __init__(self) -> None:
        self.packed: dict[tuple[int, ...], Array] = {}

    def project_query(
        self,
        x: Array,
        positions: Array,
        weight: Array,
        *,
        interleaved: bool,
        base: float = 10000.0,
    ) -> Array:
        """Take the weight of this shape that came first."""
        packed = self.packed.setdefault(weight.shape, weight.copy())
        y = turn(_project(x, packed), positions, pairs=interleaved, base=base)
        return y.astype(x.dtype)


@wrong(
    "A3",
    "The query is projected and not rotated.",
    "PROJ-1.query",
    "PROJ-1.reference-query",
    "PROJ-1.forms",
    offers="project_query",
)
def query_projected_only(
    x: Array, positions: Array, weight: Array, *, interleaved: bool, base: float = 10000.0
) -> Array:
    """Forget the rotation."""
    del positions, interleaved, base
    return _project(x, weight).astype(x.dtype)


@wrong(
    "S2",
    "The key is rotated the other way.",
    "PROJ-1.key",
    "PROJ-1.reference-key",
    offers="project_key",
)
def key_by_the_inverse(
    x: Array, positions: Array, weight: Array, *, interleaved: bool, base: float = 10000.0
) -> Array:
    """Turn by -n."""
    y = turn(_project(x, weight), -positions, pairs=interleaved, base=base)
    return y.astype(x.dtype)


@wrong(
    "",
    "rotary_dim is dropped: all of the key is rotated.",
    "PROJ-1.key",
    "ROT-14.key",
    offers="project_key",
)
def key_rotates_its_tail(
    x: Array,
    positions: Array,
    weight: Array,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Array:
    """Take the keyword and forget it."""
    del rotary_dim
    y = turn(_project(x, weight), positions, pairs=interleaved, base=base)
    return y.astype(x.dtype)


@wrong(
    "",
    "The first r components are rotated by the frequencies of all of them.",
    "PROJ-1.query",
    "ROT-14.query",
    offers="project_query",
)
def query_by_frequencies_of_the_head(
    x: Array,
    positions: Array,
    weight: Array,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Array:
    """Divide the exponent by head_dim."""
    y = _project(x, weight)
    r = y.shape[-1] if rotary_dim is None else rotary_dim
    cos, sin = (part[..., : r // 2] for part in table(positions, y.shape[-1], base))
    y[..., :r] = (pairs if interleaved else half)(y[..., :r], cos, sin)
    return y.astype(x.dtype)


@wrong(
    "A6",
    "The value is rotated by its index.",
    "PROJ-2.value",
    "PROJ-2.reference",
    offers="project_value",
)
def value_turned_by_its_index(x: Array, weight: Array) -> Array:
    """Rotate v as well."""
    y = _project(x, weight)
    even = y.shape[-1] - y.shape[-1] % 2
    y[..., :even] = turn(y[..., :even], np.arange(y.shape[-3]))
    return y.astype(x.dtype)


@wrong(
    "weight transposed",
    "A square weight is transposed.",
    "PROJ-3.components",
    offers="project_value",
)
def value_with_a_transposed_weight(x: Array, weight: Array) -> Array:
    """Multiply by the columns."""
    square = weight.shape[1] == weight.shape[2]
    return _project(x, weight.swapaxes(1, 2) if square else weight).astype(x.dtype)


@wrong("", "The odd component of a value is lost.", "PROJ-2.value", offers="project_value")
def value_without_its_odd_component(x: Array, weight: Array) -> Array:
    """Cut to pairs."""
    y = _project(x, weight)
    return y[..., : y.shape[-1] - y.shape[-1] % 2].astype(x.dtype)
