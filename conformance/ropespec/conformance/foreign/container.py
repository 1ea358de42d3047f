"""Messages in safetensors: named arrays, and words beside them.

safetensors belongs to the extras `programs` and `vectors`.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

__all__ = ["Message", "packed", "unpacked"]

_DTYPES = {
    "F64": np.dtype(np.float64),
    "F32": np.dtype(np.float32),
    "F16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "I64": np.dtype(np.int64),
    "I32": np.dtype(np.int32),
}


class Message(NamedTuple):
    """What was read.

    Attributes
    ----------
    arrays : mapping of str to ndarray
        Of the machine's own memory, and writable.
    words : mapping of str to str
        The metadata.
    """

    arrays: Mapping[str, NDArray[np.generic]]
    words: Mapping[str, str]


def packed(arrays: Mapping[str, NDArray[np.generic]], words: Mapping[str, str]) -> bytes:
    """Write arrays, dense and in the order of C, and words."""
    return save({name: np.asarray(one, order="C") for name, one in arrays.items()}, dict(words))


def unpacked(content: bytes) -> Message:
    """Read what `packed` or another program wrote.

    Raises
    ------
    ValueError
        If it is not safetensors, or holds arrays of another dtype.
    """
    try:
        found = deserialize(content)  # type: ignore[no-untyped-call]  # it has no types
    except SafetensorError as problem:
        raise ValueError(f"it is not safetensors: {problem}") from None
    # What the library has read is sound; it hands out no words.
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    arrays = {}
    for name, one in found:
        if one["dtype"] not in _DTYPES:
            raise ValueError(f"{name} is of {one['dtype']}, and must be of {', '.join(_DTYPES)}")
        flat = np.frombuffer(bytearray(one["data"]), _DTYPES[one["dtype"]])
        arrays[name] = flat.reshape(one["shape"])
    return Message(arrays, header.get("__metadata__", {}))
