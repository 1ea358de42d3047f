"""How arguments reach a subject: arrays of the framework it declares, on its device."""

import contextlib
import importlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ropespec.conformance.subject.arrays import carve, read, spread
from ropespec.conformance.subject.errors import NotDifferentiable, TargetUnusable

__all__ = [
    "INSTALL",
    "Argument",
    "Framework",
    "framework_named",
    "import_framework",
    "not_installed",
    "shadowed",
]

INSTALL = {"torch": "ropespec[torch]", "jax": "ropespec[jax]", "cupy": "ropespec[cupy13]"}
"""What to install for a framework."""

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Argument:
    """An array as it is handed to a subject.

    Attributes
    ----------
    array : array
        The array of the framework.
    backing : array
        The buffer it is a view of, gaps included; the array itself if it has no gaps.
    before : numpy array
        What the buffer held before the call.
    """

    array: Any
    backing: Any
    before: np.ndarray

    def written(self) -> bool:
        """Whether a byte of the buffer has changed since it was made."""
        try:
            after = read(self.backing)
        except Exception:  # noqa: BLE001  # an array whose memory was given away cannot be read
            return True
        if after.dtype != self.before.dtype:
            after = after.astype(self.before.dtype)
        # Methods of the arrays, not functions of NumPy, which the subject may have replaced.
        return after.shape != self.before.shape or after.tobytes() != self.before.tobytes()


class Framework:
    """NumPy, and what the other frameworks do in the same way.

    Parameters
    ----------
    device : str or None
        Where arrays shall live, in the framework's own words; None for its default.

    Attributes
    ----------
    name : str
        Its name.
    has_strides : bool
        Whether its arrays can lie in memory in more than one way.
    device : str
        Where they live, as results report it; empty for NumPy.
    """

    name = "numpy"
    has_strides = True
    transforms: str | None = None
    """The module that has its transforms, if it has any."""

    def __init__(self, device: str | None) -> None:
        if device not in (None, "cpu"):
            raise ValueError("NumPy arrays live on the cpu")
        self.device = ""

    def argument(self, values: np.ndarray, *, strided: bool) -> Argument:
        """Make an argument with these values, strided if asked for and if that is possible."""
        if not (strided and values.ndim and self.has_strides):
            backing = self.array(values.copy())
            return Argument(backing, backing, values)
        buffer = spread(values)
        backing = self.array(buffer.copy())
        return Argument(carve(backing), backing, buffer)

    def array(self, values: np.ndarray) -> Any:  # noqa: ANN401  # an array of the framework
        """Make an array of the framework; it may use the memory of `values`."""
        return values

    def scope(self, arrays: Sequence[np.ndarray]) -> AbstractContextManager[Any]:
        """Return the context in which arguments are made, the call runs and results are read."""
        del arrays
        return contextlib.nullcontext()

    def finish(self, result: Any) -> None:  # noqa: ANN401  # whatever a subject returns
        """Wait until the result is computed."""

    def gradient(
        self,
        function: Function,  # noqa: ARG002  # for those who can
        x: Any,  # noqa: ANN401, ARG002  # an array, for those who can
        cotangent: Any,  # noqa: ANN401, ARG002  # as x
    ) -> Any:  # noqa: ANN401  # an array
        """Return the product of the cotangent with the Jacobian of the function at x.

        Raises
        ------
        NotDifferentiable
            If there is no way to it.
        """
        raise NotDifferentiable(
            f"{self.name} has no gradients, and apply_rotary_vjp is not offered"
        )


class _Torch(Framework):
    name = "torch"
    transforms = "torch_transforms"

    def __init__(self, device: str | None) -> None:
        self._torch = importlib.import_module("torch")
        self._device = None if device is None else self._torch.device(device)
        self.device = str(self._torch.empty(0, device=self._device).device)

    def array(self, values: np.ndarray) -> Any:  # noqa: ANN401  # a tensor
        if values.dtype.name == "bfloat16":
            made = self._torch.from_numpy(values.view(np.int16)).view(self._torch.bfloat16)
        else:
            made = self._torch.from_numpy(values)
        return made if self._device is None else made.to(self._device)

    def finish(self, result: Any) -> None:  # noqa: ANN401  # whatever a subject returns
        del result
        if self.device.startswith("cuda"):
            self._torch.cuda.synchronize()

    def gradient(self, function: Function, x: Any, cotangent: Any) -> Any:  # noqa: ANN401  # tensors
        leaf = x.detach().requires_grad_()
        y = function(leaf)
        if not isinstance(y, self._torch.Tensor):
            raise NotDifferentiable(f"the result is no tensor but {type(y).__name__}")
        if not y.requires_grad:
            raise NotDifferentiable("autograd finds no way from the result back to x")
        # All the way back, as in training: a graph that was kept from an earlier call raises.
        self._torch.autograd.backward(y, cotangent.to(y.dtype))
        found = leaf.grad
        if found is None:
            raise NotDifferentiable("autograd finds no way from the result back to x")
        return found


