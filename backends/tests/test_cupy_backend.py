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
from ropespec import reference
from ropespec.backends import derived, namespace
from ropespec.backends.cupy import kernels, launch
from ropespec.backends.cupy.status import status
from ropespec.backends.phase import turns
from ropespec.spec.errors import ArgumentError

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


def bound(x, positions, *, interleaved):
    """Error budget of the outputs of one vector: table, products, sum, stores, the reference.

    A table entry is right to 2 u, and to |m| 2^-65 turns by the rounding of T; two products and
    their sum add 3 u; the reference's own angle is right to |m| 2^-51; kernel and reference each
    store with half a place of the output dtype, or half of its smallest subnormal.
    """
    half = x.shape[-1] // 2
    wide = np.abs(x.astype(np.float64))
    pairs = (wide[..., 0::2], wide[..., 1::2]) if interleaved else np.split(wide, [half], axis=-1)
    size = np.max(pairs[0] + pairs[1], axis=-1, keepdims=True)
    unit = 2.0**-53 if x.dtype == np.float64 else 2.0**-24
    far = np.abs(np.asarray(positions, dtype=np.float64)).max()
    info = ml_dtypes.finfo(x.dtype)
    relative = 5 * unit + far * (2.0**-62 + 2.0**-51) + float(info.eps)
    return size * relative + float(info.smallest_subnormal)


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
def test_apply_rotary_agrees_with_the_reference(on_device, interleaved, dtype):
    """ROT-6, ROT-7: within the error budget of the dtype, per-row positions of both signs."""
    x = draw((2, 5, 3, 16), dtype)
    m = np.array([[0, 1, 1023, -7, 2**20], [5, 4, 3, -(2**20), 1]])
    y = to_numpy(backend.apply_rotary(on_device(x), m, interleaved=interleaved))
    expected = reference.apply_rotary(x, m, interleaved=interleaved)
    error = np.abs(y.astype(np.float64) - expected.astype(np.float64))

    assert y.dtype == dtype
    assert np.all(error <= bound(x, m, interleaved=interleaved))
    wrong = reference.apply_rotary(x, m, interleaved=not interleaved)
    assert np.any(np.abs(wrong.astype(np.float64) - expected.astype(np.float64)) > 0.1)


@pytest.mark.parametrize("position", [2**10, 2**20, 2**31 - 1, -(2**31 - 1)])
def test_float32_is_exact_at_any_position(on_device, position):
    """FREQ-9: float32 results are right to 3e-7 at the far end of int32, of both signs."""
    x = np.zeros((1, 1, 128), np.float32)
    x[..., 0::2] = 1.0
    y = to_numpy(backend.apply_rotary(on_device(x), [position], interleaved=True))[0, 0]
    with mpmath.workprec(200):
        for i in range(64):
            angle = position * mpmath.mpf(10000) ** (mpmath.mpf(-2 * i) / 128)
            assert abs(float(y[2 * i]) - mpmath.cos(angle)) < 3e-7
            assert abs(float(y[2 * i + 1]) - mpmath.sin(angle)) < 3e-7


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


def test_positions_broadcast_over_the_batch(on_device):
    """Positions (S,), (1, S) and (B, S) with equal rows give the same bits, for 3 to 5 axes."""
    x = draw((2, 3, 4, 1, 8), np.float32)
    m = np.array([5, -1, 2**20, 8])
    per_row = np.broadcast_to(m, (2, 3, 4))
    expected = to_numpy(backend.apply_rotary(on_device(x), m, interleaved=False))

    for positions in (m[None], per_row, on_device(np.ascontiguousarray(per_row))):
        y = to_numpy(backend.apply_rotary(on_device(x), positions, interleaved=False))
        assert np.array_equal(y, expected)
    y = to_numpy(backend.apply_rotary(on_device(x[1, 2]), m, interleaved=False))
    assert np.array_equal(y, expected[1, 2])


@pytest.mark.parametrize("shape", [(0, 3, 2, 8), (2, 0, 2, 8), (2, 3, 0, 8), (0, 1, 8)])
def test_zero_sizes_give_an_empty_result(on_device, shape):
    """ROT-18: nothing in, nothing out, of the same shape and dtype."""
    x = on_device(np.empty(shape, np.float16))
    y = backend.apply_rotary(x, np.arange(shape[-3]), interleaved=True)

    assert (y.shape, y.dtype) == (shape, np.float16)


@LAYOUTS
@ALL_DTYPES
def test_nan_and_infinity_stay_in_their_pair(on_device, interleaved, dtype):
    """ROT-16: all pairs but the spoilt ones keep the bits they have without them."""
    x = draw((2, 1, 8), dtype)
    spoilt = x.copy()
    spoilt[0, 0, 2], spoilt[1, 0, 7] = np.nan, np.inf
    y, clean = (
        to_numpy(backend.apply_rotary(on_device(a), [3, 4], interleaved=interleaved))
        for a in (spoilt, x)
    )
    touched = np.zeros((2, 1, 8), dtype=bool)
    touched[0, 0, [2, 3] if interleaved else [2, 6]] = True
    touched[1, 0, [6, 7] if interleaved else [3, 7]] = True

    assert np.array_equal(bits(y)[~touched], bits(clean)[~touched])
    assert not np.isfinite(y[touched].astype(np.float32)).any()


