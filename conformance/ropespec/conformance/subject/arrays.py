"""Arrays of any framework, read back as NumPy; imports no framework, looks only at loaded ones."""

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import asarray, empty, full  # bound before a subject can put others in their place
from numpy.lib.array_utils import byte_bounds
from numpy.ma import MaskedArray

from ropespec.conformance.subject.frames import DTYPES, MOST_BYTES
from ropespec.spec.errors import describe

__all__ = [
    "Memory",
    "Returned",
    "carve",
    "dtype_name",
    "framework_of",
    "memory_of",
    "overlap",
    "read",
    "results",
    "same_place",
    "spread",
    "unlike",
]

_CLASSES = (("torch", "Tensor"), ("jax", "Array"), ("cupy", "ndarray"))
_MOST_RESULTS = 32
_LONGEST = 500  # characters of a description


def framework_of(value: object) -> str:
    """Return `numpy`, `torch`, `jax` or `cupy` for an array of it, and `""` for anything else."""
    if isinstance(value, (np.ndarray, np.generic)):
        return "numpy"
    for module, name in _CLASSES:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(value, kind):
            return module
    return ""


def dtype_name(array: Any) -> str:  # noqa: ANN401  # an array of any framework
    """Return the bare name of the dtype as the framework reports it, such as `float32`."""
    return str(getattr(array.dtype, "name", array.dtype)).removeprefix("torch.")[:_LONGEST]


def unlike(array: Any, room: int = MOST_BYTES) -> str:  # noqa: ANN401  # an array of any framework
    """Return why an array is not one like x, such as `it is a masked array`; empty if it is one."""
    if isinstance(array, MaskedArray):
        return "it is a masked array"
    if isinstance(array, (np.ndarray, np.generic)) and not array.dtype.isnative:
        return f"its bytes are in foreign order ({array.dtype.str})"
    if framework_of(array) == "torch" and array.layout is not sys.modules["torch"].strided:
        return f"it is not dense ({array.layout})"
    size = math.prod(array.shape) * array.dtype.itemsize
    return f"its {size} bytes are too many to look at" if size > room else ""


def read(array: Any) -> np.ndarray:  # noqa: ANN401  # an array of any framework
    """Read an array of any framework as NumPy.

    Booleans, integers, bfloat16 and the usual floats keep their dtype; everything else (float8,
    long double, objects that are numbers) becomes float64.

    Raises
    ------
    Exception
        Whatever the framework raises if there is nothing to read, as for an abstract tensor.
    """
    framework = framework_of(array)
    if framework == "torch":
        found = _read_torch(array)
    elif framework == "cupy":
        found = sys.modules["cupy"].asnumpy(array)
    else:
        found = asarray(array)
    if found.dtype.name in DTYPES:
        return found
    return found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)


def _read_torch(tensor: Any) -> np.ndarray:  # noqa: ANN401  # torch is not imported here
    torch = sys.modules["torch"]
    host = tensor.detach().cpu().resolve_conj().resolve_neg()
    if host.dtype is torch.bfloat16:
        import ml_dtypes  # noqa: PLC0415  # only bfloat16 needs it

        bits: np.ndarray = host.view(torch.int16).numpy()
        return bits.view(ml_dtypes.bfloat16)
    try:
        found: np.ndarray = host.numpy()
    except TypeError:
        found = host.to(torch.float64).numpy()
    return found


Memory = tuple[str, int, int]
"""A device, the first address, and the first behind the last."""


def overlap(first: Memory | None, second: Memory | None) -> bool:
    """Whether two pieces of memory have a byte in common; what is not known never has."""
    if first is None or second is None or first[0] != second[0]:
        return False
    return first[1] < second[2] and second[1] < first[2]


def memory_of(array: Any) -> Memory | None:  # noqa: ANN401  # an array of any framework
    """Return what an array lies in; None if that is not known, as for those of JAX."""
    framework = framework_of(array)
    if framework == "numpy":
        if not isinstance(array, np.ndarray) or not array.size:
            return None
        return ("cpu", *byte_bounds(asarray(array)))
    if framework == "torch":
        try:
            storage = array.untyped_storage()
            start, size = storage.data_ptr(), storage.nbytes()
        except (RuntimeError, NotImplementedError):
            return None
        return (str(array.device), start, start + size) if size and array.numel() else None
    if framework == "cupy":
        memory = array.data.mem
        return (f"cuda:{array.device.id}", memory.ptr, memory.ptr + memory.size)
    return None


