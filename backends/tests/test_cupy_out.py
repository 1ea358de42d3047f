import ctypes
import importlib.util
import re
from pathlib import Path

import cupy
import ml_dtypes
import numpy as np
import pytest

import ropespec.backends.cupy as backend
from ropespec import reference
from ropespec.backends.cupy import kernels, launch
from ropespec.backends.phase import turns
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

HOST = importlib.util.spec_from_file_location("cupy_host", Path(__file__).with_name("cupy_host.py"))
cupy_host = importlib.util.module_from_spec(HOST)
HOST.loader.exec_module(cupy_host)

GPU = cupy.cuda.is_available()
DTYPES = {
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
}
ALL_DTYPES = pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES.keys())
LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
M = np.array([3, -700, 2**20, 5, 6])


@pytest.fixture(name="on_device")
def _on_device(monkeypatch):
    """Return how arrays get to where the kernels run: a GPU, or host memory without one."""
    if GPU:
        return cupy.asarray
    cupy_host.run_on_host(monkeypatch)
    return cupy_host.host_array


@pytest.fixture(name="launched")
def _launched(on_device, monkeypatch):
    """Return the names of the kernels that are launched, in order."""
    assert on_device
    names, found = [], launch.kernel

    def kernel(dtype, **options):
        names.append(kernels.name_of(dtype, **options))
        return found(dtype, **options)

    monkeypatch.setattr(launch, "kernel", kernel)
    return names


def to_numpy(array):
    return cupy.asnumpy(array) if GPU else cupy_host.numpy_array(array)


