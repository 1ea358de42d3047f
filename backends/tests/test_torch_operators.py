import subprocess
import sys

import numpy as np
import pytest
import torch

from ropespec import reference
from ropespec.backends.phase import turns
from ropespec.backends.torch import operators

LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
SOURCES = pytest.mark.parametrize("source", ["positions", "tables"])
# torch's own forward-mode derivatives are scripted at their first use.
FORWARD_MODE = pytest.mark.filterwarnings(
    "ignore:.torch.jit.script. is deprecated:DeprecationWarning"
)
SHAPE, PAIRS = (2, 3, 2, 8), 3
M = torch.tensor([[3, -700, 2**10], [0, 1, -5]])
TURNS = torch.from_numpy(turns(2 * PAIRS, 10000.0).view(np.int64).copy())


def draw(shape=SHAPE, dtype=torch.float32, seed=0):
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape), dtype=dtype)


def taken(source):
    """What the operators of this name take beside x."""
    return (M, TURNS) if source == "positions" else tuple(draw((2, 1, 3, PAIRS), seed=7))


def rotation(source, *, interleaved=True, inverse=False):
    """The rotation as a function of x alone."""
    rotate, given = getattr(operators, f"rotate_{source}"), taken(source)
    return lambda x, **into: rotate(x, *given, interleaved=interleaved, inverse=inverse, **into)


def compiled(function):
    torch.compiler.reset()
    return torch.compile(function, backend="aot_eager", fullgraph=True)


@pytest.mark.parametrize("name", ["", ".operators"])
def test_importing_loads_no_compiler(name):
    """The torch backend loads its operators only when asked, and that loads no compiler."""
    watched = ("ropespec.backends.torch.operators", "torch._dynamo", "triton")
    imported = f"import sys, ropespec.backends.torch{name}"
    code = f"{imported}; print([m for m in {watched} if m in sys.modules])"
    environment = {"PYTHONPATH": ":".join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )

    assert run.stdout.strip() == str([f"ropespec.backends.torch{name}"] if name else [])


@LAYOUTS
@SOURCES
@pytest.mark.parametrize("form", ["", "_", "_out"])
def test_opcheck(source, form, interleaved):
    """Schema, autograd, fake tensors and tracing of every operator are what torch expects."""
    operator = getattr(torch.ops.ropespec, f"rotate_{source}{form}").default
    x = draw().transpose(0, 1).contiguous().transpose(0, 1).requires_grad_(not form)
    arguments = (x, *taken(source), *([torch.empty_like(x)] if form == "_out" else []))
    flags = {"interleaved": interleaved, "inverse": False}
    found = torch.library.opcheck(operator, arguments, flags)

    assert set(found.values()) == {"SUCCESS"}
    assert len(found) == 4


@LAYOUTS
@SOURCES
def test_operators_rotate(source, interleaved):
    """On a machine without a GPU the operators give what the reference gives."""
    x, given = draw(dtype=torch.float64), taken(source)
    found = rotation(source, interleaved=interleaved)(x)
    if source == "positions":
        expected = reference.apply_rotary(
            x.numpy(), M.numpy(), interleaved=interleaved, rotary_dim=2 * PAIRS
        )
    else:
        tables = [table.expand(2, 3, PAIRS).double().numpy() for table in given]
        expected = reference.apply_rotary_cos_sin(x.numpy(), *tables, interleaved=interleaved)

    assert np.abs(found.numpy() - expected).max() <= 1e-12  # angles up to 1024 in float64
    assert torch.equal(found[..., 2 * PAIRS :], x[..., 2 * PAIRS :])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@SOURCES
def test_three_forms_give_the_same_bits(source, dtype):
    """A new tensor, another tensor and x itself get the same bits, and both are returned."""
    turn, x = rotation(source), draw(dtype=dtype)
    new, other, itself = turn(x), torch.zeros_like(x.mT).mT, x.clone()

    assert turn(x, out=other) is other
    assert turn(itself, out=itself) is itself
    view = x.clone()
    turn(view, out=view[:])
    for found in (other, itself, view):
        assert torch.equal(found, new)


