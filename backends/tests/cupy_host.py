"""Running the CuPy backend without a GPU.

The kernels' own source is compiled by g++, and the adapter is driven over real `cupy.ndarray`s that
lie in host memory: shapes, strides, slices and pointers are CuPy's, the arithmetic is that of
`rope.cuh`. Nothing of it shows that a GPU runs it.
"""

import contextlib
import ctypes
import functools
import importlib
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import cupy
import numpy as np

from ropespec.backends.cupy import kernels, launch, rotation

MODULES = ("arrays", "primitives", "rotation")

BEFORE = """
#define __global__
struct Index { long long x; };
static Index gridDim, blockDim, blockIdx, threadIdx;
"""

AFTER = """
using Kernel = decltype(&rope_half_float32_scalar);
extern "C" void launch(
    Kernel kernel, long long grid, long long block, const char* x, char* out, const char* positions,
    const rope::u64* turns, const char* cos, const char* sin, long long a, long long b, long long c,
    long long d, long long e, long long f, long long g, long long h, long long i, long long j,
    long long k, long long l, long long m, long long n, long long o, long long p, long long q,
    long long r) {
  gridDim.x = grid;
  blockDim.x = block;
  for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++)
    for (threadIdx.x = 0; threadIdx.x < block; threadIdx.x++)
      kernel(x, out, positions, turns, cos, sin, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q,
             r);
}
template <class R> void table(const rope::u64* phase, R* cos, R* sin, long long count) {
  for (long long i = 0; i < count; i++) rope::cos_sin<R>(phase[i], cos[i], sin[i]);
}
template <class T> void load(const T* from, float* to, long long count) {
  for (long long i = 0; i < count; i++) to[i] = rope::Storage<T>::load(from[i]);
}
template <class T> void store(const float* from, T* to, long long count) {
  for (long long i = 0; i < count; i++) to[i] = rope::Storage<T>::store(from[i]);
}
// One work item of float32, interleaved, far along; all tokens share one position.
template <bool VECTOR> void far(
    const char* x, char* out, const char* positions, const rope::u64* turns, const long long* n) {
  const rope::Call call = {x, out, positions, turns, positions, positions,
                           -8, 0, n[0], n[1], n[2], n[3], n[4],
                           {n[5], n[6], n[7], 4}, {n[5], n[6], n[7], 4}, {0, 0, 0, 0}};
  rope::item<float, true, VECTOR>(call, n[8]);
}
extern "C" {
void far_scalar(const char* x, char* o, const char* p, const rope::u64* t, const long long* n) {
  far<false>(x, o, p, t, n);
}
void far_vector(const char* x, char* o, const char* p, const rope::u64* t, const long long* n) {
  far<true>(x, o, p, t, n);
}
void table_float32(const rope::u64* p, float* c, float* s, long long n) { table(p, c, s, n); }
void table_float64(const rope::u64* p, double* c, double* s, long long n) { table(p, c, s, n); }
void load_float16(const rope::Half* from, float* to, long long n) { load(from, to, n); }
void load_bfloat16(const rope::BFloat16* from, float* to, long long n) { load(from, to, n); }
void store_float16(const float* from, rope::Half* to, long long n) { store(from, to, n); }
void store_bfloat16(const float* from, rope::BFloat16* to, long long n) { store(from, to, n); }
}
"""


@functools.cache
def library():
    """Compile the kernels and a driver for the host, once per test run."""
    with tempfile.TemporaryDirectory() as folder:
        code, shared = Path(folder, "rope.cpp"), Path(folder, "rope.so")
        code.write_text(BEFORE + kernels.source() + AFTER, encoding="utf-8")
        flags = [
            "-O1",
            "-std=c++17",
            "-ffp-contract=off",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-shared",
            "-fPIC",
        ]
        subprocess.run(["g++", *flags, "-o", shared, code], check=True)  # noqa: S607  # from PATH
        return ctypes.CDLL(str(shared))


def call(name, *arrays):
    """Call a function of the library on NumPy arrays of one length."""
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    getattr(library(), name)(*pointers, ctypes.c_longlong(arrays[0].size))


def host_array(array, device=0):
    """Wrap the memory of a NumPy array as a `cupy.ndarray` of a device, strides included."""
    memory = cupy.cuda.UnownedMemory(array.ctypes.data, max(array.nbytes, 1), array, device)
    pointer = cupy.cuda.MemoryPointer(memory, 0)
    return cupy.ndarray(array.shape, array.dtype, pointer, strides=array.strides)


def numpy_array(array):
    """Read a `cupy.ndarray` in host memory, strides included."""
    spans = [s * (n - 1) for s, n in zip(array.strides, array.shape, strict=True)]
    low = array.data.ptr + sum(min(0, span) for span in spans)
    high = array.data.ptr + sum(max(0, span) for span in spans)
    if array.size == 0:
        return np.empty(array.shape, array.dtype)
    raw = (ctypes.c_char * (high + array.dtype.itemsize - low)).from_address(low)
    buffer = np.frombuffer(raw, dtype=np.uint8)
    view = np.ndarray(array.shape, array.dtype, buffer, array.data.ptr - low, array.strides)
    return view.copy()


