import itertools
import tracemalloc

import ml_dtypes
import numpy as np
import pytest

import ropespec.backends.numpy as backend
from ropespec import reference
from ropespec.backends import overlap
from ropespec.backends.cpu import rotate
from ropespec.spec.errors import ArgumentError, ArgumentTypeError, ArgumentValueError

DTYPES = {
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
}
ALL_DTYPES = pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES.keys())
LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
MIB = 2**20
M = np.array([3, -700, 2**20, 5, 6])


def draw(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def bits(array):
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def work(dtype):
    return np.float64 if dtype == np.float64 else np.float32


VIEWS = {
    "contiguous": np.s_[:],
    "reversed": np.s_[:, ::-1],
    "sliced": np.s_[:, ::2],
    "components apart": np.s_[..., ::2],
    "components reversed": np.s_[..., ::-1],
    "unaligned row": np.s_[..., 1:23],
}


@LAYOUTS
@ALL_DTYPES
@pytest.mark.parametrize("rotary_dim", [None, 6, 2])
@pytest.mark.parametrize("view", VIEWS)
def test_out_of_any_strides(interleaved, dtype, rotary_dim, view):
    """ROT-23: `out` is returned with the bits of the plain form; memory beside it stays."""
    pool = np.full((2, 10, 3, 24), 7, dtype)
    out = pool[VIEWS[view]]
    x, m = draw(out.shape, dtype), np.arange(out.shape[1]) * 1000
    options = {"interleaved": interleaved, "rotary_dim": rotary_dim}
    expected = backend.apply_rotary(x, m, **options)
    before = bits(x).copy()
    y = backend.apply_rotary(x, m, out=out, **options)
    touched = np.zeros(pool.shape, dtype=bool)
    touched[VIEWS[view]] = True

    assert y is out
    assert np.array_equal(bits(out), bits(expected))
    assert np.array_equal(bits(x), before)
    assert np.all(pool[~touched] == dtype.type(7))


@LAYOUTS
@ALL_DTYPES
@pytest.mark.parametrize("rotary_dim", [None, 6])
@pytest.mark.parametrize("view", VIEWS)
def test_x_itself_as_out(interleaved, dtype, rotary_dim, view):
    """ROT-23: in place, through the same array or a second view of it, the bits are the same."""
    pool = draw((2, 10, 3, 24), dtype)
    x = pool[VIEWS[view]]
    m = np.arange(x.shape[1]) - 3
    options = {"interleaved": interleaved, "rotary_dim": rotary_dim}
    plain = backend.apply_rotary(x.copy(), m, **options)
    twice = backend.apply_rotary(plain, m, **options)

    assert backend.apply_rotary(x, m, out=x, **options) is x
    assert np.array_equal(bits(x), bits(plain))
    backend.apply_rotary(x, m, out=x[...], **options)
    assert np.array_equal(bits(x), bits(twice))


@LAYOUTS
@ALL_DTYPES
def test_halves_of_one_pool_are_apart(interleaved, dtype):
    """ROT-23: x and out may lie interleaved in one piece of memory, on any axis."""
    expected = None
    for axis in range(4):
        shape = [2, 5, 3, 8]
        shape[axis] *= 2
        pool = np.zeros(shape, dtype)
        x, out = (pool[(*(slice(None),) * axis, slice(k, None, 2))] for k in (0, 1))
        x[...] = draw((2, 5, 3, 8), dtype)
        backend.apply_rotary(x, M, interleaved=interleaved, out=out)
        expected = bits(out) if expected is None else expected
        assert np.array_equal(bits(out), expected)


def refused(x, out, positions=M):
    for call in (
        lambda: backend.apply_rotary(x, positions, interleaved=True, out=out),
        lambda: backend.apply_rotary_cos_sin(x, *TABLES, interleaved=True, out=out),
    ):
        with pytest.raises(ArgumentError) as caught:
            call()
        assert caught.value.argument == "out"
    return caught.value


TABLES = tuple(draw((5, 4), seed=s) for s in (1, 2))


def test_out_that_is_refused():
    """ROT-23: another kind, dtype or shape, shared or read-only memory, overlap with itself."""
    pool = np.zeros((6, 3, 8), np.float32)
    x, shifted = pool[:5], pool[1:]
    words = "out must be x itself, or writable and free of overlap with itself and the arguments; "
    frozen = np.zeros_like(x)
    frozen.flags.writeable = False
    heads = np.lib.stride_tricks.as_strided(np.zeros_like(pool), x.shape, (96, 0, 4))

    assert isinstance(refused(x, x.tolist()), ArgumentTypeError)
    assert isinstance(refused(x, x.astype(np.float64)), ArgumentTypeError)
    assert isinstance(refused(x, np.zeros((5, 3, 9), np.float32)), ArgumentValueError)
    for out in (shifted, x[::-1], x[:, ::-1], pool[:0:-1], frozen, heads):
        found = refused(x, out)
        assert isinstance(found, ArgumentValueError)
        assert str(found) == words + "got an array of shape (5, 3, 8) and dtype float32"
    apart = np.zeros_like(x)
    backend.apply_rotary(x, M, interleaved=True, out=apart)
    for kind in (np.int32, np.int64):
        with pytest.raises(ArgumentValueError, match=r"^out must be x itself"):
            backend.apply_rotary(x, apart.view(kind)[:, 0, 0], interleaved=True, out=apart)
    with pytest.raises(ArgumentValueError, match=r"^out must be x itself"):
        backend.apply_rotary_cos_sin(x, apart[:, 0, :4], TABLES[1], interleaved=True, out=apart)
    with pytest.raises(ArgumentValueError, match=r"^out must be x itself"):
        backend.apply_rotary_cos_sin(x, TABLES[0], apart[:, 0, :4], interleaved=True, out=apart)


def test_what_only_equals_a_right_option_is_refused():
    """ROT-21: calls are known again by the types of their options as well."""
    x, tables = draw((5, 3, 8)), draw((5, 4))
    backend.apply_rotary(x, M, interleaved=True, rotary_dim=4)
    backend.apply_rotary_cos_sin(x, tables, tables, interleaved=True)
    for given, options in (
        (M, {"interleaved": 1}),
        (M, {"interleaved": True, "rotary_dim": 4.0}),
        (M, {"interleaved": True, "base": tables}),
        (tables, {"interleaved": True, "base": tables}),
        (M, {"interleaved": True, "base": (tables.shape, tables.dtype, tables.strides)}),
    ):
        with pytest.raises(ArgumentTypeError):
            backend.apply_rotary(x, given, **options)
    for cos, sin in ((M, None), (M, (1e4, None)), (tables, None), (tables, (1e4, None))):
        with pytest.raises(ArgumentTypeError):
            backend.apply_rotary_cos_sin(x, cos, sin, interleaved=True)
    with pytest.raises(ArgumentTypeError):
        backend.apply_rotary_cos_sin(x, tables, tables, interleaved=1)


def test_overlap_within_an_array_is_found_exactly():
    """Elements that share bytes are found for all small strides, as counting bytes finds them."""
    pool = np.zeros(400, np.uint8)
    strides = range(-6, 19, 2)
    verdicts = set()
    for steps in itertools.product(strides, repeat=3):
        start = sum(-2 * s for s in steps if s < 0)
        array = np.ndarray((3, 2, 3), np.uint16, pool, start, steps)
        at = start + sum(s * i for s, i in zip(steps, np.ogrid[:3, :2, :3], strict=True))
        found = overlap.overlaps_itself(array)
        verdicts.add(found)
        assert found == (np.unique(at).size != at.size)

    assert verdicts == {True, False}


@LAYOUTS
@ALL_DTYPES
@pytest.mark.parametrize("kind", DTYPES.values(), ids=DTYPES.keys())
def test_numpy_cos_sin_agrees_with_the_reference(interleaved, dtype, kind):
    """ROT-22: tables of every dtype, scaled ones too, partial, right within the roundings.

    In units of the arithmetic: 1 for each table entry that is rounded to it, 3 for two products
    and their sum; both sides store with half a place of the dtype.
    """
    x = draw((2, 5, 3, 12), dtype)
    cos, sin = (2.5 * table for table in backend.cos_sin([M, M[::-1]], 8))
    cos, sin = cos.astype(kind), sin.astype(kind)
    y = backend.apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
    expected = reference.apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
    info, unit = ml_dtypes.finfo(dtype), float(np.finfo(work(dtype)).eps) / 2
    size = 2.5 * 2 * np.abs(x.astype(np.float64)).max()
    error = np.abs(y.astype(np.float64) - expected.astype(np.float64))

    assert (y.shape, y.dtype) == (x.shape, dtype)
    assert np.all(error <= size * (4 * unit + float(info.eps)))
    assert np.array_equal(bits(y)[..., 8:], bits(x)[..., 8:])
    other = reference.apply_rotary_cos_sin(x, cos, sin, interleaved=not interleaved)
    assert np.abs(other.astype(np.float64) - expected.astype(np.float64)).max() > 0.5


@LAYOUTS
@ALL_DTYPES
@pytest.mark.parametrize("rows", [(), (1,), (2,)])
def test_numpy_cos_sin_has_the_bits_of_apply_rotary(interleaved, dtype, rows):
    """ROT-22: with its own tables, of any strides and broadcast, into `out` and in place too.

    In float64 they are rounded otherwise than those of a kernel, by an ulp.
    """
    m = np.resize(M, (*rows, 5)) + np.arange(5) * 7
    x = draw((2, 5, 3, 12), dtype)
    expected = backend.apply_rotary(x, m, interleaved=interleaved, rotary_dim=8)
    if dtype == np.float64:
        near, tables = expected, backend.cos_sin(m, 8)
        expected = backend.apply_rotary_cos_sin(x, *tables, interleaved=interleaved)
        assert np.abs(near - expected).max() <= 2.0**-50 * np.abs(x).max()
    made = [table.astype(work(dtype)) for table in backend.cos_sin(m, 8)]
    apart = [np.repeat(table, 2, axis=-1)[..., ::2] for table in made]
    for cos, sin in (made, apart):
        y = backend.apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
        assert np.array_equal(bits(y), bits(expected))
    cos, sin = made
    out = np.empty((2, 5, 12, 3), dtype).swapaxes(-1, -2)
    assert backend.apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved, out=out) is out
    assert np.array_equal(bits(out), bits(expected))
    backend.apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved, out=x)
    assert np.array_equal(bits(x), bits(expected))