@SOURCES
def test_inverse_turns_back(source):
    """The inverse of the inverse is the rotation, and rotating back by exact phase gives x."""
    turn, back = rotation(source), rotation(source, inverse=True)
    x, y = draw(dtype=torch.float64), draw(dtype=torch.float64, seed=1)

    assert (turn(x) * y).sum().item() == pytest.approx((x * back(y)).sum().item(), rel=1e-12)
    assert not torch.allclose(turn(x), back(x))
    if source == "positions":
        assert torch.allclose(back(turn(x)), x, rtol=0, atol=1e-14)


def test_new_tensors_keep_the_order_of_axes():
    """A result lies in memory as x does, so that neither side pays for another order."""
    x = draw((2, 2, 3, 8)).transpose(1, 2)

    assert rotation("positions")(x).stride() == x.stride()


@SOURCES
def test_writing_is_seen_by_autograd(source):
    """A tensor that autograd saved and a rotation overwrites is refused in the backward pass."""
    weight = draw().requires_grad_()
    saved = draw()
    product = (weight * saved).sum()
    rotation(source)(saved, out=saved)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()
    with torch.inference_mode():
        x = draw()
        assert torch.equal(rotation(source)(x), rotation(source)(x.clone(), out=x))


@SOURCES
def test_out_refuses_gradients(source):
    """Where a gradient would be lost, the rotation into `out` raises; without gradients it runs."""
    x, turn = draw().requires_grad_(), rotation(source)
    with pytest.raises(RuntimeError, match="not differentiable"):
        turn(x, out=torch.empty_like(x))
    with torch.no_grad():
        out = torch.empty_like(x)
        turn(x, out=out)

    assert torch.equal(out, turn(x))


