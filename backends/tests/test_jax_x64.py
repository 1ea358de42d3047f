"""What is special to JAX: 32 bits, unless x64 is switched on, and positions of 64."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import ropespec.backends.jax as backend
from ropespec import reference
from ropespec.backends.jax.arrays import both_limbs, limbs_of

SHAPE = (2, 3, 2, 8)
M = np.array([3, -70000, 2**20])
FAR = [0, 1, 2**10, 2**20, 2**31 - 1, -1, -(2**10), -(2**20), -(2**31), -77, 2**30 + 1, 5]


def draw(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


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


def wide_calls():
    """List calls with float64, at positions where the reference is right to 1e-14."""
    x, m = draw((2, 3, 4, 8), "float64"), np.array([4, -2, 12])
    at = {"query_positions": m, "key_positions": m}
    mask = np.tri(3, dtype=bool)
    mask[0] = False
    half = {"interleaved": False, "rotary_dim": 6}
    return [
        ("apply_rotary", (x, m), half),
        ("apply_rotary", (x, m), {"interleaved": True}),
        ("apply_rotary_dense", (x, m), half),
        ("apply_rotary_complex", (x, m), {}),
        ("attention", (x, x, x), {**at, **half, "mask": mask}),
        ("decay_bound", (m, 8), {}),
        ("relative_score", (x, x + 1, 5), half),
        ("RoPE", (x, x[:, :2]), {}),
    ]


@pytest.mark.parametrize("call", wide_calls(), ids=lambda call: call[0])
def test_functions_widen_under_x64(call):
    """With x64 results have the dtype of the reference, and are right to units of float64."""
    name, arguments, keywords = call
    expected = getattr(reference, name)(*arguments, **keywords)
    expected = expected if isinstance(expected, tuple) else (expected,)

    def given(value):
        is_host = not isinstance(value, np.ndarray) or value.dtype == np.int64
        return value if is_host else jnp.asarray(value)

    with jax.enable_x64(True):
        found = getattr(backend, name)(
            *map(given, arguments), **{key: given(value) for key, value in keywords.items()}
        )
        found = [np.asarray(one) for one in (found if isinstance(found, tuple) else (found,))]

    for one, other in zip(found, expected, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(one, other, rtol=2e-12, atol=2e-12)
