import pytest
import torch

import ropespec.backends.torch as backend
from ropespec.backends.torch import turns

FAR = 2**31 - 1


@pytest.fixture(autouse=True)
def _empty():
    """Start with nothing kept."""
    turns._kept.cache_clear()


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


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_torch_only_plain_tensors_are_kept():
    """No tensor of a transform, a fake mode, a compiler or inference mode outlives its context."""
    from torch._subclasses import FakeTensorMode  # noqa: PLC0415  # dear to load

    x, m = torch.ones(2, 1, 8), torch.tensor([3, 4])

    def turned(a, p=m):
        turns.turns_on(a.device, 8, 10000.0)
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
    kept = turns.turns_on(x.device, 8, 10000.0)
    assert type(kept) is torch.Tensor
    with torch.inference_mode():
        turned(torch.ones(2, 1, 8))
        assert turns.turns_on(x.device, 8, 10000.0) is kept
    assert not kept.is_inference()
    leaf = x.clone().requires_grad_()
    turned(leaf).sum().backward()
    assert leaf.grad is not None
