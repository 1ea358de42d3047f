"""The rotation R_m x in its dense, sparse and complex forms (chapter `rotation`).

The sparse form has derivatives of every order, and `torch.func`, `torch.compile` and
`torch.export` take it as one piece: an operator where there is a kernel, else ordinary operations.
"""

import math
from typing import Any, NamedTuple

import torch

from ropespec.backends.torch.arrays import (
    Positions,
    arithmetic,
    base_of,
    check_floats,
    on_device,
    positions_of,
)
from ropespec.backends.torch.dispatch import turn
from ropespec.backends.torch.frequencies import unit_circle
from ropespec.backends.torch.outputs import check_output
from ropespec.backends.torch.sharded import is_dtensor, rotate_shards, turn_shards
from ropespec.backends.torch.turns import KINDS
from ropespec.spec.arguments import (
    check_dim,
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    check_tables,
    facts,
)

__all__ = [
    "apply_rotary",
    "apply_rotary_complex",
    "apply_rotary_cos_sin",
    "apply_rotary_dense",
    "half_to_interleaved",
    "interleaved_to_half",
    "join_pairs",
    "rotate",
    "rotation_matrix",
    "split_pairs",
]

FLOATS = frozenset({torch.float16, torch.bfloat16, torch.float32, torch.float64})


def rotation_matrix(
    positions: Positions, dim: int, *, interleaved: bool, base: float = 10000.0
) -> torch.Tensor:
    """R_m for every position m, as a dense matrix (ROT-3, ROT-4; F-126, F-137).

    Parameters
    ----------
    positions : tensor or array_like of int
        Any shape; either sign.
    dim : int
        Even, at least 2.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + dim/2) if False.
    base : float
        Above 1.

    Returns
    -------
    torch.Tensor of float64, shape positions.shape + (dim, dim)
        To be applied to columns. On the device of a tensor of positions, else on the default one.

    Raises
    ------
    ArgumentTypeError
        If `positions` or `dim` are not integers, `interleaved` not a bool, `base` not a number.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    m = positions_of(positions)
    dim = check_dim(dim)
    interleaved, base = check_flag("interleaved", interleaved), base_of(base)
    return _matrix(on_device(m, None), dim, base, torch.float64, interleaved=interleaved)


def apply_rotary_dense(
    x: torch.Tensor,
    positions: Positions,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> torch.Tensor:
    """R_m x by the dense matrix (ROT-3, ROT-4; F-126, F-137).

    For finite x: a NaN or an infinity may reach every rotated component of its token and head,
    and nothing else (ROT-16).
    Parameters, result and errors as in `apply_rotary`.
    """
    if type(x) not in KINDS and is_dtensor(x):
        return rotate_shards(
            apply_rotary_dense,
            x,
            positions,
            interleaved=interleaved,
            base=base,
            rotary_dim=rotary_dim,
        )
    m, interleaved, base, dim = _read(
        x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim
    )
    head = x[..., :dim].to(arithmetic(x.dtype))
    matrix = _matrix(on_device(m, x.device), dim, base, head.dtype, interleaved=interleaved)
    return _with_tail(head @ matrix.mT, x)


def apply_rotary(
    x: torch.Tensor,
    positions: Positions,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Each pair (x1, x2) becomes (x1 cos - x2 sin, x2 cos + x1 sin): the operation (ROT-6, ROT-7).

    Parameters
    ----------
    x : torch.Tensor of float, shape (..., S, H, D)
        Queries or keys: float16, bfloat16, float32 or float64; any strides; read only, unless it
        is `out`.
    positions : tensor or array_like of int, shape (S,) or (..., S)
        Position of every token; either sign; leading axes broadcast.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + rotary_dim/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        The first `rotary_dim` components rotate, the rest passes through bit for bit; D by default.
    out : torch.Tensor, shape, dtype and device of `x`, optional
        Is written to and returned: `x` itself, or a tensor of any strides that shares no memory
        with `x` or the positions (ROT-23). Where gradients are recorded, only `x` itself, and it
        must be the result of something.

    Returns
    -------
    torch.Tensor, shape, dtype and device of `x`
        `out`, or a new tensor: exact phase (FREQ-9), float64 arithmetic for float64 and float32
        for the other dtypes, rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float tensor, positions are no integers, `interleaved` is no bool, `base` or
        `rotary_dim` is no number, or `out` is no tensor of the dtype of `x`.
    ArgumentValueError
        If `x` has fewer than 3 axes, `base` is not finite or not above 1, `rotary_dim` is odd,
        below 2 or above D, the positions do not fit `x`, or `out` cannot be written to.
    """
    if type(x) not in KINDS and is_dtensor(x):
        options = {"interleaved": interleaved, "base": base, "rotary_dim": rotary_dim}
        return rotate_shards(apply_rotary, x, positions, out=out, **options)
    m, interleaved, base, dim = _read(
        x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim
    )
    if out is not None:
        check_output(out, x, m)
    m = on_device(m, x.device)
    return turn(x, m, (dim, base), interleaved=interleaved, out=out)


