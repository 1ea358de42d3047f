import subprocess
import sys
import types

import numpy as np
import pytest
import torch

import ropespec.backends.torch as backend
from ropespec.backends.phase import turns
from ropespec.backends.torch import dispatch, rotation
from ropespec.spec.errors import ArgumentError

M = [5, -3, 0]


class OnCuda(torch.Tensor):
    """A tensor in host memory that says that it is on a GPU."""

    is_cuda = True


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
