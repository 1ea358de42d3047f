import ml_dtypes
import mpmath
import numpy as np
import pytest
import torch

import ropespec.backends.torch as backend
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


def to_torch(array):
    """Copy a NumPy array; torch does not read the bfloat16 of ml_dtypes, so its bits are passed."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.tensor(array.view(np.int16)).view(torch.bfloat16)
    return torch.tensor(array)


def to_numpy(tensor):
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.detach().resolve_conj().numpy()


def bits(array):
    array = to_numpy(array) if isinstance(array, torch.Tensor) else array
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
    y = to_numpy(y) if isinstance(y, torch.Tensor) else y
    return np.abs(y.astype(np.float64) - expected.astype(np.float64))


@LAYOUTS
@ALL_DTYPES
@pytest.mark.parametrize("rotary_dim", [None, 4, 8])
def test_torch_apply_rotary_agrees_with_the_reference(interleaved, dtype, rotary_dim):
    """ROT-6, ROT-7, ROT-14: within the error budget; the tail bit for bit; layouts differ."""
    x = draw(SHAPE, dtype)
    options = {"rotary_dim": rotary_dim, "base": 500.0}
    y = backend.apply_rotary(to_torch(x), M, interleaved=interleaved, **options)
    expected = reference.apply_rotary(x, M, interleaved=interleaved, **options)
    d = rotary_dim or 8
    limit = budget(x[..., :d], M, interleaved=interleaved)

    assert (y.shape, y.dtype) == (x.shape, getattr(torch, dtype))
    assert np.all(difference(y, expected)[..., :d] <= limit)
    assert np.array_equal(bits(y)[..., d:], bits(x)[..., d:])
    other = reference.apply_rotary(x, M, interleaved=not interleaved, **options)
    assert np.any(difference(other, expected)[..., :d] > limit)


@LAYOUTS
@ALL_DTYPES
@pytest.mark.parametrize("rotary_dim", [None, 4])
def test_torch_dense_and_complex_forms(interleaved, dtype, rotary_dim):
    """ROT-3, ROT-4, ROT-8: the other forms are right within the budget of the sparse form."""
    x = draw(SHAPE, dtype)
    d = rotary_dim or 8
    limit = budget(x[..., :d], M, interleaved=interleaved)
    expected = reference.apply_rotary(x, M, interleaved=interleaved, rotary_dim=rotary_dim)
    options = {"rotary_dim": rotary_dim}
    found = [backend.apply_rotary_dense(to_torch(x), M, interleaved=interleaved, **options)]
    if interleaved:
        found.append(backend.apply_rotary_complex(to_torch(x), M, **options))

    for y in found:
        assert y.dtype == getattr(torch, dtype)
        assert np.all(difference(y, expected)[..., :d] <= limit)
        assert np.array_equal(bits(y)[..., d:], bits(x)[..., d:])


FAR = [0, 1, 2**10, 2**20, 2**31 - 1, -1, -(2**10), -(2**20), -(2**31 - 1), 2**40 + 3]


def exact_cos_sin(positions, dim):
    """Cos and sin of m * theta_i, correctly rounded to float64."""
    cos, sin = np.empty((2, len(positions), dim // 2))
    with mpmath.workprec(200):
        for i in range(dim // 2):
            theta = mpmath.mpf(10000) ** (mpmath.mpf(-2 * i) / dim)
            for row, m in enumerate(positions):
                cos[row, i], sin[row, i] = mpmath.cos(m * theta), mpmath.sin(m * theta)
    return cos, sin


def test_torch_cos_and_sin_are_as_good_far_away_as_nearby():
    """FREQ-9: right to 1e-15 and the |m| 2^-65 turns by which T_i was rounded."""
    cos, sin = exact_cos_sin(FAR, 64)
    far = np.abs(np.array(FAR, dtype=np.float64))[:, None]
    limit = 1e-15 + far * 2 * np.pi * 2.0**-65
    for positions in (FAR, np.array(FAR), torch.tensor(FAR)):
        found = backend.cos_sin(positions, 64)
        assert found[0].dtype == found[1].dtype == torch.float64
        assert np.all(difference(found[0], cos) <= limit)
        assert np.all(difference(found[1], sin) <= limit)
    naive = torch.tensor(FAR)[:, None] * backend.inv_freq(64)
    assert np.any(difference(naive.cos(), cos) > limit)


@LAYOUTS
def test_torch_float32_does_not_lose_the_angle(interleaved):
    """FREQ-9: 3e-7 of the pair at any position; an angle in float32 would be off by 0.05."""
    x = to_torch(draw((len(FAR), 2, 128)))
    y = backend.apply_rotary(x, FAR, interleaved=interleaved)
    wide = backend.apply_rotary(x.double(), FAR, interleaved=interleaved)
    flat = torch.tensor(FAR, dtype=torch.float32)[:, None] * backend.inv_freq(128).float()

    assert (y - wide).abs().max() <= 3e-7 * 2 * x.abs().max()
    assert (flat.cos() - backend.cos_sin(FAR, 128)[0]).abs().max() > 0.02


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "uint8", "uint16", "uint32"])
def test_torch_positions_of_every_integer_dtype(kind):
    """FREQ-6: tensors and NumPy arrays of all integer dtypes are read alike, to their ends."""
    info = np.iinfo(kind)
    values = np.array([info.min, 5, info.max], dtype=kind)
    expected = backend.cos_sin([int(v) for v in values], 8)
    for positions in (values, torch.tensor(values.astype(np.int64)).to(getattr(torch, kind))):
        for one, other in zip(backend.cos_sin(positions, 8), expected, strict=True):
            assert torch.equal(one, other)


@LAYOUTS
@ALL_DTYPES
def test_torch_nan_and_infinity_stay_in_their_pair(interleaved, dtype):
    """ROT-16: all pairs but the spoilt ones keep their values, which the dense form breaks."""
    x = to_torch(draw(SHAPE, dtype))
    spoilt = x.clone()
    spoilt[0, 0, 0, 2], spoilt[1, 1, 1, 7] = torch.nan, torch.inf
    y, clean = (backend.apply_rotary(a, M, interleaved=interleaved) for a in (spoilt, x))
    touched = torch.zeros(SHAPE, dtype=torch.bool)
    touched[0, 0, 0, [2, 3] if interleaved else [2, 6]] = True
    touched[1, 1, 1, [6, 7] if interleaved else [3, 7]] = True

    assert torch.equal(y[~touched], clean[~touched])
    assert not y[touched].isfinite().any()
    assert backend.apply_rotary_dense(spoilt, M, interleaved=interleaved)[0, 0, 0].isnan().all()


@LAYOUTS
@ALL_DTYPES
def test_torch_dense_form_spoils_one_token_and_head_at_most(interleaved, dtype):
    """ROT-16: beside them all bits stay, those of the tails too."""
    x = to_torch(draw(SHAPE, dtype))
    spoilt = x.clone()
    spoilt[0, 0, 0, 2], spoilt[1, 1, 1, 5], spoilt[1, 2, 0, 7] = torch.nan, torch.inf, torch.nan
    y, clean = (
        backend.apply_rotary_dense(a, M, interleaved=interleaved, rotary_dim=6) for a in (spoilt, x)
    )
    clean[0, 0, 0, :6], clean[1, 1, 1, :6] = y[0, 0, 0, :6], y[1, 1, 1, :6]
    clean[1, 2, 0, 7] = spoilt[1, 2, 0, 7]

    assert np.array_equal(bits(y), bits(clean))
    assert not y[0, 0, 0, [2, 3] if interleaved else [2, 5]].isfinite().any()
    assert not y[1, 1, 1, [4, 5] if interleaved else [2, 5]].isfinite().any()


@ALL_DTYPES
def test_torch_any_bit_pattern_passes_through_the_tail(dtype):
    """ROT-14: NaN payloads, signalling ones too, are copied as they are."""
    width = numpy_dtype(dtype).itemsize
    raw = np.random.default_rng(2).integers(0, 256, 96 * width, dtype=np.uint8)
    x = raw.view(numpy_dtype(dtype)).reshape(SHAPE)
    t, m = to_torch(x), torch.tensor([0, 5, -5])
    for y in (
        backend.apply_rotary(t, m, interleaved=True, rotary_dim=4),
        backend.apply_rotary_dense(t, m, interleaved=True, rotary_dim=4),
        backend.apply_rotary_complex(t, m, rotary_dim=4),
    ):
        assert np.array_equal(bits(y)[..., 4:], bits(x)[..., 4:])


@LAYOUTS
@ALL_DTYPES
def test_torch_result_depends_on_values_alone(interleaved, dtype):
    """ROT-19: other strides, axis orders, and chunks of the sequence give the same bits."""
    x = to_torch(draw((3, 5, 2, 16), dtype))
    m = torch.tensor([5, -3, 0, 9, 2**10])
    options = {"interleaved": interleaved, "rotary_dim": 12}
    expected = bits(backend.apply_rotary(x, m, **options))
    strided = torch.zeros((3, 10, 2, 32), dtype=x.dtype)[:, ::2, :, ::2].copy_(x)
    swapped = x.transpose(1, 2).contiguous().transpose(1, 2)
    chunks = [backend.apply_rotary(x[:, [s]], m[[s]], **options) for s in range(5)]

    assert not strided.is_contiguous()
    assert not swapped.is_contiguous()
    for y in (
        backend.apply_rotary(strided, m, **options),
        backend.apply_rotary(swapped, m, **options),
        torch.cat(chunks, dim=1),
    ):
        assert np.array_equal(bits(y), expected)


@FORMS
def test_torch_positions_per_row_and_broadcast(form):
    """ROT-19: (S,), (1, S) and (B, S) positions, tensors, arrays and lists are alike."""
    x = to_torch(draw(SHAPE))
    apply = getattr(backend, form)
    rows = torch.tensor([[3, -7, 2], [1, 0, 100]])
    y = apply(x, rows, interleaved=True)
    for b in range(2):
        assert torch.equal(y[b], apply(x[b], rows[b], interleaved=True))
    same = apply(x, rows[1], interleaved=True)
    for positions in (rows[1:], rows[1].tolist(), rows[1].numpy(), rows[1].to(torch.uint8)):
        assert torch.equal(apply(x, positions, interleaved=True), same)
    assert not torch.equal(y, same)


@ALL_DTYPES
def test_torch_inputs_are_not_written_and_outputs_are_new(dtype):
    """ROT-17: x keeps its bits, and no output shares its storage."""
    x, m = to_torch(draw((2, 3, 4, 8), dtype)), torch.tensor([0, 0, 0])
    before, at = bits(x).copy(), {"query_positions": m, "key_positions": m}
    for y in (
        backend.apply_rotary(x, m, interleaved=False, rotary_dim=4),
        backend.apply_rotary(x, m, interleaved=True),
        backend.apply_rotary_dense(x, m, interleaved=False),
        backend.apply_rotary_complex(x, m),
        backend.interleaved_to_half(x),
        backend.half_to_interleaved(x),
        backend.to_complex(x),
        backend.from_complex(backend.to_complex(x)),
        backend.project_value(x[0], x[0]),
        *backend.RoPE(x, x),
        *backend.attention(x, x, x, **at, interleaved=True),
    ):
        assert y.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()

    assert np.array_equal(bits(x), before)
    assert m.tolist() == [0, 0, 0]


@pytest.mark.parametrize("shape", [(0, 3, 2, 8), (2, 0, 2, 8), (2, 3, 0, 8)])
def test_torch_zero_sizes_give_an_empty_result(shape):
    """ROT-18, ATT-4: nothing in, nothing out; without any key the output is zero."""
    x, m = torch.zeros(shape, dtype=torch.float16), torch.arange(shape[1])
    for form in (backend.apply_rotary, backend.apply_rotary_dense):
        y = form(x, m, interleaved=True)
        assert (y.shape, y.dtype) == (shape, torch.float16)
    assert backend.apply_rotary_complex(x, m).shape == shape
    q = torch.ones((shape[0], 3, shape[2], 8), dtype=torch.float16)
    options = {"query_positions": M, "key_positions": np.arange(shape[1]), "interleaved": True}
    found = backend.attention(q, x, x, **options)
    expected = reference.attention(*(a.numpy() for a in (q, x, x)), **options)
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one.numpy(), other)


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
        ("apply_rotary_cos_sin", (x, *reference.cos_sin(m, 6)), {"interleaved": True}),
        ("apply_rotary_cos_sin", (x, *reference.cos_sin(m[None], 8)), {"interleaved": False}),
        ("apply_rotary_emb", (x, k, freqs), {}),
        ("apply_rotary_emb", (x, k.astype(np.float32), freqs.astype(np.complex64)), {}),
    ]


def test_torch_cases_name_every_function():
    """Together with the forms tested above the cases cover the whole API."""
    forms = {"apply_rotary", "apply_rotary_dense", "apply_rotary_complex"}

    assert {name for name, _, _ in cases("float32")} | forms == set(backend.__all__)


def run(name, arguments, keywords):
    """Call the backend with tensors in place of all arrays."""

    def converted(value):
        return to_torch(value) if isinstance(value, np.ndarray) else value

    found = getattr(backend, name)(
        *(converted(a) for a in arguments), **{k: converted(a) for k, a in keywords.items()}
    )
    return [to_numpy(one) for one in (found if isinstance(found, tuple) else (found,))]


@ALL_DTYPES
@pytest.mark.parametrize("index", range(len(cases("float32"))))
def test_torch_every_other_function_agrees_with_the_reference(dtype, index):
    """Shapes and dtypes are the reference's; values agree to places of the arithmetic and dtype."""
    name, arguments, keywords = cases(dtype)[index]
    expected = getattr(reference, name)(*arguments, **keywords)
    expected = expected if isinstance(expected, tuple) else (expected,)

    for one, other in zip(run(name, arguments, keywords), expected, strict=True):
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


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@LAYOUTS
@ALL_DTYPES
def test_torch_on_cuda(interleaved, dtype):
    """ROT-17: on a GPU, with positions on either side, within the same budget."""
    x = draw(SHAPE, dtype)
    limit = budget(x, M, interleaved=interleaved)
    expected = reference.apply_rotary(x, M, interleaved=interleaved)
    for positions in (M, torch.tensor(M), torch.tensor(M, device="cuda")):
        y = backend.apply_rotary(to_torch(x).cuda(), positions, interleaved=interleaved)
        assert y.device.type == "cuda"
        assert np.all(difference(y.cpu(), expected) <= limit)


def test_torch_parameters_are_tensors():
    """A Parameter is rotated like any other tensor, and its gradient is tracked."""
    y = backend.apply_rotary(torch.nn.Parameter(torch.ones(3, 1, 4)), M, interleaved=True)

    assert y.requires_grad
    assert torch.equal(y.detach(), backend.apply_rotary(torch.ones(3, 1, 4), M, interleaved=True))


def test_torch_refuses_other_arrays():
    """Only a torch.Tensor will do for x; the words are the specification's."""
    with pytest.raises(ArgumentError, match=r"^x must be a torch.Tensor; got an array of shape"):
        backend.apply_rotary(draw(SHAPE), M, interleaved=True)
