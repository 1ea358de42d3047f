import os
import subprocess
import sys
import textwrap
import threading

import ml_dtypes
import mpmath
import numpy as np
import pytest

import ropespec.backends.numpy as backend
from ropespec.backends.cpu import plan, rotate, threads
from ropespec.backends.cpu.plan import FIELDS, plan_of
from ropespec.backends.numpy import compiled
from ropespec.backends.phase import turns


class Own(np.ndarray):
    """A subclass, whose instances have a dictionary as well."""


DTYPES = {
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
}
ALL_DTYPES = pytest.mark.parametrize("name", DTYPES)
LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
FAR = 2**31 - 1


def draw(shape, name="float32", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(DTYPES[name])


def bits(array):
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def split(x, interleaved, pairs):
    if interleaved:
        return x[..., 0 : 2 * pairs : 2], x[..., 1 : 2 * pairs : 2]
    return x[..., :pairs], x[..., pairs : 2 * pairs]


def fused(a, b, c):
    """Round a * b + c once to float32: a float64 holds the product, longdouble the sum."""
    return (a.astype(np.longdouble) * b + c).astype(np.float32)


def exact(x, cos, sin, *, interleaved):
    """The documented operations, one by one: both sums fused, the other product rounded alone."""
    a, b = (part.astype(np.float32) for part in split(x, interleaved, cos.shape[-1]))
    c, s = cos[..., None, :], sin[..., None, :]
    return fused(a, c, -(b * s)), fused(b, c, a * s)


@pytest.mark.parametrize("dim", [2, 4, 6, 8, 18, 32, 34, 40, 62, 64, 66, 80, 96, 128, 130, 256])
@LAYOUTS
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_every_pair_is_turned_by_the_same_operations(interleaved, name, dim):
    """Blocks of every width, and what is left beside them, give the bits of one pair alone."""
    x = draw((2, 3, 2, dim + 3), name)
    cos, sin = (t.astype(np.float32) for t in backend.cos_sin(np.arange(3) * 1001, dim))
    y = backend.apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
    expected = exact(x, cos, sin, interleaved=interleaved)

    for found, value in zip(split(y, interleaved, dim // 2), expected, strict=True):
        assert np.array_equal(bits(found), bits(value.astype(DTYPES[name])))
    assert np.array_equal(bits(y[..., dim:]), bits(x[..., dim:]))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_every_number_of_16_bits_is_read_and_written_exactly(name):
    """At position 0 all 65536 come back, NaN as NaN and infinity beside what it makes of it."""
    every = np.arange(2**16, dtype=np.uint16).view(DTYPES[name])
    with np.errstate(invalid="ignore"):  # for which signalling NaN is
        nan = np.isnan(every)
    x = np.zeros((2**10, 1, 128), DTYPES[name])
    x[..., ::2] = every.reshape(2**10, 1, 64)
    y = backend.apply_rotary(x, np.zeros(2**10, int), interleaved=True)[..., ::2].ravel()

    assert np.array_equal(bits(y)[~nan], bits(every)[~nan])
    assert np.isnan(y[nan]).all()


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@LAYOUTS
def test_what_is_stored_is_rounded_to_nearest_even(interleaved, name):
    """Ties, both neighbours of a tie, subnormal numbers and what is too large for the dtype."""
    dtype = DTYPES[name]
    every = np.arange(2**15, dtype=np.uint16)
    every = every[every < np.array(np.inf, dtype).view(np.uint16)].view(dtype).astype(np.float32)
    ties = ((every[:-1].astype(np.float64) + every[1:]) / 2).astype(np.float32)
    near = np.concatenate([f(ties) for f in (lambda t: np.nextafter(t, 0), np.abs, np.negative)])
    scale = np.concatenate((near, np.nextafter(ties, np.inf, dtype=np.float32), [3e38, -3e38]))
    scale = np.resize(scale.astype(np.float32), (len(scale) // 64 + 1, 64))
    x = np.zeros((len(scale), 1, 128), dtype)
    for part in split(x, interleaved, 64)[:1]:
        part[...] = 1
    y = backend.apply_rotary_cos_sin(x, scale, 0 * scale, interleaved=interleaved)
    with np.errstate(over="ignore"):
        expected = scale.astype(dtype)[:, None]

    assert np.array_equal(bits(split(y, interleaved, 64)[0]), bits(expected))


@ALL_DTYPES
@LAYOUTS
def test_not_a_number_of_any_kind_stays_one(interleaved, name):
    """Signalling, with payloads, in x or in tables: never a number, nor in another pair."""
    x = draw((1, 1, 256), name)
    payloads = [0x7F800001, 0x7FFFFFFF, 0xFF800001, 0xFFFFFFFF]
    cos = np.tile(np.array(payloads, np.uint32).view(np.float32), 32)[None]
    cos[0, 1::2] = 1
    y = backend.apply_rotary_cos_sin(x, cos, 0 * np.ones_like(cos), interleaved=interleaved)
    for part in split(y, interleaved, 128):
        assert np.isnan(part[0, 0, ::2]).all()
        assert np.isfinite(part[0, 0, 1::2]).all()


@LAYOUTS
@pytest.mark.parametrize("name", ["float32", "float64"])
def test_cos_and_sin_are_right_at_every_position(interleaved, name):
    """FREQ-9: to an ulp of float64, or rounded once, against mpmath."""
    m = np.random.default_rng(1).integers(-FAR, FAR, 50)
    x = np.zeros((50, 1, 128), name)
    split(x, interleaved, 64)[0][...] = 1
    y = backend.apply_rotary(x, m, interleaved=interleaved)
    phase = m[:, None].astype(object) * turns(128, 10000.0).astype(object)
    with mpmath.workprec(200):
        angle = [[2 * mpmath.pi * int(p) / 2**64 for p in row] for row in phase]
        expected = [
            np.array([[float(f(a)) for a in row] for row in angle])
            for f in (mpmath.cos, mpmath.sin)
        ]
    limit = {"float32": 2.0**-25 + 2.0**-52, "float64": 3.5 * 2.0**-53}[name]

    for found, value in zip(split(y, interleaved, 64), expected, strict=True):
        assert np.abs(found[:, 0] - value).max() <= limit


@ALL_DTYPES
@LAYOUTS
def test_a_table_changes_no_bit(interleaved, name):
    """Tokens one by one are given theirs by the phase, many from a table, some beside it."""
    ends = [0, 256, -256, FAR, 2**62, -(2**63)]
    for m in (
        np.arange(300),
        np.arange(FAR - 300, FAR),
        np.arange(299, -1, -1),
        np.array(ends * 8),
    ):
        x = draw((len(m), 2, 8), name)
        y = backend.apply_rotary(x, m, interleaved=interleaved)
        for at in (0, 1, 5, len(m) - 1):
            one = backend.apply_rotary(x[at : at + 1], m[at : at + 1], interleaved=interleaved)
            assert np.array_equal(bits(one), bits(y[at : at + 1]))


def test_tables_are_made_once_and_only_where_they_pay():
    """Neighbouring windows share one; a few tokens, and tokens far apart, have none."""
    rotate._tables.clear()
    rotate.turns_of.cache_clear()
    x = draw((200, 1, 64))
    for first in (512, 530, 512 + 56):
        backend.apply_rotary(x, np.arange(first, first + 200), interleaved=True)
    held = rotate._tables.held
    backend.apply_rotary(x[:8], np.arange(9000, 9008), interleaved=True)
    backend.apply_rotary(x, np.arange(200) * 10**6, interleaved=True)

    assert held == rotate._tables.held == 256 * 64 * 4


def test_tables_hold_no_more_than_their_limit():
    """Many bases, one prompt each: the oldest are forgotten."""
    x, m = draw((40, 1, 1024)), np.arange(40)
    for step in range(80):
        backend.apply_rotary(x, m, interleaved=True, base=10.0 + step)

    assert 0 < rotate._tables.held <= rotate.LIMIT


@LAYOUTS
@ALL_DTYPES
def test_turning_back_is_turning_with_the_sine_negated(interleaved, name):
    """ROT-20: what the gradient is turned by, bit for bit."""
    x = draw((3, 2, 20), name)
    m = np.array([5, -3, 1001])
    out = np.empty_like(x)
    work = "float64" if name == "float64" else "float32"
    cos, sin = (t.astype(work) for t in backend.cos_sin(m, 12))
    given = work, (3,), cos.strides, sin.strides
    back = plan_of(name, x.shape, x.strides, out.strides, given, 1, 6, interleaved, True)
    rotate.rotate(back, *(a.ctypes.data for a in (x, out, cos, sin)), lambda: threads.Team(1))
    expected = backend.apply_rotary_cos_sin(x, cos, -sin, interleaved=interleaved)

    assert np.array_equal(bits(out), bits(expected))


@pytest.mark.parametrize(
    "array",
    [np.arange(6.0), np.arange(6)[::-2], np.zeros((0, 2)), np.array(3), np.arange(9).view(Own)[2:]],
    ids=["dense", "strided", "empty", "scalar", "subclass"],
)
def test_the_address_of_an_array_is_read_from_its_head(array):
    """It stands where the ABI of NumPy has it; NumPy's own ways to tell it take longer."""
    assert compiled._address(array) == array.__array_interface__["data"][0]


def test_leading_axes_are_joined_where_all_arrays_step_alike():
    """Any number of them, broadcast positions among them, is one job or a few."""
    given = ("int64", (2, 1, 3), (24, 0, 8), ())
    strides = (2400, 480, 160, 80, 4)
    cut = plan_of("float32", (2, 5, 3, 2, 20), strides, strides, given, 1, 10, True, False)
    assert (cut.tokens, len(cut.offsets)) == (15, 2)
    shared = ("int64", (3,), (8,), ())
    cut = plan_of("float32", (2, 5, 3, 2, 20), strides, strides, shared, 1, 10, True, False)
    assert (cut.tokens, len(cut.offsets)) == (30, 1)
    x = draw((2, 5, 3, 2, 20))
    m = np.arange(6).reshape(2, 1, 3)
    y = backend.apply_rotary(x, m, interleaved=True)
    for k in range(5):
        one = backend.apply_rotary(x[:, k], m[:, 0], interleaved=True)
        assert np.array_equal(y[:, k], one)


def streamed(name, shape, x, out, pairs, *, reused=True):
    m = "int64", shape[-3:-2], (8,), ()
    cut = plan_of(name, shape, x, out, m, 1, pairs, True, False, reused)
    return cut.static[8 * FIELDS.index("streams") :][:8] != bytes(8)


def test_a_large_result_goes_past_the_cache_into_memory_that_was_used():
    """Not what fits, nor memory fresh from the system, nor what a vector cannot write aligned."""
    shape = 2, 2048, 16, 128
    dense = 2**24, 8192, 512, 4
    assert streamed("float32", shape, dense, dense, 64)
    assert not streamed("float32", shape, dense, dense, 64, reused=False)
    assert not streamed("float32", (2, 2047, 16, 128), dense, dense, 64)
    assert not streamed("float32", shape, dense, dense, 48)
    narrow = 4096 * 16 * 480, 16 * 480, 480, 4
    assert not streamed("float32", (2, 4096, 16, 120), narrow, narrow, 60)
    assert not streamed("float32", shape, dense, (2**24, 8200, 512, 4), 64)
    assert not streamed("float32", shape, dense, (2**24, 8192, 512, 8), 64)
    assert not streamed("float32", shape, dense, (2**25, 16384, 1024, 4), 64)
    assert not streamed("float32", shape, (2**25, 16384, 1024, 8), dense, 64)
    assert not streamed("bfloat16", shape, dense, tuple(s // 2 for s in dense), 64)


@LAYOUTS
@ALL_DTYPES
@pytest.mark.parametrize("dim", [32, 96, 128, 288])
def test_past_the_cache_every_bit_is_the_same(monkeypatch, interleaved, name, dim):
    """Wherever memory begins, turned in place or not, by one thread or two."""
    x, m = draw((70, 16, dim), name), np.arange(70)
    expected = bits(backend.apply_rotary(x, m, interleaved=interleaved))
    monkeypatch.setattr(plan, "LARGE", 0)
    plan_of.cache_clear()
    try:
        for first in (0, 1, 16 // x.itemsize, 16 // x.itemsize + 1):
            memory = np.zeros(x.size + 128, x.dtype)
            start = -memory.ctypes.data % 64 // x.itemsize + first
            out = memory[start : start + x.size].reshape(x.shape)
            backend.apply_rotary(x, m, interleaved=interleaved, out=out)
            assert np.array_equal(bits(out), expected)
            assert not memory[:start].any()
            assert not memory[start + x.size :].any()
        backend.apply_rotary(x, m, interleaved=interleaved, out=x)
        assert np.array_equal(bits(x), expected)
    finally:
        plan_of.cache_clear()


def test_only_memory_that_is_given_is_told_to_be_used(monkeypatch):
    """A new result is fresh from the system, whoever makes it."""
    told = []

    def noted(*look):
        told.append(look[9] if len(look) > 9 else False)
        return plan_of(*look)

    monkeypatch.setattr(compiled, "plan_of", noted)
    compiled._look.cache_clear()
    x, m = draw((3, 2, 8)), np.arange(3)
    tables = [t.astype(np.float32) for t in backend.cos_sin(m, 8)]
    for out in (None, np.empty_like(x), x):
        backend.apply_rotary(x, m, interleaved=True, out=out)
        backend.apply_rotary_cos_sin(x, *tables, interleaved=True, out=out)
    compiled._look.cache_clear()

    assert told == [False] * 2 + [True] * 2  # x itself looks as another array does


@LAYOUTS
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_threads_turn_every_token_once(monkeypatch, interleaved, size):
    """ROT-19: the bits of one thread, in place too, also where chunks do not come out even."""
    x = draw((515, 8, 128))
    m = np.arange(515)
    monkeypatch.setattr(compiled, "_team", lambda: threads.Team(1))
    expected = backend.apply_rotary(x, m, interleaved=interleaved)
    monkeypatch.setattr(compiled, "_team", lambda: threads.Team(size))
    for _ in range(20):
        y = x.copy()
        backend.apply_rotary(y, m, interleaved=interleaved, out=y)
        assert np.array_equal(y, expected)


def test_callers_on_many_threads_get_their_own(monkeypatch):
    """Some find the helpers busy, and work alone."""
    monkeypatch.setattr(compiled, "_team", lambda: threads.Team(3))
    m, wrong = np.arange(256), []
    xs = [draw((256, 8, 128), seed=seed) for seed in range(6)]
    expected = [backend.apply_rotary(x, m, interleaved=True) for x in xs]

    def work(k):
        for _ in range(30):
            y = backend.apply_rotary(xs[k], m, interleaved=True)
            wrong.append(not np.array_equal(y, expected[k]))

    callers = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == [False] * 180


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": ":".join(sys.path), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("framework", ["numpy", "torch"])
def test_threads_do_not_share_what_they_work_with(framework):
    """Where all threads take memory from one heap, as in a process of many, none has another's."""
    pytest.importorskip(framework)
    rows, few, many = {
        "numpy": (
            (
                "import numpy as f\nx = f.random.rand(515, 8, 128)\n"
                "from ropespec.backends.cpu import threads\n"
                "from ropespec.backends.numpy import compiled"
            ),
            "compiled._team = lambda: threads.Team(1)",
            "compiled._team = lambda: threads.Team(7)",
        ),
        "torch": (
            "import torch as f\nx = f.rand(515, 8, 128, dtype=f.float64)",
            "f.set_num_threads(1)",
            "f.set_num_threads(7)",
        ),
    }[framework]
    code = f"""
{rows}
import numpy as np, ropespec.backends.{framework} as backend
rotate = lambda: np.asarray(backend.apply_rotary(x, f.arange(515), interleaved=True))
{few}
expected = rotate()
{many}
print(sum(not np.array_equal(rotate(), expected) for _ in range(100)))
"""
    done = run(code, MALLOC_ARENA_MAX="1")  # as glibc reads it; elsewhere it is no matter

    assert done.stdout.strip() == "0", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("framework", ["numpy", "torch"])
def test_a_forked_process_rotates(framework):
    """The threads of the parent are gone, and nobody waits for them."""
    pytest.importorskip(framework)
    make = {
        "numpy": "import numpy as f\nx = f.ones((2048, 8, 128), 'float32')",
        "torch": "import torch as f\nx = f.ones(2048, 8, 128)",
    }[framework]
    code = f"""
{make}
import os, ropespec.backends.{framework} as backend
import numpy as np
rotate = lambda: np.asarray(backend.apply_rotary(x, f.arange(2048), interleaved=True))
expected = rotate()
child = os.fork()
if child == 0:
    os._exit(0 if all((rotate() == expected).all() for _ in range(20)) else 7)
assert (rotate() == expected).all()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = run(code, NUMBA_NUM_THREADS="2", OMP_NUM_THREADS="2")

    assert done.stdout.strip() == "0", done.stderr


@pytest.mark.parametrize(("told", "threads"), [("3", 3), ("", None), ("no", None), ("0", None)])
def test_threads_are_as_many_as_numba_would_start(monkeypatch, told, threads):
    """Numba is asked where it is loaded, and else what it reads."""
    monkeypatch.setenv("NUMBA_NUM_THREADS", told)
    monkeypatch.setitem(sys.modules, "numba.np.ufunc.parallel", None)
    monkeypatch.setitem(sys.modules, "numba", None)
    compiled._threads.cache_clear()
    found = compiled._team()
    compiled._threads.cache_clear()

    assert found.size == (threads or len(os.sched_getaffinity(0)))


@LAYOUTS
@ALL_DTYPES
def test_plain_numpy_stands_for_the_kernel(monkeypatch, interleaved, name):
    """Without Numba the same numbers, to the roundings, in place and with the tail bit for bit."""
    x = draw((2, 5, 3, 16), name)
    m = np.array([3, -700, 2**20, 5, 6])
    fast = backend.apply_rotary(x, m, interleaved=interleaved, rotary_dim=12)
    monkeypatch.setattr(compiled, "is_able", lambda: False)
    slow = x.copy()
    backend.apply_rotary(slow, m, interleaved=interleaved, rotary_dim=12, out=slow)
    step = float(ml_dtypes.finfo(DTYPES[name]).eps)
    wide = [y.astype(np.float64) for y in (fast, slow)]

    assert np.abs(wide[0] - wide[1]).max() <= 8 * step
    assert np.array_equal(bits(slow)[..., 12:], bits(x)[..., 12:])
    table = turns(12, 10000.0)
    assert rotate.turns_of(12, 10000.0).key == table.tobytes()


@pytest.mark.parametrize("foreign", range(1, 8))
def test_foreign_byte_order_is_read(foreign):
    """What a kernel cannot read takes plain operations, whichever array it is."""

    def ordered(array, place):
        return array.astype(array.dtype.newbyteorder(">")) if foreign >> place & 1 else array

    x, m = draw((3, 1, 8)), np.array([1, 2, 3])
    cos, sin = (t.astype(np.float32) for t in backend.cos_sin(m, 8))
    expected = backend.apply_rotary_cos_sin(x, cos, sin, interleaved=True)
    given, *tables = (ordered(array, k) for k, array in enumerate((x, cos, sin)))
    found = (
        backend.apply_rotary(given, ordered(m, 1), interleaved=True),
        backend.apply_rotary(given, [1, 2, 3], interleaved=True),
        backend.apply_rotary_cos_sin(given, *tables, interleaved=True),
    )

    for y in found:
        assert y.dtype == given.dtype
        np.testing.assert_allclose(y, expected, rtol=0, atol=1e-6)