def apply_rotary_cos_sin(
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    *,
    interleaved: bool,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """R_m x with cos(m theta_i) and sin(m theta_i) given as tables (ROT-22).

    The tables are taken as they are: scaled ones scale the result. They are constants: no gradient
    flows into them, also where they require one.

    Parameters
    ----------
    x : torch.Tensor of float, shape (..., S, H, D)
        Queries or keys; any strides; read only, unless it is `out`.
    cos, sin : torch.Tensor of float, shape (S, r/2) or (..., S, r/2)
        One row a token, one column a pair; one dtype; leading axes broadcast.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    out : torch.Tensor, shape, dtype and device of `x`, optional
        As in `apply_rotary`; shares no memory with the tables.

    Returns
    -------
    torch.Tensor, shape, dtype and device of `x`
        `out`, or a new tensor: float64 arithmetic for float64 and float32 for the other dtypes,
        rounded once at the end; components from r on pass through bit for bit.

    Raises
    ------
    ArgumentTypeError
        If `x` or a table is no float tensor, the dtypes of the tables differ, `interleaved` is no
        bool, or `out` is no tensor of the dtype of `x`.
    ArgumentValueError
        If `x` has fewer than 3 axes, the shapes of the tables differ, they do not fit `x`, r is
        below 2 or above D, or `out` cannot be written to.
    """
    given = cos, sin
    if not (type(interleaved) is bool and _clearly_fit(x, cos, sin)):
        if is_dtensor(x):
            return turn_shards(apply_rotary_cos_sin, x, cos, sin, interleaved=interleaved, out=out)
        found = check_floats("x", x, ndim=3)
        check_floats("cos", cos, ndim=1)
        check_floats("sin", sin, ndim=1)
        interleaved = check_flag("interleaved", interleaved)
        check_tables(cos, sin, found)
        # The kernels for CUDA widen or round what they read; all else is done in this dtype.
        work = cos.dtype if x.is_cuda and type(x) in KINDS else arithmetic(x.dtype)
        cos, sin = cos.to(x.device, work), sin.to(x.device, work)
    if out is not None:
        check_output(out, x, *given)
    return turn(x, cos, sin, interleaved=interleaved, out=out)


def apply_rotary_complex(
    x: torch.Tensor, positions: Positions, *, base: float = 10000.0, rotary_dim: int | None = None
) -> torch.Tensor:
    """Each pair (x_2i, x_2i+1), read as a complex number, times e^{i m theta_i} (ROT-8; F-064).

    This is the interleaved layout.
    Parameters, result and errors as in `apply_rotary`.
    """
    if type(x) not in KINDS and is_dtensor(x):
        return rotate_shards(apply_rotary_complex, x, positions, base=base, rotary_dim=rotary_dim)
    m, _, base, dim = _read(x, positions, interleaved=True, base=base, rotary_dim=rotary_dim)
    m = on_device(m, x.device)
    head = x[..., :dim].to(arithmetic(x.dtype))
    unit = torch.complex(*unit_circle(m, dim, base, head.dtype))
    turned = torch.complex(*split_pairs(head, interleaved=True)) * unit[..., None, :]
    return _with_tail(join_pairs(turned.real, turned.imag, interleaved=True), x)


def interleaved_to_half(x: torch.Tensor) -> torch.Tensor:
    """P x: components (0, 2, ..., d-2, 1, 3, ..., d-1) of the last axis (ROT-5; F-138).

    Parameters
    ----------
    x : torch.Tensor of float, shape (..., d)
        d even, at least 2.

    Returns
    -------
    torch.Tensor, shape, dtype and device of `x`
        A new tensor; every component bit for bit.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float tensor.
    ArgumentValueError
        If `x` has no axis, or an odd or zero number of components.
    """
    check_dim(check_floats("x", x, ndim=1).shape[-1], "head_dim")
    return join_pairs(*split_pairs(x, interleaved=True), interleaved=False)


def half_to_interleaved(x: torch.Tensor) -> torch.Tensor:
    """P^T x, which undoes `interleaved_to_half` (ROT-5; F-138).

    Parameters, result and errors as in `interleaved_to_half`.
    """
    check_dim(check_floats("x", x, ndim=1).shape[-1], "head_dim")
    return join_pairs(*split_pairs(x, interleaved=False), interleaved=True)


def split_pairs(x: torch.Tensor, *, interleaved: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the first and the second component of each pair: two views of (..., d/2)."""
    if interleaved:
        return x[..., 0::2], x[..., 1::2]
    half = x.shape[-1] // 2
    return x[..., :half], x[..., half:]


def join_pairs(first: torch.Tensor, second: torch.Tensor, *, interleaved: bool) -> torch.Tensor:
    """Undo `split_pairs`."""
    if interleaved:
        return torch.stack((first, second), dim=-1).flatten(-2)
    return torch.cat((first, second), dim=-1)


def rotate(
    x: torch.Tensor, positions: torch.Tensor, *, interleaved: bool, base: float, rotary_dim: int
) -> torch.Tensor:
    """R_m x for x (..., S, H, D) in float32 or float64, without any check."""
    m = on_device(positions, x.device)
    return turn(x, m, (rotary_dim, base), interleaved=interleaved)


class _Call(NamedTuple):
    """The checked arguments of one rotation."""

    positions: Any  # a tensor or an array
    interleaved: bool
    base: float
    rotary_dim: int


def _read(
    x: torch.Tensor,
    positions: Positions,
    *,
    interleaved: bool,
    base: float,
    rotary_dim: int | None,
) -> _Call:
    if rotary_dim is None and type(interleaved) is bool and _clearly_turns(x, positions, base):
        return _Call(positions, interleaved, base, x.shape[-1])
    shape = check_floats("x", x, ndim=3).shape
    m = positions_of(positions)
    interleaved, base = check_flag("interleaved", interleaved), base_of(base)
    dim = check_rotary_dim(rotary_dim, shape[-1])
    check_positions_fit(facts(m), shape[:-2])
    return _Call(m, interleaved, base, dim)


def _clearly_turns(x: torch.Tensor, positions: Positions, base: float) -> bool:
    """Whether the commonest call is plainly right; when in doubt, the checks take their time."""
    if type(x) not in KINDS or type(positions) is not torch.Tensor or type(base) is not float:
        return False
    shape, tokens = x.shape, positions.shape
    return (
        x.dtype in FLOATS
        and len(shape) >= 3
        and positions.dtype is torch.int64
        and len(tokens) == 1
        and tokens[0] == shape[-3]
        and shape[-1] % 2 == 0
        and shape[-1] > 0
        and 1.0 < base < math.inf
        and not torch.compiler.is_compiling()
    )


def _clearly_fit(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> bool:
    """Whether the commonest tables plainly fit; when in doubt, the checks take their time."""
    if not (type(x) in KINDS and type(cos) is torch.Tensor and type(sin) is torch.Tensor):
        return False
    shape, table, dtype, device = x.shape, cos.shape, x.dtype, x.device
    return (
        cos.device == device
        and sin.device == device
        and dtype in FLOATS
        and cos.dtype is arithmetic(dtype)
        and sin.dtype is cos.dtype
        and len(shape) >= 3
        and len(table) == 2
        and sin.shape == table
        and table[0] == shape[-3]
        and 0 < table[1] <= shape[-1] // 2
    )


def _matrix(
    positions: torch.Tensor, dim: int, base: float, dtype: torch.dtype, *, interleaved: bool
) -> torch.Tensor:
    """R_m from its columns: e_first turns to (cos, sin), e_second to (-sin, cos)."""
    cos, sin = unit_circle(positions, dim, base, dtype)
    first, second = torch.diag_embed(cos), torch.diag_embed(sin)
    rows_first = join_pairs(first, -second, interleaved=interleaved)
    rows_second = join_pairs(second, first, interleaved=interleaved)
    return join_pairs(rows_first.mT, rows_second.mT, interleaved=interleaved).mT


def _with_tail(turned: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    head = turned.to(x.dtype)
    dim = turned.shape[-1]
    return head if dim == x.shape[-1] else torch.cat((head, x[..., dim:]), dim=-1)
