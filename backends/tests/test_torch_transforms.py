import numpy as np
import pytest
import torch

import ropespec.backends.torch as backend
from ropespec.backends.torch import dispatch, kernel
from ropespec.spec.errors import ArgumentError

LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
FORMS = pytest.mark.parametrize("form", ["apply_rotary", "apply_rotary_dense"])
# torch's own forward-mode derivatives are scripted at their first use.
FORWARD_MODE = pytest.mark.filterwarnings(
    "ignore:.torch.jit.script. is deprecated:DeprecationWarning"
)
SHAPE = (2, 3, 2, 8)
M = np.array([3, -700, 2**10])


def draw(shape, dtype=torch.float32, seed=0):
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape), dtype=dtype)


@pytest.fixture(params=["operations", "kernel"], autouse=True)
def kind(request, monkeypatch):
    """Run every test by the kernel, and in the operations that stand for it."""
    monkeypatch.setattr(dispatch, "_FEW", 0)
    if request.param == "operations":
        monkeypatch.setattr(kernel, "has_kernel", lambda: False)


def compiled(function, **options):
    torch.compiler.reset()
    return torch.compile(function, backend="aot_eager", fullgraph=True, **options)


@pytest.mark.parametrize(
    ("form", "interleaved", "dynamic"),
    [
        ("apply_rotary", True, None),
        ("apply_rotary", False, None),
        ("apply_rotary", True, True),
        ("apply_rotary_dense", False, None),
    ],
)
def test_torch_compile_takes_it_as_one_graph(form, interleaved, dynamic):
    """The whole function is one graph, also with symbolic shapes and a base that changes."""
    apply = getattr(backend, form)

    def rotated(x, positions, base):
        return apply(x, positions, interleaved=interleaved, base=base, rotary_dim=4)

    graph = compiled(rotated, dynamic=dynamic)
    for length, base in ((3, 10000.0), (5, 500.0)):
        x, m = draw((2, length, 2, 8)), torch.arange(length) * (2**31 // 7)
        assert torch.equal(graph(x, m, base), rotated(x, m, base))


def test_torch_compile_takes_the_whole_width_and_the_default_base():
    """With rotary_dim and base left out, and symbolic shapes, head_dim itself becomes a number."""
    graph = compiled(lambda x, m: backend.apply_rotary(x, m, interleaved=False), dynamic=True)
    x, m = draw(SHAPE), torch.tensor(M)

    assert torch.equal(graph(x, m), backend.apply_rotary(x, m, interleaved=False))


def test_torch_compile_differentiates():
    """Gradients through the compiled function are those of the plain one."""
    graph = compiled(lambda x, m: backend.apply_rotary(x, m, interleaved=True))
    x, t, m = draw(SHAPE).requires_grad_(), draw(SHAPE, seed=1), torch.tensor(M)
    (found,) = torch.autograd.grad(graph(x, m), x, t)
    (expected,) = torch.autograd.grad(backend.apply_rotary(x, m, interleaved=True), x, t)

    assert torch.equal(found, expected)


@pytest.mark.parametrize("dynamic", [None, True])
@LAYOUTS
def test_torch_compile_writes_into_out(interleaved, dynamic):
    """ROT-22, ROT-23: tables, `out`, and x itself as `out`, in one graph that serves any length."""

    def into(x, m, cos, sin, one, other, same):
        layout = {"interleaved": interleaved}
        backend.apply_rotary(x, m, **layout, out=one)
        backend.apply_rotary_cos_sin(x, cos, sin, **layout, out=other)
        return backend.apply_rotary(same, m, **layout, out=same)

    graph = compiled(into, dynamic=dynamic)
    for length in (3, 7):
        x, m = draw((2, length, 2, 8)), torch.arange(length) * 1001
        cos, sin = (table.float() for table in backend.cos_sin(m, 8))
        expected = backend.apply_rotary(x, m, interleaved=interleaved)
        outs = [torch.empty_like(x), torch.empty_like(x), x.clone()]
        graph(x, m, cos, sin, *outs)
        assert all(torch.equal(out, expected) for out in outs)


@LAYOUTS
def test_torch_compiled_in_place_differentiates(interleaved):
    """ROT-20, ROT-23: in place in compiled code, the gradient is right but for a rounding."""
    m = torch.tensor(M)

    def scaled(leaf):
        x = leaf * 2
        return backend.apply_rotary(x, m, interleaved=interleaved, out=x)

    leaf, t = draw(SHAPE).requires_grad_(), draw(SHAPE, seed=1)
    (found,) = torch.autograd.grad(compiled(scaled)(leaf), leaf, t)
    (expected,) = torch.autograd.grad(scaled(leaf), leaf, t)
    torch.testing.assert_close(found, expected, rtol=0, atol=2e-6)


class Rotated(torch.nn.Module):
    """`torch.export` takes modules."""

    def forward(self, x, m):
        """Rotate."""
        return backend.apply_rotary(x, m, interleaved=False, rotary_dim=4)


def test_torch_export_has_operations_of_torch_alone():
    """The program serves every length, and runs where this package is not installed."""
    x, m = draw((2, 3, 2, 8)), torch.arange(3)
    length = torch.export.Dim("length", min=2, max=2**20)
    shapes = {"x": {1: length}, "m": {0: length}}
    program = torch.export.export(Rotated(), (x, m), dynamic_shapes=shapes)
    names = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    x, m = draw((2, 50, 2, 8)), torch.arange(50) * 1001

    torch.testing.assert_close(program.module()(x, m), Rotated()(x, m), rtol=0, atol=1e-6)
    assert names
    assert [name for name in names if not name.startswith("aten.")] == []


def test_torch_compile_refuses_what_is_refused():
    """Compiled code raises the error of plain code, in the same words."""
    torch.compiler.reset()
    call = torch.compile(backend.apply_rotary, backend="aot_eager")
    with pytest.raises(ArgumentError, match=r"^rotary_dim must be an even integer of at least 2"):
        call(draw(SHAPE), torch.tensor(M), interleaved=True, rotary_dim=3)


def test_torch_vmap_over_x_and_over_positions():
    """Mapping over rows, over heads, over positions, or over both, gives the rows of the whole."""
    x, rows = draw(SHAPE), torch.tensor([[3, -5, 2**20], [0, 1, 2]])

    def rotated(a, p):
        return backend.apply_rotary(a, p, interleaved=True)

    assert torch.equal(torch.vmap(rotated)(x, rows), rotated(x, rows))
    assert torch.equal(torch.vmap(rotated, in_dims=(0, None))(x, rows[0]), rotated(x, rows[0]))
    over_positions = torch.vmap(rotated, in_dims=(None, 0))(x[0], rows)
    assert torch.equal(over_positions, torch.stack([rotated(x[0], p) for p in rows]))
    over_heads = torch.vmap(lambda a: rotated(a[:, :, None], rows[0]), in_dims=2, out_dims=2)(x)
    assert torch.equal(over_heads.flatten(2, 3), rotated(x, rows[0]))


@FORWARD_MODE
@LAYOUTS
@FORMS
def test_torch_gradient_turns_back(interleaved, form):
    """ROT-20: the VJP of R_m is R_-m, the JVP is R_m itself; by autograd and by torch.func."""
    x, t = draw(SHAPE, torch.float64), draw(SHAPE, torch.float64, 1)
    options = {"interleaved": interleaved, "rotary_dim": 4}

    def rotated(a):
        return getattr(backend, form)(a, M, **options)

    leaf = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(rotated(leaf), leaf, t)
    expected = backend.apply_rotary(t, -M, **options)
    torch.testing.assert_close(gradient, expected, rtol=0, atol=1e-14)
    _, pull = torch.func.vjp(rotated, x)
    torch.testing.assert_close(pull(t)[0], expected, rtol=0, atol=1e-14)
    _, tangent = torch.func.jvp(rotated, (x,), (t,))
    torch.testing.assert_close(tangent, rotated(t), rtol=0, atol=1e-14)
    assert not torch.allclose(expected, rotated(t))


@FORWARD_MODE
@pytest.mark.parametrize("form", ["interleaved", "half", "dense", "complex"])
def test_torch_gradcheck(form):
    """Numerical and analytical derivatives agree, of first and of second order."""
    x = draw((2, 2, 1, 6), torch.float64).requires_grad_()

    def rotated(a):
        if form == "complex":
            return backend.apply_rotary_complex(a, [7, -2], rotary_dim=4)
        apply = backend.apply_rotary_dense if form == "dense" else backend.apply_rotary
        return apply(a, [7, -2], interleaved=form == "interleaved", rotary_dim=4)

    assert torch.autograd.gradcheck(rotated, x, check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(lambda a: rotated(a) ** 3, x)


@FORWARD_MODE
@LAYOUTS
def test_torch_higher_derivatives_by_torch_func(interleaved):
    """ROT-20: forward over reverse, reverse over forward, and both over a map, agree."""
    x = draw((2, 2, 1, 4), torch.float64)

    def cubed(a):
        return (backend.apply_rotary(a, [7, -2], interleaved=interleaved) ** 3).sum()

    forward = torch.func.jacfwd(torch.func.grad(cubed))
    backward = torch.func.jacrev(torch.func.jacfwd(cubed))
    expected = torch.stack([forward(row[None]) for row in x])
    torch.testing.assert_close(torch.vmap(backward)(x[:, None]), expected, rtol=0, atol=1e-12)
    assert expected.abs().max() > 1


@LAYOUTS
def test_torch_backward_keeps_no_copy_of_x(interleaved):
    """What is kept for the gradient is tables: less than x where there are several heads."""
    x, kept = draw((1, 3, 64, 8)).requires_grad_(), []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        y = backend.apply_rotary(x, M, interleaved=interleaved)
    y.sum().backward()

    assert kept
    assert max(t.untyped_storage().nbytes() for t in kept) < x.nbytes


@LAYOUTS
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_torch_no_gradient_flows_into_tables(interleaved, dtype):
    """ROT-22: tables are constants, also where they are leaves that require a gradient."""
    cos, sin = (t.to(dtype).requires_grad_() for t in backend.cos_sin(M, 8))
    x = draw(SHAPE).requires_grad_()
    backend.apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved).sum().backward()

    assert x.grad is not None
    assert cos.grad is sin.grad is None
    with torch.no_grad():
        expected = backend.apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
    assert torch.equal(
        backend.apply_rotary_cos_sin(x.detach(), cos, sin, interleaved=interleaved), expected
    )


@LAYOUTS
def test_torch_vmap_over_tables(interleaved):
    """ROT-22: mapping over tables, over x, or over both, gives the rows of the whole."""
    x, rows = draw(SHAPE), torch.stack((torch.tensor(M), torch.tensor(M) + 5))
    cos, sin = (t.float() for t in backend.cos_sin(rows, 8))

    def turned(a, c, s):
        return backend.apply_rotary_cos_sin(a, c, s, interleaved=interleaved)

    expected = turned(x, cos, sin)
    assert torch.equal(torch.vmap(turned)(x, cos, sin), expected)
    moved = torch.vmap(turned, in_dims=(1, -1, -1))(
        x.movedim(0, 1), cos.movedim(0, -1), sin.movedim(0, -1)
    )
    assert torch.equal(moved, expected)
    same = torch.vmap(turned, in_dims=(None, 0, 0))(x, cos, sin)
    assert torch.equal(same, torch.stack([turned(x, c, s) for c, s in zip(cos, sin, strict=True)]))


def test_torch_gradients_of_spoilt_pairs_stay_there():
    """ROT-16, ROT-20: the gradient does not depend on x, be it NaN, in the dense form too."""
    x = draw(SHAPE)
    x[0, 0, 0, 2], x[1, 1, 1, 7] = torch.nan, torch.inf
    for form in (backend.apply_rotary, backend.apply_rotary_dense):
        leaf = x.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(form(leaf, M, interleaved=True).sum(), leaf)
        expected = backend.apply_rotary(torch.ones(SHAPE), -M, interleaved=True)
        torch.testing.assert_close(gradient, expected, rtol=0, atol=1e-6)


def test_torch_gradients_of_attention():
    """ATT-4: derivatives are right, and a row that may attend nowhere sends no NaN back."""
    q, k, v = (draw((3, 2, 4), torch.float64, s).requires_grad_() for s in range(3))
    mask = torch.tensor([[False] * 3, [True, False, True], [True] * 3])
    options = {"query_positions": M, "key_positions": M, "interleaved": True, "mask": mask}

    assert torch.autograd.gradcheck(lambda *a: backend.attention(*a, **options), (q, k, v))
