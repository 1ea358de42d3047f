"""The parameters of a function, and what their names say."""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ropespec.conformance.styles.arrays import Result

__all__ = [
    "BASES",
    "COSINES",
    "DIMS",
    "FREQS",
    "KEYS",
    "LENGTHS",
    "OFFSETS",
    "POSITIONS",
    "SINES",
    "WIDTHS",
    "XS",
    "Callee",
    "is_of",
    "is_open",
    "parameters_of",
    "required_of",
]

XS = ("x", "q", "xq", "query", "t", "tensor", "input", "inputs", "hidden_states")
"""Names of a parameter that takes what is rotated."""

KEYS = ("k", "xk", "key")
"""Names of a parameter that takes a second one."""

POSITIONS = frozenset(
    {"positions", "position", "position_ids", "positions_ids", "position_id", "position_indices"}
    | {"pos", "pos_ids", "pos_id", "input_pos", "input_positions", "token_pos", "token_positions"}
    | {"segment_pos", "segment_positions", "cache_position", "cache_positions", "seq_positions"}
)
"""Names of a parameter that takes one position per token."""

OFFSETS = (
    *("offset", "start_pos", "start_position", "start_index", "start", "seq_offset"),
    *("seqlen_offset", "seqlen_offsets", "seq_len_offset", "position_offset", "pos_offset"),
    *("past_length", "past_len", "past_seq_len", "past_key_values_length"),
)
"""Names of a parameter that takes the position of the first token."""

BASES = (
    *("base", "base_frequency", "freq_base", "rope_base", "rotary_base", "rope_theta"),
    *("theta_base", "max_wavelength", "theta"),
)
"""Names of a parameter that takes the base."""

WIDTHS = ("head_dim", "head_size", "d_head", "dim_head", "kv_channels")
"""Names of a parameter that takes the size of a head."""

DIMS = (*WIDTHS, *("dim", "dims", "d", "rotary_dim", "width", "embedding_dims", "n_elem"))
"""Names of a parameter that takes that, or how much of it is rotated."""

LENGTHS = (
    *("max_seq_len", "max_seq_length", "max_position_embeddings", "max_position", "max_len"),
    *("end", "seq_len", "seq_length", "max_length", "max_positions", "block_size"),
)
"""Names of a parameter that takes how many rows a table has."""

FREQS = ("freqs_cis", "freq_cis", "freqs_complex", "cis", "rope_cache")
"""Names of a parameter that takes a complex table."""

COSINES = ("cos", "cosine", "cosines", "freqs_cos", "cos_cached", "cos_cache", "cos_table")
"""Names of a parameter that takes cosines; those of sines have `sin` in its place."""

SINES = tuple(name.replace("cosine", "sine").replace("cos", "sin") for name in COSINES)

_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

Parameters = Mapping[str, inspect.Parameter]


def parameters_of(function: Callable[..., Any]) -> Parameters | None:
    """Return the parameters of a function of the subject; None for one that does not say.

    A module or a layer of a framework is called through a wrapper that takes anything; what its
    `forward` or `call` takes is then what is meant. Of a class it is what its instances take.
    """
    is_class = inspect.isclass(function)
    forward = getattr(function, "forward", None)
    try:
        own = _of_instances(function) if is_class else function
        called = forward if callable(forward) else own
        found = inspect.signature(called).parameters
        inner = getattr(function, "call", None)
        if callable(inner) and found and _says_nothing(found, skip=is_class):
            found = inspect.signature(inner).parameters
    except (ValueError, TypeError):
        return None
    return dict(list(found.items())[1:]) if is_class else found


def _of_instances(kind: Callable[..., Any]) -> Callable[..., Any]:
    """Return what is called of the instances of a class.

    Raises
    ------
    TypeError
        If they cannot be called.
    """
    for one in inspect.getmro(kind):  # type: ignore[arg-type]  # a class
        if "__call__" in vars(one):
            found: Callable[..., Any] = vars(one)["__call__"]
            return found
    raise TypeError(f"instances of {kind.__name__} cannot be called")


def _says_nothing(found: Parameters, *, skip: bool) -> bool:
    return is_open(dict(list(found.items())[skip:]))


def is_open(found: Parameters) -> bool:
    """Whether parameters take anything and say nothing."""
    return all(one.kind in _ANY_NUMBER for one in found.values())


def is_of(found: object, library: str) -> bool:
    """Whether a class, or that of an instance, comes from a library."""
    kind = found if inspect.isclass(found) else type(found)
    return any(one.__module__.partition(".")[0] == library for one in inspect.getmro(kind))


def required_of(found: Parameters) -> tuple[str, ...]:
    """Return the names of the parameters that must be given."""
    return tuple(
        name
        for name, one in found.items()
        if one.default is inspect.Parameter.empty and one.kind not in _ANY_NUMBER
    )


@dataclass(frozen=True)
class Callee:
    """A function, class or instance of a subject that may be bound.

    Attributes
    ----------
    found : object
        It.
    name : str
        How it is named in its module.
    space : mapping of str to object
        What else its module has.
    """

    found: Any
    name: str
    space: Mapping[str, Any]

    @classmethod
    def of(cls, found: object, name: str, module: ModuleType) -> "Callee":
        """Return it with what stands beside it where it was defined."""
        home = sys.modules.get(str(getattr(found, "__module__", "")), module)
        return cls(found, name, vars(home))

    @property
    def is_class(self) -> bool:
        """Whether instances of it are called."""
        return inspect.isclass(self.found)

    @property
    def parameters(self) -> Parameters:
        """What a call of it, or of an instance, takes."""
        return parameters_of(self.found) or {}

    def first(self, names: Iterable[str]) -> str:
        """Return the first of its parameters with one of these names, or nothing."""
        return next((name for name in self.parameters if name in names), "")

    def call(self, function: Callable[..., Any], given: Mapping[str, Any]) -> Result:
        """Call it, or an instance of it, by the names of its parameters."""
        only = inspect.Parameter.POSITIONAL_ONLY
        placed = [given[n] for n, one in self.parameters.items() if one.kind is only and n in given]
        named = {n: v for n, v in given.items() if n and self.parameters[n].kind is not only}
        return function(*placed, **named)
