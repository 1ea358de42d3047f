"""The sparse form of the rotation R_m x (chapter `rotation`).

It has derivatives of every order, and `torch.func`, `torch.compile` and
`torch.export` take it as one piece: an operator where there is a kernel, else ordinary operations.
"""

from typing import Any

import torch

from ropespec.backends.derived.out import writes_into_out
from ropespec.backends.glance import is_plain_table, is_plain_turn
from ropespec.backends.torch.arrays import (
    Positions,
    base_of,
    check_floats,
    on_device,
    positions_of,
)
from ropespec.backends.torch.at_once import turn_at_once
from ropespec.backends.torch.dispatch import turn
from ropespec.backends.torch.outputs import check_output
from ropespec.backends.torch.sharded import is_dtensor, rotate_shards, turn_shards
from ropespec.backends.torch.turns import KINDS
from ropespec.spec.arguments import (
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    check_tables,
    facts,
)

__all__ = ["apply_rotary", "apply_rotary_cos_sin", "read_call"]

FLOATS = frozenset({torch.float16, torch.bfloat16, torch.float32, torch.float64})


@writes_into_out(
    "Where gradients are recorded, only `x` itself, and it must be the result of something."
)
def apply_rotary(
    x: torch.Tensor,
    positions: Positions,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    turned = turn_at_once(x, positions, (base, rotary_dim), interleaved=interleaved, out=out)
    if turned is not None:
        return turned
    if type(x) not in KINDS and is_dtensor(x):
        options = {"interleaved": interleaved, "base": base, "rotary_dim": rotary_dim}
        return rotate_shards(apply_rotary, x, positions, out=out, **options)
    m, interleaved, base, dim = read_call(
        x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim
    )
    if out is not None:
        check_output(out, x, m)
    m = on_device(m, x.device)
    return turn(x, m, (dim, base), interleaved=interleaved, out=out)


@writes_into_out(
    "Where gradients are recorded, only `x` itself, and it must be the result of something."
)
def apply_rotary_cos_sin(
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    *,
    interleaved: bool,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    turned = turn_at_once(x, cos, sin, interleaved=interleaved, out=out)
    if turned is not None:
        return turned
    given = cos, sin
    if not (type(interleaved) is bool and _clearly_fit(x, cos, sin)):
        if is_dtensor(x):
            return turn_shards(apply_rotary_cos_sin, x, cos, sin, interleaved=interleaved, out=out)
        found = check_floats("x", x, ndim=3)
        check_floats("cos", cos, ndim=1)
        check_floats("sin", sin, ndim=1)
        interleaved = check_flag("interleaved", interleaved)
        check_tables(cos, sin, found)
        cos, sin = cos.to(x.device), sin.to(x.device)
    if out is not None:
        check_output(out, x, *given)
    return turn(x, cos, sin, interleaved=interleaved, out=out)


def read_call(
    x: torch.Tensor,
    positions: Positions,
    *,
    interleaved: bool,
    base: float,
    rotary_dim: int | None,
) -> tuple[Any, bool, float, int]:
    """Check the arguments of `apply_rotary`; positions are a tensor or an array."""
    if rotary_dim is None and type(interleaved) is bool and _clearly_turns(x, positions, base):
        return positions, interleaved, base, x.shape[-1]
    shape = check_floats("x", x, ndim=3).shape
    m = positions_of(positions)
    interleaved, base = check_flag("interleaved", interleaved), base_of(base)
    dim = check_rotary_dim(rotary_dim, shape[-1])
    check_positions_fit(facts(m), shape[:-2])
    return m, interleaved, base, dim


def _clearly_turns(x: torch.Tensor, positions: Positions, base: float) -> bool:
    """Whether the commonest call is plainly right; when in doubt, the checks take their time."""
    if type(x) not in KINDS or type(positions) is not torch.Tensor or type(base) is not float:
        return False
    return (
        x.dtype in FLOATS
        and positions.dtype is torch.int64
        and is_plain_turn(x.shape, positions.shape, base)
        and not torch.compiler.is_compiling()
    )


def _clearly_fit(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> bool:
    """Whether the commonest tables plainly fit; when in doubt, the checks take their time."""
    if not (type(x) in KINDS and type(cos) is torch.Tensor and type(sin) is torch.Tensor):
        return False
    device = x.device
    return (
        cos.device == device
        and sin.device == device
        and x.dtype in FLOATS
        and cos.dtype in FLOATS
        and sin.dtype is cos.dtype
        and is_plain_table(x.shape, cos.shape, sin.shape)
    )