@LAYOUTS
@pytest.mark.parametrize("form", ["apply_rotary", "apply_rotary_cos_sin"])
def test_numpy_cos_sin_many_tokens(interleaved, form):
    """The bits do not depend on where the tokens are cut, in the batch or in the sequence."""
    x, m = draw((3, 700, 2, 128)), np.arange(700) * 3 - 1000
    expected = [
        backend.apply_rotary(x[:, [s]], m[[s]], interleaved=interleaved) for s in range(700)
    ]
    angles = (m,)
    if form == "apply_rotary_cos_sin":
        angles = tuple(table.astype(np.float32) for table in backend.cos_sin(m, 128))
    y = getattr(backend, form)(x, *angles, interleaved=interleaved)

    assert np.array_equal(bits(y), bits(np.concatenate(expected, axis=1)))


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
@LAYOUTS
def test_half_formats_are_rounded_once_from_float32(name, interleaved):
    """JDG-3: all 2^16 values, NaN and infinity too, have the bits of the float32 form rounded."""
    dtype = DTYPES[name]
    values = np.random.default_rng(0).permutation(np.arange(2**16, dtype=np.uint16))
    x = values.view(dtype).reshape(1, 4, 128, 128)
    m = [0, 1, -5, 2**31]
    y = backend.apply_rotary(x, m, interleaved=interleaved)
    wide = backend.apply_rotary(x.astype(np.float32), m, interleaved=interleaved)
    with np.errstate(all="ignore"):
        expected = wide.astype(dtype)
    nan = np.isnan(wide)

    assert nan.any()
    assert np.array_equal(np.isnan(y.astype(np.float32)), nan)
    assert np.array_equal(bits(y)[~nan], bits(expected)[~nan])