class HostKernel:
    """Stands for a `cupy.RawKernel`: the same call, run by the host library.

    `launched` lists the names of all that ran.
    """

    launched = []

    def __init__(self, name):
        self.name = name

    def __call__(self, grid, block, args):
        """Run all threads of the grid, one after the other."""
        *pointers, numbers = [*args[:6], args[6:]]
        assert len(numbers) == 18
        assert all(isinstance(a, cupy.ndarray) for a in pointers)
        assert all(type(n) is int for n in numbers)
        self.launched.append(self.name)
        run = library()
        run.launch(
            getattr(run, self.name),
            *(ctypes.c_longlong(n) for n in (*grid, *block)),
            *(ctypes.c_void_p(a.data.ptr) for a in pointers),
            *(ctypes.c_longlong(int(n)) for n in numbers),
        )


def host_kernel(dtype, **options):
    """Stand for `kernels.kernel`."""
    return HostKernel(kernels.name_of(dtype, **options))


class Device:
    """Stands for a small GPU; `current` is the one that memory comes from."""

    attributes = {"MultiProcessorCount": 2}
    current = 0

    def __init__(self, device=None):
        self.id = Device.current if device is None else int(device)

    def __int__(self):
        return self.id

    def __enter__(self):
        self.before, Device.current = Device.current, self.id

    def __exit__(self, *_):
        Device.current = self.before


def no_gpu():
    """Return what `cupy.cuda` has to offer without a GPU, as far as the adapter asks for it."""
    stream = SimpleNamespace(synchronize=lambda: None)
    return SimpleNamespace(Device=Device, get_current_stream=lambda: stream)


def new(array):
    """Wrap the memory of a NumPy array as a `cupy.ndarray` of the current device."""
    return host_array(array, Device.current)


def host_namespace():
    """Return what stands for the module `cupy` in the adapter: only memory is replaced."""

    def asarray(value):
        """Copy what lies elsewhere, as CuPy does."""
        if not isinstance(value, cupy.ndarray):
            return new(np.array(value))
        return value if value.device.id == Device.current else new(numpy_array(value))

    def ascontiguousarray(value, dtype):
        """Leave what fits where it lies, as CuPy does."""
        if value.dtype == dtype and value.flags.c_contiguous:
            return value
        return new(np.ascontiguousarray(numpy_array(value), dtype=dtype))

    return SimpleNamespace(
        ndarray=cupy.ndarray,
        ascontiguousarray=ascontiguousarray,
        dtype=np.dtype,
        float32=np.float32,
        float64=np.float64,
        broadcast_to=cupy.broadcast_to,
        empty=lambda shape, dtype: new(np.empty(shape, dtype)),
        arange=lambda length: new(np.arange(length)),
        array=lambda value: new(np.array(value)),
        asarray=asarray,
        cuda=no_gpu(),
    )


class NumpyNamespace:
    """Stands for the module `cupy` where the text is shared with NumPy."""

    ndarray = np.ndarray
    cuda = no_gpu()

    def __getattr__(self, name):
        return getattr(np, name)


def run_on_host(monkeypatch):
    """Let `apply_rotary` work on arrays in host memory."""
    namespace = host_namespace()
    for chapter in ("arrays", "launch", "rotation"):
        module = importlib.import_module(f"ropespec.backends.cupy.{chapter}")
        monkeypatch.setattr(module, "cupy", namespace)
    monkeypatch.setattr(launch, "kernel", host_kernel)
    monkeypatch.setattr(launch, "_multiprocessors", lambda _device: 2)
    # Tables in host memory must not outlive the test, nor device tables come into it.
    monkeypatch.setattr(
        rotation, "_turns_on_device", lambda dim, base, _device: table_of(dim, base)
    )


def table_of(dim, base):
    """T_i in host memory."""
    return new(np.array(rotation.turns(dim, base)))


def over_numpy(monkeypatch, form):
    """Let a form that launches kernels take NumPy arrays, and return them."""
    modules = [
        importlib.import_module(f"ropespec.backends.cupy.{n}") for n in ("arrays", "rotation")
    ]

    def given(value):
        return host_array(value) if isinstance(value, np.ndarray) else value

    @functools.wraps(form)
    def rotate(*arguments, out=None, **options):
        with monkeypatch.context() as inner:
            for module in modules:
                inner.setattr(module, "cupy", host_namespace())
            found = form(*map(given, arguments), out=given(out), **options)
            return numpy_array(found) if out is None else out

    return rotate


def run_over_numpy(monkeypatch):
    """Let the whole backend take NumPy arrays; `apply_rotary` still runs the kernels' source."""
    run_on_host(monkeypatch)
    for form in (rotation.apply_rotary, rotation.apply_rotary_cos_sin):
        monkeypatch.setattr(rotation, form.__name__, over_numpy(monkeypatch, form))
    for name in MODULES:
        module = importlib.import_module(f"ropespec.backends.cupy.{name}")
        monkeypatch.setattr(module, "cupy", NumpyNamespace())
        if hasattr(module, "device_of"):  # arrays of NumPy lie on none
            monkeypatch.setattr(module, "device_of", lambda *_: contextlib.nullcontext())