class _Jax(Framework):
    name = "jax"
    has_strides = False
    transforms = "jax_transforms"

    def __init__(self, device: str | None) -> None:
        self._jax = importlib.import_module("jax")
        self._device = None
        if device is not None:
            platform, _, index = device.partition(":")
            self._device = self._jax.devices(platform)[int(index or 0)]
        found = self._device or self._jax.devices()[0]
        self.device = f"{found.platform}:{found.id}"

    def array(self, values: np.ndarray) -> Any:  # noqa: ANN401  # a JAX array, or NumPy for wide integers
        if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and not self._x64():
            # Outside x64 JAX wraps integers beyond 32 bits without a word.
            narrow = np.dtype(np.int32 if values.dtype.kind == "i" else np.uint32)
            limits = np.iinfo(narrow)
            if values.size and not limits.min <= values.min() <= values.max() <= limits.max:
                return values
            values = values.astype(narrow)
        # A copy, since JAX may share memory with NumPy; `jax.numpy.array` would compile one for
        # every new shape.
        return self._jax.device_put(values.copy(), self._device)

    def scope(self, arrays: Sequence[np.ndarray]) -> AbstractContextManager[Any]:
        wide = any(array.dtype.name in ("float64", "complex128") for array in arrays)
        if not wide or self._x64():
            return contextlib.nullcontext()
        enable = getattr(self._jax, "enable_x64", None)
        if enable is None:
            enable = importlib.import_module("jax.experimental").enable_x64
        return enable(True)  # type: ignore[no-any-return]  # JAX is not imported by this module

    def finish(self, result: Any) -> None:  # noqa: ANN401  # whatever a subject returns
        self._jax.block_until_ready(result)

    def gradient(self, function: Function, x: Any, cotangent: Any) -> Any:  # noqa: ANN401  # arrays
        errors = self._jax.errors
        untraceable = (errors.ConcretizationTypeError, errors.TracerArrayConversionError)
        try:
            y, pull = self._jax.vjp(function, x)
        except untraceable as error:
            raise NotDifferentiable(f"JAX cannot trace it ({type(error).__name__})") from error
        if not isinstance(y, self._jax.Array):
            raise NotDifferentiable(f"the result is no JAX array but {type(y).__name__}")
        return pull(cotangent.astype(y.dtype))[0]

    def _x64(self) -> bool:
        return bool(self._jax.config.jax_enable_x64)


class _Cupy(Framework):
    name = "cupy"

    def __init__(self, device: str | None) -> None:
        self._cupy = importlib.import_module("cupy")
        index = int((device or "cuda:0").partition(":")[2] or 0)
        self._cupy.cuda.Device(index).use()
        self.device = f"cuda:{index}"

    def array(self, values: np.ndarray) -> Any:  # noqa: ANN401  # a CuPy array
        return self._cupy.asarray(values)

    def finish(self, result: Any) -> None:  # noqa: ANN401  # whatever a subject returns
        del result
        self._cupy.cuda.get_current_stream().synchronize()


_FRAMEWORKS: dict[str, type[Framework]] = {
    kind.name: kind for kind in (Framework, _Torch, _Jax, _Cupy)
}


def import_framework(name: str) -> None:
    """Import a framework without starting it.

    Raises
    ------
    TargetUnusable
        If it is not installed, or something else of its name is found first.
    """
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise TargetUnusable(not_installed(name)) from None
    # Each of them is a package that says which version it is.
    if not (hasattr(module, "__path__") and hasattr(module, "__version__")):
        file = module.__file__ or next(iter(module.__path__))
        raise TargetUnusable(shadowed(name, file))


def framework_named(name: str, device: str | None) -> Framework:
    """Import a framework and find its device.

    Raises
    ------
    TargetUnusable
        If it is not installed, or has no such device here.
    """
    import_framework(name)
    try:
        return _FRAMEWORKS[name](device)
    except Exception as error:  # each framework has its own
        where = "its device" if device is None else f"device {device!r}"
        text = " ".join(str(error).split())[:200]
        raise TargetUnusable(f"{name} cannot use {where} here: {text}") from error


def not_installed(name: str) -> str:
    """Return the line that says what to install."""
    return f"{name} is not installed: pip install '{INSTALL[name]}'"


def shadowed(name: str, file: str) -> str:
    """Return the line that says why a framework is not found."""
    return f"{file} shadows the package {name}: rename it"