def peak(call):
    """Return the most bytes that were allocated at once during a call, and its result."""
    call()  # the first of a dtype compiles, and which test that is depends on their order
    rotate._tables.clear()
    rotate.turns_of.cache_clear()
    tracemalloc.start()
    try:
        result = call()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


@LAYOUTS
@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_peak_memory_is_x_and_out_and_8_mib(interleaved, name):
    """At 4 x 2048 x 32 x 128: nothing but the result and 8 MiB; into `out` not even that."""
    x = np.zeros((4, 2048, 32, 128), DTYPES[name])
    used, out = peak(lambda: backend.apply_rotary(x, np.arange(2048), interleaved=interleaved))
    assert used <= x.nbytes + 8 * MIB
    used, _ = peak(lambda: backend.apply_rotary(x, range(2048), interleaved=interleaved, out=out))
    assert used <= 8 * MIB
    used, _ = peak(lambda: backend.apply_rotary(x, range(2048), interleaved=interleaved, out=x))
    assert used <= 8 * MIB


@LAYOUTS
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("strided", [False, True])
def test_peak_memory_of_tables_per_row(interleaved, dtype, strided):
    """With 4 x 8192 positions of their own: their tables alone, made at once, would take 33 MB."""
    x = np.zeros((4, 8192, 2, 256 if strided else 128), dtype)[..., :: 2 if strided else 1]
    m = np.random.default_rng(0).integers(0, 2**20, (4, 8192))
    used, _ = peak(lambda: backend.apply_rotary(x, m, interleaved=interleaved, out=x))
    assert used <= 8 * MIB
    cos, sin = (t.astype(np.float32) for t in backend.cos_sin(m, 128))
    used, _ = peak(
        lambda: backend.apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved, out=x)
    )
    assert used <= 8 * MIB
    used, _ = peak(lambda: backend.cos_sin(m, 128))
    assert used > 33_000_000


