"""The rotation of a `DTensor`: every device turns its shard by the global positions of its tokens.

Rotating needs nothing from another device. So the operation itself sees plain local tensors only,
whatever it is made of, and what is left to do is to cut the positions as x is cut. Autograd passes
through: the gradient has the placements of x.
"""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import torch

from ropespec.backends.torch.arrays import (
    Positions,
    check_array,
    check_floats,
    on_device,
    positions_of,
)
from ropespec.spec.arguments import check_out, check_positions_fit, check_tables, facts
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor, Placement

__all__ = ["is_dtensor", "rotate_shards", "turn_shards"]

Rotation = Callable[..., torch.Tensor]


def is_dtensor(value: object) -> bool:
    """Whether `value` is a `DTensor`; false for a plain tensor, without loading anything.

    A `DTensor` can only exist where its module has been imported by somebody else.
    """
    if type(value) is torch.Tensor:
        return False
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(value, module.DTensor)


def rotate_shards(
    function: Rotation,
    x: torch.Tensor,
    positions: Positions,
    *,
    out: torch.Tensor | None = None,
    **keywords: Any,  # noqa: ANN401  # handed on
) -> torch.Tensor:
    """Rotate a `DTensor` by positions, each shard where it lies (PAR-1, PAR-2).

    Parameters
    ----------
    function : callable
        The rotation f(x, positions, **keywords) of plain tensors.
    x : DTensor of float, shape (..., S, H, D)
        Shards of batch, sequence or heads stay where they are, of equal sizes or not. Shards of
        components and partial sums are gathered first, for a pair must be whole.
    positions : tensor, DTensor or array_like of int, shape (S,) or (..., S)
        Global positions. What is no DTensor is given whole, and the same on every device.
    out : DTensor, optional
        Of the shape, dtype and placements of `x`; `x` itself for in-place.
    **keywords
        Handed on to `function`.

    Returns
    -------
    DTensor
        `out` if it is given; else a new one with the placements of `x`, where partial sums have
        become replicas.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `function` does, with the global shapes; and if a DTensor lies on another mesh, or `out`
        has other placements.
    """
    shape = check_floats("x", x, ndim=3).shape
    m = positions_of(positions)
    check_positions_fit(facts(m), shape[:-2])
    if not is_dtensor(m):
        m = on_device(m, x.device)
    return _run(function, x, {"positions": m}, 0, out, keywords)


def turn_shards(
    function: Rotation,
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    *,
    out: torch.Tensor | None = None,
    **keywords: Any,  # noqa: ANN401  # handed on
) -> torch.Tensor:
    """Rotate a `DTensor` by tables, each shard where it lies (PAR-1, PAR-2; ROT-22).

    Parameters
    ----------
    function : callable
        The rotation f(x, cos, sin, **keywords) of plain tensors.
    x, out, **keywords
        As in `rotate_shards`.
    cos, sin : tensor or DTensor of float, shape (S, r/2) or (..., S, r/2)
        For the whole sequence. What is no DTensor is given whole, and the same on every device.

    Returns
    -------
    DTensor
        As `rotate_shards`.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `rotate_shards`.
    """
    found = check_floats("x", x, ndim=3)
    check_array("cos", cos)
    check_array("sin", sin)
    check_tables(cos, sin, found)
    return _run(function, x, {"cos": cos, "sin": sin}, 1, out, keywords)


def _run(  # one call, taken apart
    function: Rotation,
    x: torch.Tensor,
    given: dict[str, torch.Tensor],
    inner: int,
    out: torch.Tensor | None,
    keywords: dict[str, Any],
) -> torch.Tensor:
    """Call `function` with the shards; `given` has `inner` axes after that of the tokens."""
    from torch.distributed.tensor import DTensor, Replicate  # noqa: PLC0415  # loaded with the DTensor

    if not isinstance(x, DTensor):
        raise ArgumentTypeError("x", "a DTensor where positions or tables are", x)
    whole = tuple(p if _keeps_pairs(p, x.ndim) else Replicate() for p in x.placements)
    result = tuple(Replicate() if p.is_partial() else p for p in x.placements)
    if out is not None:
        check_out(out, facts(x))
        _check_alike(out, x)
        if whole != result:
            y = _run(function, x, given, inner, None, keywords)
            return out.copy_(y)
    moved = x.redistribute(placements=whole)
    local = moved.to_local()
    parts = [_part(name, value, moved, inner) for name, value in given.items()]
    if out is not None:
        into = local if out is x else cast("DTensor", out).to_local()
        function(local, *parts, out=into, **keywords)
        return out
    y = function(local, *parts, **keywords)
    stride = _contiguous(x.shape) if y.is_contiguous() else x.stride()
    turned = DTensor.from_local(
        y, x.device_mesh, whole, run_check=False, shape=x.shape, stride=stride
    )
    return turned.redistribute(placements=result)


def _keeps_pairs(placement: "Placement", axes: int) -> bool:
    """Whether each device has whole vectors that are final, in the order of the devices."""
    from torch.distributed.tensor import Shard  # noqa: PLC0415  # loaded with the DTensor

    if type(placement) is Shard:  # and no kind of it that is cut otherwise
        return placement.dim < axes - 1
    return placement.is_replicate()


def _part(name: str, value: torch.Tensor, x: "DTensor", inner: int) -> torch.Tensor:
    """Cut positions or tables as `x` is cut; what is plain is the same whole everywhere."""
    from torch.distributed.tensor import DTensor, Replicate, Shard  # noqa: PLC0415  # as above

    mesh = x.device_mesh
    if not isinstance(value, DTensor):
        everywhere = [Replicate()] * mesh.ndim
        value = DTensor.from_local(value, mesh, everywhere, run_check=False)
    elif value.device_mesh != mesh:
        raise ArgumentValueError(name, "on the device mesh of x", value)
    rows = value.ndim - inner
    missing = x.ndim - 2 - rows  # leading axes that x has and `value` lacks
    placements: list[Placement] = []
    for placement in x.placements:
        axis = placement.dim - missing if isinstance(placement, Shard) else -1
        follows = 0 <= axis < rows and value.shape[axis] == x.shape[axis + missing]
        placements.append(Shard(axis) if follows else Replicate())
    return value.redistribute(placements=placements).to_local()


def _check_alike(out: torch.Tensor, x: "DTensor") -> None:
    from torch.distributed.tensor import DTensor  # noqa: PLC0415  # loaded with the DTensor

    if not isinstance(out, DTensor) or out.device_mesh != x.device_mesh:
        raise ArgumentTypeError("out", "a DTensor on the device mesh of x", out)
    if out.placements != x.placements:
        raise ArgumentValueError("out", f"of the placements of x, {x.placements}", out)


def _contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    return torch.empty(shape, device="meta").stride()
