"""The frameworks as the probes need them: arrays to a device and back."""

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "back", "backend", "put"]

Array = Any  # of a framework


def backend(framework: str) -> Any:  # noqa: ANN401  # a module
    """Return the backend for a framework."""
    return importlib.import_module(f"ropespec.backends.{framework}")


def put(framework: str, device: str, values: NDArray[Any]) -> Array:
    """Copy an array of NumPy, of ml_dtypes' bfloat16 too, to the device."""
    if framework == "torch":
        import torch  # noqa: PLC0415  # one framework a process

        if values.dtype.name == "bfloat16":
            bits = torch.from_numpy(values.view(np.int16).copy())
            return bits.view(torch.bfloat16).to(device)
        return torch.from_numpy(values.copy()).to(device)
    if framework == "jax":
        import jax  # noqa: PLC0415  # as above

        return jax.device_put(values)  # JAX_PLATFORMS names the device
    import cupy  # noqa: PLC0415  # as above

    return cupy.asarray(values)


def back(framework: str, array: Array) -> NDArray[Any]:
    """Copy an array of a framework to NumPy, bit for bit."""
    if framework == "torch":
        import ml_dtypes  # noqa: PLC0415  # as above
        import torch  # noqa: PLC0415  # as above

        if array.dtype == torch.bfloat16:
            return array.cpu().view(torch.int16).numpy().view(ml_dtypes.bfloat16)  # type: ignore[no-any-return]  # torch's own
        return array.cpu().numpy()  # type: ignore[no-any-return]  # torch's own
    return np.asarray(array if framework == "jax" else array.get())