def test_a_small_grid_gives_the_same_bits(on_device, monkeypatch):
    """Threads go on in strides of the grid until all pairs are done."""
    x, m = on_device(draw((3, 50, 2, 24), np.float32)), np.arange(50)
    expected = to_numpy(backend.apply_rotary(x, m, interleaved=True, rotary_dim=10))
    monkeypatch.setattr(launch, "WAVES", 1)
    monkeypatch.setattr(launch, "RESIDENT", 32)
    monkeypatch.setattr(launch, "BLOCK", 32)

    y = to_numpy(backend.apply_rotary(x, m, interleaved=True, rotary_dim=10))
    assert np.array_equal(y, expected)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x": np.zeros((2, 1, 4), np.float32)}, "x must be a cupy.ndarray"),
        ({"positions": [0.5, 1.5]}, "positions must be integers"),
        ({"positions": [1, 2, 3]}, "positions must be of shape (2,)"),
        ({"interleaved": 1}, "interleaved must be True or False"),
        ({"base": 1.0}, "base must be a finite number above 1"),
        ({"rotary_dim": 6}, "rotary_dim must be at most head_dim = 4"),
    ],
)
def test_refusals(on_device, change, words):
    """ROT-21: what the reference refuses is refused before anything is launched."""
    arguments = {
        "x": on_device(np.zeros((2, 1, 4), np.float32)),
        "positions": [0, 1],
        "interleaved": True,
        **change,
    }
    with pytest.raises(ArgumentError) as caught:
        backend.apply_rotary(**arguments)

    assert str(caught.value).startswith(words)


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


def cases():
    """List calls of every function but `apply_rotary`: name, arguments, keywords, over NumPy."""
    x, q = draw((2, 3, 4, 8), np.float32), draw((2, 4, 3, 8), np.float32)
    m, layout = np.array([4, -2, 2**16]), {"interleaved": False, "base": 500.0}
    rows, weight = draw((2, 3, 5), np.float32), draw((4, 8, 5), np.float32, 1)
    v, k = draw((2, 3, 2, 6), np.float32, 2), draw((2, 3, 2, 8), np.float32, 3)
    z = reference.to_complex(x)
    freqs = reference.precompute_freqs_cis(8, 3)
    mask = np.tri(3, dtype=bool)
    mask[0] = False
    attend = {"query_positions": m, "key_positions": m, "mask": mask, "interleaved": True}
    return [
        ("inv_freq", (8, 500.0), {}),
        ("angles", (m, reference.inv_freq(8)), {}),
        ("cos_sin", (m, 8), {}),
        ("sinusoidal_embedding", (m, 8), {}),
        ("to_complex", (x,), {}),
        ("from_complex", (z,), {}),
        ("rotation_matrix", (m, 8), {"interleaved": True}),
        ("apply_rotary_dense", (x, m), {**layout, "rotary_dim": 6}),
        ("apply_rotary_dense", (x, m), {"interleaved": True}),
        ("apply_rotary_complex", (x, m), {"rotary_dim": 6}),
        ("interleaved_to_half", (x,), {}),
        ("half_to_interleaved", (x,), {}),
        ("project_query", (rows, m, weight), layout),
        ("project_key", (rows, m, weight), layout),
        ("project_query", (rows, m, weight), {**layout, "rotary_dim": 6}),
        ("project_key", (rows, m, weight[:, :7]), {"interleaved": True, "rotary_dim": 2}),
        ("project_value", (rows, weight), {}),
        ("relative_score", (x, x + 1, np.array([[1], [-3], [2**16]])), {"interleaved": True}),
        ("attention", (x, k, v), attend),
        ("relative_score", (x, x + 1, 5), {"interleaved": True, "rotary_dim": 4}),
        ("relative_score", (x[0, 0, :, :7], x[0, 1, :, :7], -3), {**layout, "rotary_dim": 6}),
        ("attention", (x, k, v), {**attend, "rotary_dim": 4}),
        ("attention", (x[..., :7], k[..., :7], v), {**attend, **layout, "rotary_dim": 2}),
        ("decay_bound", (m, 8), {}),
        ("sinusoidal_position_embedding", (2, 1, 3, 8, None), {}),
        ("RoPE", (q, q[:, :2]), {}),
        ("precompute_freqs_cis", (8, 3), {}),
        ("reshape_for_broadcast", (freqs, z), {}),
        ("apply_rotary_emb", (x, k, freqs), {}),
    ]


def test_the_cases_name_every_function():
    """Together with the sparse forms the cases cover the whole API."""
    assert {name for name, _, _ in cases()} | {"apply_rotary", "apply_rotary_cos_sin"} == set(
        backend.__all__
    )


@pytest.mark.parametrize("case", cases(), ids=lambda case: case[0])
def test_every_other_function_agrees_with_the_reference(monkeypatch, case):
    """The text around the kernel gives the reference's values, on a GPU or over NumPy."""
    name, arguments, keywords = case
    convert = to_numpy
    if GPU:
        arguments = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
        keywords = {
            key: cupy.asarray(a) if isinstance(a, np.ndarray) else a for key, a in keywords.items()
        }
    else:
        cupy_host.run_over_numpy(monkeypatch)
        convert = np.asarray
    with np.errstate(all="ignore"):  # CuPy gives no such warnings
        found = getattr(backend, name)(*arguments, **keywords)
    expected = getattr(reference, name)(*case[1], **case[2])
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)

    for one, other in zip(found, expected, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(convert(one), other, rtol=4e-6, atol=4e-6)


def test_phase_table_is_the_exact_one():
    """T_i is theta_i / (2 pi) in units of 2^-64, rounded to the nearest."""
    with mpmath.workprec(200):
        for i, t in enumerate(turns(64, 10000.0)):
            exact = mpmath.mpf(10000) ** (mpmath.mpf(-2 * i) / 64) / (2 * mpmath.pi) * 2**64
            assert abs(mpmath.mpf(int(t)) - exact) <= mpmath.mpf(0.5)
