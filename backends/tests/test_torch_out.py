import pytest
import torch

import ropespec.backends.torch as backend
from ropespec.backends.torch import kernel
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
SHAPE = (2, 5, 3, 16)
M = torch.tensor([5, -3, 0, 9, 2**10])


@pytest.fixture(params=["operations", "kernel"], autouse=True)
def form(request, monkeypatch):
    """Run every test by the kernel, and in the operations that stand for it."""
    if request.param == "operations":
        monkeypatch.setattr(kernel, "has_kernel", lambda: False)


def draw(shape=SHAPE, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def calls(interleaved, rotary_dim=12):
    """Both functions with `out` as f(x, out)."""
    tables = [table.float() for table in backend.cos_sin(M, rotary_dim)]
    layout = {"interleaved": interleaved}
    return (
        lambda x, out=None: backend.apply_rotary(x, M, **layout, rotary_dim=rotary_dim, out=out),
        lambda x, out=None: backend.apply_rotary_cos_sin(x, *tables, **layout, out=out),
    )


@LAYOUTS
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_torch_out_is_written_and_returned(interleaved, dtype):
    """ROT-23: the very tensor comes back, x or another of any strides, with the same bits."""
    for call in calls(interleaved):
        x = draw(dtype=dtype)
        expected = call(x)
        wide = torch.full((2, 5, 3, 40), torch.nan, dtype=dtype)
        for out in (torch.empty_like(x), wide[..., 3:35:2], torch.empty_like(x.mT).mT):
            assert call(x, out) is out
            assert torch.equal(out, expected)
        assert wide[..., 35:].isnan().all()
        assert wide[..., 2:35:2].isnan().all()
        alias = x.view(SHAPE)
        assert call(x, alias) is alias
        assert torch.equal(x, expected)
        swapped = draw(dtype=dtype).transpose(0, 2).contiguous().transpose(0, 2)
        assert torch.equal(call(swapped, swapped), expected)


@LAYOUTS
def test_torch_out_refuses_memory_in_common(interleaved):
    """ROT-23: a shifted view, a broadcast one, positions or tables; neighbours are no overlap."""
    fused = draw((2, 5, 3, 3, 16))
    store = torch.zeros(2000)
    for call in calls(interleaved):
        q, k = fused[..., 0, :], fused[..., 1, :]
        expected = call(q)
        assert torch.equal(call(q, k), expected)
        x = store[:480].view(SHAPE)
        for out in (
            store[1:481].view(SHAPE),
            store[479:959].view(SHAPE),
            store[1500:1980].view(SHAPE)[:1].expand(SHAPE),
            store.as_strided(SHAPE, (15, 3, 1, 1), 1000),
            store.as_strided(SHAPE, (240, 48, 16, 0), 1000),
        ):
            with pytest.raises(ArgumentValueError, match=r"^out must be x itself, or writable"):
                call(x, out)
        assert torch.equal(call(x, store[480:960].view(SHAPE)), call(x))

    table = torch.ones(5, 6)
    bad = table.as_strided((1, 5, 1, 6), (30, 6, 6, 1))
    with pytest.raises(ArgumentValueError, match=r"^out must be x itself"):
        backend.apply_rotary_cos_sin(
            draw((1, 5, 1, 12))[..., :6],
            table[:, :3],
            table[:, 3:],
            interleaved=interleaved,
            out=bad,
        )


@LAYOUTS
def test_torch_out_must_be_like_x(interleaved):
    """ROT-23: no tensor, another dtype, shape or device."""
    for call in calls(interleaved):
        x = draw()
        for out, error in (
            ([1.0], ArgumentTypeError),
            (x.double(), ArgumentTypeError),
            (x[:1], ArgumentValueError),
            (x.to("meta"), ArgumentValueError),
        ):
            with pytest.raises(error, match=r"^out must be "):
                call(x, out)


@LAYOUTS
def test_torch_in_place_is_differentiable(interleaved):
    """ROT-20, ROT-23: what becomes of x in place has the gradient of the plain form."""
    t = draw(seed=1)
    for call in calls(interleaved):
        found = []
        for in_place in (True, False):
            leaf = draw().requires_grad_()
            x = leaf * 2
            before = x._version
            y = call(x, x) if in_place else call(x)
            assert (y is x) == in_place
            assert (x._version > before) == in_place
            found.append(torch.autograd.grad(y.sin(), leaf, t)[0])
        assert torch.equal(*found)


@LAYOUTS
def test_torch_in_place_on_a_view_reaches_its_base(interleaved):
    """ROT-20, ROT-23: rotating a slice in place is seen, and differentiated, through the whole."""
    for call in calls(interleaved):
        leaf = draw((4, *SHAPE[1:])).requires_grad_()
        whole = leaf * 1
        part = whole[1:3]
        call(part, part)
        (gradient,) = torch.autograd.grad(whole.sum(), leaf)
        ones = torch.ones(SHAPE, requires_grad=True)
        (expected,) = torch.autograd.grad(call(ones).sum(), ones)
        assert torch.equal(gradient[1:3], expected)
        assert torch.equal(gradient[::3], torch.ones(2, *SHAPE[1:]))
        assert not torch.equal(expected, torch.ones(SHAPE))


@LAYOUTS
def test_torch_in_place_does_not_spoil_what_was_saved(interleaved):
    """ROT-23: a tensor another operation has saved is known to have changed."""
    for call in calls(interleaved):
        x = draw().requires_grad_() * 1
        square = x * x
        call(x, x)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            square.sum().backward()


@LAYOUTS
def test_torch_out_where_gradients_are_recorded(interleaved):
    """ROT-23: leaves, views of them, and tensors that are not x are refused; not so in no_grad."""
    for call in calls(interleaved):
        leaf = draw().requires_grad_()
        x = leaf * 1
        for one, out in (
            (leaf, leaf),
            (leaf.view(SHAPE),) * 2,
            (leaf, torch.empty(SHAPE)),
            (x, torch.empty(SHAPE)),
            (x, x.detach()),
            (draw(), leaf),
            (draw(), torch.empty(SHAPE).requires_grad_() * 1),
        ):
            with pytest.raises(ArgumentValueError, match="while gradients are recorded"):
                call(one, out)
        expected = call(leaf.detach())
        with torch.no_grad():
            assert torch.equal(call(leaf, torch.empty(SHAPE)), expected)
            assert torch.equal(call(leaf, leaf), expected)
        with torch.inference_mode():
            inner = draw()
            assert torch.equal(call(inner, inner), expected)


@LAYOUTS
def test_torch_out_under_vmap(interleaved):
    """ROT-23: a tensor made inside the mapped function may be `out` there."""
    for call in calls(interleaved):
        x = draw()
        found = torch.vmap(lambda a, call=call: call(a, torch.empty_like(a)))(x)
        assert torch.equal(found, call(x))
