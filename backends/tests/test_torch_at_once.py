"""What is turned at once is what the checks allow, and no call that anything else looks at."""

from decimal import Decimal

import pytest
import torch

import ropespec.backends.torch as backend
from ropespec.backends.torch import at_once, kernel, rotation
from ropespec.backends.torch.at_once import turn_at_once
from ropespec.backends.torch.operators import rotate_positions, rotate_tables
from ropespec.backends.torch.turns import turns_on
from ropespec.spec.errors import ArgumentError

DTYPES = pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64]
)
M = torch.tensor([5, -3, 0, 9, 2**40])


@pytest.fixture(autouse=True)
def _able():
    if not kernel.has_kernel():
        pytest.skip("no kernel here")


def draw(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def views(dtype):
    """Tensors of shape (2, 5, 3, 16), as they come."""
    fused = draw(2, 5, 3, 3, 16, dtype=dtype)
    return {
        "contiguous": draw(2, 5, 3, 16, dtype=dtype),
        "heads first": draw(2, 3, 5, 16, dtype=dtype).transpose(1, 2),
        "slice": fused[:, :, 1],
        "step": draw(2, 5, 3, 32, dtype=dtype)[..., ::2],
        "expanded": draw(1, 5, 3, 16, dtype=dtype).expand(2, 5, 3, 16),
        "offset": draw(500, dtype=dtype)[3:483].view(2, 5, 3, 16),
    }


@DTYPES
@pytest.mark.parametrize("view", views(torch.float32))
@pytest.mark.parametrize("interleaved", [True, False])
def test_torch_at_once_has_the_bits_of_the_checked_way(dtype, view, interleaved, monkeypatch):
    """Positions of one axis and two, a head that turns in part, tables as they are, `out`."""
    x, layout = views(dtype)[view], {"interleaved": interleaved}
    tables = [table.to(dtype) for table in backend.cos_sin(M, 12)]
    calls = [
        lambda **out: backend.apply_rotary(x, M, **layout, **out),
        lambda **out: backend.apply_rotary(x, M, **layout, base=5e5, rotary_dim=12, **out),
        lambda **out: backend.apply_rotary(x, torch.stack((M, M + 1)), **layout, **out),
        lambda **out: backend.apply_rotary_cos_sin(x, *tables, **layout, **out),
        lambda **out: backend.apply_rotary_cos_sin(x, *(t[None] for t in tables), **layout, **out),
    ]
    with monkeypatch.context() as patch:
        patch.setattr(rotation, "turn_at_once", lambda *_a, **_k: None)
        expected = [call() for call in calls]
    monkeypatch.delattr(rotation, "turn")
    for call, y in zip(calls, expected, strict=True):
        assert torch.equal(call(), y)
        out = torch.full((2, 5, 3, 40), torch.nan, dtype=dtype)
        inner = out[..., 3:35:2]
        before = out._version
        assert call(out=inner) is inner
        assert out._version > before
        assert torch.equal(inner, y)
        assert int(out.isnan().sum()) == out.numel() - y.numel()
    for call, y in zip(calls, expected, strict=True):
        if view != "expanded":
            x = views(dtype)[view]
            assert call(out=x) is x
            assert torch.equal(x, y)


def refused():
    """Calls to be looked at more closely: x, given, other, interleaved, and out or "x"."""
    x, scale, cos = draw(2, 5, 3, 16), (1e4, None), draw(5, 8)
    store = draw(2000, dtype=torch.float64)
    wide, ints = store[:480].view(2, 5, 3, 16), store[1000:1005].view(torch.int64)
    negated = torch.complex(x, x).conj().imag
    flagged = torch.complex(cos, cos).conj().imag
    leaf = draw(2, 5, 3, 16).requires_grad_()
    return {
        "numpy x": (x.numpy(), M, scale, True, None),
        "sparse x": (x.to_sparse(), M, scale, True, None),
        "meta x": (x.to("meta"), M, scale, True, None),
        "negated x": (negated, M, scale, True, None),
        "negated out": (x, M, scale, True, negated),
        "negated cos": (x, flagged, cos, True, None),
        "negated sin": (x, cos, flagged, True, None),
        "integers": (x.long(), M, scale, True, None),
        "two axes": (x[0, :, 0], M, scale, True, None),
        "odd head": (x[..., :15], M, scale, True, None),
        "list of positions": (x, [5, -3, 0, 9, 1], scale, True, None),
        "positions of int32": (x, M.int(), scale, True, None),
        "positions of float": (x, M.double(), scale, True, None),
        "positions too few": (x, M[:1], scale, True, None),
        "positions for three": (x, M.expand(3, 5), scale, True, None),
        "positions on meta": (x, M.to("meta"), scale, True, None),
        "base of int": (x, M, (10000, None), True, None),
        "base of Decimal": (x, M, (Decimal(10000), None), True, None),
        "base 1": (x, M, (1.0, None), True, None),
        "base nan": (x, M, (float("nan"), None), True, None),
        "rotary_dim of float": (x, M, (1e4, 16.0), True, None),
        "rotary_dim odd": (x, M, (1e4, 3), True, None),
        "rotary_dim above": (x, M, (1e4, 18), True, None),
        "interleaved of int": (x, M, scale, 1, None),
        "interleaved None": (x, M, scale, None, None),
        "sin a list": (x, cos, [1.0], True, None),
        "sin of float64": (x, cos, cos.double(), True, None),
        "sin of another shape": (x, cos, cos[:, :4], True, None),
        "tables too wide": (x, draw(5, 9), draw(5, 9), True, None),
        "tables of int": (x, cos.long(), cos.long(), True, None),
        "tables too short": (x, cos[:4], cos[:4], True, None),
        "out a list": (x, M, scale, True, [1.0]),
        "out of float64": (x, M, scale, True, x.double()),
        "out of another shape": (x, M, scale, True, draw(1, 5, 3, 16)),
        "out on meta": (x, M, scale, True, x.to("meta")),
        "out overlaps itself": (x, M, scale, True, draw(1, 5, 3, 16).expand(2, 5, 3, 16)),
        "out of steps too small": (
            x, M, scale, True, draw(2000).as_strided((2, 5, 3, 16), (15, 3, 1, 1)),
        ),
        "x overlaps itself": (x[:1].expand(2, 5, 3, 16), M, scale, True, "x"),
        "out begins in x": (wide, M, scale, True, store[1:481].view(2, 5, 3, 16)),
        "out ends in x": (store[479:959].view(2, 5, 3, 16), M, scale, True, wide),
        "out is another view of x": (x, M, scale, True, x.view(2, 5, 3, 16)),
        "out holds positions": (wide, ints, scale, True, store[600:1080].view(2, 5, 3, 16)),
        "out holds cos": (
            wide, store[1079:1119].view(5, 8), store[1200:1240].view(5, 8), True,
            store[600:1080].view(2, 5, 3, 16),
        ),
        "out holds sin": (
            wide, store[1200:1240].view(5, 8), store[561:601].view(5, 8), True,
            store[600:1080].view(2, 5, 3, 16),
        ),
        "a gradient of x": (leaf, M, scale, True, None),
        "a gradient of out": (x, M, scale, True, leaf),
    }  # fmt: skip


@pytest.mark.parametrize("name", refused())
def test_torch_what_is_in_doubt_is_not_turned_at_once(name):
    """Nothing is written, and nothing raised: that is left to the checks."""
    x, given, other, interleaved, out = refused()[name]
    out = x if isinstance(out, str) else out
    kept = out.clone() if isinstance(out, torch.Tensor) else None

    assert turn_at_once(x, given, other, interleaved=interleaved, out=out) is None
    if kept is not None and kept.is_cpu:
        assert torch.equal(out, kept)


def test_torch_what_is_refused_stays_refused_beside_its_like():
    """A call that equals one that is right, as 1e4 equals Decimal(10000), is not taken for it."""
    x = draw(5, 3, 16)
    backend.apply_rotary(x, M, interleaved=True, base=1e4, rotary_dim=16)
    for options in ({"base": Decimal(10000)}, {"rotary_dim": 16.0}):
        with pytest.raises(ArgumentError):
            backend.apply_rotary(x, M, interleaved=True, **options)
    with pytest.raises(ArgumentError, match="^interleaved"):
        backend.apply_rotary(x, M, interleaved=1)


def test_torch_neighbours_are_turned_at_once():
    """Memory that ends where other memory begins is apart from it."""
    store = draw(2000, dtype=torch.float64)
    x, out = store[:480].view(2, 5, 3, 16), store[480:960].view(2, 5, 3, 16)
    tables = store[960:1000].view(5, 8), store[1000:1040].view(5, 8)
    expected = backend.apply_rotary_cos_sin(x, *tables, interleaved=True)

    assert turn_at_once(x, *tables, interleaved=True, out=out) is out
    assert torch.equal(out, expected)
    ints = store[960:965].view(torch.int64)
    assert turn_at_once(x, ints, (1e4, None), interleaved=True, out=out) is out


def test_torch_a_look_is_found_once():
    """A call that looks like one before is cut no second time."""
    at_once._look.cache_clear()
    x = draw(1, 3, 16)
    for m in range(4):
        backend.apply_rotary(x, torch.tensor([m]), interleaved=True)
    assert at_once._look.cache_info()[:2] == (3, 1)


def test_torch_only_memory_that_is_given_is_told_to_be_used(monkeypatch):
    """A new result is fresh from the system: at once, checked first, and behind operators."""
    told, plan_of = [], at_once.plan_of

    def noted(*look):
        told.append(look[9])
        return plan_of(*look)

    monkeypatch.setattr(at_once, "plan_of", noted)
    monkeypatch.setattr(kernel, "plan_of", noted)
    at_once._look.cache_clear()
    x = draw(5, 2, 16)
    tables, turns = backend.cos_sin(M, 16), turns_on(x.device, 16, 1e4)
    flags = {"interleaved": True, "inverse": False}
    calls = (
        lambda out: backend.apply_rotary(x, M, interleaved=True, out=out),
        lambda out: backend.apply_rotary(x, M.tolist(), interleaved=True, out=out),
        lambda out: backend.apply_rotary_cos_sin(x, *tables, interleaved=True, out=out),
        lambda out: rotate_positions(x, M, turns, **flags, out=out),
        lambda out: rotate_tables(x, *tables, **flags, out=out),
    )
    for call in calls:
        call(None)
        call(torch.empty_like(x))
    at_once._look.cache_clear()

    assert told == [False, True] * len(calls)
