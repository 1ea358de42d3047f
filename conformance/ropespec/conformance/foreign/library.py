"""A rotation in a shared library, called by a signature in a few words of C."""

import ctypes
import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

__all__ = ["Library"]

_FLOATS = {
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    **dict.fromkeys(("_Float16", "__fp16", "half", "__half"), np.dtype(np.float16)),
    **dict.fromkeys(("__bf16", "bfloat16", "bf16"), np.dtype(ml_dtypes.bfloat16)),
}
_INTEGERS = {
    **dict.fromkeys(("int", "int32_t"), ctypes.c_int32),
    **dict.fromkeys(("long long", "int64_t"), ctypes.c_int64),
    "long": ctypes.c_long,
    "size_t": ctypes.c_size_t,
    **dict.fromkeys(("bool", "_Bool"), ctypes.c_bool),
}
_SCALARS: dict[str, Any] = {**_INTEGERS, "float": ctypes.c_float, "double": ctypes.c_double}

_MEANINGS = {
    "y": ("y", "out", "output", "dst"),
    "x": ("x", "in", "input", "src"),
    "positions": ("positions", "position", "position_ids", "pos", "pos_ids"),
    "batch": ("b", "batch", "batch_size", "n_batch"),
    "seq": ("s", "seq", "seq_len", "t", "tokens", "n_tokens"),
    "heads": ("h", "heads", "n_heads", "num_heads"),
    "head_dim": ("d", "head_dim", "head_size"),
    "base": ("base", "theta", "rope_theta", "freq_base"),
    "interleaved": ("interleaved",),
    "rotary_dim": ("r", "rotary_dim", "n_rot"),
}
_NAMES = {name: meaning for meaning, names in _MEANINGS.items() for name in names}
_KEYWORDS = ("interleaved", "base", "rotary_dim")
_FORM = re.compile(r"\s*(void|int)?\s*(\w+)\s*\(([^()]*)\)\s*;?\s*")
_PARAMETER = re.compile(r"(?:const\s+)?((?:\w+\s+)*?\w+?)\s*(\*?)\s*(?:restrict\s+)?(\w+)")


class _Parameter(NamedTuple):
    meaning: str
    kind: str
    pointer: bool


class Library:
    """f(x, positions, **keywords), as a function in C computes it.

    Parameters
    ----------
    file : str
        The shared library.
    signature : str
        As in C: `rope(float* y, const float* x, const long* pos, int b, int s, int h, int d)`. What
        a parameter is follows from its name; without y the function works in place. If it returns
        int, anything but 0 is an error.

    Attributes
    ----------
    PROFILE : dict
        The dtype it takes.

    Raises
    ------
    ValueError
        If the signature cannot be read, or a parameter is unknown.
    OSError
        If the library cannot be loaded.
    """

    def __init__(self, file: str, signature: str) -> None:
        self._returns, self._name, self._parameters = _read(signature)
        library = ctypes.CDLL(str(Path(file).resolve()))
        try:
            self._function = library[self._name]
        except AttributeError:
            raise ValueError(f"{file} has no function {self._name}") from None
        self._function.restype = ctypes.c_int if self._returns == "int" else None
        kinds = {one.meaning: one.kind for one in self._parameters}
        self._dtype = _FLOATS[kinds["x"]]
        self._integer = np.dtype(_INTEGERS[kinds["positions"]])
        self._in_place = "y" not in kinds
        self.keywords = tuple(name for name in _KEYWORDS if name in kinds)
        self.PROFILE: dict[str, Any] = {"dtypes": [self._dtype.name]}
        both, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(name, both) for name in ("x", "positions")]
            + [inspect.Parameter(name, named) for name in self.keywords]
        )

    def __call__(
        self,
        x: NDArray[np.generic],
        positions: NDArray[np.integer[Any]],
        **keywords: bool | float | None,
    ) -> NDArray[np.generic]:
        """Rotate x by positions, dense copies of both."""
        if x.dtype != self._dtype:
            raise TypeError(f"{self._name} takes {self._dtype.name}; got {x.dtype.name}")
        dense, numbers = np.ascontiguousarray(x), np.ascontiguousarray(positions, self._integer)
        if not np.array_equal(numbers, positions):
            raise OverflowError(f"{self._name} takes positions of {self._integer.name}")
        y = dense.copy() if self._in_place else np.empty_like(dense)
        values: dict[str, object] = {"x": y if self._in_place else dense, "y": y, **keywords}
        values |= dict(zip(("batch", "seq", "heads", "head_dim"), x.shape, strict=True))
        values |= {"positions": numbers}
        if values.get("rotary_dim", 0) is None:
            values["rotary_dim"] = x.shape[-1]
        status = self._function(*(_passed(one, values[one.meaning]) for one in self._parameters))
        if status:
            raise RuntimeError(f"{self._name} returned {status}")
        return y


def _passed(parameter: _Parameter, value: object) -> object:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return _SCALARS[parameter.kind](value)


def _read(signature: str) -> tuple[str, str, list[_Parameter]]:
    form = _FORM.fullmatch(signature)
    if form is None:
        raise ValueError(
            "the signature must be like rope(float* y, const float* x, const long* pos, "
            f"int b, int s, int h, int d); got {signature!r}"
        )
    returns, name, inside = form.groups()
    parameters = [_parameter(" ".join(one.split())) for one in inside.split(",")]
    meanings = [one.meaning for one in parameters]
    for needed in ("x", "positions"):
        if needed not in meanings:
            named = ", ".join(_MEANINGS[needed])
            raise ValueError(f"{name} has no parameter for {needed}, one of {named}")
    if twice := next((one for one in meanings if meanings.count(one) > 1), None):
        raise ValueError(f"{name} has two parameters for {twice}")
    return returns or "void", name, parameters


def _parameter(text: str) -> _Parameter:
    form = _PARAMETER.fullmatch(text)
    if form is None:
        raise ValueError(f"a parameter must be a type and a name; got {text!r}")
    kind, star, name = form.groups()
    meaning = _NAMES.get(name)
    if meaning is None:
        raise ValueError(f"what {name} is cannot be told; known are {', '.join(sorted(_NAMES))}")
    pointer = meaning in ("x", "y", "positions")
    if pointer != bool(star):
        raise ValueError(f"{name} must be {'a pointer' if pointer else 'no pointer'}; got {text!r}")
    known: dict[str, Any] = _SCALARS
    if pointer:
        known = _INTEGERS if meaning == "positions" else _FLOATS
    if kind not in known:
        raise ValueError(f"{name} must be of {', '.join(known)}; got {kind!r}")
    return _Parameter(meaning, kind, pointer)
