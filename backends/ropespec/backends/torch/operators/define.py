"""The custom operators `ropespec::rotate_positions` and `ropespec::rotate_tables`.

Each comes in three forms: one that returns a new tensor, one with the suffix `_` that writes to x,
and one with the suffix `_out` that writes to another tensor; the latter two declare what they
write to. Tracing and compilers take all of them as they are. On CUDA they launch the Triton
kernels, on the CPU the one that Numba compiles, and all else is ordinary operations.

They are defined by schema, because a call through `torch.library.custom_op` takes longer than the
rotation of one token.
"""

from collections.abc import Callable
from typing import Any

import torch

from ropespec.backends.torch import kernel, plain
from ropespec.backends.torch.cuda.launch import has_triton, launch_positions, launch_tables
from ropespec.backends.torch.outputs import changed

__all__ = ["FUSED", "HOST", "LIBRARY", "OPERATORS", "define"]

LIBRARY: Any = torch.library.Library("ropespec", "FRAGMENT")  # type: ignore[no-untyped-call]  # torch's own
"""Holds the definitions for as long as this module lives."""

OPERATORS = {"rotate_positions": ("positions", "turns"), "rotate_tables": ("cos", "sin")}
"""The operators, and what they take beside x: see `launch_positions` and `launch_tables`."""

FLAGS = "*, bool interleaved, bool inverse"

Write = Callable[..., None]

FUSED: dict[str, Write] = {"rotate_positions": launch_positions, "rotate_tables": launch_tables}
"""What launches the kernel of an operator."""

HOST: dict[str, Write] = {
    "rotate_positions": kernel.rotate_positions,
    "rotate_tables": kernel.rotate_tables,
}
"""The kernels for CPUs."""


def define() -> None:
    """Define every operator with its kernels; importing the package does it once."""
    for name, (first, second) in OPERATORS.items():
        tensors = f"Tensor {first}, Tensor {second}"
        _define(f"{name}(Tensor x, {tensors}, {FLAGS}) -> Tensor")
        _define(f"{name}_(Tensor(a!) x, {tensors}, {FLAGS}) -> ()")
        _define(f"{name}_out(Tensor x, {tensors}, Tensor(a!) out, {FLAGS}) -> ()")
        _implement(name, _written(getattr(plain, name)), "CompositeExplicitAutograd")
        if has_triton():
            _implement(name, FUSED[name], "CUDA")
        _implement(name, _on_cpu(name), "CPU", _on_cpu(name, reused=True))


def _define(schema: str) -> None:
    LIBRARY.define(schema, tags=(torch.Tag.pt2_compliant_tag,))


def _on_cpu(name: str, *, reused: bool = False) -> Write:
    """Return the kernel for CPUs, or where there is none what stands for it.

    `reused` tells whether it writes to memory that a caller has given.
    """
    fused, plainly = HOST[name], _written(getattr(plain, name))

    def write(*arguments: torch.Tensor, **flags: bool) -> None:
        if kernel.has_kernel():
            fused(*arguments, **flags, reused=reused)
        else:
            plainly(*arguments, **flags)

    return write


def _written(function: Callable[..., torch.Tensor]) -> Write:
    """Return a function that writes what `function` returns to its fourth argument."""

    def write(*arguments: torch.Tensor, **flags: bool) -> None:
        *given, out = arguments
        out.copy_(function(*given, **flags))

    return write


def _implement(name: str, write: Write, key: str, rewrite: Write | None = None) -> None:
    """Register the three forms of an operator, which differ in where they write.

    `rewrite` does it where the memory is given, if another than `write`.
    """
    into = rewrite or write

    def to_new(
        x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, *, interleaved: bool, inverse: bool
    ) -> torch.Tensor:
        out = torch.empty_like(x)
        write(x, a, b, out, interleaved=interleaved, inverse=inverse)
        return out

    def to_out(
        x: torch.Tensor,
        a: torch.Tensor,
        b: torch.Tensor,
        out: torch.Tensor,
        *,
        interleaved: bool,
        inverse: bool,
    ) -> None:
        into(x, a, b, out, interleaved=interleaved, inverse=inverse)
        changed(out)

    def to_self(
        x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, *, interleaved: bool, inverse: bool
    ) -> None:
        to_out(x, a, b, x, interleaved=interleaved, inverse=inverse)

    for suffix, function in (("", to_new), ("_", to_self), ("_out", to_out)):
        LIBRARY.impl(f"{name}{suffix}", function, key)
