import numpy as np
import pytest
import torch

import ropespec.backends.torch as backend
from ropespec.backends.torch import blocks, composite, turn

LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
ALL_DTYPES = pytest.mark.parametrize("dtype", DTYPES, ids=str)
M = torch.tensor([5, -3, 0, 9, 2**20])


def draw(shape, dtype=torch.float32, seed=0):
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape), dtype=dtype)


def tables(positions, dim, dtype):
    work = torch.float64 if dtype == torch.float64 else torch.float32
    return tuple(table.to(work) for table in backend.cos_sin(positions, dim))


def in_blocks(x, cos, sin, *, interleaved, out=None):
    out = torch.full_like(x, torch.nan) if out is None else out
    blocks.turn_blocks(x, cos, sin, out, interleaved=interleaved)
    return out


def bits(tensor):
    kind = {2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.itemsize]
    return tensor.contiguous().view(kind)


@LAYOUTS
@ALL_DTYPES
@pytest.mark.parametrize("rotary_dim", [12, 32, 64])
@pytest.mark.parametrize("block", [1, 200, 2**18])
def test_torch_blocks_are_ordinary_operations_bit_for_bit(
    monkeypatch, interleaved, dtype, rotary_dim, block
):
    """ROT-19: neither the size of a tensor nor that of a block shows in one bit of the result."""
    monkeypatch.setattr(blocks, "BLOCK", block)
    x = draw((2, 5, 3, 64), dtype)
    for positions in (M, torch.stack((M, M + 7))):
        cos, sin = tables(positions, rotary_dim, dtype)
        expected = composite.small(x, cos, sin, interleaved=interleaved)
        y = in_blocks(x, cos, sin, interleaved=interleaved)
        assert torch.equal(bits(y), bits(expected))


@LAYOUTS
@ALL_DTYPES
def test_torch_blocks_read_and_write_any_strides(monkeypatch, interleaved, dtype):
    """ROT-19, ROT-23: odd offsets and steps, swapped and backward-ordered axes, on either side."""
    monkeypatch.setattr(blocks, "BLOCK", 300)
    x = draw((2, 5, 3, 64), dtype)
    cos, sin = tables(M, 32, dtype)
    expected = bits(composite.small(x, cos, sin, interleaved=interleaved))

    def layouts():
        yield torch.zeros((2, 5, 3, 65), dtype=dtype)[..., 1:]
        yield torch.zeros((2, 5, 3, 66), dtype=dtype)[..., 1:65]
        yield torch.zeros((2, 5, 3, 128), dtype=dtype)[..., ::2]
        yield torch.zeros((2, 3, 5, 64), dtype=dtype).transpose(1, 2)
        yield torch.zeros((64, 3, 5, 2), dtype=dtype).permute(3, 2, 1, 0)

    for given in layouts():
        for out in layouts():
            y = in_blocks(given.copy_(x), cos, sin, interleaved=interleaved, out=out)
            assert torch.equal(bits(y), expected)
        assert torch.equal(bits(given), bits(x))
        y = in_blocks(given, cos, sin, interleaved=interleaved, out=given)
        assert torch.equal(bits(y), expected)


def test_torch_blocks_never_end_a_share_within_a_vector():
    """What torch's threads would cut unevenly is cut here; all of it is turned, and once."""
    cases = [(2, 2**16), (3, 3 * 2**15 + 64), (1, 10**6 + 64), (5, 10**6)]
    for threads, size in cases:
        share = -(-size // min(threads, -(-size // composite.GRAIN)))
        uneven = threads > 1 and share % composite.LANES != 0
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            assert composite.splits_vectors(size) == uneven, (threads, size)
            x = torch.zeros(size // 64 + 1, 1, 1, 128)
            table = torch.zeros(size // 64 + 1, 1, 1, 64)
            found = list(blocks._blocks((x, x, table, table), x.numel(), aligned=True))
        finally:
            torch.set_num_threads(before)
        assert sum(block[0].shape[0] for block in found) == x.shape[0]
    assert any(-(-size // threads) % composite.LANES for threads, size in cases)


@LAYOUTS
@pytest.mark.parametrize("rows", [1, 255, 257, 523])
def test_torch_large_tensors_are_their_parts_bit_for_bit(interleaved, rows):
    """ROT-19: a tensor that threads share is its tokens, turned one by one."""
    x = draw((rows, 33, 32))  # 16 pairs in an odd number of rows: halves end within a vector
    m = torch.arange(rows) * 1001
    y = backend.apply_rotary(x, m, interleaved=interleaved)
    for at in {0, rows // 2, rows // 2 + 1, rows - 1} & set(range(rows)):
        one = backend.apply_rotary(x[at : at + 1], m[at : at + 1], interleaved=interleaved)
        assert torch.equal(y[at : at + 1], one)


def test_torch_large_tensors_are_turned_in_blocks(monkeypatch):
    """Blocks are for what does not fit the caches; a test that lowers the bound reaches them."""
    reached = []
    monkeypatch.setattr(turn, "turn_blocks", lambda *_, **__: reached.append(True))
    for shape in ((1, 1, 32, 128), (64, 32, 128), (4, 65, 32, 128)):
        x = torch.zeros(shape)
        backend.apply_rotary(x, torch.arange(shape[-3]), interleaved=True)
        assert len(reached) == (x.numel() >= 2**18), shape
        reached.clear()