def same_place(first: Any, second: Any) -> bool:  # noqa: ANN401  # arrays of any framework
    """Whether two arrays are one: the same elements at the same addresses."""
    place = _place(first)
    return first is second or (place is not None and place == _place(second))


def _place(array: Any) -> tuple[Any, ...] | None:  # noqa: ANN401  # as in same_place
    """Return what says where an array lies: address, shape, strides, dtype."""
    framework = framework_of(array)
    shape = tuple(getattr(array, "shape", ()))
    if framework == "numpy" and isinstance(array, np.ndarray):
        return (array.__array_interface__["data"][0], shape, array.strides, array.dtype)
    if framework == "torch":
        return (array.data_ptr(), shape, array.stride(), array.dtype)
    if framework == "cupy":
        return (array.data.ptr, shape, array.strides, array.dtype)
    return None


def spread(values: np.ndarray) -> np.ndarray:
    """Return a buffer of which `carve` is a view with these values.

    The last axis is twice as long, with NaN in the gaps, or 1 between integers, so that whoever
    ignores strides meets it; the two axes before it are swapped in memory.
    """
    swapped = values.swapaxes(-3, -2) if values.ndim >= 3 else values
    gap = 1 if values.dtype.kind in "iu" else np.nan
    buffer = full((*swapped.shape[:-1], 2 * swapped.shape[-1]), gap, values.dtype)
    buffer[..., ::2] = swapped
    return buffer


def carve(buffer: Any) -> Any:  # noqa: ANN401  # an array of any framework that has strides
    """Return the view of the buffer that `spread` made for the values it was given."""
    view = buffer[..., ::2]
    return view.swapaxes(-3, -2) if view.ndim >= 3 else view


@dataclass(frozen=True, slots=True)
class Returned:
    """One thing a subject returned.

    Attributes
    ----------
    value : array
        As NumPy; without elements if it is nothing like an array.
    dtype : str
        The bare name of the dtype; for anything but an array the name of its type.
    framework : str
        The framework it belongs to; empty if it is no array.
    device : str
        Where it lies, in the framework's words; empty for NumPy.
    description : str
        Value and type, or shape and dtype, for a message.
    """

    value: np.ndarray
    dtype: str
    framework: str
    device: str
    description: str

    @classmethod
    def of(cls, item: Any, room: int = MOST_BYTES) -> "Returned":  # noqa: ANN401  # whatever a subject returns
        """Read anything a subject may return; never raises for what it is.

        Parameters
        ----------
        item : object
            What was returned.
        room : int
            The bytes it may hold to be looked at.
        """
        framework = framework_of(item)
        try:
            description = " ".join(describe(item).split())[:_LONGEST]
        except Exception:  # noqa: BLE001  # the __repr__ is the subject's
            description = f"an object of type {_type_name(item)}"
        if framework:
            try:
                if not (reason := unlike(item, room)):
                    return cls(read(item), dtype_name(item), framework, _device(item), description)
                description = f"{description} ({reason})"
            except Exception as error:  # noqa: BLE001  # each framework has its own
                description = f"{description} that cannot be read: {_type_name(error)}"
        return cls(_as_numbers(item), _type_name(item), "", "", description)

    def described_beside(self, claimed: str) -> str:
        """Return the description, with the framework where another one is claimed."""
        if self.framework in ("", claimed):
            return self.description
        return self.description.replace("an array", f"a {self.framework} array", 1)


def results(value: object) -> list[object]:
    """Take apart what a call returned: a tuple or list that holds arrays counts as several."""
    if isinstance(value, (tuple, list)) and len(value) <= _MOST_RESULTS:
        items = list(value)
        if any(framework_of(item) for item in items):
            return items
    return [value]


def _device(array: Any) -> str:  # noqa: ANN401  # an array of any framework
    framework = framework_of(array)
    if framework == "torch":
        return str(array.device)
    if framework == "cupy":
        return f"cuda:{array.device.id}"
    if framework == "jax":
        return ", ".join(sorted(f"{device.platform}:{device.id}" for device in array.devices()))
    return ""


def _type_name(item: object) -> str:
    return type(item).__name__[:_LONGEST]


def _as_numbers(item: object) -> np.ndarray:
    if isinstance(item, (bool, int, float, complex, list, tuple)):
        try:
            found = asarray(item)
        except (ValueError, TypeError, OverflowError, RuntimeError):
            found = empty(0)
        if found.dtype.kind in "biufc":
            return found
    return empty(0)
