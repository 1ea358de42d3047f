import ast
import importlib.util
import inspect
from pathlib import Path

import cupy
import ml_dtypes
import mpmath
import numpy as np
import pytest

import ropespec.backends.cupy as backend
from ropespec.backends import derived, namespace
from ropespec.backends.cupy import kernels, launch
from ropespec.backends.cupy.status import status
from ropespec.backends.phase import turns
from ropespec.conformance import conformance_tests

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
LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
ALL_DTYPES = pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES.keys())


test_cupy = conformance_tests(
    "cupy" if GPU else str(HOST.origin).replace("cupy_host", "cupy_on_host"),
    interleaved=[True, False],
)


@pytest.fixture(name="on_device")
def _on_device(monkeypatch):
    """Return how arrays get to where the kernels run: a GPU, or host memory without one."""
    if GPU:
        return cupy.asarray
    cupy_host.run_on_host(monkeypatch)
    return cupy_host.host_array


def to_numpy(array):
    return cupy.asnumpy(array) if GPU else cupy_host.numpy_array(array)


def draw(shape, dtype, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def bits(array):
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


@pytest.mark.parametrize("architecture", ["sm_90", "sm_100"])
def test_nvrtc_compiles_the_kernels(architecture):
    """The source that RawModule gets compiles for a GPU, without one."""
    cubin = kernels.compile_for(architecture)

    assert cubin.startswith(b"\x7fELF")
    for name in DTYPES:
        for kernel in ("interleaved_{}_scalar", "interleaved_{}_vector", "half_{}_scalar"):
            assert b"rope_" + kernel.format(name).encode() in cubin
        assert f"rope_half_{name}_vector".encode() in cubin


def test_nvrtc_refuses_a_planted_error():
    """A syntax error in the source makes the compilation fail."""
    with pytest.raises(cupy.cuda.nvrtc.NVRTCError):
        kernels.compile_for("sm_90", kernels.source() + "\nint planted")


@pytest.mark.parametrize(("options", "fused"), [(kernels.OPTIONS, False), (("--std=c++17",), True)])
def test_nvrtc_fuses_no_multiply_add(options, fused):
    """The options keep products and sums apart, which NVRTC's own choice would not."""
    nvrtc = cupy.cuda.nvrtc
    program = nvrtc.createProgram(kernels.source(), "rope.cu", (), ())
    nvrtc.compileProgram(program, ("--gpu-architecture=compute_90", *options))
    ptx = nvrtc.getPTX(program).decode()
    nvrtc.destroyProgram(program)

    assert (("fma.rn.f32" in ptx), ("fma.rn.f64" in ptx)) == (fused, fused)


def test_status_says_what_is_known(monkeypatch):
    """Without a GPU the backend is not available, and the reason claims only what was done."""
    found = status()
    if GPU:
        assert found.available
        return
    assert not found.available
    assert found.reason.startswith("no GPU: compiled for sm_90")
    assert found.reason.endswith("NOT RUN on a GPU")

    def broken(_architecture):
        raise OSError

    module = importlib.import_module("ropespec.backends.cupy.status")
    monkeypatch.setattr(module, "compile_for", broken)

    assert status().reason == "no GPU: not compiled (OSError), NOT RUN on a GPU"


@pytest.mark.parametrize(("work", "unit"), [("float32", 2.0**-24), ("float64", 2.0**-53)])
def test_table_of_the_device_header(work, unit):
    """Both cos and sin are right to 1.6 rounding units, at every magnitude of the phase.

    With u for a unit: 1 - z (1/2 - p) is rounded by u/2 and its subtrahend, below 0.3, by 0.7 u;
    the rounding of the angle adds 0.35 u. The sine has smaller terms to add.
    """
    rng = np.random.default_rng(1)
    phase = rng.integers(0, 2**64, 1500, dtype=np.uint64)
    phase[:300] >>= rng.integers(0, 64, 300).astype(np.uint64)
    edges = [k * 2**61 + e for k in range(8) for e in (-1, 0, 1)]
    phase = np.concatenate([phase, np.array([e % 2**64 for e in edges], dtype=np.uint64)])
    cos, sin = np.empty(phase.size, work), np.empty(phase.size, work)
    cupy_host.call(f"table_{work}", phase, cos, sin)

    with mpmath.workprec(160):
        for p, c, s in zip(phase, cos, sin, strict=True):
            angle = 2 * mpmath.pi * int(p) / mpmath.mpf(2**64)
            assert abs(mpmath.mpf(float(c)) - mpmath.cos(angle)) <= 1.6 * unit
            assert abs(mpmath.mpf(float(s)) - mpmath.sin(angle)) <= 1.6 * unit


def test_table_at_quarter_turns_is_exact():
    """At multiples of a quarter turn, position 0 among them, cos and sin are 0, 1 and -1."""
    phase = np.array([0, 2**62, 2**63, 3 * 2**62], dtype=np.uint64)
    for work in ("float32", "float64"):
        cos, sin = np.empty(4, work), np.empty(4, work)
        cupy_host.call(f"table_{work}", phase, cos, sin)

        assert cos.tolist() == [1, 0, -1, 0]
        assert sin.tolist() == [0, 1, 0, -1]


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_formats_load_and_store_as_numpy_does(name):
    """All 65536 values load exactly; stores round to nearest even, subnormals and infinity too."""
    dtype = DTYPES[name]
    every = np.arange(2**16, dtype=np.uint16)
    loaded = np.empty(every.size, np.float32)
    cupy_host.call(f"load_{name}", every, loaded)
    expected = every.view(dtype)
    nan = np.array([v != v for v in expected.tolist()])  # noqa: PLR0124  # NaN, without a warning

    assert np.array_equal(bits(loaded[~nan]), bits(expected[~nan].astype(np.float32)))
    assert np.isnan(loaded[nan]).all()

    finite = np.sort(loaded[np.isfinite(loaded)])
    between = ((finite[1:].astype(np.float64) + finite[:-1]) / 2).astype(np.float32)
    limit = np.array([65519.996, 65520.0, 3.3961775e38, 3.4028235e38, np.inf], np.float32)
    values = np.concatenate(
        [
            finite,
            between,
            np.nextafter(between, np.float32(np.inf)),
            np.nextafter(between, np.float32(-np.inf)),
            limit,
            -limit,
        ]
    )
    stored = np.empty(values.size, np.uint16)
    cupy_host.call(f"store_{name}", values, stored)
    with np.errstate(over="ignore"):
        assert np.array_equal(stored, values.astype(dtype).view(np.uint16))

    strange = np.array([0x7FC00000, 0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)
    stored = np.empty(3, np.uint16)
    cupy_host.call(f"store_{name}", strange, stored)
    assert all(v != v for v in stored.view(dtype).tolist())  # noqa: PLR0124  # NaN


def test_phase_is_exact_in_float64(on_device):
    """The kernel sees the phase (m T) mod 2^64 of Python's integers, bit for bit."""
    m = np.array([0, 1, -1, 2**31 - 1, -(2**31), 2**53 + 1, -(2**63), 2**63 - 1])
    x = np.zeros((m.size, 1, 64))
    x[..., :32] = 1.0
    phase = [[int(p) * int(t) % 2**64 for t in turns(64, 10000.0)] for p in m]
    phase = np.array(phase, dtype=np.uint64)
    cos, sin = np.empty(phase.shape), np.empty(phase.shape)
    cupy_host.call("table_float64", phase, cos, sin)
    y = to_numpy(backend.apply_rotary(on_device(x), m, interleaved=False))

    assert np.array_equal(y[:, 0, :32], cos)
    assert np.array_equal(y[:, 0, 32:], sin)


@LAYOUTS
@ALL_DTYPES
def test_the_tail_and_position_zero_keep_their_bits(on_device, interleaved, dtype):
    """ROT-10, ROT-14: any bit pattern passes through the tail; position 0 leaves x as it is."""
    raw = np.random.default_rng(2).integers(0, 256, 3 * 2 * 20 * dtype.itemsize, dtype=np.uint8)
    x = raw.view(dtype).reshape(3, 2, 20)
    x[..., :8] = draw((3, 2, 8), dtype)
    y = to_numpy(
        backend.apply_rotary(on_device(x), [0, 7, -7], interleaved=interleaved, rotary_dim=8)
    )

    assert np.array_equal(bits(y[..., 8:]), bits(x[..., 8:]))
    assert np.array_equal(bits(y[0, :, :8]), bits(x[0, :, :8]))
    assert not np.array_equal(bits(y[1, :, :8]), bits(x[1, :, :8]))


@LAYOUTS
@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.transpose(0, 2, 1, 3),
        lambda a: a[:, ::-1],
        lambda a: a[:, 1:, ::2, ::2],
        lambda a: a[:, :, :, ::-1],
        lambda a: (
            np.broadcast_to(a[:, :1], a.shape)
            if isinstance(a, np.ndarray)
            else cupy.broadcast_to(a[:, :1], a.shape)
        ),
    ],
    ids=["transposed", "reversed", "sliced", "components reversed", "broadcast"],
)
def test_strides_do_not_matter(on_device, interleaved, view):
    """ROT-19: a view gives the bits of its contiguous copy, and memory beside it is not touched."""
    base = draw((2, 4, 6, 16), np.float32)
    before = base.copy()
    memory = on_device(base)
    copy = np.ascontiguousarray(view(base))
    m = np.arange(copy.shape[1]) + 1000
    y = backend.apply_rotary(view(memory), m, interleaved=interleaved)
    expected = to_numpy(backend.apply_rotary(on_device(copy), m, interleaved=interleaved))

    assert y.flags.c_contiguous
    assert np.array_equal(to_numpy(y), expected)
    assert np.array_equal(to_numpy(memory), before)


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"])
def test_every_integer_dtype_of_positions(on_device, kind):
    """FREQ-6: positions of any integer dtype, on the device, strided or in NumPy, mean the same."""
    m = np.array([[3, 0, 1, 2], [9, 7, 5, 100]])
    if kind.startswith("int"):
        m[0, 0] = -3
    x = on_device(draw((2, 4, 2, 8), np.float32))
    expected = to_numpy(backend.apply_rotary(x, m, interleaved=True))
    narrow = m.astype(kind)
    strided = on_device(np.repeat(narrow, 3, axis=1))[:, ::3]

    for positions in (narrow, on_device(narrow), strided, m.tolist()):
        y = to_numpy(backend.apply_rotary(x, positions, interleaved=True))
        assert np.array_equal(y, expected)