def draw(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def aligned(shape, dtype):
    """Return memory at a multiple of 16 bytes, with room before and behind."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 16 + 16
    return raw[start : start + size].view(dtype).reshape(shape)


def bits(array):
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def ptx_by_kernel(architecture):
    """Compile to PTX and cut it into the text of each kernel."""
    nvrtc = cupy.cuda.nvrtc
    program = nvrtc.createProgram(kernels.source(), "rope.cu", (), ())
    nvrtc.compileProgram(program, (f"--gpu-architecture={architecture}", *kernels.OPTIONS))
    ptx = nvrtc.getPTX(program).decode()
    nvrtc.destroyProgram(program)
    return dict(re.findall(r"\.entry (\w+)\((.*?)\n}\n", ptx, re.DOTALL))


@pytest.mark.parametrize("architecture", ["compute_90", "compute_100"])
def test_vector_kernels_move_words_of_16_bytes(architecture):
    """In PTX the vector kernels load and store v4, the scalar ones never; nothing spills."""
    found = ptx_by_kernel(architecture)

    assert len(found) == 2 * 2 * len(DTYPES)
    for name, text in found.items():
        words = [re.findall(rf"{op}\.global\.v4\.\w32", text) for op in ("ld", "st")]
        if name.endswith("vector"):
            assert len(words[0]) == len(words[1]) > 0
            assert not re.search(r"st\.global\.[^v]", text), name
        else:
            assert words == [[], []]
        assert ".local" not in text


CASES = {
    "whole": ((2, 5, 3, 32), None, np.s_[:], True),
    "tail": ((2, 5, 3, 48), 32, np.s_[:], True),
    "heads first": ((2, 3, 5, 32), None, np.s_[:], True),
    "rows reversed": ((2, 5, 3, 32), None, np.s_[:, ::-1, ::2], True),
    "one row": ((1, 1, 1, 32), 16, np.s_[:], True),
    "columns of a wider row": ((2, 5, 3, 64), None, np.s_[..., 16:48], True),
    "one component on": ((2, 5, 3, 34), None, np.s_[..., 1:33], False),
    "components apart": ((2, 5, 3, 64), None, np.s_[..., ::2], False),
    "components reversed": ((2, 5, 3, 32), None, np.s_[..., ::-1], False),
    "odd rows": ((2, 5, 3, 33), None, np.s_[..., :32], False),
    "few pairs": ((2, 5, 3, 32), 2, np.s_[:], False),
    "odd tail": ((2, 5, 3, 33), 32, np.s_[:], False),
}


@LAYOUTS
@ALL_DTYPES
@pytest.mark.parametrize("case", CASES)
def test_words_are_used_where_aligned_and_change_no_bit(
    on_device, launched, interleaved, dtype, case
):
    """Both ways of access give one result, for x and out of any strides, and keep to their memory.

    A single pair of float64 makes a word where pairs are interleaved.
    """
    shape, rotary_dim, view, words = CASES[case]
    if case == "few pairs" and interleaved and dtype == np.float64:
        words = True
    pool, other = aligned(shape, dtype), aligned(shape, dtype)
    pool[...], other[...] = draw(shape, dtype), 7
    memory, target = on_device(pool), on_device(other)
    x, out = memory[view], target[view]
    copy = np.ascontiguousarray(pool[view])
    m = np.arange(copy.shape[1]) * 1000 - 7
    options = {"interleaved": interleaved, "rotary_dim": rotary_dim}
    y = backend.apply_rotary(x, m, out=out, **options)
    plain = to_numpy(backend.apply_rotary(on_device(copy), m, **options))
    wide = np.repeat(copy, 2, axis=-1)  # strides are taken on the device: a transfer packs them
    scalar = to_numpy(backend.apply_rotary(on_device(wide)[..., ::2], m, **options))

    assert y is out
    assert launched[0].endswith("vector" if words else "scalar")
    assert launched[2].endswith("scalar")
    assert np.array_equal(bits(plain), bits(scalar))
    assert np.array_equal(bits(to_numpy(out)), bits(plain))
    kept = np.ones(shape, dtype=bool)
    kept[view] = False
    assert np.all(to_numpy(target)[kept] == dtype.type(7))
    expected = reference.apply_rotary(copy, m, **options)
    assert np.allclose(plain.astype(float), expected.astype(float), atol=0.03, rtol=0)

    before = len(launched)
    assert backend.apply_rotary(x, m, out=x, **options) is x
    assert np.array_equal(bits(to_numpy(x)), bits(plain))
    backend.apply_rotary(x, m, out=memory[view], **options)
    twice = to_numpy(backend.apply_rotary(on_device(plain), m, **options))
    assert np.array_equal(bits(to_numpy(x)), bits(twice))
    if case == "odd tail":  # in place the tail stays where it is, but rows still begin anywhere
        assert launched[before].endswith("scalar")


@LAYOUTS
@pytest.mark.parametrize("heads", [1, 3, 8, 9, 20])
@pytest.mark.parametrize(("share", "resident"), [(1, 1), (3, 1), (8, 1), (100, 1), (8, 10**6)])
def test_sharing_of_heads_changes_nothing(
    on_device, monkeypatch, interleaved, heads, share, resident
):
    """However many threads share the heads of a token, every head is turned once."""
    x = draw((2, 5, heads, 24))
    expected = to_numpy(backend.apply_rotary(on_device(x), M, interleaved=interleaved))
    monkeypatch.setattr(launch, "HEADS", share)
    monkeypatch.setattr(launch, "RESIDENT", max(resident, launch.BLOCK))
    y = to_numpy(backend.apply_rotary(on_device(x), M, interleaved=interleaved))

    assert np.array_equal(bits(y), bits(expected))


@LAYOUTS
def test_batch_axes_of_any_strides(on_device, launched, interleaved):
    """Axes that cannot be read as one take a launch each; nothing is copied."""
    x = draw((3, 2, 4, 5, 2, 8))
    m = np.arange(2 * 4 * 5).reshape(2, 4, 5)
    expected = to_numpy(backend.apply_rotary(on_device(x), m, interleaved=interleaved))
    one = len(launched)
    turned = on_device(np.ascontiguousarray(x.transpose(1, 2, 0, 3, 4, 5))).transpose(
        2, 0, 1, 3, 4, 5
    )
    out = on_device(np.zeros((4, 3, 2, 5, 2, 8), np.float32)).transpose(1, 2, 0, 3, 4, 5)
    y = backend.apply_rotary(turned, m, interleaved=interleaved, out=out)

    assert np.array_equal(to_numpy(y), expected)
    assert one == 3  # the positions are shared by the first axis
    assert len(launched) - one == 3 * 2


TABLES = pytest.mark.parametrize("kind", ["own", "float32", "float64"])


@LAYOUTS
@ALL_DTYPES
@TABLES
def test_cupy_cos_sin_tables(on_device, launched, interleaved, dtype, kind):
    """ROT-22: right within the roundings; per row, scaled, partial, strided; in place too.

    In units of the arithmetic: 1 for each entry that is rounded to it, 3 for two products and
    their sum; both sides store with half a place of the dtype.
    """
    kind = dtype if kind == "own" else np.dtype(kind)
    x = draw((2, 5, 3, 48), dtype)
    cos, sin = (2.5 * table for table in reference.cos_sin(np.array([M, M[::-1]]), 32))
    cos, sin = cos.astype(kind), sin.astype(kind)
    wide = [np.repeat(table, 2, axis=-1) for table in (cos, sin)]
    expected = reference.apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
    memory = on_device(x.copy())
    y = backend.apply_rotary_cos_sin(
        memory, on_device(cos), on_device(sin), interleaved=interleaved
    )
    strided = backend.apply_rotary_cos_sin(
        memory, *(on_device(table)[..., ::2] for table in wide), interleaved=interleaved
    )
    info = ml_dtypes.finfo(dtype)
    unit = float(np.finfo(np.float64 if dtype == np.float64 else np.float32).eps) / 2
    size = 2.5 * 2 * np.abs(x.astype(np.float64)).max()
    error = np.abs(to_numpy(y).astype(np.float64) - expected.astype(np.float64))

    assert np.all(error <= size * (4 * unit + float(info.eps)))
    assert np.array_equal(bits(to_numpy(y))[..., 32:], bits(x)[..., 32:])
    assert np.array_equal(bits(to_numpy(strided)), bits(to_numpy(y)))
    again = backend.apply_rotary_cos_sin(
        memory, on_device(cos), on_device(sin), interleaved=interleaved, out=memory
    )
    assert again is memory
    assert np.array_equal(bits(to_numpy(memory)), bits(to_numpy(y)))
    assert len(launched) == 3


@LAYOUTS
@pytest.mark.parametrize("work", ["float32", "float64"])
@pytest.mark.parametrize("rows", [(), (1,), (2,)])
def test_tables_of_the_kernel_give_its_bits(on_device, interleaved, work, rows):
    """ROT-22: with the cos and sin that the kernel makes, tables change not one bit."""
    m = np.resize(M, (*rows, 5)) + np.arange(5)
    phase = m[..., None].astype(np.int64).view(np.uint64) * turns(16, 10000.0)
    cos, sin = np.empty(phase.shape, work), np.empty(phase.shape, work)
    cupy_host.call(f"table_{work}", phase, cos, sin)
    x = on_device(draw((2, 5, 3, 20), work))
    y = backend.apply_rotary_cos_sin(x, on_device(cos), on_device(sin), interleaved=interleaved)
    expected = backend.apply_rotary(x, m, interleaved=interleaved, rotary_dim=16)

    assert np.array_equal(to_numpy(y), to_numpy(expected))


@LAYOUTS
@ALL_DTYPES
def test_the_vjp_turns_back(on_device, interleaved, dtype):
    """ROT-20: the gradient has the bits of the rotation by the opposite angles; the tail passes."""
    g = draw((2, 5, 3, 48), dtype)
    m = np.array([M, M[::-1]])
    options = {"interleaved": interleaved, "rotary_dim": 32, "base": 500.0}
    y = backend.apply_rotary_vjp(on_device(g), m, **options)
    expected = to_numpy(backend.apply_rotary(on_device(g), -m, **options))
    memory = on_device(g.copy())

    assert np.array_equal(bits(to_numpy(y)), bits(expected))
    assert not np.array_equal(
        bits(expected), bits(to_numpy(backend.apply_rotary(on_device(g), m, **options)))
    )
    assert backend.apply_rotary_vjp(memory, m, out=memory, **options) is memory
    assert np.array_equal(bits(to_numpy(memory)), bits(expected))


def test_cupy_out_that_is_refused(on_device):
    """ROT-23: another kind, dtype or shape, and memory shared with an argument or with itself."""
    pool = on_device(np.zeros((6, 3, 8), np.float32))
    x, m = pool[:5], np.arange(5)
    cos, sin = (on_device(draw((5, 4), seed=s)) for s in (1, 2))
    words = "out must be x itself, or writable and free of overlap with itself and the arguments; "

    def refusal(out, x=x, m=m, tables=(cos, sin)):
        found = []
        for call, arguments in (
            (backend.apply_rotary, (m,)),
            (backend.apply_rotary_cos_sin, tables),
        ):
            with pytest.raises((ArgumentTypeError, ArgumentValueError)) as caught:
                call(x, *arguments, interleaved=True, out=out)
            found.append(caught.value)
        assert str(found[0]) == str(found[1])
        assert found[0].argument == "out"
        return found[0]

    double = on_device(np.zeros((5, 3, 8)))
    assert isinstance(refusal(np.zeros((5, 3, 8), np.float32)), ArgumentTypeError)
    assert isinstance(refusal(double), ArgumentTypeError)
    assert isinstance(refusal(pool), ArgumentValueError)
    heads = cupy.ndarray(x.shape, x.dtype, pool.data, strides=(96, 0, 4))
    for out in (pool[1:], x[::-1], heads):
        assert str(refusal(out)) == words + "got an array of shape (5, 3, 8) and dtype float32"
    apart = on_device(np.zeros((5, 3, 8), np.float32))
    inside = apart.view(np.int32)[:, 0, 0]
    assert refusal(apart, m=inside, tables=(apart[:, 0, :4], sin))
    assert refusal(apart, m=inside, tables=(cos, apart[:, 1, 4:]))
    both = on_device(np.zeros((5, 3, 16), np.float32))
    backend.apply_rotary(both[..., ::2], m, interleaved=True, out=both[..., 1::2])


@pytest.mark.parametrize(("access", "per_word"), [("scalar", 1), ("vector", 2)])
def test_work_items_beyond_32_bits(access, per_word):
    """Work item 2^35 and more lands at its own token, with offsets beyond 2^40 bytes."""
    heads, pairs, rows, batches = 3, 8, 2**31 + 11, 5
    row, batch, unit, step = 2**31 + 7, 4, 2, heads * 2 * pairs * 4
    strides = (rows * step, step, 2 * pairs * 4)
    units, groups = pairs // per_word, 2
    index = ((batch * rows + row) * groups + 1) * units + unit
    x, out = aligned((heads, 2 * pairs), np.float32), aligned((heads, 2 * pairs), np.float32)
    x[...] = draw(x.shape)
    m, table = np.array([12345]), np.array(turns(2 * pairs, 10000.0))
    numbers = np.array([rows, heads, pairs, 0, groups, *strides, index])
    far = batch * strides[0] + row * strides[1]
    pointers = (x.ctypes.data - far, out.ctypes.data - far, m.ctypes.data, table.ctypes.data)
    getattr(cupy_host.library(), f"far_{access}")(
        *(ctypes.c_void_p(p % 2**64) for p in (*pointers, numbers.ctypes.data))
    )
    expected = reference.apply_rotary(x[None], m, interleaved=True)[0]
    written = np.zeros(out.shape, dtype=bool)
    written[1, 2 * unit * per_word : 2 * (unit + 1) * per_word] = True

    assert index > 2**34
    assert batches * rows > 2**32
    np.testing.assert_allclose(out[written], expected[written], atol=1e-5)
    assert not out[~written].any()
