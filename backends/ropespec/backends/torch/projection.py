"""f_q, f_k and f_v with their weights (chapter `projection`)."""

import torch

from ropespec.backends.torch.arrays import (
    Positions,
    arithmetic,
    base_of,
    check_floats,
    on_device,
    positions_of,
)
from ropespec.backends.torch.rotation import rotate
from ropespec.spec.arguments import (
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    check_weight,
    facts,
)

__all__ = ["project_key", "project_query", "project_value"]


def project_query(
    x: torch.Tensor,
    positions: Positions,
    weight: torch.Tensor,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> torch.Tensor:
    """f_q(x_m, m) = R_m W_q x_m (PROJ-1; F-087).

    Parameters
    ----------
    x : torch.Tensor of float, shape (..., S, d_in)
        Token vectors.
    positions : tensor or array_like of int, shape (S,) or (..., S)
        Position of every token; either sign.
    weight : torch.Tensor, shape (H, D, d_in)
        One matrix a head, of the dtype of `x`.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        r, even: the first r components of each head rotate, the rest stays (ROT-14); D by default.

    Returns
    -------
    torch.Tensor, shape (..., S, H, D)
        Of the dtype and on the device of `x`, rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If an argument has the wrong type or dtype, or `weight` not the dtype of `x`.
    ArgumentValueError
        If a value or shape is not allowed, or the shapes do not fit each other.
    """
    return _project_rotated(x, positions, weight, interleaved, base, rotary_dim)


def project_key(
    x: torch.Tensor,
    positions: Positions,
    weight: torch.Tensor,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> torch.Tensor:
    """f_k(x_n, n) = R_n W_k x_n, the same map with the weight of the keys (PROJ-1; F-087).

    Parameters, result and errors as in `project_query`.
    """
    return _project_rotated(x, positions, weight, interleaved, base, rotary_dim)


def project_value(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """f_v(x_n) = W_v x_n, not rotated (PROJ-2; F-080).

    Parameters
    ----------
    x : torch.Tensor of float, shape (..., S, d_in)
        Token vectors.
    weight : torch.Tensor, shape (H, E, d_in)
        One matrix a head, of the dtype of `x`.

    Returns
    -------
    torch.Tensor, shape (..., S, H, E)
        Of the dtype and on the device of `x`, rounded once at the end.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `project_query` does.
    """
    found = check_floats("x", x, ndim=2)
    check_floats("weight", weight, ndim=1)
    check_weight(weight, found)
    return _project(x, weight).to(x.dtype)


def _project_rotated(
    x: torch.Tensor,
    positions: Positions,
    weight: torch.Tensor,
    interleaved: bool,
    base: float,
    rotary_dim: int | None,
) -> torch.Tensor:
    found = check_floats("x", x, ndim=2)
    check_floats("weight", weight, ndim=1)
    m = positions_of(positions)
    check_flag("interleaved", interleaved)
    base = base_of(base)
    dim = check_rotary_dim(rotary_dim, check_weight(weight, found).shape[1])
    check_positions_fit(facts(m), found.shape[:-1])
    m = on_device(m, x.device)
    rotated = rotate(_project(x, weight), m, interleaved=interleaved, base=base, rotary_dim=dim)
    return rotated.to(x.dtype)


def _project(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """W x in the arithmetic dtype, with one rounding still to come."""
    work = arithmetic(x.dtype)
    return torch.einsum("...i,hdi->...hd", x.to(work), weight.to(work))
