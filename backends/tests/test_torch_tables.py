import itertools

import pytest
import torch

import ropespec.backends.torch as backend
from ropespec.backends.torch import tables
from ropespec.backends.torch.frequencies import unit_circle

X = torch.zeros(1)
FAR = 2**31 - 1


@pytest.fixture(autouse=True)
def empty():
    """Start with nothing kept, and leave nothing."""
    for kept in (tables._tables, tables._rows, tables._turns):
        kept.clear()
    yield
    for kept in (tables._tables, tables._rows, tables._turns):
        kept.clear()


def positions():
    """Draw ranges, single tokens, both sides of every kind of boundary, scattered and far ones."""
    yield torch.arange(1000)
    for m in (0, 1, -1, 255, 256, -256, FAR, -FAR, 2**62, -(2**63), 2**63 - 1):
        yield torch.tensor([m])
        yield torch.tensor([[m], [m]])
    yield torch.arange(-300, 300)
    yield torch.arange(200, 300)
    yield torch.tensor([3, 1, 2, 3, 0])
    yield torch.tensor([0, FAR])
    yield torch.arange(FAR - 700, FAR)
    yield torch.arange(512).flip(0).view(2, 256)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("dim", [2, 6, 128])
def test_torch_a_kept_table_changes_no_bit(dtype, dim):
    """FREQ-9: with nothing kept, and with everything kept, cos and sin are those of the phase."""
    for base in (500.0, 500.0, 1e4, 500.0):
        for m in positions():
            found = tables.cos_sin_tables(X, m, dim, base, dtype)
            for one, other in zip(found, unit_circle(m, dim, base, dtype), strict=True):
                assert torch.equal(one, other)
                assert (one.shape, one.dtype) == ((*m.shape, dim // 2), dtype)
    assert tables._tables.held > 0


def test_torch_tables_are_made_once_and_only_where_they_pay():
    """Neighbouring tokens share one table; far apart ones have none, nor have far too long ones."""
    made = []
    for m in (torch.tensor([700]), torch.tensor([701]), torch.arange(512, 768)):
        tables.cos_sin_tables(X, m, 64, 1e4, torch.float32)
        made.append(tables._tables.held)
    assert made[0] == made[1] == made[2] == 256 * 64 * 4
    for m in (torch.tensor([0, FAR]), torch.tensor([5, -5]), torch.tensor([2**63 - 1])):
        tables.cos_sin_tables(X, m, 64, 1e4, torch.float32)
    assert tables._tables.held == made[0]


def test_torch_tables_hold_no_more_than_their_limit():
    """Many bases, one token each: the oldest are forgotten."""
    for step in range(1200):
        tables.cos_sin_tables(X, torch.tensor([step]), 128, 10.0 + step, torch.float32)
    assert 0 < tables._tables.held <= tables.LIMIT
    assert 0 < tables._rows.held <= tables.LIMIT
    held = (t for kept in tables._rows._kept.values() for t in kept)
    assert all(t.untyped_storage().nbytes() == t.nbytes for t in held)


@pytest.mark.parametrize("interleaved", [True, False])
def test_torch_no_result_is_the_memory_of_a_table(interleaved):
    """What a caller gets may be written to without a trace in the next result."""
    x = torch.ones(1, 1, 4)
    cos, sin = backend.cos_sin([7], 4)
    cos.zero_(), sin.zero_()
    first = backend.apply_rotary(x, [7], interleaved=interleaved)
    kept = first.clone()
    first.zero_()

    assert torch.equal(backend.apply_rotary(x, [7], interleaved=interleaved), kept)
    assert backend.cos_sin([7], 4)[0].abs().min() > 0


def everything_kept():
    """All tensors that are kept at present."""
    stores = (tables._tables, tables._rows, tables._turns)
    return list(itertools.chain.from_iterable(v for s in stores for v in s._kept.values()))


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_torch_only_plain_tensors_are_kept():
    """No tensor of a transform, a fake mode, a compiler or inference mode outlives its context."""
    from torch._subclasses import FakeTensorMode  # noqa: PLC0415  # dear to load

    x, m = torch.ones(2, 1, 8), torch.tensor([3, 4])

    def turned(a, p=m):
        tables.turns_on(a.device, 8, 10000.0)
        return backend.apply_rotary(a, p, interleaved=True) + backend.apply_rotary(
            a[:1], p[:1], interleaved=True
        )

    torch.vmap(turned)(x[None])
    torch.vmap(turned, in_dims=(None, 0))(x, m[None])
    torch.func.grad(lambda a: turned(a).sum())(x)
    torch.func.jacfwd(turned)(x)
    with FakeTensorMode() as mode:
        turned(mode.from_tensor(x), mode.from_tensor(m))
    torch.compile(turned, backend="eager", fullgraph=True)(x)
    turned(x.to("meta"), m.to("meta"))
    assert all(type(t) is torch.Tensor for t in everything_kept())
    with torch.inference_mode():
        turned(torch.ones(2, 1, 8))
    assert len(everything_kept()) > 2
    assert not any(t.is_inference() or t.requires_grad for t in everything_kept())
    leaf = x.clone().requires_grad_()
    turned(leaf).sum().backward()
    assert leaf.grad is not None
