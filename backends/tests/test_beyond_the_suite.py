"""What the suite does not ask of an implementation, for all frameworks at once."""

import importlib

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import torch

from ropespec import reference
from ropespec.spec.errors import ArgumentTypeError

BACKENDS = ("numpy", "torch", "jax")
EVERYWHERE = pytest.mark.parametrize("backend", BACKENDS, indirect=True)
WRITABLE = pytest.mark.parametrize("backend", ["numpy", "torch"], indirect=True)
LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
ALL_DTYPES = pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
SHAPE = (2, 3, 2, 8)
M = np.array([3, -700, 2**10])


def numpy_dtype(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def draw(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(numpy_dtype(dtype))


def to_torch(array):
    """Copy a NumPy array; torch does not read the bfloat16 of ml_dtypes, so its bits are passed."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.tensor(array.view(np.int16)).view(torch.bfloat16)
    return torch.tensor(array)


def to_numpy(array):
    if not isinstance(array, torch.Tensor):
        return np.asarray(array)
    if array.dtype == torch.bfloat16:
        return array.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return array.resolve_conj().numpy()


def bits(array):
    array = np.ascontiguousarray(to_numpy(array))
    return array.view(f"u{array.dtype.itemsize}")


class Backend:
    """A backend, and how arrays get there."""

    MAKE = {"numpy": np.copy, "torch": to_torch, "jax": jnp.asarray}

    def __init__(self, name):
        self.name, self.make = name, self.MAKE[name]
        self.module = importlib.import_module(f"ropespec.backends.{name}")

    def __call__(self, function, *arguments, **keywords):
        """Call with arrays of the framework; integers are positions, and stay on the host."""
        found = getattr(self.module, function)(
            *map(self.given, arguments), **{k: self.given(a) for k, a in keywords.items()}
        )
        return found if isinstance(found, tuple) else (found,)

    def given(self, value):
        """Return an array as one of the framework, all else as it is."""
        is_host = not isinstance(value, np.ndarray) or value.dtype == np.int64
        return value if is_host else self.make(value)


@pytest.fixture(name="backend")
def _backend(request):
    return Backend(request.param)


def forms(backend, x, positions, **options):
    """Return the rotation of x in each of its forms, with adjacent pairs."""
    return [
        *backend("apply_rotary", x, positions, interleaved=True, **options),
        *backend("apply_rotary_dense", x, positions, interleaved=True, **options),
        *backend("apply_rotary_complex", x, positions, **options),
    ]


@EVERYWHERE
@ALL_DTYPES
def test_any_bit_pattern_passes_through_the_tail(backend, dtype):
    """ROT-14: NaN payloads, signalling ones too, are copied as they are; no form warns."""
    if (backend.name, dtype) == ("jax", "float64"):
        pytest.skip("JAX has no float64 unless x64 is switched on")
    width = numpy_dtype(dtype).itemsize
    raw = np.random.default_rng(2).integers(0, 256, 96 * width, dtype=np.uint8)
    x = raw.view(numpy_dtype(dtype)).reshape(SHAPE)
    for y in forms(backend, x, [0, 5, -5], rotary_dim=4):
        assert np.array_equal(bits(y)[..., 4:], bits(x)[..., 4:])
        assert not np.array_equal(bits(y)[:, 1], bits(x)[:, 1])


@WRITABLE
@LAYOUTS
@ALL_DTYPES
def test_the_bits_depend_on_values_alone(backend, interleaved, dtype):
    """ROT-19: other strides, other orders of axes, and tokens one by one give the same bits."""
    x = draw((3, 5, 2, 16), dtype)
    m = np.array([5, -3, 0, 9, 2**10])
    options = {"interleaved": interleaved, "rotary_dim": 12}
    rotate = backend.module.apply_rotary
    given = backend.make(x)
    expected = bits(rotate(given, m, **options))
    strided = backend.make(np.zeros((3, 10, 2, 32), x.dtype))[:, ::2, :, ::2]
    strided[...] = given
    swapped = backend.make(np.ascontiguousarray(x.swapaxes(1, 2))).swapaxes(1, 2)
    alone = [bits(rotate(given[:, [s]], m[[s]], **options)) for s in range(5)]

    assert np.array_equal(bits(rotate(strided, m, **options)), expected)
    assert np.array_equal(bits(rotate(swapped, m, **options)), expected)
    assert np.array_equal(np.concatenate(alone, axis=1), expected)


def test_numpy_steps_backwards():
    """ROT-19: strides below zero, which torch does not have, give the same bits."""
    x, m = draw((3, 5, 2, 16)), np.arange(5)
    backend = Backend("numpy")
    backwards = np.zeros((3, 10, 2, 32), x.dtype)[:, ::-2, ::-1, ::-2]
    backwards[...] = x
    (expected,) = backend("apply_rotary", x, m, interleaved=True)

    assert backwards.strides[-1] < 0
    found = backend.module.apply_rotary(backwards, m, interleaved=True)
    assert np.array_equal(bits(found), bits(expected))


def memory_of(array):
    """Return where the memory of an array starts, before any view."""
    if isinstance(array, torch.Tensor):
        return array.untyped_storage().data_ptr()
    while array.base is not None:
        array = array.base
    return array.ctypes.data


@WRITABLE
@ALL_DTYPES
def test_what_is_derived_writes_to_no_argument_and_returns_new_memory(backend, dtype):
    """ROT-17: positions at 0 and equal layouts are no reason to return an argument."""
    x, m = draw((2, 3, 4, 8), dtype), np.array([0, 0, 0])
    given, of = backend.make(x), backend.module
    at = {"query_positions": m, "key_positions": m}
    z = of.to_complex(given)
    for y in (
        *forms(Backend(backend.name), x, m),
        of.apply_rotary_dense(given, m, interleaved=False),
        of.interleaved_to_half(given),
        of.half_to_interleaved(given),
        z,
        of.from_complex(z),
        of.project_query(given[0], [0, 0, 0, 0], given[0], interleaved=False),
        of.project_value(given[0], given[0]),
        *of.RoPE(given, given),
        *of.attention(given, given, given, **at, interleaved=True),
    ):
        assert memory_of(y) != memory_of(given)
        assert memory_of(y) != memory_of(z) or y is z
        y[...] = 1

    assert np.array_equal(bits(given), bits(x))


@EVERYWHERE
@pytest.mark.parametrize("shape", [(0, 3, 2, 8), (2, 0, 2, 8), (2, 3, 0, 8)])
def test_zero_sizes_give_an_empty_result_in_every_form(backend, shape):
    """ROT-18, ATT-4: nothing in, nothing out; without any key the output is zero."""
    x, m = np.zeros(shape, np.float16), np.arange(shape[1])
    for y in forms(backend, x, m):
        assert to_numpy(y).shape == shape
        assert to_numpy(y).dtype == np.float16
    q = np.ones((shape[0], 3, shape[2], 8), np.float16)
    options = {"query_positions": M, "key_positions": m, "interleaved": True}
    found = backend("attention", q, x, x, **options)
    for one, other in zip(found, reference.attention(q, x, x, **options), strict=True):
        assert np.array_equal(to_numpy(one), other)


def odd_calls():
    """List calls with widths, positions and dtypes that the suite does not draw."""
    x, v = draw((2, 3, 4, 7)), draw((2, 3, 2, 6), seed=2)
    k = draw((2, 3, 2, 7), seed=3)
    half = {"interleaved": False, "base": 500.0}
    near = np.array([4, -2, 12])
    at = {"query_positions": near, "key_positions": near}
    mask = np.tri(3, dtype=bool)
    weight, rows = draw((4, 7, 5), seed=1), draw((2, 3, 5))
    freqs = reference.precompute_freqs_cis(8, 3).astype(np.complex64)
    wide = draw((2, 3, 4, 8))
    return {
        "one angle": ("cos_sin", (7, 8), {}),
        "one row": ("sinusoidal_embedding", (3, 8, 500), {}),
        "one matrix": ("rotation_matrix", (7, 8), half),
        "one offset": ("decay_bound", (0, 8), {}),
        "one vector": ("relative_score", (wide[0, 0, 0], wide[0, 0, 1], -4), half),
        "odd width": ("relative_score", (x[0], x[1], -3), {**half, "rotary_dim": 6}),
        "odd heads": ("attention", (x, k, v), {**at, **half, "rotary_dim": 2, "mask": mask}),
        "odd queries": ("project_query", (rows, near, weight), {**half, "rotary_dim": 6}),
        "odd keys": ("project_key", (rows, near, weight), {**half, "rotary_dim": 2}),
        "mask of all axes": (
            "attention",
            (x[..., :6], k[..., :6], v),
            {**at, "interleaved": True, "mask": mask[None, None]},
        ),
        "two dtypes": ("apply_rotary_emb", (wide.astype(np.float16), wide, freqs), {}),
        "other lengths": ("RoPE", (wide, wide[:, :2, :2]), {}),
    }


@EVERYWHERE
@pytest.mark.parametrize("call", odd_calls().values(), ids=odd_calls())
def test_calls_that_the_suite_does_not_draw(backend, call):
    """Odd widths with an even part that turns, a single position, arguments unlike each other."""
    name, arguments, keywords = call
    expected = getattr(reference, name)(*arguments, **keywords)
    found = backend(name, *arguments, **keywords)
    expected = expected if isinstance(expected, tuple) else (expected,)

    for one, other in zip(map(to_numpy, found), expected, strict=True):
        assert one.shape == other.shape
        place = max(4e-6, 2 * float(ml_dtypes.finfo(other.real.dtype).eps))
        np.testing.assert_allclose(one, other, rtol=place, atol=place)


@EVERYWHERE
def test_a_result_without_axes_is_an_array_of_the_framework(backend):
    """API-1: NumPy makes numbers of arrays without axes; a caller gets an array."""
    (found,) = backend("decay_bound", 0, 8)

    assert type(found) is type(backend.module.inv_freq(8))
    assert found.shape == ()


@EVERYWHERE
def test_a_masked_key_has_no_say(backend):
    """ATT-2, ATT-4: NaN in the scores of masked keys does not reach the weights."""
    q = draw((1, 3, 2, 8))
    k = q.copy()
    k[:, 2] = np.nan
    mask = np.array([[True, True, False]] * 2 + [[False] * 3])
    options = {"query_positions": M, "key_positions": M, "interleaved": True, "mask": mask}
    output, weights = map(to_numpy, backend("attention", q, k, q, **options))

    assert np.isfinite(output).all()
    np.testing.assert_allclose(weights[..., :2, :].sum(axis=-1), 1, rtol=1e-6)
    assert not weights[..., 2].any()
    assert not weights[..., 2, :].any()
    assert not output[:, 2].any()


@EVERYWHERE
def test_an_array_of_another_framework_is_refused(backend):
    """ROT-21: NumPy takes no tensor, the others take no array of NumPy."""
    other = to_torch(draw(SHAPE)) if backend.name == "numpy" else draw(SHAPE)
    own = {"numpy": "numpy.ndarray", "torch": "torch.Tensor", "jax": "jax.Array"}[backend.name]
    with pytest.raises(ArgumentTypeError, match=rf"^x must be a {own}; got "):
        backend.module.apply_rotary(other, M, interleaved=True)
