"""T_i on the device where they are needed, and who may see a tensor that is kept."""

import functools
from types import SimpleNamespace

import numpy as np
import torch
from numpy.typing import NDArray
from torch.compiler import is_compiling

from ropespec.backends.phase import turns

__all__ = ["KINDS", "is_plain", "steps_on", "turns_on"]

KINDS = (torch.Tensor, torch.nn.Parameter)
"""Tensors of no subclass."""

# Looked up once, for a small rotation takes little longer than this.
_transforms = torch._C._are_functorch_transforms_active  # noqa: SLF001  # torch tells it nowhere else
_modes = torch._C._len_torch_dispatch_stack  # noqa: SLF001  # as above
_tracing = torch._C._get_tracing_state  # noqa: SLF001  # as above


def is_plain(*tensors: object) -> bool:
    """Whether nothing sees these tensors but eager autograd.

    That is: they are of no subclass, and no compiler, tracer, dispatch mode or transform of
    `torch.func` is at work, of which torch tells in its inner modules alone.
    """
    for tensor in tensors:
        if type(tensor) not in KINDS:
            return False
    return not (is_compiling() or _transforms() or _modes()) and _tracing() is None


def turns_on(device: torch.device, dim: int, base: float) -> torch.Tensor:
    """T_i in units of 2^-64 turn as int64 (FREQ-9), copied to `device` once.

    It is never forgotten, for a captured graph may hold its address.

    Parameters
    ----------
    device : torch.device
        Where they are needed.
    dim, base
        As in `inv_freq`.

    Returns
    -------
    torch.Tensor of int64, shape (dim/2,)
        Shared: not to be written to.
    """
    if torch.compiler.is_dynamo_compiling():
        held: torch.Tensor = getattr(_held, _hold(device, dim, base))
        return held
    return _kept(dim, base, device) if is_plain() else _tensor(dim, base, device)


@functools.cache
def _kept(dim: int, base: float, device: torch.device) -> torch.Tensor:
    with torch.inference_mode(mode=False):
        return _tensor(dim, base, device)


def _tensor(dim: int, base: float, device: torch.device) -> torch.Tensor:
    signed = turns(dim, base).view(np.int64).tolist()
    return torch.tensor(signed, dtype=torch.int64, device=device)


def steps_on(device: torch.device, steps: NDArray[np.uint64]) -> torch.Tensor:
    """T_i of scaled frequencies or of several numbers a token, kept on `device` as those above.

    Parameters
    ----------
    device : torch.device
        Where they are needed.
    steps : ndarray of uint64
        In units of 2^-64 turn.

    Returns
    -------
    torch.Tensor of int64, of the same shape
        Shared: not to be written to.
    """
    if is_plain():
        return _kept_steps(steps.tobytes(), steps.shape, device)
    return torch.tensor(steps.view(np.int64).tolist(), device=device)


@functools.cache
def _kept_steps(data: bytes, shape: tuple[int, ...], device: torch.device) -> torch.Tensor:
    with torch.inference_mode(mode=False):
        signed = np.frombuffer(data, np.int64).reshape(shape).tolist()
        return torch.tensor(signed, device=device)


_held = SimpleNamespace()
"""The tables that compiled code holds: attributes, which become inputs of a graph, and are not
copied to the device by it. A constant of the graph may occur only once in it."""


def _hold(device: torch.device, dim: int, base: float) -> str:
    """Return the name of an attribute of `_held`, made while a compiler traces the caller."""
    name = f"turns_{dim}_{base.hex()}_{device}".replace(".", "_")
    setattr(_held, name, _kept(dim, base, device))
    return name


# What torch.compiler.assume_constant_result does, which would load the compiler with this module
# and so double the time that importing torch takes.
vars(_hold)["_dynamo_marked_constant"] = True
