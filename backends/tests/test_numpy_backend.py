import ml_dtypes
import numpy as np
import pytest

import ropespec.backends.numpy as backend
from ropespec import reference
from ropespec.spec.errors import ArgumentError

DTYPES = ("float16", "bfloat16", "float32", "float64")
LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
ALL_DTYPES = pytest.mark.parametrize("dtype", DTYPES)
FORMS = pytest.mark.parametrize("form", ["apply_rotary", "apply_rotary_dense"])
SHAPE = (2, 3, 2, 8)
M = np.array([3, -700, 2**10])


def numpy_dtype(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def draw(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(numpy_dtype(dtype))


def bits(array):
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def budget(x, positions, *, interleaved):
    """Bound the difference from the reference, output by output, from the chain of roundings.

    In units u of the arithmetic: the table entry 2 (float64: the angle is 3 u long at most), two
    products and their sum 3. The reference's own angle is right to |m| 2^-51. Both sides store
    with half a place of the dtype, or half its smallest subnormal.
    """
    half = x.shape[-1] // 2
    wide = np.abs(x.astype(np.float64))
    pairs = (wide[..., 0::2], wide[..., 1::2]) if interleaved else np.split(wide, [half], axis=-1)
    size = pairs[0] + pairs[1]
    size = np.repeat(size, 2, axis=-1) if interleaved else np.concatenate((size, size), axis=-1)
    unit = 2.0**-53 if x.dtype == np.float64 else 2.0**-24
    info = ml_dtypes.finfo(x.dtype)
    far = np.abs(np.asarray(positions, dtype=np.float64))[..., None, None]
    return size * (9 * unit + far * 2.0**-51 + float(info.eps)) + float(info.smallest_subnormal)


def difference(y, expected):
    return np.abs(y.astype(np.float64) - expected.astype(np.float64))


@LAYOUTS
@ALL_DTYPES
@pytest.mark.parametrize("rotary_dim", [None, 4, 8])
def test_numpy_apply_rotary_agrees_with_the_reference(interleaved, dtype, rotary_dim):
    """ROT-6, ROT-7, ROT-14: within the error budget; the tail bit for bit; layouts differ."""
    x = draw(SHAPE, dtype)
    options = {"rotary_dim": rotary_dim, "base": 500.0}
    y = backend.apply_rotary(x, M, interleaved=interleaved, **options)
    expected = reference.apply_rotary(x, M, interleaved=interleaved, **options)
    d = rotary_dim or 8
    limit = budget(x[..., :d], M, interleaved=interleaved)

    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    assert np.all(difference(y, expected)[..., :d] <= limit)
    assert np.array_equal(bits(y)[..., d:], bits(x)[..., d:])
    other = reference.apply_rotary(x, M, interleaved=not interleaved, **options)
    assert np.any(difference(other, expected)[..., :d] > limit)


@LAYOUTS
@ALL_DTYPES
@pytest.mark.parametrize("rotary_dim", [None, 4])
def test_numpy_dense_and_complex_forms(interleaved, dtype, rotary_dim):
    """ROT-3, ROT-4, ROT-8: the other forms are right within the budget of the sparse form."""
    x = draw(SHAPE, dtype)
    d = rotary_dim or 8
    limit = budget(x[..., :d], M, interleaved=interleaved)
    expected = reference.apply_rotary(x, M, interleaved=interleaved, rotary_dim=rotary_dim)
    found = [backend.apply_rotary_dense(x, M, interleaved=interleaved, rotary_dim=rotary_dim)]
    if interleaved:
        found.append(backend.apply_rotary_complex(x, M, rotary_dim=rotary_dim))

    for y in found:
        assert y.dtype == x.dtype
        assert np.all(difference(y, expected)[..., :d] <= limit)
        assert np.array_equal(bits(y)[..., d:], bits(x)[..., d:])


@LAYOUTS
@pytest.mark.parametrize("far", [2**20, 2**31 - 1, -(2**20), -(2**31 - 1)])
def test_numpy_float32_does_not_lose_the_angle(interleaved, far):
    """FREQ-9: 3e-7 of the pair at any position; an angle in float32 would be off by 0.05."""
    x = draw((3, 2, 128))
    positions = [far, far - 1, far // 2]
    y = backend.apply_rotary(x, positions, interleaved=interleaved)
    wide = backend.apply_rotary(x.astype(np.float64), positions, interleaved=interleaved)
    flat = np.float32(positions)[:, None] * backend.inv_freq(128).astype(np.float32)
    exact = backend.cos_sin(positions, 128)[0]

    assert np.all(difference(y, wide) <= 3e-7 * np.abs(x).max() * 2)
    assert np.abs(np.cos(flat) - exact).max() > 0.02


@LAYOUTS
@ALL_DTYPES
def test_numpy_nan_and_infinity_stay_in_their_pair(interleaved, dtype):
    """ROT-16: all pairs but the spoilt ones keep their values; no warning is given."""
    x = draw(SHAPE, dtype)
    spoilt = x.copy()
    spoilt[0, 0, 0, 2], spoilt[1, 1, 1, 7] = np.nan, np.inf
    y, clean = (backend.apply_rotary(a, M, interleaved=interleaved) for a in (spoilt, x))
    touched = np.zeros(SHAPE, dtype=bool)
    touched[0, 0, 0, [2, 3] if interleaved else [2, 6]] = True
    touched[1, 1, 1, [6, 7] if interleaved else [3, 7]] = True

    assert np.array_equal(bits(y)[~touched], bits(clean)[~touched])
    assert not np.isfinite(y[touched].astype(np.float32)).any()


@LAYOUTS
@ALL_DTYPES
def test_numpy_dense_form_spoils_one_token_and_head_at_most(interleaved, dtype):
    """ROT-16: beside them all bits stay, tails too; one matrix for all heads would not do that."""
    x = draw(SHAPE, dtype)
    spoilt = x.copy()
    spoilt[0, 0, 0, 2], spoilt[1, 1, 1, 5], spoilt[1, 2, 0, 7] = np.nan, np.inf, np.nan
    y, clean = (
        backend.apply_rotary_dense(a, M, interleaved=interleaved, rotary_dim=6) for a in (spoilt, x)
    )
    clean[0, 0, 0, :6], clean[1, 1, 1, :6] = y[0, 0, 0, :6], y[1, 1, 1, :6]
    clean[1, 2, 0, 7] = spoilt[1, 2, 0, 7]

    assert np.array_equal(bits(y), bits(clean))
    assert not np.isfinite(y[0, 0, 0, [2, 3] if interleaved else [2, 5]].astype(np.float32)).any()
    assert not np.isfinite(y[1, 1, 1, [4, 5] if interleaved else [2, 5]].astype(np.float32)).any()
    heads = np.kron(np.eye(2), backend.rotation_matrix(M[0], 8, interleaved=interleaved))
    assert np.isnan(heads @ spoilt[0, 0].astype(np.float64).ravel()).all()


def test_a_plain_matrix_product_spreads_nan():
    """The check of the pairs can fail: R @ x makes every component NaN."""
    x = np.zeros((1, 1, 8))
    x[..., 2] = np.nan

    assert np.isnan(backend.apply_rotary_dense(x, [5], interleaved=True)).all()


@ALL_DTYPES
def test_numpy_any_bit_pattern_passes_through_the_tail(dtype):
    """ROT-14: NaN payloads, signalling ones too, are copied as they are; no form warns."""
    width = numpy_dtype(dtype).itemsize
    raw = np.random.default_rng(2).integers(0, 256, 96 * width, dtype=np.uint8)
    x = raw.view(numpy_dtype(dtype)).reshape(SHAPE)
    for form in (backend.apply_rotary, backend.apply_rotary_dense):
        y = form(x, [0, 5, -5], interleaved=True, rotary_dim=4)
        assert np.array_equal(bits(y)[..., 4:], bits(x)[..., 4:])
    y = backend.apply_rotary_complex(x, [0, 5, -5], rotary_dim=4)
    assert np.array_equal(bits(y)[..., 4:], bits(x)[..., 4:])


@LAYOUTS
@ALL_DTYPES
def test_numpy_result_depends_on_values_alone(interleaved, dtype):
    """ROT-19: strides of either sign, other axis orders, and chunks give the same bits."""
    x = draw((3, 5, 2, 16), dtype)
    m = np.array([5, -3, 0, 9, 2**10])
    expected = bits(backend.apply_rotary(x, m, interleaved=interleaved, rotary_dim=12))
    strided = np.zeros((3, 10, 2, 32), x.dtype)[:, ::-2, ::-1, ::-2]
    strided[...] = x
    swapped = np.asfortranarray(x)
    chunks = [
        backend.apply_rotary(x[:, [s]], m[[s]], interleaved=interleaved, rotary_dim=12)
        for s in range(5)
    ]

    assert strided.strides[-1] < 0
    for y in (
        backend.apply_rotary(strided, m, interleaved=interleaved, rotary_dim=12),
        backend.apply_rotary(swapped, m, interleaved=interleaved, rotary_dim=12),
        np.concatenate(chunks, axis=1),
    ):
        assert np.array_equal(bits(y), expected)


@FORMS
def test_numpy_positions_per_row_and_broadcast(form):
    """ROT-19: (S,), (1, S) and (B, S) positions, lists and every integer dtype are alike."""
    x = draw(SHAPE)
    apply = getattr(backend, form)
    rows = np.array([[3, -7, 2], [1, 0, 100]])
    y = apply(x, rows, interleaved=True)
    for b in range(2):
        assert np.array_equal(y[b], apply(x[b], rows[b], interleaved=True))
    same = apply(x, rows[1], interleaved=True)
    for positions in (rows[1:], rows[1].tolist(), rows[1].astype(np.uint8), [[1, 0, 100]] * 2):
        assert np.array_equal(apply(x, positions, interleaved=True), same)
    assert not np.array_equal(y, same)


@ALL_DTYPES
def test_numpy_inputs_are_not_written_and_outputs_are_new(dtype):
    """ROT-17: inputs may be read-only; no output shares memory with an input."""
    x, m = draw((2, 3, 4, 8), dtype), np.array([0, 0, 0])
    x.flags.writeable = m.flags.writeable = False
    layout = {"interleaved": False}
    for y in (
        backend.apply_rotary(x, m, **layout, rotary_dim=4),
        backend.apply_rotary_dense(x, m, **layout),
        backend.apply_rotary_complex(x, m),
        backend.interleaved_to_half(x),
        backend.half_to_interleaved(x),
        backend.to_complex(x),
        backend.from_complex(backend.to_complex(x)),
        backend.project_query(x[0], [0, 0, 0, 0], x[0], **layout),
        backend.project_value(x[0], x[0]),
        *backend.RoPE(x, x),
        *backend.attention(x, x, x, query_positions=m, key_positions=m, interleaved=True),
    ):
        assert not np.shares_memory(y, x)
        assert y.flags.writeable


@pytest.mark.parametrize("shape", [(0, 3, 2, 8), (2, 0, 2, 8), (2, 3, 0, 8)])
def test_numpy_zero_sizes_give_an_empty_result(shape):
    """ROT-18, ATT-4: nothing in, nothing out; without any key the output is zero."""
    x = np.zeros(shape, np.float16)
    m = np.arange(shape[1])
    for form in (backend.apply_rotary, backend.apply_rotary_dense):
        y = form(x, m, interleaved=True)
        assert (y.shape, y.dtype) == (shape, np.float16)
    assert backend.apply_rotary_complex(x, m).shape == shape
    q = np.ones((shape[0], 3, shape[2], 8), np.float16)
    found = backend.attention(q, x, x, query_positions=M, key_positions=m, interleaved=True)
    expected = reference.attention(q, x, x, query_positions=M, key_positions=m, interleaved=True)
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)


def cases(dtype):
    """List calls of every function but those of the rotation of x: name, arguments, keywords.

    Positions are small, since the reference's angles are right to |m| 2^-51 only.
    """
    m = np.array([3, -7, 12])
    x, q = draw((2, 3, 4, 8), dtype), draw((2, 4, 3, 8), dtype)
    layout = {"interleaved": False, "base": 500.0}
    rows, weight = draw((2, 3, 5), dtype), draw((4, 8, 5), dtype, 1)
    v, k = draw((2, 3, 2, 6), dtype, 2), draw((2, 3, 2, 8), dtype, 3)
    z = reference.to_complex(x)
    freqs = reference.precompute_freqs_cis(8, 3)
    mask = np.tri(3, dtype=bool)
    mask[0] = False
    attend = {"query_positions": m, "key_positions": m, "interleaved": True}
    return [
        ("inv_freq", (8, 500.0), {}),
        ("angles", (m, draw(4, dtype)), {}),
        ("cos_sin", (m, 8), {}),
        ("sinusoidal_embedding", (m[None], 8), {}),
        ("sinusoidal_embedding", (3, 8, 500), {}),
        ("to_complex", (x,), {}),
        ("from_complex", (z,), {}),
        ("rotation_matrix", (m, 8), {"interleaved": True}),
        ("rotation_matrix", (7, 8), layout),
        ("interleaved_to_half", (x,), {}),
        ("half_to_interleaved", (x,), {}),
        ("project_query", (rows, m, weight), layout),
        ("project_key", (rows, m, weight), {"interleaved": True}),
        ("project_query", (rows, m, weight), {**layout, "rotary_dim": 6}),
        ("project_key", (rows, m, weight[:, :7]), {"interleaved": True, "rotary_dim": 2}),
        ("project_value", (rows, weight), {}),
        ("relative_score", (x, x + x.dtype.type(1), [[1], [-3], [12]]), {"interleaved": True}),
        ("relative_score", (x[0, 0, 0], x[0, 0, 1], -4), {"interleaved": False}),
        ("relative_score", (x, x + x.dtype.type(1), 5), {"interleaved": True, "rotary_dim": 4}),
        ("relative_score", (x[0, 0, :, :7], x[0, 1, :, :7], -3), {**layout, "rotary_dim": 6}),
        ("attention", (x, k, v), {**attend, "rotary_dim": 4, "mask": mask}),
        ("attention", (x[..., :7], k[..., :7], v), {**attend, **layout, "rotary_dim": 2}),
        ("attention", (x, k, v), {**attend, "mask": mask}),
        ("attention", (x, k, v), {**attend, "mask": mask[None, None]}),
        ("attention", (x, k, v), attend),
        ("decay_bound", (m, 8), {}),
        ("decay_bound", (0, 8), {}),
        ("sinusoidal_position_embedding", (2, 1, 3, 8, None), {}),
        ("RoPE", (q, q[:, :2, :2]), {}),
        ("precompute_freqs_cis", (8, 3), {}),
        ("reshape_for_broadcast", (freqs, z), {}),
        ("apply_rotary_emb", (x, k, freqs), {}),
        ("apply_rotary_emb", (x, k.astype(np.float32), freqs.astype(np.complex64)), {}),
    ]


def test_numpy_cases_name_every_function():
    """Together with the forms tested above the cases cover the whole API."""
    forms = {"apply_rotary", "apply_rotary_dense", "apply_rotary_complex"}
    forms.add("apply_rotary_cos_sin")  # in test_numpy_out.py

    assert {name for name, _, _ in cases("float32")} | forms == set(backend.__all__)


@ALL_DTYPES
@pytest.mark.parametrize("index", range(len(cases("float32"))))
def test_numpy_every_other_function_agrees_with_the_reference(dtype, index):
    """Shapes and dtypes are the reference's; values agree to places of the arithmetic and dtype."""
    name, arguments, keywords = cases(dtype)[index]
    found = getattr(backend, name)(*arguments, **keywords)
    expected = getattr(reference, name)(*arguments, **keywords)
    found = found if isinstance(found, tuple) else (found,)
    expected = expected if isinstance(expected, tuple) else (expected,)

    for one, other in zip(found, expected, strict=True):
        assert isinstance(one, np.ndarray)
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        if name in ("interleaved_to_half", "half_to_interleaved", "to_complex", "from_complex"):
            assert np.array_equal(one, other)
            continue
        wide = np.complex128 if one.dtype.kind == "c" else np.float64
        place = 2.0**-53 if one.dtype == wide else 2.0**-24
        stored = float(ml_dtypes.finfo(one.dtype).eps) if one.dtype.itemsize == 2 else 0.0
        exact = other.astype(wide)
        # Sums of up to 8 products below 20: a few hundred units of the arithmetic.
        limit = stored * np.abs(exact) + 400 * place
        assert np.all(np.abs(one.astype(wide) - exact) <= limit)


def test_numpy_float16_overflow_is_infinity_without_a_warning():
    """JDG-3: a rotated value beyond float16 is infinity, in every form."""
    x = np.full((1, 1, 2), 65504, np.float16)
    for y in (
        backend.apply_rotary(x, [1], interleaved=True),
        backend.apply_rotary_dense(x, [1], interleaved=True),
        backend.apply_rotary_complex(x, [1]),
    ):
        assert np.isposinf(y[0, 0, 1])
        assert np.isfinite(y[0, 0, 0])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numpy_no_function_warns_of_nan_or_infinity(value):
    """Warnings are errors here: NaN and infinity are legal everywhere."""
    x = np.full((2, 3, 4, 8), value, np.float32)
    weight = np.full((4, 8, 8), value, np.float32)
    options = {"query_positions": M, "key_positions": M, "interleaved": True}
    backend.attention(x, x, x, **options)
    backend.attention(x, x, x, **options, mask=np.tri(3, dtype=bool))
    backend.project_query(x[0], [0, 1, 2, 3], weight, interleaved=True)
    backend.relative_score(x, x, 1, interleaved=True)
    freqs = np.full((3, 4), value * 1j, np.complex128)
    backend.apply_rotary_emb(x, x, freqs)
    backend.RoPE(x, x)
    backend.angles([0], x[0, 0, 0])
    assert np.isnan(backend.relative_score(x, x, 1, interleaved=True)).all()


def test_a_masked_key_has_no_say():
    """ATT-2, ATT-4: NaN in the scores of masked keys does not reach the weights."""
    q = draw((1, 3, 2, 8))
    k = q.copy()
    k[:, 2] = np.nan
    mask = np.array([[True, True, False]] * 2 + [[False] * 3])
    options = {"query_positions": M, "key_positions": M, "interleaved": True, "mask": mask}
    output, weights = backend.attention(q, k, q, **options)

    assert np.isfinite(output).all()
    np.testing.assert_allclose(weights[..., :2, :].sum(axis=-1), 1, rtol=1e-6)
    assert not weights[..., 2].any()
    assert not weights[..., 2, :].any()
    assert not output[:, 2].any()


def test_numpy_has_one_device():
    """API-2: None and "cpu" are the host; what other frameworks have is refused."""
    for make in (
        lambda device: backend.inv_freq(8, device=device),
        lambda device: backend.precompute_freqs_cis(8, 3, device=device),
        lambda device: backend.sinusoidal_position_embedding(2, 1, 3, 8, device),
    ):
        assert np.array_equal(make("cpu"), make(None))
        for device in ("cuda", "CPU", "cpu:0"):
            with pytest.raises(ArgumentError, match='^device must be None or "cpu", the only'):
                make(device)


def test_numpy_refuses_other_arrays():
    """Only a numpy.ndarray will do for x; the words are the specification's."""
    with pytest.raises(ArgumentError, match=r"^x must be a numpy.ndarray; got \[1.0\] \(list\)$"):
        backend.apply_rotary([1.0], M, interleaved=True)