@FORWARD_MODE
@LAYOUTS
@SOURCES
def test_derivatives(source, interleaved):
    """Gradients, tangents and second derivatives are those of finite differences."""
    turn = rotation(source, interleaved=interleaved)
    x = draw((2, 3, 1, 8), torch.float64).requires_grad_()

    assert torch.autograd.gradcheck(turn, x, check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(turn, x, check_fwd_over_rev=True)


def test_tables_get_no_gradient():
    """Tables that ask for a gradient get none, and x gets its own."""
    cos, sin = (table.requires_grad_() for table in taken("tables"))
    x = draw().requires_grad_()
    y = operators.rotate_tables(x, cos, sin, interleaved=True, inverse=False)
    found = torch.autograd.grad(y.sum(), (x, cos, sin), allow_unused=True)

    assert found[0] is not None
    assert found[1:] == (None, None)


@FORWARD_MODE
@SOURCES
def test_torch_func_takes_it(source):
    """`torch.func` differentiates in either mode and order, eager and compiled."""
    turn, x = rotation(source), draw((2, 3, 1, 8))
    back = rotation(source, inverse=True)

    def square(x):
        return (turn(x) ** 2).sum()

    def gradient(x):
        return torch.func.grad(square)(x)

    def tangent(x):
        return torch.func.jvp(turn, (x,), (2 * x,))[1]

    torch.testing.assert_close(gradient(x), back(2 * turn(x)))
    assert torch.equal(tangent(x), turn(2 * x))
    torch.testing.assert_close(compiled(gradient)(x), gradient(x))
    torch.testing.assert_close(compiled(tangent)(x), tangent(x))
    twice = torch.func.jacfwd(torch.func.jacfwd(square))(x)
    torch.testing.assert_close(twice, torch.func.hessian(square)(x))


def mapped_cases():
    """Arguments and mapped axes: x, what goes with it, both, one of two tables, deeper batches."""
    x, m = draw((4, 3, 2, 8)), M[[0, 1, 1, 0]]
    deep = draw((2, 4, 3, 2, 8))
    cos, sin = draw((2, 4, 3, PAIRS), seed=3)
    return {
        "positions-x": ("positions", (x, m[0], TURNS), (0, None, None)),
        "positions-both": ("positions", (x, m, TURNS), (0, 0, None)),
        "positions-alone": ("positions", (x[0], m, TURNS), (None, 0, None)),
        "positions-inner": ("positions", (x.movedim(0, 2), m.mT, TURNS), (2, 1, None)),
        "positions-deep": ("positions", (deep, m[:2], TURNS), (0, 0, None)),
        "tables-x": ("tables", (x, cos[0], sin[0]), (0, None, None)),
        "tables-both": ("tables", (x, cos, sin), (0, 0, 0)),
        "tables-alone": ("tables", (x[0], cos, sin[0]), (None, 0, None)),
        "tables-deep": ("tables", (deep, cos[:2], sin[0]), (0, 0, None)),
    }


@pytest.mark.parametrize("case", mapped_cases())
def test_vmap_gives_the_rows(case):
    """Mapping the operator, or the function around it, gives the rows one by one."""
    source, arguments, dims = mapped_cases()[case]
    name = f"rotate_{source}"
    functions = getattr(operators, name), getattr(torch.ops.ropespec, name)
    size = next(v.shape[d] for v, d in zip(arguments, dims, strict=True) if d is not None)
    for function in functions:

        def rotate(*each, function=function):
            return function(*each, interleaved=True, inverse=False)

        pairs = list(zip(arguments, dims, strict=True))
        rows = [
            rotate(*(v if d is None else v.select(d, i) for v, d in pairs)) for i in range(size)
        ]
        assert torch.equal(torch.vmap(rotate, dims)(*arguments), torch.stack(rows))


def test_vmap_in_place():
    """Mapped in place or into `out` the rows are written; what cannot be mapped is refused."""
    operators, flags = torch.ops.ropespec, {"interleaved": True, "inverse": False}
    x, m = draw((4, 3, 2, 8)), M[[0, 1, 1, 0]]
    expected = operators.rotate_positions(x, m, TURNS, **flags)
    itself, other = x.clone(), torch.empty_like(x)
    torch.vmap(lambda a, p: operators.rotate_positions_(a, p, TURNS, **flags) or a)(itself, m)
    torch.vmap(lambda a, p, o: operators.rotate_positions_out(a, p, TURNS, o, **flags) or a)(
        x, m, other
    )

    assert torch.equal(itself, expected)
    assert torch.equal(other, expected)
    with pytest.raises(RuntimeError, match="vmap: a rotation in place needs"):
        torch.vmap(lambda p: operators.rotate_positions_(x[0], p, TURNS, **flags) or p)(m)
    with pytest.raises(RuntimeError, match="vmap: turns cannot be mapped over"):
        torch.vmap(lambda t: operators.rotate_positions(x, m, t, **flags))(TURNS.expand(2, -1))


@FORWARD_MODE
@LAYOUTS
@SOURCES
@pytest.mark.parametrize("into", ["itself", "other"])
def test_transforms_see_what_is_written(source, interleaved, into):
    """`jvp` and `vmap` through a rotation into `out` give tangent and rows of one without it."""
    turn = rotation(source, interleaved=interleaved)
    x, tangent = draw(), draw(seed=1)

    def written(a):
        a = a * 2
        return turn(a, out=a if into == "itself" else torch.zeros_like(a))

    found = torch.func.jvp(written, (x,), (tangent,))
    rows = torch.vmap(written)(torch.stack((x, tangent)))

    assert torch.equal(found[0], turn(x * 2))
    assert torch.equal(found[1], turn(tangent * 2))
    assert torch.equal(rows, torch.stack((turn(x * 2), turn(tangent * 2))))


@LAYOUTS
@SOURCES
def test_compiled_as_one_graph(source, interleaved):
    """Compiled whole, forward and backward, in place and not, it gives the same bits."""
    turn = rotation(source, interleaved=interleaved)
    back = rotation(source, interleaved=interleaved, inverse=True)

    def into_itself(x):
        y = x * 2
        return turn(y, out=y)

    x, seen = draw().requires_grad_(), draw(seed=5)
    graph = compiled(turn)
    (gradient,) = torch.autograd.grad(graph(x), x, seen)

    assert torch.equal(graph(x), turn(x))
    assert torch.equal(gradient, back(seen))
    with torch.no_grad():
        assert torch.equal(compiled(into_itself)(x), turn(2 * x))


def test_exported_with_any_length():
    """An exported program holds the operator itself and runs at another length."""

    class Model(torch.nn.Module):
        def forward(self, x, m):
            return operators.rotate_positions(x, m, TURNS, interleaved=True, inverse=False)

    length = torch.export.Dim("S", min=2)
    x, m = draw((2, 7, 2, 8)), torch.arange(7) * (2**31 // 7)
    program = torch.export.export(
        Model(), (x[:, :3].clone(), m[:3]), dynamic_shapes=({1: length}, {0: length})
    )
    targets = [node.target for node in program.graph.nodes]

    assert torch.ops.ropespec.rotate_positions.default in targets
    assert torch.equal(program.module()(x, m), Model()(x, m))
