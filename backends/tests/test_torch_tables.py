import itertools

import pytest
import torch

import ropespec.backends.torch as backend
from ropespec.backends.torch import tables
from ropespec.backends.torch.frequencies import unit_circle

X = torch.zeros(1)
FAR = 2**31 - 1
STORES = (tables._tables, tables._rows, tables._wide_rows, tables._turns)


@pytest.fixture(autouse=True)
def empty():
    """Start with nothing kept, and leave nothing."""
    for kept in STORES:
        kept.clear()
    yield
    for kept in STORES:
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("dim", [2, 6, 128])
def test_torch_a_wide_row_is_that_of_the_only_position(dtype, dim):
    """(cos, cos) and (-sin, sin), made or kept; other positions have none."""
    for base in (500.0, 1e4, 500.0):
        for m in positions():
            found = tables.wide_row(X, m, dim, base, dtype)
            cos, sin = unit_circle(m, dim, base, dtype)
            assert (found is None) == (m.shape != (1,))
            if found is not None:
                assert torch.equal(found[0], torch.cat((cos, cos), -1))
                assert torch.equal(found[1], torch.cat((-sin, sin), -1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(1, 1, 32, 128), (3, 1, 5, 6), (1, 7, 2), (2, 1, 1, 130)])
def test_torch_a_token_is_turned_in_the_bits_of_many(dtype, shape):
    """In generation as in a prompt, for any strides, with NaN, infinity and signs of zero kept."""
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    x[..., 0, :2] = torch.tensor([-0.0, 0.0])
    x[..., -1, 0] = torch.nan
    x[..., -1, -1] = torch.inf
    for layout in (x, x.transpose(0, -2).contiguous().transpose(0, -2)):
        for position in (0, 77, -5, FAR):
            token = layout.narrow(-3, 0, 1)
            several = torch.cat((token, token), dim=-3)
            alone = backend.apply_rotary(token, torch.tensor([position]), interleaved=False)
            among = backend.apply_rotary(several, torch.tensor([position, 3]), interleaved=False)
            expected = among.narrow(-3, 0, 1)
            assert torch.equal(alone.nan_to_num(7.0), expected.nan_to_num(7.0))
            assert torch.equal(alone.signbit(), expected.signbit())


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
        token = torch.tensor([step])
        tables.cos_sin_tables(X, token, 128, 10.0 + step, torch.float32)
        tables.wide_row(X, token, 128, 10.0 + step, torch.float32)
    rows = tables._rows, tables._wide_rows
    assert all(0 < kept.held <= tables.LIMIT for kept in (tables._tables, *rows))
    held = (t for kept in rows for row in kept._kept.values() for t in row)
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
    return list(itertools.chain.from_iterable(v for s in STORES for v in s._kept.values()))


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_torch_only_plain_tensors_are_kept():
    """No tensor of a transform, a fake mode, a compiler or inference mode outlives its context."""
    from torch._subclasses import FakeTensorMode  # noqa: PLC0415  # dear to load

    x, m = torch.ones(2, 1, 8), torch.tensor([3, 4])

    def turned(a, p=m):
        tables.turns_on(a.device, 8, 10000.0)
        token = [backend.apply_rotary(a[:1], p[:1], interleaved=f) for f in (True, False)]
        return backend.apply_rotary(a, p, interleaved=True) + token[0] + token[1]

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
