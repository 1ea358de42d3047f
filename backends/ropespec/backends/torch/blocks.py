"""The rotation on a CPU without a compiler: a few passes over blocks that stay in the cache."""

from collections.abc import Iterator

import torch

from ropespec.backends.torch.composite import LANES, is_complex, splits_vectors

__all__ = ["turn_blocks"]

BLOCK = 2**18
"""Elements of a block: as float32, it and its scratch fit the second-level caches of two cores."""

Block = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
"""What is turned, where to, and two tables: cos and sin, or cos + i sin and sin."""


def turn_blocks(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, out: torch.Tensor, *, interleaved: bool
) -> None:
    """Write R_m x into `out`, without any check, autograd or tracing.

    Parameters
    ----------
    x : torch.Tensor of float, shape (..., S, H, D)
        On the CPU.
    cos, sin : torch.Tensor of float32, or float64 for float64 x
        Broadcastable to (..., S, r/2).
    out : torch.Tensor, shape and dtype of `x`
        The memory of `x` in the same order, or other memory.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    """
    pairs = cos.shape[-1]
    if 2 * pairs < x.shape[-1] and out.data_ptr() != x.data_ptr():
        out[..., 2 * pairs :].copy_(x[..., 2 * pairs :])
    head, into = x[..., : 2 * pairs], out[..., : 2 * pairs]
    table = torch.complex(cos, sin) if interleaved else torch.cat((cos, cos), dim=-1)
    table, sin = (t.expand(*x.shape[:-2], t.shape[-1]).unsqueeze(-2) for t in (table, sin))
    scratch = _Scratch(cos.dtype, min(head.numel(), max(BLOCK, 2 * pairs)))
    turn = _turn_interleaved if interleaved else _turn_half
    aligned = interleaved and pairs % LANES == 0
    at_once = aligned and x.dtype == cos.dtype and is_complex(head) and is_complex(into)
    limit = head.numel() if at_once else BLOCK
    for block in _blocks((head, into, table, sin), limit, aligned=aligned):
        turn(block, scratch)


class _Scratch:
    """Two buffers of the arithmetic dtype for one block each."""

    def __init__(self, dtype: torch.dtype, size: int) -> None:
        self._dtype, self._size = dtype, size
        self._kept: dict[str, torch.Tensor] = {}

    def buffer(self, name: str, like: torch.Tensor) -> torch.Tensor:
        """Return dense memory of the shape of `like`."""
        if name not in self._kept:
            self._kept[name] = torch.empty(self._size, dtype=self._dtype, device="cpu")
        return self._kept[name][: like.numel()].view(like.shape)

    def source(self, block: torch.Tensor) -> torch.Tensor:
        """Return `block` in the arithmetic dtype."""
        if block.dtype == self._dtype:
            return block
        return self.buffer("source", block).copy_(block)


def _turn_half(block: Block, scratch: _Scratch) -> None:
    x, out, cos, sin = block
    direct = out.dtype == cos.dtype and out.data_ptr() != x.data_ptr()
    x = scratch.source(x)
    turned = out if direct else scratch.buffer("turned", x)
    torch.mul(x, cos, out=turned)
    x1, x2 = x.chunk(2, dim=-1)
    y1, y2 = turned.chunk(2, dim=-1)
    y1.addcmul_(x2, sin, value=-1)
    y2.addcmul_(x1, sin)
    if not direct:
        out.copy_(turned)


def _turn_interleaved(block: Block, scratch: _Scratch) -> None:
    x, out, cis, sin = block
    if cis.shape[-1] % LANES:
        # Where a row ends within a vector, torch multiplies the rest with other roundings.
        _turn_strided((x, out, cis.real, sin), scratch)
        return
    source = scratch.source(x)
    if not is_complex(source):
        source = scratch.buffer("source", x).copy_(x)
    target = out if out.dtype == source.dtype and is_complex(out) else source
    if target is x:
        target = scratch.buffer("turned", x)
    torch.mul(_as_complex(source), cis, out=_as_complex(target))
    if target is not out:
        out.copy_(target)


def _turn_strided(block: Block, scratch: _Scratch) -> None:
    x, out, cos, sin = block
    x = scratch.source(x)
    turned = scratch.buffer("turned", x)
    x1, x2, y1, y2 = x[..., 0::2], x[..., 1::2], turned[..., 0::2], turned[..., 1::2]
    torch.mul(x1, cos, out=y1).sub_(x2 * sin)
    torch.mul(x2, cos, out=y2).add_(x1 * sin)
    out.copy_(turned)


def _as_complex(x: torch.Tensor) -> torch.Tensor:
    return torch.view_as_complex(x.view(*x.shape[:-1], x.shape[-1] // 2, 2))


def _blocks(tensors: Block, limit: int, *, aligned: bool) -> Iterator[Block]:
    """Cut along the first axes into blocks of at most `limit` elements, or of one row.

    Axes of length 1 are shared by all of them.
    """
    shape = tensors[0].shape
    size = tensors[0].numel()
    if size == 0:
        return
    axis = next((a for a, length in enumerate(shape[:-1]) if length > 1), None)
    if axis is None or (size <= limit and not (aligned and splits_vectors(size // 2))):
        yield tensors
        return
    step = max(1, min(limit * shape[axis] // size, (shape[axis] + 1) // 2))
    for start in range(0, shape[axis], step):
        length = min(step, shape[axis] - start)
        x, out, cos, sin = (
            t.narrow(axis, start, length) if t.shape[axis] > 1 else t for t in tensors
        )
        yield from _blocks((x, out, cos, sin), limit, aligned=aligned)