def test_kept_tables_differ_by_all_they_depend_on():
    """Calls that differ in one of dim, base, dtype, layout and window do not share a table."""
    x = draw((1, 40, 1, 16))
    calls = [
        (x.astype(dtype), m, {"interleaved": layout, "base": base, "rotary_dim": dim})
        for dtype in (np.float32, np.float64)
        for m in (np.arange(40), np.arange(10**4, 10**4 + 40))
        for layout in (True, False)
        for base in (500.0, 501.0)
        for dim in (8, 16)
    ]
    cold = []
    for y, m, options in calls:
        rotate._tables.clear()
        rotate.turns_of.cache_clear()
        cold.append(bits(backend.apply_rotary(y, m, **options)))
    warm = [bits(backend.apply_rotary(y, m, **options)) for y, m, options in calls]

    assert all(np.array_equal(one, other) for one, other in zip(cold, warm, strict=True))
    assert len({tuple(values.ravel().tolist()) for values in cold}) == len(calls)


def test_what_passed_once_lets_nothing_else_pass():
    """ROT-21: 1 is no flag even after True was taken; options that have no hash are refused too."""
    x, m = draw((5, 1, 8)), M
    backend.apply_rotary(x, m, interleaved=True)
    backend.apply_rotary(x, m, interleaved=np.True_, base=10000, rotary_dim=np.int64(8))
    backend.apply_rotary_cos_sin(x, *TABLES, interleaved=True)
    for options in (
        {"interleaved": 1},
        {"interleaved": [True]},
        {"interleaved": True, "base": [2.0]},
        {"interleaved": True, "rotary_dim": 8.0},
        {"interleaved": True, "rotary_dim": {}},
    ):
        with pytest.raises(ArgumentTypeError):
            backend.apply_rotary(x, m, **options)
    for flag in (1, [True]):
        with pytest.raises(ArgumentTypeError, match=r"^interleaved must be True or False"):
            backend.apply_rotary_cos_sin(x, *TABLES, interleaved=flag)


def test_numpy_cos_sin_that_overflow_do_not_warn():
    """A float64 table beyond float32 is infinity there, as in any conversion."""
    x = np.ones((1, 1, 2), np.float32)
    y = backend.apply_rotary_cos_sin(x, np.array([[1e300]]), np.array([[0.0]]), interleaved=False)

    assert np.all(np.isposinf(y))


@pytest.mark.parametrize("shape", [(0, 5, 2, 8), (2, 5, 0, 8)])
def test_numpy_empty_into_out(shape):
    """ROT-18: nothing is written to an empty `out`, which is returned."""
    x, out = np.zeros(shape), np.zeros(shape)

    assert backend.apply_rotary(x, M, interleaved=True, out=out) is out
    assert backend.apply_rotary_cos_sin(x, *TABLES, interleaved=True, out=out) is out
