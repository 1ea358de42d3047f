"""The rotation R_m x in its dense, sparse and complex forms (chapter `rotation`).

The sparse form is made of ordinary operations, so autograd, `torch.func` and `torch.compile`
see through it.
"""

from typing import NamedTuple

import torch

from ropespec.backends.torch.arrays import (
    Positions,
    arithmetic,
    base_of,
    check_floats,
    on_device,
    positions_of,
)
from ropespec.backends.torch.frequencies import unit_circle
from ropespec.spec.arguments import (
    check_dim,
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    facts,
)

__all__ = [
    "apply_rotary",
    "apply_rotary_complex",
    "apply_rotary_dense",
    "half_to_interleaved",
    "interleaved_to_half",
    "join_pairs",
    "rotate",
    "rotation_matrix",
    "split_pairs",
]


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

    A sum over a row of R would carry 0 * NaN and 0 * inf into every pair (ROT-16), so components
    that are not finite are left out of it, and their pairs are taken from the sparse form.
    Parameters, result and errors as in `apply_rotary`.
    """
    m, interleaved, base, dim = _read(
        x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim
    )
    head = x[..., :dim].to(arithmetic(x.dtype))
    finite = head.isfinite()
    matrix = _matrix(m, dim, base, head.dtype, interleaved=interleaved)
    dense = torch.where(finite, head, 0.0) @ matrix.mT
    sparse = rotate(head, m, interleaved=interleaved, base=base)
    first, second = split_pairs(finite, interleaved=interleaved)
    sound = join_pairs(first & second, first & second, interleaved=interleaved)
    return _with_tail(torch.where(sound, dense, sparse), x)


def apply_rotary(
    x: torch.Tensor,
    positions: Positions,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> torch.Tensor:
    """Each pair (x1, x2) becomes (x1 cos - x2 sin, x2 cos + x1 sin): the operation (ROT-6, ROT-7).

    Parameters
    ----------
    x : torch.Tensor of float, shape (..., S, H, D)
        Queries or keys: float16, bfloat16, float32 or float64; any strides; read only.
    positions : tensor or array_like of int, shape (S,) or (..., S)
        Position of every token; either sign; leading axes broadcast.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + rotary_dim/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        The first `rotary_dim` components turn, the rest passes through bit for bit; D by default.

    Returns
    -------
    torch.Tensor, shape, dtype and device of `x`
        A new tensor: exact phase (FREQ-9), float64 arithmetic for float64 and float32 for the
        other dtypes, rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float tensor, positions are no integers, `interleaved` is no bool, or
        `base` or `rotary_dim` is no number.
    ArgumentValueError
        If `x` has fewer than 3 axes, `base` is not finite or not above 1, `rotary_dim` is odd,
        below 2 or above D, or the positions do not fit `x`.
    """
    m, interleaved, base, dim = _read(
        x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim
    )
    head = x[..., :dim].to(arithmetic(x.dtype))
    return _with_tail(rotate(head, m, interleaved=interleaved, base=base), x)


def apply_rotary_complex(
    x: torch.Tensor, positions: Positions, *, base: float = 10000.0, rotary_dim: int | None = None
) -> torch.Tensor:
    """Each pair (x_2i, x_2i+1), read as a complex number, times e^{i m theta_i} (ROT-8; F-064).

    This is the interleaved layout.
    Parameters, result and errors as in `apply_rotary`.
    """
    m, _, base, dim = _read(x, positions, interleaved=True, base=base, rotary_dim=rotary_dim)
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
    x: torch.Tensor, positions: torch.Tensor, *, interleaved: bool, base: float
) -> torch.Tensor:
    """R_m x for x (..., S, H, D) in float32 or float64, all components, without any check."""
    cos, sin = unit_circle(positions, x.shape[-1], base, x.dtype)
    cos, sin = cos[..., None, :], sin[..., None, :]  # all heads of a token share its angles
    first, second = split_pairs(x, interleaved=interleaved)
    return join_pairs(
        first * cos - second * sin, second * cos + first * sin, interleaved=interleaved
    )


class _Call(NamedTuple):
    """The checked arguments of one rotation, with the positions on the device of x."""

    positions: torch.Tensor
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
    shape = check_floats("x", x, ndim=3).shape
    m = positions_of(positions)
    interleaved, base = check_flag("interleaved", interleaved), base_of(base)
    dim = check_rotary_dim(rotary_dim, shape[-1])
    check_positions_fit(facts(m), shape[:-2])
    return _Call(on_device(m, x.device), interleaved, base, dim)


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
