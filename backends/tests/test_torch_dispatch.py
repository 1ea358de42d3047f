import functools
import subprocess
import sys
import types

import numpy as np
import pytest
import torch
import torch.utils.flop_counter
from torch.fx.experimental import proxy_tensor

import ropespec.backends.torch as backend
from ropespec.backends.phase import turns
from ropespec.backends.torch import at_once, dispatch, kernel, plain, rotation
from ropespec.backends.torch import turns as kept
from ropespec.spec.errors import ArgumentError

M = [5, -3, 0]


class OnCuda(torch.Tensor):
    """A tensor in host memory that says that it is on a GPU."""

    is_cuda = True
    is_cpu = False


@pytest.fixture
def calls(monkeypatch):
    """Stand in for the kernels: note every call, and double x."""
    noted = []

    def stand_in(name):
        def kernel(x, *tables, interleaved, inverse, out):
            noted.append((name, tables, interleaved, inverse, out))
            return x * 2 if out is None else out.copy_(x * 2)

        return kernel

    stub = types.ModuleType("operators")
    for name in ("rotate_positions", "rotate_tables"):
        setattr(stub, name, stand_in(name))
    monkeypatch.setattr(backend, "operators", stub, raising=False)
    for module in (rotation, dispatch):
        monkeypatch.setattr(module, "KINDS", (*module.KINDS, OnCuda))
    return noted


@pytest.mark.parametrize("interleaved", [True, False])
def test_torch_cuda_tensors_go_to_the_kernels(calls, interleaved):
    """Positions are int64, turns those of the phase, tables as they are; `out` is handed on."""
    x = torch.ones(2, 3, 1, 4).as_subclass(OnCuda)
    out = torch.zeros(2, 3, 1, 4).as_subclass(OnCuda)
    table = torch.ones(3, 2, dtype=torch.float16)
    y = backend.apply_rotary(x, M, interleaved=interleaved, rotary_dim=2)
    assert backend.apply_rotary_cos_sin(x, table, table, interleaved=interleaved, out=out) is out
    (name, (m, t), layout, inverse, _), (other, tables, *rest) = calls

    assert (name, layout, inverse) == ("rotate_positions", interleaved, False)
    assert (m.dtype, m.tolist()) == (torch.int64, M)
    assert np.array_equal(t.numpy().view(np.uint64), turns(2, 10000.0))
    assert (other, *rest[:2]) == ("rotate_tables", interleaved, False)
    assert rest[2] is out
    assert all(one.dtype == torch.float16 for one in tables)
    assert torch.equal(y, x * 2)
    assert torch.equal(out, x * 2)


def test_torch_cuda_in_place_records_gradients(calls):
    """ROT-23: the kernel is not asked to write in place where autograd looks on."""
    leaf = torch.ones(3, 1, 4).as_subclass(OnCuda).requires_grad_()
    x = leaf * 3
    assert backend.apply_rotary(x, M, interleaved=True, out=x) is x
    x.sum().backward()

    assert calls[0][-1] is None
    assert torch.equal(leaf.grad, torch.full((3, 1, 4), 6.0))


def test_torch_cuda_checks_come_first(calls):
    """What is refused on the CPU is refused before any kernel is called."""
    x = torch.ones(3, 1, 4).as_subclass(OnCuda)
    for options in ({"interleaved": 1}, {"interleaved": True, "out": x[:, :, ::2]}):
        with pytest.raises(ArgumentError):
            backend.apply_rotary(x, M, **options)
    assert not calls


