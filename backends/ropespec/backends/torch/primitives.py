"""The shared API for torch: the primitives, and what follows from them."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from ropespec.backends.derived import Derived, Primitives
from ropespec.backends.phase import Steps
from ropespec.backends.torch import rotation
from ropespec.backends.torch.arrays import (
    Device,
    arithmetic,
    base_of,
    check_array,
    on_device,
    positions_of,
    read_device,
)
from ropespec.backends.torch.dispatch import turn
from ropespec.backends.torch.frequencies import circle_of, unit_circle
from ropespec.backends.torch.sharded import is_dtensor, rotate_shards
from ropespec.backends.torch.turns import KINDS, steps_on
from ropespec.spec.api import Positions

__all__ = ["functions"]

R = TypeVar("R")


class Turning(NamedTuple):
    """How much tokens turn: what `unit_circle` takes."""

    positions: torch.Tensor
    dim: int
    base: float
    dtype: torch.dtype


class TorchPrimitives(Primitives[torch.Tensor]):
    """Operations of torch, which autograd, transforms and compilers see one by one."""

    xp = torch

    def run(self, body: Callable[..., R], *arrays: Any, **options: Any) -> R:  # noqa: ANN401  # handed on
        """Compute."""
        return body(self, *arrays, **options)

    def check_array(self, name: str, value: object) -> None:
        """Require a `torch.Tensor`."""
        check_array(name, value)

    def base_of(self, base: object, name: str = "base") -> float:
        """Require a base above 1, which a compiler may have made a symbol."""
        return base_of(base, name)

    def positions_of(self, value: object, name: str = "positions") -> Any:  # noqa: ANN401  # a tensor or an array
        """Require integers."""
        return positions_of(value, name)

    def read_rotation(
        self,
        x: torch.Tensor,
        positions: Positions[torch.Tensor],
        interleaved: bool,
        base: float,
        rotary_dim: int | None,
    ) -> tuple[Any, bool, float, int]:
        """Check at a glance what is plainly right."""
        return rotation.read_call(
            x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim
        )

    def work(self, dtype: torch.dtype) -> torch.dtype:
        """Return float64 for float64, else float32."""
        return arithmetic(dtype)

    def wide(self) -> torch.dtype:
        """Return float64."""
        return torch.float64

    def cast(self, x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """Convert to a dtype."""
        return x.to(dtype)

    def beside(self, array: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        """Move to the device of another tensor."""
        return array.to(other.device)

    def placed(self, positions: Any, other: torch.Tensor) -> torch.Tensor:  # noqa: ANN401  # as above
        """Leave a tensor where it lies, and move all else beside `other`."""
        return on_device(positions, None if isinstance(positions, torch.Tensor) else other.device)

    def inv_freq(self, dim: int, base: float, device: Device) -> torch.Tensor:
        """theta_i in float64."""
        i = torch.arange(0, dim, 2, dtype=torch.float64, device=read_device(device))
        return torch.pow(base, i / -dim)

    def constants(self, values: NDArray[np.float64], device: Device) -> torch.Tensor:
        """Copy them to the device."""
        return torch.tensor(values.tolist(), dtype=torch.float64, device=read_device(device))

    def counted(self, length: int, device: Device) -> torch.Tensor:
        """0..length-1."""
        return torch.arange(length, device=read_device(device))

    def places(self, x: torch.Tensor, length: int) -> torch.Tensor:
        """0..length-1."""
        return torch.arange(length, device=x.device)

    def turning(
        self,
        positions: Any,  # noqa: ANN401  # as above
        dim: int,
        base: float,
        x: torch.Tensor | None = None,
    ) -> Turning:
        """Return what `unit_circle` takes."""
        if x is None:
            return Turning(on_device(positions, None), dim, base, self.wide())
        return Turning(on_device(positions, x.device), dim, base, arithmetic(x.dtype))

    def circle(self, turning: Turning) -> tuple[torch.Tensor, torch.Tensor]:
        """Return cos and sin by exact phase."""
        return unit_circle(*turning)

    def circle_by(
        self,
        positions: Any,  # noqa: ANN401  # as above
        steps: Steps,
        x: torch.Tensor | None,
    ) -> tuple[torch.Tensor, ...]:
        """Return A cos and A sin by exact phase, float64."""
        m = on_device(positions, None if x is None else x.device)
        return circle_of(m, steps_on(m.device, steps.turns), steps.gain)

    def rotate_by(self, x: torch.Tensor, *tables: torch.Tensor, interleaved: bool) -> torch.Tensor:
        """Rotate as by tables that are given."""
        return rotation.apply_rotary_cos_sin(x, *tables, interleaved=interleaved)

    def rotate(self, x: torch.Tensor, turning: Turning, *, interleaved: bool) -> torch.Tensor:
        """Rotate by whatever turns such tensors."""
        positions, dim, base, _ = turning
        if type(x) in KINDS:  # all is checked
            return turn(x, positions, (dim, base), interleaved=interleaved)
        return rotation.apply_rotary(
            x, positions, interleaved=interleaved, base=base, rotary_dim=dim
        )

    def join_pairs(
        self, first: torch.Tensor, second: torch.Tensor, *, interleaved: bool
    ) -> torch.Tensor:
        """Write both into a new tensor."""
        if interleaved:
            return torch.stack((first, second), dim=-1).flatten(-2)
        return torch.cat((first, second), dim=-1)

    def with_diagonals(
        self, dim: int, blocks: Sequence[tuple[slice, slice, torch.Tensor]]
    ) -> torch.Tensor:
        """Write the diagonals into zeros, which are mapped if the values are."""
        *_, (_, _, values) = blocks
        out = values.new_zeros((*values.shape[:-1], dim, dim))
        for rows, columns, diagonal in blocks:
            out[..., rows, columns].diagonal(0, -2, -1).copy_(diagonal)
        return out

    def with_tail(self, head: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Put what follows the head behind it."""
        dim, head = head.shape[-1], head.to(x.dtype)
        return head if dim == x.shape[-1] else torch.cat((head, x[..., dim:]), dim=-1)

    def contiguous(self, x: torch.Tensor) -> torch.Tensor:
        """Copy what is not in order."""
        return x.contiguous()

    def complex(self, real: torch.Tensor, imag: torch.Tensor) -> torch.Tensor:
        """Return real + i imag."""
        return torch.complex(real, imag)

    def matmul(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Multiply matrices."""
        return a @ b

    def softmax(self, scores: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """Softmax over the last axis among the allowed keys."""
        if mask is None:
            return scores.softmax(-1)
        # The second filling clears rows of -inf alone, of which softmax makes NaN; the gradients
        # of both fillings are zero where they fill.
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return weights.masked_fill(~mask, 0.0)


class Functions(Derived[torch.Tensor]):
    """The shared API for torch; a `DTensor` is rotated shard by shard."""

    apply_rotary = staticmethod(rotation.apply_rotary)
    apply_rotary_cos_sin = staticmethod(rotation.apply_rotary_cos_sin)

    def apply_rotary_dense(
        self,
        x: torch.Tensor,
        positions: Positions[torch.Tensor],
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> torch.Tensor:
        if is_dtensor(x):
            return rotate_shards(
                super().apply_rotary_dense,
                x,
                positions,
                interleaved=interleaved,
                base=base,
                rotary_dim=rotary_dim,
            )
        return super().apply_rotary_dense(
            x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim
        )

    def apply_rotary_complex(
        self,
        x: torch.Tensor,
        positions: Positions[torch.Tensor],
        *,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> torch.Tensor:
        if is_dtensor(x):
            return rotate_shards(
                super().apply_rotary_complex, x, positions, base=base, rotary_dim=rotary_dim
            )
        return super().apply_rotary_complex(x, positions, base=base, rotary_dim=rotary_dim)


functions = Functions(TorchPrimitives())
