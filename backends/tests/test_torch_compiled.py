"""What a compiler gets of the rotation: one operator, or without a kernel operations to fuse."""

import pytest
import torch
from torch.func import grad, jvp, vmap

import ropespec.backends.torch as backend
from ropespec.backends.torch import dispatch, kernel

M = torch.arange(6) * 1001


@pytest.fixture(autouse=True)
def _afresh(monkeypatch):
    """Let no test see what another one compiled, and have few tokens go the way of many."""
    torch.compiler.reset()
    monkeypatch.setattr(dispatch, "_FEW", 0)


def draw(batch, seed=0):
    return torch.randn(batch, 6, 2, 8, generator=torch.Generator().manual_seed(seed))


def rotated(x):
    return backend.apply_rotary(x, M, interleaved=True)


def has_operator(graph):
    called = [str(node.target) for node in graph.nodes if node.op == "call_function"]
    return any(name.startswith("ropespec.") for name in called)


def compiled(function, **options):
    """Return the function compiled, and a list that gets each graph made of it."""
    graphs = []

    def backend(module, _):
        graphs.append(module.graph)
        return module.forward

    return torch.compile(function, backend=backend, fullgraph=True, **options), graphs


@pytest.mark.parametrize("interleaved", [True, False])
@pytest.mark.parametrize("able", [True, False])
@pytest.mark.parametrize("into", ["new", "out", "self"])
def test_a_kernel_stays_whole(monkeypatch, interleaved, able, into):
    """Where there is a kernel a graph calls it, with the bits of eager code; else it has none."""
    monkeypatch.setattr(kernel, "has_kernel", lambda: able)

    def apply(x, out):
        return backend.apply_rotary(x, M, interleaved=interleaved, out=out)

    x = draw(40)
    expected = apply(x, None)
    function, graphs = compiled(apply)
    out = {"new": None, "out": torch.empty_like(x), "self": x}[into]
    y = function(x, out)
    (graph,) = graphs

    assert has_operator(graph) == able
    assert torch.equal(y, expected)
    assert out is None or torch.equal(out, expected)


@pytest.mark.parametrize("few", [0, 2**16])
def test_one_graph_serves_every_batch(monkeypatch, few):
    """No size is compiled in, and none asked for: those that are few are not told apart."""
    monkeypatch.setattr(dispatch, "_FEW", few)
    function, graphs = compiled(rotated, dynamic=True)
    for batch in (3, 5, 40, 60, 4):
        x = draw(batch)
        assert torch.equal(function(x), rotated(x))

    assert [has_operator(graph) for graph in graphs] == [True]


def test_a_card_is_given_one_operator():
    """And nothing that a compiler cannot follow is asked on the way, as whether Triton is there."""
    from torch._subclasses import FakeTensorMode  # noqa: PLC0415  # dear to load

    def rotated(x, table):
        return backend.apply_rotary_cos_sin(x, table, table, interleaved=True)

    function, graphs = compiled(rotated)
    with FakeTensorMode():
        x, table = torch.ones(2, 6, 2, 8, device="cuda"), torch.ones(6, 4, device="cuda")
        y = function(x, table)

    assert (y.shape, y.device) == (x.shape, x.device)
    assert [has_operator(graph) for graph in graphs] == [True]


def test_a_size_that_depends_on_data_is_not_asked_for():
    """Rows that a mask keeps are rotated in one graph."""
    function, graphs = compiled(lambda x, keep: rotated(x[keep]))
    x, keep = draw(40), torch.arange(40) % 3 > 0
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        y = function(x, keep)

    assert torch.equal(y, rotated(x[keep]))
    assert [has_operator(graph) for graph in graphs] == [True]


@pytest.mark.parametrize("form", ["positions", "tables", "partial"])
@pytest.mark.parametrize(("length", "fused"), [(1, True), (2000, False)])
def test_few_tokens_are_given_in_operations(monkeypatch, form, length, fused):
    """Fused they take less than calling an operator does; a tail must pass bit for bit."""
    monkeypatch.undo()
    x, m = torch.randn(1, length, 2, 64), torch.arange(length) * 1001

    def apply(x, m, cos, sin):
        if form == "tables":
            return backend.apply_rotary_cos_sin(x, cos, sin, interleaved=True)
        dim = 32 if form == "partial" else None
        return backend.apply_rotary(x, m, interleaved=True, rotary_dim=dim)

    given = x, m, *backend.cos_sin(m, 64)
    function, graphs = compiled(apply)
    y = function(*given)

    assert [not has_operator(graph) for graph in graphs] == [fused and form != "partial"]
    torch.testing.assert_close(y, apply(*given), rtol=0, atol=2e-6)


@pytest.mark.parametrize("strict", [True, False])
def test_exported_code_needs_no_operator(strict):
    """It runs where ropespec is not installed, and serves small and large batches alike."""

    class Module(torch.nn.Module):
        def forward(self, x):
            return rotated(x)

    batch = torch.export.Dim("batch", min=2, max=4096)
    program = torch.export.export(
        Module(), (draw(40),), dynamic_shapes={"x": {0: batch}}, strict=strict
    )

    assert not has_operator(program.graph)
    torch.testing.assert_close(program.module()(draw(3)), rotated(draw(3)), rtol=0, atol=1e-6)


# torch's own forward-mode derivatives are scripted at their first use.
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    "transformed",
    [
        vmap(rotated),
        lambda x: jvp(rotated, (x,), (x + 1,))[1],
        grad(lambda x: (rotated(x) * x).sum()),
        vmap(grad(lambda x: (rotated(x) ** 2).sum())),
    ],
    ids=["vmap", "jvp", "grad", "vmap of grad"],
)
def test_transforms_inside_compiled_code(transformed):
    """An operator knows nothing of them there, so they get operations."""
    x = draw(40)
    function = torch.compile(transformed, backend="aot_eager", fullgraph=True)

    torch.testing.assert_close(function(x), transformed(x), rtol=0, atol=1e-5)


def test_gradients_of_compiled_code():
    """That of x is the operator again; none flows into tables, also where they require one."""
    x, t = draw(40).requires_grad_(), draw(40, seed=1)
    cos, sin = (table.float().requires_grad_() for table in backend.cos_sin(M, 8))

    def apply(x, cos, sin):
        return backend.apply_rotary_cos_sin(x, cos, sin, interleaved=True)

    function = torch.compile(apply, backend="aot_eager", fullgraph=True)
    found = torch.autograd.grad(function(x, cos, sin), (x, cos, sin), t, allow_unused=True)
    (expected,) = torch.autograd.grad(rotated(x), x, t)

    assert torch.equal(found[0], expected)
    assert found[1:] == (None, None)


def test_compiled_code_writes_into_out_beside_tables_that_require_a_gradient():
    """Tables are constants, so that nothing is recorded of what is written."""
    x, out = draw(40), torch.empty(40, 6, 2, 8)
    cos, sin = (table.float().requires_grad_() for table in backend.cos_sin(M, 8))

    def apply(x, cos, sin, out):
        return backend.apply_rotary_cos_sin(x, cos, sin, interleaved=True, out=out)

    torch.compile(apply, backend="aot_eager", fullgraph=True)(x, cos, sin, out)

    assert torch.equal(out, rotated(x))
    assert not out.requires_grad