def test_torch_backend_loads_nothing_that_it_does_not_need():
    """Triton, compilers and torch.distributed's tensors are left to those who ask for them."""
    code = (
        "import sys, torch; before = set(sys.modules)\n"
        "import ropespec.backends.torch as b\n"
        "b.apply_rotary(torch.ones(1, 1, 4), [3], interleaved=True)\n"
        "b.apply_rotary(torch.ones(2048, 4, 64), torch.arange(2048), interleaved=True)\n"
        "print(*(n for n in set(sys.modules) - before if n.startswith(('torch.', 'triton'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = ("triton", "torch._dynamo", "torch._inductor", "torch.distributed", "torch._functorch")

    assert [name for name in done.stdout.split() if name.startswith(heavy)] == []


@pytest.mark.parametrize("interleaved", [True, False])
def test_torch_recorded_calls_need_no_operator(monkeypatch, interleaved):
    """Eager autograd calls the kernel itself, there, back, and back again."""
    pytest.importorskip("numba")

    def refuse(*_):
        raise AssertionError

    for name in ("_operated", "_tables"):
        monkeypatch.setattr(dispatch, name, refuse)
    x, seen = torch.ones(3, 1, 4).requires_grad_(), torch.ones(3, 1, 4).requires_grad_()
    tables = torch.tensor([[0.0, 0.6]] * 3), torch.tensor([[1.0, 0.8]] * 3)
    for y in (
        backend.apply_rotary(x, M, interleaved=interleaved),
        backend.apply_rotary_cos_sin(x, *tables, interleaved=interleaved),
    ):
        (gradient,) = torch.autograd.grad(y, x, seen, create_graph=True)
        (again,) = torch.autograd.grad(gradient, seen, x.detach())

        assert torch.equal(again, y)


SOURCES = pytest.mark.parametrize("source", ["positions", "tables"])


def rotation_of(source):
    """The rotation as a function of x (3, H, 4) alone, by the shared API."""
    if source == "positions":
        return functools.partial(backend.apply_rotary, positions=torch.tensor(M), interleaved=True)
    tables = {"cos": torch.tensor([[0.0, 0.6]] * 3), "sin": torch.tensor([[1.0, 0.8]] * 3)}
    return functools.partial(backend.apply_rotary_cos_sin, **tables, interleaved=True)


@pytest.fixture(name="launched")
def _launched(monkeypatch):
    """List the launches of kernels on a card, and let ordinary operations do their work."""
    launched = []

    def launcher(name):
        def launch(x, a, b, out, **flags):
            launched.append(name)
            values = getattr(plain, f"rotate_{name}")(*map(host, (x, a, b)), **flags)
            host(out).copy_(values)

        return launch

    monkeypatch.setattr(dispatch, "has_triton", lambda: True)
    for name in ("positions", "tables"):
        monkeypatch.setattr(dispatch, f"launch_{name}", launcher(name))
    for module in (rotation, dispatch, kept):
        monkeypatch.setattr(module, "KINDS", (*module.KINDS, OnCuda))
    return launched


def host(x):
    """The same memory as an ordinary tensor."""
    return x.detach().as_subclass(torch.Tensor)


@SOURCES
def test_a_plain_call_on_a_card_is_a_launch(launched, source):
    """Where nothing looks on no operator is needed; autograd sees what was written to."""
    turn, x = rotation_of(source), torch.randn(3, 2, 4)
    expected = turn(x)
    card = x.as_subclass(OnCuda)
    other = torch.empty_like(card)
    saved = card.clone().requires_grad_() * 1
    held = saved.square()  # for whose gradient `saved` is kept

    assert torch.allclose(host(turn(card)), expected, atol=1e-6)
    assert turn(card, out=other) is other
    with torch.no_grad():
        assert turn(saved, out=saved) is saved
    assert torch.allclose(host(other), expected, atol=1e-6)
    assert torch.allclose(host(saved), expected, atol=1e-6)
    assert launched == [source] * 3
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        held.sum().backward()


@SOURCES
def test_autograd_on_a_card_is_launches(launched, source):
    """The gradient is turned back by the kernel, without an operator (ROT-20)."""
    turn, x = rotation_of(source), torch.randn(3, 2, 4)
    seen = torch.randn(3, 2, 4)
    leaf, card = x.clone().requires_grad_(), x.as_subclass(OnCuda).requires_grad_()
    (expected,) = torch.autograd.grad(turn(leaf), leaf, seen)
    (found,) = torch.autograd.grad(turn(card), card, seen.as_subclass(OnCuda))

    assert torch.allclose(host(found), expected, atol=1e-6)
    assert launched == [source] * 2


@SOURCES
@pytest.mark.parametrize("who", ["x", "out"])
def test_what_memory_holds_negated_is_left_to_an_operator(calls, launched, source, who):
    """A kernel of a card would read the negative; an operator is given what is meant."""
    negated = torch.complex(torch.ones(3, 2, 4), torch.ones(3, 2, 4)).conj().imag
    x = torch.ones(3, 2, 4)
    turn = rotation_of(source)
    if who == "x":
        turn(negated.as_subclass(OnCuda))
    else:
        turn(x.as_subclass(OnCuda), out=negated.as_subclass(OnCuda))

    assert negated.is_neg()
    assert (launched, len(calls)) == ([], 1)


class Turned(torch.autograd.Function):
    """Passes x through, and turns the gradient."""

    @staticmethod
    def forward(ctx, x, turn):
        """Keep `turn` for the way back."""
        ctx.turn = turn
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        """Turn the gradient, which may be a batch of the older kind."""
        return ctx.turn(gradient), None


@pytest.mark.filterwarnings("ignore:.torch.jit.* is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@SOURCES
def test_whoever_looks_on_is_passed_over_by_no_launch(monkeypatch, source):
    """Transforms, dispatch modes, tracers and compilers see an operator, or operations."""
    launched = []
    for where, name in (
        (kernel, "rotate_straight"),
        (kernel, "rotate_tables"),
        (at_once, "rotate"),
    ):
        monkeypatch.setattr(where, name, lambda *_a, **_k: launched.append(1))
    turn, x = rotation_of(source), torch.randn(3, 2, 4)
    torch.func.jvp(turn, (x,), (x,))
    torch.vmap(turn)(torch.stack((x, x)))
    with torch.autograd.forward_ad.dual_level():
        turn(torch.autograd.forward_ad.make_dual(x, x))
    with torch.utils.flop_counter.FlopCounterMode(display=False):
        turn(x)
    proxy_tensor.make_fx(turn)(x)
    torch.jit.trace(lambda y: turn(y) * 1, x, check_trace=False)
    torch.compiler.reset()
    torch.compile(turn, backend="aot_eager", fullgraph=True)(x)
    y = x.clone().requires_grad_() * 2
    torch.autograd.grad(Turned.apply(y, turn), y, torch.stack((x, x)), is_grads_batched=True)

    assert launched == []
    turn(x)
    assert launched == [1]
