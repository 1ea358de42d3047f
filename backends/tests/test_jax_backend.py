import subprocess
import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import mpmath
import numpy as np
import pytest

import ropespec.backends.jax as backend
from ropespec import reference
from ropespec.backends.jax.arrays import both_limbs, limbs_of

DTYPES = ("float16", "bfloat16", "float32")
LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
ALL_DTYPES = pytest.mark.parametrize("dtype", DTYPES)
SHAPE = (2, 3, 2, 8)
M = np.array([3, -70000, 2**20])


def numpy_dtype(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def draw(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(numpy_dtype(dtype))


def bits(array):
    array = np.asarray(array)
    return array.view(f"u{array.dtype.itemsize}")


def bound(x, positions, *, interleaved):
    """Error budget of the outputs of one vector: table, products, sum, stores, the reference.

    A table entry is right to 3 u, and to |m| 2^-65 turns by the rounding of T; two products and
    their sum add 3 u; the reference's own angle is right to |m| 2^-51; backend and reference each
    store with half a place of the output dtype, or half of its smallest subnormal.
    """
    half = x.shape[-1] // 2
    wide = np.abs(x.astype(np.float64))
    pairs = (wide[..., 0::2], wide[..., 1::2]) if interleaved else np.split(wide, [half], axis=-1)
    size = np.max(pairs[0] + pairs[1], axis=-1, keepdims=True)
    unit = 2.0**-53 if x.dtype == np.float64 else 2.0**-24
    far = np.abs(np.asarray(positions, dtype=np.float64)).max()
    info = ml_dtypes.finfo(x.dtype)
    relative = 6 * unit + far * (2.0**-62 + 2.0**-51) + float(info.eps)
    return size * relative + float(info.smallest_subnormal)


def difference(y, expected):
    return np.abs(np.asarray(y).astype(np.float64) - np.asarray(expected).astype(np.float64))


def exact_table(positions, dim, base=10000):
    """Compute cos and sin of m theta_i in 200-bit arithmetic."""
    cos, sin = np.empty((2, len(positions), dim // 2))
    with mpmath.workprec(200):
        for i in range(dim // 2):
            theta = mpmath.mpf(base) ** (mpmath.mpf(-2 * i) / dim)
            for row, m in enumerate(positions):
                cos[row, i], sin[row, i] = mpmath.cos(int(m) * theta), mpmath.sin(int(m) * theta)
    return cos, sin


FAR = [0, 1, 2**10, 2**20, 2**31 - 1, -1, -(2**10), -(2**20), -(2**31), -77, 2**30 + 1, 5]


@LAYOUTS
@ALL_DTYPES
@pytest.mark.parametrize("rotary_dim", [None, 4])
def test_apply_rotary_agrees_with_the_reference(interleaved, dtype, rotary_dim):
    """ROT-6, ROT-7, ROT-14: within the error budget of the dtype, the tail bit for bit."""
    x = draw(SHAPE, dtype)
    options = {"interleaved": interleaved, "rotary_dim": rotary_dim}
    y = backend.apply_rotary(jnp.asarray(x), M, **options)
    expected = reference.apply_rotary(x, M, **options)
    d = rotary_dim or 8

    assert isinstance(y, jax.Array)
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    budget = bound(x[..., :d], M, interleaved=interleaved)
    assert np.all(difference(y, expected)[..., :d] <= budget)
    assert np.array_equal(bits(y)[..., d:], bits(x)[..., d:])
    other = reference.apply_rotary(x, M, interleaved=not interleaved, rotary_dim=rotary_dim)
    assert np.any(difference(other, expected)[..., :d] > budget)


@LAYOUTS
@ALL_DTYPES
def test_dense_and_complex_forms_agree_with_the_reference(interleaved, dtype):
    """ROT-3, ROT-4, ROT-8: the other forms within the same budget; 8 terms add 7 u more."""
    x = draw(SHAPE, dtype)
    budget = 3 * bound(x, M, interleaved=interleaved)
    y = backend.apply_rotary_dense(jnp.asarray(x), M, interleaved=interleaved)
    expected = reference.apply_rotary_dense(x, M, interleaved=interleaved)

    assert y.dtype == x.dtype
    assert np.all(difference(y, expected) <= budget)
    if interleaved:
        y = backend.apply_rotary_complex(jnp.asarray(x), M)
        assert y.dtype == x.dtype
        assert np.all(difference(y, reference.apply_rotary_complex(x, M)) <= budget)


@pytest.mark.parametrize("kind", ["int64", "list", "traced int32"])
def test_float32_table_is_exact_at_any_position(kind):
    """FREQ-9: right to 1.6 * 2^-24, from 0 to the ends of int32, in float32, without x64."""
    # 0.35 for the angle, one for cos and sin of JAX, and a quarter to spare.
    cos, sin = exact_table(FAR, 128)
    if kind == "traced int32":
        c, s = jax.jit(lambda p: backend.cos_sin(p, 128))(jnp.array(FAR, dtype=jnp.int32))
    else:
        c, s = backend.cos_sin(FAR if kind == "list" else np.array(FAR), 128)

    assert c.dtype == s.dtype == jnp.float32
    assert difference(c, cos).max() < 1.6 * 2.0**-24
    assert difference(s, sin).max() < 1.6 * 2.0**-24


def test_positions_above_int32_without_x64():
    """NumPy int64 positions above 2^31 do not wrap: the error is that of T, |m| 2^-65 turns."""
    positions = [2**31, 2**31 + 5, 2**33 + 1, -(2**33) - 1, 2**36, 0, 0, 0, 0, 0, 0, 0]
    cos, sin = exact_table(positions, 128)
    c, s = backend.cos_sin(np.array(positions), 128)
    budget = 1.2e-7 + np.abs(np.array(positions, dtype=np.float64))[:, None] * 2 * np.pi * 2.0**-65

    assert np.all(difference(c, cos) < budget)
    assert np.all(difference(s, sin) < budget)
    wrapped = backend.cos_sin(np.array(positions).astype(np.int32), 128)[0]
    assert difference(wrapped, cos).max() > 0.1


def test_float64_table_under_x64():
    """FREQ-9 with x64: right to 2e-16 and the |m| 2^-65 turns of T, for int64 and lists alike."""
    cos, sin = exact_table(FAR, 128)
    budget = 2.3e-16 + np.abs(np.array(FAR, dtype=np.float64))[:, None] * 2 * np.pi * 2.0**-65
    with jax.enable_x64(True):
        for positions in (jnp.array(FAR), FAR):
            c, s = (np.asarray(a) for a in backend.cos_sin(positions, 128))
            assert c.dtype == s.dtype == np.float64
            assert np.all(np.abs(c - cos) <= budget)
            assert np.all(np.abs(s - sin) <= budget)


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "uint8", "uint16", "uint32"])
def test_limbs_of_every_integer_dtype(kind):
    """Positions of any dtype become the two's complement of 64 bits, on either side."""
    info = np.iinfo(kind)
    values = np.array([info.min, 0, 1, info.max], dtype=kind)
    expected = [int(v) % 2**64 for v in values]
    for positions in (values, jnp.asarray(values)):
        low, high = (np.asarray(limb) for limb in both_limbs(limbs_of(positions)))
        assert [int(b) << 32 | int(a) for a, b in zip(low, high, strict=True)] == expected


def test_limbs_of_int64():
    """The same for int64, in NumPy without and in JAX with x64."""
    values = np.array([-(2**63), -1, 2**32, 2**63 - 1])
    expected = [int(v) % 2**64 for v in values]
    low, high = (np.asarray(limb) for limb in both_limbs(limbs_of(values)))
    assert [int(b) << 32 | int(a) for a, b in zip(low, high, strict=True)] == expected
    with jax.enable_x64(True):
        low, high = (np.asarray(limb) for limb in both_limbs(limbs_of(jnp.asarray(values))))
    assert [int(b) << 32 | int(a) for a, b in zip(low, high, strict=True)] == expected


@LAYOUTS
def test_float64_under_x64(interleaved):
    """With x64 a float64 x is computed in float64, and stays float64."""
    x = draw(SHAPE, "float64")
    expected = reference.apply_rotary(x, M, interleaved=interleaved)
    with jax.enable_x64(True):
        y = backend.apply_rotary(jnp.asarray(x), jnp.asarray(M), interleaved=interleaved)
        dense = backend.apply_rotary_dense(jnp.asarray(x), M, interleaved=interleaved)
        y, dense = np.asarray(y), np.asarray(dense)

    assert y.dtype == np.float64
    assert np.all(np.abs(y - expected) <= bound(x, M, interleaved=interleaved))
    assert np.all(np.abs(dense - expected) <= 3 * bound(x, M, interleaved=interleaved))


def test_float32_stays_float32_under_x64():
    """With x64 on, a float32 x gives the float32 result it gives without, and the tables widen."""
    x = draw(SHAPE)
    plain = np.asarray(backend.apply_rotary(jnp.asarray(x), M, interleaved=True))
    with jax.enable_x64(True):
        y = backend.apply_rotary(jnp.asarray(x), jnp.asarray(M), interleaved=True)
        assert y.dtype == np.float32
        np.testing.assert_allclose(np.asarray(y), plain, rtol=0, atol=1e-6)
        assert backend.inv_freq(8).dtype == np.float64
        assert backend.precompute_freqs_cis(8, 3).dtype == np.complex128
    assert backend.inv_freq(8).dtype == np.float32


def cases(*, wide):
    """List calls of every function but those of the sparse form, as (name, arguments, keywords)."""
    work = "float64" if wide else "float32"
    x, q = draw((2, 3, 4, 8), work), draw((2, 4, 3, 8), work)
    m, layout = np.array([4, -2, 2**10]), {"interleaved": False, "base": 500.0}
    rows, weight = draw((2, 3, 5), work), draw((4, 8, 5), work, 1)
    v, k = draw((2, 3, 2, 6), work, 2), draw((2, 3, 2, 8), work, 3)
    z = reference.to_complex(x)
    freqs = reference.precompute_freqs_cis(8, 3)
    mask = np.tri(3, dtype=bool)
    mask[0] = False
    attend = {"query_positions": m, "key_positions": m, "interleaved": True}
    return [
        ("inv_freq", (8, 500.0), {}),
        ("angles", (m, reference.inv_freq(8)), {}),
        ("cos_sin", (m, 8), {}),
        ("sinusoidal_embedding", (m[None], 8), {}),
        ("to_complex", (x,), {}),
        ("from_complex", (z,), {}),
        ("rotation_matrix", (m, 8), {"interleaved": True}),
        ("rotation_matrix", (7, 8), layout),
        ("apply_rotary_cos_sin", (x, *reference.cos_sin(m, 8)), {"interleaved": True}),
        ("interleaved_to_half", (x,), {}),
        ("half_to_interleaved", (x,), {}),
        ("project_query", (rows, m, weight), layout),
        ("project_key", (rows, m, weight), layout),
        ("project_query", (rows, m, weight), {**layout, "rotary_dim": 6}),
        ("project_key", (rows, m, weight[:, :7]), {"interleaved": True, "rotary_dim": 2}),
        ("project_value", (rows, weight), {}),
        ("relative_score", (x, x + 1, np.array([[1], [-3], [2**10]])), {"interleaved": True}),
        ("attention", (x, k, v), {**attend, "mask": mask}),
        ("attention", (x, k, v), attend),
        ("relative_score", (x, x + 1, 5), {"interleaved": True, "rotary_dim": 4}),
        ("relative_score", (x[0, 0, :, :7], x[0, 1, :, :7], -3), {**layout, "rotary_dim": 6}),
        ("attention", (x, k, v), {**attend, "rotary_dim": 4, "mask": mask}),
        ("attention", (x[..., :7], k[..., :7], v), {**attend, **layout, "rotary_dim": 2}),
        ("decay_bound", (m, 8), {}),
        ("sinusoidal_position_embedding", (2, 1, 3, 8, None), {}),
        ("RoPE", (q, q[:, :2]), {}),
        ("precompute_freqs_cis", (8, 3), {}),
        ("reshape_for_broadcast", (freqs, z), {}),
        ("apply_rotary_emb", (x, k, freqs), {}),
    ]


def run(case):
    """Call the backend: floats, complex numbers and masks as JAX arrays, positions as they are."""
    name, arguments, keywords = case

    def converted(value):
        positions = not isinstance(value, np.ndarray) or value.dtype == np.int64
        return value if positions else jnp.asarray(value)

    found = getattr(backend, name)(
        *(converted(a) for a in arguments), **{k: converted(a) for k, a in keywords.items()}
    )
    return [np.asarray(one) for one in (found if isinstance(found, tuple) else (found,))]


def test_the_cases_name_every_function():
    """Together with the forms tested above the cases cover the whole API."""
    forms = {"apply_rotary", "apply_rotary_dense", "apply_rotary_complex"}

    assert {name for name, _, _ in cases(wide=False)} | forms == set(backend.__all__)


@pytest.mark.parametrize("index", range(len(cases(wide=False))))
def test_every_other_function_agrees_with_the_reference(index):
    """Shapes are those of the reference; values agree to a few units of float32."""
    name, arguments, keywords = case = cases(wide=False)[index]
    expected = getattr(reference, name)(*arguments, **keywords)
    expected = expected if isinstance(expected, tuple) else (expected,)

    for one, other in zip(run(case), expected, strict=True):
        assert one.shape == other.shape
        assert one.dtype in (np.float32, np.complex64)
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("name", ["attention", "decay_bound", "relative_score", "RoPE"])
def test_functions_widen_under_x64(name):
    """With x64 they have the reference's dtype too, and values agree to units of float64."""
    case = next(case for case in cases(wide=True) if case[0] == name)
    expected = getattr(reference, name)(*case[1], **case[2])
    expected = expected if isinstance(expected, tuple) else (expected,)
    with jax.enable_x64(True):
        found = run(case)

    for one, other in zip(found, expected, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(one, other, rtol=2e-12, atol=2e-12)


@ALL_DTYPES
def test_half_precision_results_are_rounded_once(dtype):
    """PROJ-1, REL-5, ATT-1: sums are kept in float32 at least; only the result is narrow."""
    x, k, v = draw((2, 3, 4, 8), dtype), draw((2, 3, 2, 8), dtype, 3), draw((2, 3, 2, 6), dtype, 2)
    m = np.array([4, -2, 2**10])
    options = {"query_positions": m, "key_positions": m, "interleaved": True}
    places = 2 * float(ml_dtypes.finfo(x.dtype).eps)
    output, weights = backend.attention(*(jnp.asarray(a) for a in (x, k, v)), **options)
    expected = reference.attention(x, k, v, **options)
    score = backend.relative_score(jnp.asarray(x), jnp.asarray(x), 3, interleaved=True)

    assert output.dtype == weights.dtype == score.dtype == x.dtype
    for one, other in zip((output, weights), expected, strict=True):
        assert np.all(difference(one, other) <= places * np.abs(np.float64(other)) + 1e-6)
    other = reference.relative_score(x, x, 3, interleaved=True)
    assert np.all(difference(score, other) <= places * np.abs(np.float64(other)) + 1e-5)


@LAYOUTS
@ALL_DTYPES
def test_nan_and_infinity_stay_in_their_pair(interleaved, dtype):
    """ROT-16: all pairs but the spoilt ones keep their values, which the dense form breaks."""
    x = draw(SHAPE, dtype)
    spoilt = x.copy()
    spoilt[0, 0, 0, 2], spoilt[1, 1, 1, 7] = np.nan, np.inf
    y, clean, dense = (
        np.asarray(form(jnp.asarray(a), M, interleaved=interleaved))
        for form, a in (
            (backend.apply_rotary, spoilt),
            (backend.apply_rotary, x),
            (backend.apply_rotary_dense, spoilt),
        )
    )
    touched = np.zeros(SHAPE, dtype=bool)
    touched[0, 0, 0, [2, 3] if interleaved else [2, 6]] = True
    touched[1, 1, 1, [6, 7] if interleaved else [3, 7]] = True

    assert np.array_equal(bits(y)[~touched], bits(clean)[~touched])
    assert not np.isfinite(y[touched].astype(np.float32)).any()
    assert np.isnan(dense[0, 0, 0].astype(np.float32)).all()


@LAYOUTS
@ALL_DTYPES
def test_dense_form_spoils_one_token_and_head_at_most(interleaved, dtype):
    """ROT-16: beside them all bits stay, those of the tails too."""
    x = draw(SHAPE, dtype)
    spoilt = x.copy()
    spoilt[0, 0, 0, 2], spoilt[1, 1, 1, 5], spoilt[1, 2, 0, 7] = np.nan, np.inf, np.nan
    options = {"interleaved": interleaved, "rotary_dim": 6}
    y, clean = (
        np.array(backend.apply_rotary_dense(jnp.asarray(a), M, **options)) for a in (spoilt, x)
    )
    clean[0, 0, 0, :6], clean[1, 1, 1, :6] = y[0, 0, 0, :6], y[1, 1, 1, :6]
    clean[1, 2, 0, 7] = spoilt[1, 2, 0, 7]

    assert np.array_equal(bits(y), bits(clean))
    for token, pair in ((y[0, 0, 0], [2, 3]), (y[1, 1, 1], [4, 5])):
        assert not np.isfinite(token[pair if interleaved else [2, 5]].astype(np.float32)).any()


@ALL_DTYPES
def test_any_bit_pattern_passes_through_the_tail(dtype):
    """ROT-10, ROT-14: NaN payloads survive in the tail, and position 0 leaves x as it is."""
    width = numpy_dtype(dtype).itemsize
    raw = np.random.default_rng(2).integers(0, 256, 96 * width, dtype=np.uint8)
    x = raw.view(numpy_dtype(dtype)).reshape(SHAPE)
    x[..., :4] = draw((2, 3, 2, 4), dtype)
    y = backend.apply_rotary(jnp.asarray(x), [0, 5, -5], interleaved=True, rotary_dim=4)

    assert np.array_equal(bits(y)[..., 4:], bits(x)[..., 4:])
    assert np.array_equal(bits(y)[:, 0], bits(x)[:, 0])
    assert not np.array_equal(bits(y)[:, 1], bits(x)[:, 1])


@pytest.mark.parametrize("shape", [(0, 3, 2, 8), (2, 0, 2, 8), (2, 3, 0, 8)])
def test_zero_sizes_give_an_empty_result(shape):
    """ROT-18: nothing in, nothing out; no query and no key give no weights, no key gives zeros."""
    x = jnp.zeros(shape, jnp.float16)
    m = np.arange(shape[1])
    for form in (backend.apply_rotary, backend.apply_rotary_dense):
        y = form(x, m, interleaved=True)
        assert (y.shape, y.dtype) == (shape, jnp.float16)
    q = jnp.ones((shape[0], 3, shape[2], 8), jnp.float16)
    output, weights = backend.attention(
        q, x, x, query_positions=M, key_positions=m, interleaved=True
    )
    assert output.shape == q.shape
    assert weights.shape == (shape[0], shape[2], 3, shape[1])
    assert not np.asarray(output).any() or shape[1]


def test_jit_traces_x_and_positions():
    """Under jit, with positions traced or closed over, results are those of an eager call."""
    x, m = jnp.asarray(draw(SHAPE)), jnp.asarray(M, dtype=jnp.int32)
    eager = backend.apply_rotary(x, m, interleaved=False)
    traced = jax.jit(lambda a, p: backend.apply_rotary(a, p, interleaved=False))(x, m)
    closed = jax.jit(lambda a: backend.apply_rotary(a, M, interleaved=False))(x)
    static = jax.jit(backend.apply_rotary, static_argnames=("interleaved", "base", "rotary_dim"))(
        x, m, interleaved=False, base=10000.0, rotary_dim=8
    )

    for one in (traced, closed, static):
        assert np.all(difference(one, eager) <= bound(np.asarray(x), M, interleaved=False))


def test_vmap_over_x_and_over_positions():
    """Mapping over rows, over positions, or over both, gives the rows of the whole."""
    x = jnp.asarray(draw(SHAPE))
    rows = jnp.array([[3, -5, 2**20], [0, 1, 2]], dtype=jnp.int32)

    def rotated(a, p):
        return backend.apply_rotary(a, p, interleaved=True)

    budget = bound(np.asarray(x), rows, interleaved=True)
    both = jax.vmap(rotated)(x, rows)
    assert np.all(difference(both, rotated(x, rows)) <= budget)
    over_x = jax.vmap(rotated, in_axes=(0, None))(x, rows[0])
    assert np.all(difference(over_x, rotated(x, rows[0])) <= budget)
    over_positions = jax.vmap(rotated, in_axes=(None, 0))(x[0], rows)
    for row in range(2):
        expected = rotated(x[0], rows[row])
        assert np.all(difference(over_positions[row], expected) <= budget[row])


@LAYOUTS
@pytest.mark.parametrize("form", ["apply_rotary", "apply_rotary_dense"])
def test_the_gradient_turns_back(interleaved, form):
    """ROT-20: the VJP of R_m is R_-m, the JVP is R_m itself; both without x64, inside jit."""
    x, t = jnp.asarray(draw(SHAPE)), draw(SHAPE, seed=1)
    apply = getattr(backend, form)

    def rotated(a):
        return apply(a, M, interleaved=interleaved, rotary_dim=4)

    def product(a):
        return (rotated(a) * t).sum()

    gradient = jax.jit(jax.grad(product))(x)
    expected = reference.apply_rotary(t, -M, interleaved=interleaved, rotary_dim=4)
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=2e-6)
    _, tangent = jax.jvp(rotated, (x,), (jnp.asarray(t),))
    np.testing.assert_allclose(tangent, rotated(jnp.asarray(t)), rtol=0, atol=2e-6)


def test_gradients_through_attention_are_finite():
    """ATT-4: a row that may attend nowhere sends no NaN back."""
    q = jnp.asarray(draw(SHAPE))
    mask = jnp.array([[False] * 3, [True, False, False], [True] * 3])
    options = {"query_positions": M, "key_positions": M, "interleaved": True, "mask": mask}
    gradient = jax.grad(lambda a: backend.attention(a, a, a, **options)[0].sum())(q)

    assert np.isfinite(np.asarray(gradient)).all()
    assert np.asarray(gradient).any()


def test_an_array_of_another_framework_is_refused():
    """Only a jax.Array will do for x; a traced array is one."""
    with pytest.raises(TypeError, match=r"^x must be a jax.Array; got an array of shape"):
        backend.apply_rotary(draw(SHAPE), M, interleaved=True)


def test_importing_the_backends_imports_no_framework():
    """`import ropespec.backends` loads none of the frameworks; the JAX backend loads JAX."""
    code = (
        "import sys, ropespec.backends; "
        "assert not {'jax', 'torch', 'cupy'} & set(sys.modules); "
        "import ropespec.backends.jax; assert 'jax' in sys.modules; "
        "assert not {'torch', 'cupy', 'ropespec.reference'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": _path()})


def _path():
    return ":".join(path for path in sys.path if path)
