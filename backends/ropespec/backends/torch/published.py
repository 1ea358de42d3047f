"""The code functions of document 004, corrected where they do not run (chapter `published`)."""

import torch

from ropespec.backends.torch.arrays import Device, base_of, check_array, read_device
from ropespec.backends.torch.complex_plane import from_complex, to_complex
from ropespec.backends.torch.frequencies import unit_circle
from ropespec.backends.torch.rotation import apply_rotary
from ropespec.backends.torch.sinusoidal import sinusoidal_embedding
from ropespec.spec.arguments import check_dim, check_size
from ropespec.spec.published_arguments import check_freqs_cis, check_rope, check_rotary_emb

__all__ = [
    "RoPE",
    "apply_rotary_emb",
    "precompute_freqs_cis",
    "reshape_for_broadcast",
    "sinusoidal_position_embedding",
]


def sinusoidal_position_embedding(
    batch_size: int, nums_head: int, max_len: int, output_dim: int, device: Device
) -> torch.Tensor:
    """sin(m theta_i) at 2i and cos(m theta_i) at 2i+1, repeated for B and H (PUB-1; F-188).

    Parameters
    ----------
    batch_size, nums_head, max_len : int
        B, H and L, each at least 0.
    output_dim : int
        d: even, at least 2.
    device : torch.device, str, int or None
        Where the result lies; None is torch's default device.

    Returns
    -------
    torch.Tensor of float64, shape (B, H, L, d)
        The table of positions 0..L-1, a copy for every b and h.

    Raises
    ------
    ArgumentTypeError
        If a size is not an integer, or `device` no device.
    ArgumentValueError
        If a size is negative, `output_dim` odd or below 2, or `device` unknown to torch.
    """
    batch, heads = check_size("batch_size", batch_size), check_size("nums_head", nums_head)
    length, dim = check_size("max_len", max_len), check_dim(output_dim, "output_dim")
    at = torch.arange(length, device=read_device(device))
    return sinusoidal_embedding(at, dim).repeat(batch, heads, 1, 1)


def RoPE(q: torch.Tensor, k: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """`RoPE(q, k)` of document 004: interleaved, base 10000, positions from 0 (PUB-2; F-189).

    The document takes heads and length of both from q; here each brings its own (E-60).

    Parameters
    ----------
    q, k : torch.Tensor of float, shapes (B, H, L, d) and (B, G, T, d)
        Read only; d even.

    Returns
    -------
    q, k : torch.Tensor
        Shape, dtype and device of the inputs; rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If q or k is no float tensor.
    ArgumentValueError
        If q or k has not four axes, d is odd, or k has another batch or d than q.
    """
    check_array("q", q)
    check_array("k", k)
    check_rope(q, k)
    return _rope_one(q), _rope_one(k)


def precompute_freqs_cis(
    dim: int, end: int, theta: float = 10000.0, *, device: Device = None
) -> torch.Tensor:
    """e^{i m theta_i} for m = 0..end-1 (PUB-3; F-194).

    Parameters
    ----------
    dim : int
        Even, at least 2.
    end : int
        Number of positions, at least 0.
    theta : float
        The base, above 1; document 004 calls it theta.
    device : torch.device, str or int, optional
        Where the result lies; torch's default device by default.

    Returns
    -------
    torch.Tensor of complex128, shape (end, dim/2)
        Points of the unit circle.

    Raises
    ------
    ArgumentTypeError
        If `dim` or `end` is not an integer, `theta` no real number, or `device` no device.
    ArgumentValueError
        If `dim` is odd or below 2, `end` negative, `theta` not finite or not above 1, or `device`
        unknown to torch.
    """
    dim, end, base = check_dim(dim), check_size("end", end), base_of(theta, "theta")
    at = torch.arange(end, device=read_device(device))
    return torch.complex(*unit_circle(at, dim, base, torch.float64))


def reshape_for_broadcast(freqs_cis: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Give freqs_cis an axis of length 1 for the batch and one for the heads (PUB-4; F-195).

    Parameters
    ----------
    freqs_cis : torch.Tensor of complex, shape (S, c)
        One row a position.
    x : torch.Tensor of complex, shape (B, S, H, c)
        What it is to be multiplied with.

    Returns
    -------
    torch.Tensor, shape (1, S, 1, c)
        Of the dtype of `freqs_cis`; a view of it where its strides allow one.

    Raises
    ------
    ArgumentTypeError
        If one of them is no complex tensor.
    ArgumentValueError
        If `x` has not exactly four axes (E-61), or `freqs_cis` not the shape (S, c).
    """
    check_array("freqs_cis", freqs_cis)
    check_array("x", x)
    check_freqs_cis(freqs_cis, x)
    return _over_batch_and_heads(freqs_cis)


def apply_rotary_emb(
    xq: torch.Tensor, xk: torch.Tensor, freqs_cis: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Multiply the pairs of xq and xk, read as complex numbers, by freqs_cis (PUB-5; F-196).

    Interleaved.

    Parameters
    ----------
    xq, xk : torch.Tensor of float, shapes (B, S, H, d) and (B, S, G, d)
        Read only; d even.
    freqs_cis : torch.Tensor of complex, shape (S, d/2)
        Exactly one row a position: slice it before. It is copied to the device of xq and xk.

    Returns
    -------
    xq, xk : torch.Tensor
        Shape, dtype and device of the inputs; rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If xq or xk is no float tensor, or `freqs_cis` no complex tensor.
    ArgumentValueError
        If xq or xk has not four axes (E-61), d is odd, or the shapes do not fit each other.
    """
    for name, value in (("xq", xq), ("xk", xk), ("freqs_cis", freqs_cis)):
        check_array(name, value)
    check_rotary_emb(xq, xk, freqs_cis)
    return _multiply(xq, freqs_cis), _multiply(xk, freqs_cis)


def _rope_one(x: torch.Tensor) -> torch.Tensor:
    at = torch.arange(x.shape[-2], device=x.device)
    turned = apply_rotary(x.transpose(1, 2), at, interleaved=True)
    return turned.transpose(1, 2).contiguous()


def _over_batch_and_heads(freqs_cis: torch.Tensor) -> torch.Tensor:
    rows, pairs = freqs_cis.shape
    return freqs_cis.reshape(1, rows, 1, pairs)


def _multiply(x: torch.Tensor, freqs_cis: torch.Tensor) -> torch.Tensor:
    z = to_complex(x)
    return from_complex(z * _over_batch_and_heads(freqs_cis).to(z.device, z.dtype)).to(x.dtype)