def test_a_small_grid_gives_the_same_bits(on_device, monkeypatch):
    """Threads go on in strides of the grid until all pairs are done."""
    x, m = on_device(draw((3, 50, 2, 24), np.float32)), np.arange(50)
    expected = to_numpy(backend.apply_rotary(x, m, interleaved=True, rotary_dim=10))
    monkeypatch.setattr(launch, "WAVES", 1)
    monkeypatch.setattr(launch, "RESIDENT", 32)
    monkeypatch.setattr(launch, "BLOCK", 32)

    y = to_numpy(backend.apply_rotary(x, m, interleaved=True, rotary_dim=10))
    assert np.array_equal(y, expected)


def foreign_names(source, namespaces=("xp", "cupy")):
    """List the attributes of `xp` and `cupy` in a source text that CuPy does not have."""
    missing = set()
    for node in ast.walk(ast.parse(source)):
        chain = []
        while isinstance(node, ast.Attribute):
            chain.append(node.attr)
            node = node.value  # noqa: PLW2901  # walk down to the name
            if isinstance(node, ast.Attribute) and node.attr == "xp":  # that of the primitives
                node = ast.Name("xp")  # noqa: PLW2901  # as above
        if not (chain and isinstance(node, ast.Name) and node.id in namespaces):
            continue
        found = cupy
        for name in reversed(chain):
            if inspect.ismodule(found) and not hasattr(found, name):
                missing.add(".".join(reversed(chain)))
                break
            found = getattr(found, name, None)
    return sorted(missing)


def test_every_name_exists_in_cupy():
    """All that is used of `xp` and `cupy` is there in the real CuPy."""
    folders = [Path(module.__file__).parent for module in (backend, derived)]
    sources = [Path(namespace.__file__), *(p for folder in folders for p in folder.glob("*.py"))]

    assert len(sources) > 20
    for path in sources:
        assert foreign_names(path.read_text(encoding="utf-8")) == [], path.name
    planted = "xp.zeros(2); xp.no_such_name(x); of.xp.nor_this(x); cupy.cuda.Devise(0)"
    assert foreign_names(planted) == ["cuda.Devise", "no_such_name", "nor_this"]


def test_phase_table_is_the_exact_one():
    """T_i is theta_i / (2 pi) in units of 2^-64, rounded to the nearest."""
    with mpmath.workprec(200):
        for i, t in enumerate(turns(64, 10000.0)):
            exact = mpmath.mpf(10000) ** (mpmath.mpf(-2 * i) / 64) / (2 * mpmath.pi) * 2**64
            assert abs(mpmath.mpf(int(t)) - exact) <= mpmath.mpf(0.5)
