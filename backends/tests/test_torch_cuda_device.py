"""The kernels on a GPU: skipped where there is none."""

import ml_dtypes
import numpy as np
import pytest
import torch

from ropespec import reference
from ropespec.backends.phase import turns
from ropespec.backends.torch import cuda, operators

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="the Triton kernels run on a GPU, and none is here"
)
LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
DTYPES = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
}
ALL_DTYPES = pytest.mark.parametrize("dtype", DTYPES)
SOURCES = pytest.mark.parametrize("source", ["positions", "tables"])
SHAPE = (2, 37, 9, 96)


def bits(x):
    """The same memory as integers."""
    return x.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()])


def draw(dtype, shape=SHAPE, rotary_dim=96):
    """Return x with NaNs in its tail, positions of every row near both ends, turns, tables."""
    rng = np.random.default_rng(len(dtype))
    x = torch.tensor(rng.standard_normal(shape), dtype=DTYPES[dtype])
    if rotary_dim < shape[-1]:
        bits(x)[..., rotary_dim] = -3
    m = torch.tensor(rng.choice([0, 3, -700, 2**20, 2**31 - 1, -(2**31)], shape[:-2]))
    t = torch.from_numpy(turns(rotary_dim, 10000.0).view(np.int64).copy())
    work = torch.float64 if dtype == "float64" else torch.float32
    cos, sin = torch.tensor(rng.standard_normal((2, *shape[:-2], rotary_dim // 2)), dtype=work)
    return tuple(value.cuda() for value in (x, m, t, cos, sin))


def rotate(source, x, m, t, cos, sin, **flags):
    if source == "positions":
        return operators.rotate_positions(x, m, t, **flags)
    return operators.rotate_tables(x, cos, sin, **flags)


def check(found, source, x, m, t, cos, sin, *, interleaved, inverse):
    """Compare with the reference within the error budget, and the tail bit for bit.

    A table entry is right to 2 u and, by the rounding of T, to |m| 2^-65 turns; products and sum
    add 3 u; the reference's own angle is right to |m| 2^-51, and the store adds half a place.
    """
    r = 2 * t.shape[-1]
    wide = x.double().cpu().numpy()
    size = 2 * np.abs(wide[..., :r]).max(axis=-1, keepdims=True)
    sign = -1 if inverse else 1
    far = 0.0
    if source == "positions":
        far = float(m.abs().max())
        expected = reference.apply_rotary(
            wide, sign * m.cpu().numpy(), interleaved=interleaved, rotary_dim=r
        )
    else:
        c, s = cos.double().cpu().numpy(), sign * sin.double().cpu().numpy()
        size = size * max(np.abs(c).max(), np.abs(s).max())
        expected = reference.apply_rotary_cos_sin(wide, c, s, interleaved=interleaved)
    name = str(x.dtype).removeprefix("torch.")
    info = ml_dtypes.finfo(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    unit = 2.0**-53 if x.dtype == torch.float64 else 2.0**-24
    relative = 5 * unit + far * (2.0**-62 + 2.0**-51) + float(info.eps) / 2
    error = np.abs(found.double().cpu().numpy() - expected)[..., :r]

    assert (error <= size * relative + float(info.smallest_subnormal)).all()
    assert torch.equal(bits(found[..., r:]), bits(x[..., r:]))


@ALL_DTYPES
@LAYOUTS
@SOURCES
@pytest.mark.parametrize("rotary_dim", [96, 40])
@pytest.mark.parametrize("inverse", [False, True], ids=["forward", "inverse"])
def test_kernel_on_the_device(dtype, interleaved, source, rotary_dim, inverse):
    """The kernel is within the error budget of the reference; out and in place give its bits."""
    flags = {"interleaved": interleaved, "inverse": inverse}
    given = draw(dtype, rotary_dim=rotary_dim)
    x = given[0]
    found = rotate(source, *given, **flags)
    check(found, source, *given, **flags)
    other, itself = torch.zeros_like(x), x.clone()
    rotate(source, *given, **flags, out=other)
    rotate(source, itself, *given[1:], **flags, out=itself)

    assert torch.equal(bits(other), bits(found))
    assert torch.equal(bits(itself), bits(found))


@LAYOUTS
@pytest.mark.parametrize("order", ["heads first", "sliced", "gaps", "shifted", "expanded"])
def test_strides_on_the_device(interleaved, order):
    """Any strides of x, and addresses that are no multiples of 16 bytes, give the same result."""
    flags = {"interleaved": interleaved, "inverse": False}
    x, *given = draw("bfloat16")
    twice = torch.cat((x, x), dim=-1)
    views = {
        "heads first": x.transpose(1, 2).contiguous().transpose(1, 2),
        "sliced": twice[..., 96:],
        "gaps": torch.stack((x, x), dim=-1)[..., 1],
        "shifted": torch.cat((x.new_zeros(1), x.flatten()))[1:].view(x.shape),
        "expanded": x[:, :, :1].expand(x.shape),
    }
    found = rotate("positions", views[order], *given, **flags)
    check(found, "positions", views[order], *given, **flags)


@pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is:DeprecationWarning")  # torch's own
@LAYOUTS
@SOURCES
def test_compiled_on_the_device(source, interleaved):
    """Compiled, forward and backward give the bits of the operator itself."""
    flags = {"interleaved": interleaved, "inverse": False}
    x, *given = draw("bfloat16")
    torch.compiler.reset()
    graph = torch.compile(lambda a: rotate(source, a, *given, **flags), fullgraph=True)
    a = x.clone().requires_grad_()
    seen = torch.randn_like(x)
    (gradient,) = torch.autograd.grad(graph(a), a, seen)

    assert torch.equal(graph(x), rotate(source, x, *given, **flags))
    assert torch.equal(gradient, rotate(source, seen, *given, **(flags | {"inverse": True})))


@LAYOUTS
def test_more_than_2_31_elements_on_the_device(interleaved):
    """The last tokens of more than 2^31 elements are turned as they are on their own."""
    tokens = 2**31 // (32 * 128) + 5
    if torch.cuda.mem_get_info()[0] < 3 * tokens * 32 * 128 * 2:
        pytest.skip("the GPU has too little free memory")
    x = torch.empty(1, tokens, 32, 128, dtype=torch.bfloat16, device="cuda").normal_()
    m = torch.arange(tokens, device="cuda")
    t = torch.from_numpy(turns(128, 10000.0).view(np.int64).copy()).cuda()
    flags = {"interleaved": interleaved, "inverse": False}
    found = operators.rotate_positions(x, m, t, **flags)[:, -9:]

    assert torch.equal(found, operators.rotate_positions(x[:, -9:], m[-9:], t, **flags))


def test_status_on_the_device():
    """The status names the GPU."""
    assert cuda.status().available
    assert torch.cuda.get_device_name() in cuda.status().reason
