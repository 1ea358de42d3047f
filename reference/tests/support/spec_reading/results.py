"""Calls of every function of the shared API, and the dtypes of their results (clause API-1).

A call is the same in every framework: `make(values, dtype)` gives it its arrays.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

from ropespec.spec.api import FUNCTIONS
from ropespec.spec.axes import Sections
from ropespec.spec.scaling import Yarn

__all__ = ["Call", "calls", "dtypes_of", "expected", "host_array"]

Make = Callable[[np.ndarray, str], Any]

_FLOATS = ("float16", "bfloat16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")
_POSITIONS = [0, 3, -1]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of one function.

    Attributes
    ----------
    function : str
        Its name.
    arrays : dict of str to tuple
        Arguments that are arrays: shape and dtype.
    others : dict of str to object
        All other arguments.
    """

    function: str
    arrays: dict[str, tuple[tuple[int, ...], str]]
    others: dict[str, Any]

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes of its arrays."""
        return tuple(dtype for _, dtype in self.arrays.values())

    def run(self, module: ModuleType, make: Make) -> tuple[Any, ...]:
        """Call the function of a module; the results as a tuple."""
        arrays = {name: make(np.ones(shape), dtype) for name, (shape, dtype) in self.arrays.items()}
        found = getattr(module, self.function)(**arrays, **self.others)
        return found if isinstance(found, tuple) else (found,)


def host_array(values: np.ndarray, dtype: str) -> np.ndarray:
    """Make an array of NumPy."""
    return values.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def dtypes_of(call: Call, module: ModuleType, make: Make) -> tuple[str, ...]:
    """Give the dtypes of the results, without the name of the framework."""
    return tuple(str(result.dtype).removeprefix("torch.") for result in call.run(module, make))


def expected(cell: str, call: Call, results: int) -> tuple[str, ...]:
    """Read a cell of the table: what it says of the results of a call."""
    if cell.startswith("as "):
        named = [call.arrays[part.removeprefix("as ")][1] for part in cell.split(", ")]
        return tuple(named * results if len(named) == 1 else named)
    dtype, _, exception = cell.partition(", of ")
    given, _, other = exception.partition(" ")
    return (other if exception and given in call.dtypes else dtype,) * results


def calls() -> Iterator[Call]:
    """Every function of the API with every dtype that its arrays may have."""
    for name in (name for names in FUNCTIONS.values() for name in names):
        yield from _CALLS[name](name)


def _numbers(**others: Any) -> Callable[[str], Iterator[Call]]:
    """A function that takes no array."""
    return lambda name: iter([Call(name, {}, others)])


def _of(
    dtypes: tuple[str, ...], shapes: dict[str, tuple[int, ...]], **others: Any
) -> Callable[[str], Iterator[Call]]:
    """A function whose arrays are all of one dtype."""
    return lambda name: (
        Call(name, {key: (shape, dtype) for key, shape in shapes.items()}, others)
        for dtype in dtypes
    )


def _mixed(
    first: dict[str, tuple[int, ...]],
    second: dict[str, tuple[int, ...]],
    dtypes: tuple[tuple[str, str], ...],
    **others: Any,
) -> Callable[[str], Iterator[Call]]:
    """A function that takes arrays of two dtypes."""
    return lambda name: (
        Call(
            name,
            {key: (shape, one) for key, shape in first.items()}
            | {key: (shape, two) for key, shape in second.items()},
            others,
        )
        for one, two in dtypes
    )


_X: dict[str, tuple[int, ...]] = {"x": (3, 2, 4)}
_LAYOUT = {"interleaved": True}
_YARN = Yarn(factor=2.0, original_length=8)
_AXES = Sections((1, 1))
_AT = {"positions": _POSITIONS}
_WEIGHT: dict[str, tuple[int, ...]] = {"x": (3, 5), "weight": (2, 4, 5)}
_PAIRS = tuple((one, two) for one in _FLOATS for two in _FLOATS)

_CALLS: dict[str, Callable[[str], Iterator[Call]]] = {
    "inv_freq": _numbers(dim=4),
    "angles": _of(_FLOATS, {"inv_freq": (2,)}, **_AT),
    "cos_sin": _numbers(dim=4, **_AT),
    "sinusoidal_embedding": _numbers(dim=4, **_AT),
    "to_complex": _of(_FLOATS, {"x": (3, 4)}),
    "from_complex": _of(_COMPLEX, {"z": (3, 2)}),
    "rotation_matrix": _numbers(dim=4, **_AT, **_LAYOUT),
    "apply_rotary_dense": _of(_FLOATS, _X, **_AT, **_LAYOUT),
    "apply_rotary": _of(_FLOATS, _X, **_AT, **_LAYOUT),
    "apply_rotary_cos_sin": _mixed(_X, {"cos": (3, 2), "sin": (3, 2)}, _PAIRS, **_LAYOUT),
    "apply_rotary_complex": _of(_FLOATS, _X, **_AT),
    "interleaved_to_half": _of(_FLOATS, {"x": (3, 4)}),
    "half_to_interleaved": _of(_FLOATS, {"x": (3, 4)}),
    "project_query": _of(_FLOATS, _WEIGHT, **_AT, **_LAYOUT),
    "project_key": _of(_FLOATS, _WEIGHT, **_AT, **_LAYOUT),
    "project_value": _of(_FLOATS, _WEIGHT),
    "relative_score": _of(_FLOATS, {"q": (3, 4), "k": (3, 4)}, offset=_POSITIONS, **_LAYOUT),
    "attention": _of(
        _FLOATS,
        {"q": (3, 2, 4), "k": (3, 1, 4), "v": (3, 1, 6)},
        query_positions=_POSITIONS,
        key_positions=_POSITIONS,
        **_LAYOUT,
    ),
    "decay_bound": _numbers(offsets=_POSITIONS, dim=4),
    "sinusoidal_position_embedding": _numbers(
        batch_size=2, nums_head=1, max_len=3, output_dim=4, device=None
    ),
    "RoPE": _mixed({"q": (2, 2, 3, 4)}, {"k": (2, 1, 3, 4)}, _PAIRS),
    "precompute_freqs_cis": _numbers(dim=4, end=3),
    "reshape_for_broadcast": _mixed(
        {"freqs_cis": (3, 2)},
        {"x": (2, 3, 1, 2)},
        tuple((one, two) for one in _COMPLEX for two in _COMPLEX),
    ),
    "inv_freq_scaled": _numbers(dim=4, scaling=_YARN),
    "cos_sin_scaled": _numbers(dim=4, scaling=_YARN, **_AT),
    "cos_sin_axes": _numbers(dim=4, axes=_AXES, positions=[_POSITIONS, _POSITIONS]),
    "apply_rotary_axes": _of(
        _FLOATS, _X, axes=_AXES, positions=[_POSITIONS, _POSITIONS], **_LAYOUT
    ),
    "apply_rotary_scaled": _of(_FLOATS, _X, scaling=_YARN, **_AT, **_LAYOUT),
    "apply_rotary_emb": lambda name: (
        Call(
            name,
            {"xq": ((2, 3, 2, 4), q), "xk": ((2, 3, 1, 4), k), "freqs_cis": ((3, 2), cis)},
            {},
        )
        for q, k in _PAIRS
        for cis in _COMPLEX
    ),
}
