import numpy as np
import pytest
import torch

import ropespec.backends.torch as backend
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
