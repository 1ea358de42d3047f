"""The rotation by ordinary operations, which autograd, `torch.func` and compilers see through.

Products and sums are one operation in the half-split layout and two in the other, as in the blocks:
so the bits do not depend on the size of a tensor.
"""

import torch

__all__ = ["LANES", "by_row", "fusible", "is_complex", "small", "splits_vectors"]

LANES = 16
"""Complex numbers that torch's vector loops take at a time, at most.

What is left over at the end of a row, or of a thread's share, it multiplies with other roundings.
"""

GRAIN = 32768
"""Elements from which on torch shares an operation among threads."""


def small(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, *, interleaved: bool
) -> torch.Tensor:
    """R_m x in as few operations as possible, as their number is what small tensors cost.

    Parameters
    ----------
    x : torch.Tensor of float, shape (..., S, H, D)
        Read only.
    cos, sin : torch.Tensor of float32, or float64 for float64 x
        Broadcastable to (..., S, r/2).
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.

    Returns
    -------
    torch.Tensor, shape, dtype and device of `x`
        A new tensor.
    """
    pairs = cos.shape[-1]
    whole = 2 * pairs == x.shape[-1]
    head = x if whole else x[..., : 2 * pairs]
    if head.dtype != cos.dtype:
        head = head.double() if cos.dtype == torch.float64 else head.float()
    if cos.numel() != pairs:  # else all tokens and heads share one row
        cos, sin = cos.unsqueeze(-2), sin.unsqueeze(-2)
    turned = (_interleaved if interleaved else _half)(head, cos, sin)
    if x.dtype != cos.dtype:
        turned = turned.bfloat16() if x.dtype == torch.bfloat16 else turned.to(x.dtype)
    return turned if whole else torch.cat((turned, x[..., 2 * pairs :]), dim=-1)


def by_row(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """R_m x in the half-split layout for one row of tables as wide as `x`.

    It is x times (cos, cos), plus x with its halves exchanged times (-sin, sin).

    Parameters
    ----------
    x : torch.Tensor of float, shape (..., S, H, D)
        Read only.
    cos, sin : torch.Tensor of float32, or float64 for float64 x, shape (1, D)
        (cos, cos) and (-sin, sin).

    Returns
    -------
    torch.Tensor, shape, dtype and device of `x`
        A new tensor, in the bits of `small`.
    """
    wide = x if x.dtype == cos.dtype else x.float()
    turned = torch.addcmul(wide * cos, wide.roll(x.shape[-1] // 2, -1), sin)
    if x.dtype == cos.dtype:
        return turned
    return turned.bfloat16() if x.dtype == torch.bfloat16 else turned.to(x.dtype)


def _half(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    x1, x2 = x.chunk(2, -1)
    y1, y2 = torch.addcmul(x1 * cos, x2, sin, value=-1), torch.addcmul(x2 * cos, x1, sin)
    return torch.cat((y1, y2), -1)


def _interleaved(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    pairs = cos.shape[-1]
    if pairs % LANES == 0 and is_complex(x) and not splits_vectors(x.numel() // 2):
        z = torch.view_as_complex(x.view(*x.shape[:-1], pairs, 2)) * torch.complex(cos, sin)
        return torch.view_as_real(z).view(x.shape)
    x1, x2 = x[..., 0::2], x[..., 1::2]
    return torch.stack((x1 * cos - x2 * sin, x2 * cos + x1 * sin), dim=-1).view(x.shape)


def is_complex(x: torch.Tensor) -> bool:
    """Whether pairs are neighbours that torch can view as complex numbers."""
    *strides, last = x.stride()
    return last == 1 and not any(s % 2 for s in (x.storage_offset(), *strides)) and not x.is_neg()


def splits_vectors(size: int) -> bool:
    """Whether a thread's share of `size` complex numbers, in whole rows, may end in a vector."""
    threads = min(torch.get_num_threads(), -(-size // GRAIN))
    return threads > 1 and -(-size // threads) % LANES != 0


def fusible(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, *, interleaved: bool
) -> torch.Tensor:
    """R_m x in a form of which a compiler makes one loop, vectorized in the half-split layout.

    It is x times cos, plus x with the components of each pair swapped times -sin and sin.
    Parameters and result as in `small`.
    """
    pairs = cos.shape[-1]
    head = x[..., : 2 * pairs].to(cos.dtype)
    if interleaved:
        swapped = head.view(*head.shape[:-1], pairs, 2).flip(-1).flatten(-2)
        cos = torch.stack((cos, cos), dim=-1).flatten(-2)
        sin = torch.stack((-sin, sin), dim=-1).flatten(-2)
    else:
        swapped = head.view(*head.shape[:-1], 2, pairs).flip(-2).flatten(-2)
        cos, sin = torch.cat((cos, cos), dim=-1), torch.cat((-sin, sin), dim=-1)
    cos, sin = _made_once(cos).unsqueeze(-2), _made_once(sin).unsqueeze(-2)
    first = head * cos
    turned = first + swapped * sin if interleaved else torch.addcmul(first, swapped, sin)
    turned = turned.to(x.dtype)
    return turned if 2 * pairs == x.shape[-1] else torch.cat((turned, x[..., 2 * pairs :]), dim=-1)


def _made_once(table: torch.Tensor) -> torch.Tensor:
    """Have a compiler make `table` once a token, where it would repeat the work for every head.

    A view by explicit strides needs memory to look at.
    """
    table = table.contiguous()
    return table.as_strided(table.shape, table.stride())
