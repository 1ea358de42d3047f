"""Tables of turns, and of cos and sin, kept from call to call.

A kept table depends on its key alone: it is made by the very operations that make cos and sin of
single positions, and these give the same bits wherever an element stands. Only plain tensors are
kept, none that a trace, a transform or inference mode has its hands on.
"""

from typing import Any

import torch

from ropespec.backends.cache import Cache
from ropespec.backends.torch.arrays import on_device
from ropespec.backends.torch.frequencies import signed_turns, unit_circle

__all__ = ["KINDS", "cos_sin_tables", "is_plain", "runs_blocks", "turns_on", "wide_row"]

LIMIT = 64 * 2**20
"""Bytes that all tables of cos and sin hold together."""

SHORTEST = 256
"""Positions in the shortest table; longer ones have a power of two."""

SPARSE = 4
"""Positions of a longer table for one that is asked for, at most."""

FARTHEST = 2**62
"""Beyond this the ends of a table might not fit in int64."""

KINDS = (torch.Tensor, torch.nn.Parameter)
"""Tensors of no subclass."""


def _bytes(value: tuple[torch.Tensor, ...]) -> int:
    return sum(table.nbytes for table in value)


_tables: Cache[tuple[torch.Tensor, torch.Tensor]] = Cache(LIMIT, _bytes)
_rows: Cache[tuple[torch.Tensor, torch.Tensor]] = Cache(LIMIT // 64, _bytes)
_wide_rows: Cache[tuple[torch.Tensor, torch.Tensor]] = Cache(LIMIT // 64, _bytes)
_turns: Cache[tuple[torch.Tensor]] = Cache(2**20, _bytes)


def is_plain(*tensors: object) -> bool:
    """Whether nothing sees these tensors but eager autograd.

    That is: they are of no subclass, and no compiler, tracer, dispatch mode or transform of
    `torch.func` is at work, of which torch tells in its inner modules alone.
    """
    return (
        not torch.compiler.is_compiling()
        and all(type(t) in KINDS for t in tensors)
        and not torch._C._are_functorch_transforms_active()  # noqa: SLF001  # see above
        and not torch._C._len_torch_dispatch_stack()  # noqa: SLF001  # see above
        and torch._C._get_tracing_state() is None  # noqa: SLF001  # see above
    )


def runs_blocks(x: torch.Tensor) -> bool:
    """Whether `x` may be turned block by block.

    Transforms of `torch.func` are no hindrance, but the older batching, which autograd still does
    for batched gradients, is.
    """
    return (
        x.is_cpu
        and not torch.compiler.is_compiling()
        and type(x) in KINDS
        and not torch._C._functorch.is_legacy_batchedtensor(x)  # noqa: SLF001  # as in `is_plain`
        and not torch._C._len_torch_dispatch_stack()  # noqa: SLF001  # as above
        and torch._C._get_tracing_state() is None  # noqa: SLF001  # as above
    )


def turns_on(device: torch.device, dim: int, base: float) -> torch.Tensor:
    """T_i in units of 2^-64 turn as int64 (FREQ-9), copied to `device` once.

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
    if not is_plain():
        return _turns_tensor(device, dim, base)

    def make() -> tuple[torch.Tensor]:
        with torch.inference_mode(mode=False):
            return (_turns_tensor(device, dim, base),)

    return _turns.get((dim, base, device), make)[0]


# As for `signed_turns`: compiled code holds the tensor on its device, and copies nothing there.
vars(turns_on)["_dynamo_marked_constant"] = True


def _turns_tensor(device: torch.device, dim: int, base: float) -> torch.Tensor:
    return torch.tensor(signed_turns(dim, base), dtype=torch.int64, device=device)


def cos_sin_tables(
    x: torch.Tensor,
    positions: Any,  # noqa: ANN401  # a tensor or an array
    dim: int,
    base: float,
    dtype: torch.dtype,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cos and sin of m * theta_i for the rotation of `x`, without any check.

    On the CPU they are read from a table of the smallest aligned power of two of positions that
    has them all, unless that would be much longer than what is asked for. The bits are those of
    `unit_circle`, whether there is a table or not.

    Parameters
    ----------
    x : torch.Tensor
        What is to be rotated.
    positions : tensor or array of int
        Checked; any shape.
    dim, base
        As in `inv_freq`.
    dtype : torch.dtype
        float32 or float64.

    Returns
    -------
    cos, sin : torch.Tensor of `dtype`, shape positions.shape + (dim/2,)
        On the device of `x`; may share memory with a table: not to be written to.
    """
    m = on_device(positions, x.device)
    if not (x.is_cpu and is_plain(x, m) and m.numel()):
        return unit_circle(m, dim, base, dtype)
    if m.shape == (1,):  # a token in generation, the same for all layers
        only = int(m.item())
        key = dim, base, only, dtype
        return _rows.get(key, lambda: _row(only, dim, base, dtype))
    low, high = (int(end.item()) for end in m.aminmax())
    window = _window(low, high, m.numel(), dim, base, dtype)
    if window is None:
        return unit_circle(m, dim, base, dtype)
    first, cos, sin = window
    shape, at = (*m.shape, dim // 2), (m - first).flatten()
    return cos.index_select(0, at).view(shape), sin.index_select(0, at).view(shape)


def wide_row(
    x: torch.Tensor,
    positions: Any,  # noqa: ANN401  # a tensor or an array
    dim: int,
    base: float,
    dtype: torch.dtype,
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return (cos, cos) and (-sin, sin) for a token in generation, the same for all layers.

    Parameters
    ----------
    x, positions, dim, base, dtype
        As in `cos_sin_tables`.

    Returns
    -------
    tuple of torch.Tensor of `dtype`, shape (1, dim), or None
        In the bits of `cos_sin_tables`, and not to be written to; None if there are more positions
        than one, or anyone but eager autograd on the CPU looks on.
    """
    if not (x.is_cpu and is_plain(x, positions) and positions.shape == (1,)):
        return None
    only = int(positions.item())

    def make() -> tuple[torch.Tensor, torch.Tensor]:
        with torch.inference_mode(mode=False):
            cos, sin = _row(only, dim, base, dtype)
            return torch.cat((cos, cos), dim=-1), torch.cat((-sin, sin), dim=-1)

    return _wide_rows.get((dim, base, only, dtype), make)


def _window(
    low: int, high: int, asked: int, dim: int, base: float, dtype: torch.dtype
) -> tuple[int, torch.Tensor, torch.Tensor] | None:
    """Return the first position of a table with `low` to `high`, and the table, if it pays."""
    width = max((low ^ high).bit_length(), SHORTEST.bit_length() - 1)
    first, length = low >> width << width, 1 << width
    if (
        low >> width != high >> width
        or max(-low, high) >= FARTHEST
        or length > max(SHORTEST, SPARSE * asked)
        or length * dim * dtype.itemsize > LIMIT // 4
    ):
        return None

    def make() -> tuple[torch.Tensor, torch.Tensor]:
        with torch.inference_mode(mode=False):
            m = torch.arange(first, first + length, device="cpu")
            return unit_circle(m, dim, base, dtype)

    return first, *_tables.get((dim, base, first, length, dtype), make)


def _row(
    position: int, dim: int, base: float, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    with torch.inference_mode(mode=False):
        window = _window(position, position, 1, dim, base, dtype)
        if window is None:
            m = torch.tensor([position], device="cpu")
            return unit_circle(m, dim, base, dtype)
        first, cos, sin = window
        at = position - first
        return cos[at : at + 1].clone(), sin[at : at + 1].clone()
