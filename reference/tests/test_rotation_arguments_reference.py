"""Chapter `rotation`: what goes in and what comes out, ROT-14 to ROT-21."""

import ml_dtypes
import numpy as np
import pytest

from ropespec.reference import (
    apply_rotary,
    apply_rotary_complex,
    apply_rotary_dense,
    rotation_matrix,
)
from ropespec.reference.arrays import round_to
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

EPS = np.finfo(np.float64).eps
DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


def _sparse(x, positions, **options):
    return apply_rotary(x, positions, interleaved=True, **options)


def _sparse_half(x, positions, **options):
    return apply_rotary(x, positions, interleaved=False, **options)


def _dense(x, positions, **options):
    return apply_rotary_dense(x, positions, interleaved=True, **options)


def _dense_half(x, positions, **options):
    return apply_rotary_dense(x, positions, interleaved=False, **options)


FORMS = [_sparse, _sparse_half, _dense, _dense_half, apply_rotary_complex]
HALF = [_sparse_half, _dense_half]

forms = pytest.mark.parametrize("form", FORMS)
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)


def _vectors(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def _bits(x):
    return np.ascontiguousarray(x).view(np.uint8)


@forms
@dtypes
@pytest.mark.parametrize("rotary_dim", [2, 4, 6])
def test_rot_14_tail_passes_bit_for_bit(form, dtype, rotary_dim):
    """Components from rotary_dim on keep their bits, NaN payloads and signed zeros included."""
    x = _vectors(2, 5, 3, 7).astype(dtype)
    x[0, 0, 0, -1] = np.nan
    x[0, 1, 0, -1] = -np.inf
    x[0, 2, 0, -1] = -0.0
    payload = _bits(x[0, 0, 0, -1:]).copy()
    payload[0] ^= 1  # another NaN than the usual one
    x[0, 0, 0, -1:] = payload.view(dtype)
    y = form(x, np.arange(5), rotary_dim=rotary_dim)
    np.testing.assert_array_equal(_bits(y[..., rotary_dim:]), _bits(x[..., rotary_dim:]))


@forms
@pytest.mark.parametrize("rotary_dim", [2, 4, 6])
def test_rot_14_head_is_rotated_as_a_vector_of_its_own(form, rotary_dim):
    """Frequencies and pairs are those of rotary_dim, not of the whole head."""
    x = _vectors(5, 3, 8)
    head = np.ascontiguousarray(x[..., :rotary_dim])
    y = form(x, np.arange(5), rotary_dim=rotary_dim, base=100.0)
    np.testing.assert_array_equal(y[..., :rotary_dim], form(head, np.arange(5), base=100.0))
    whole = form(x, np.arange(5), base=100.0)[..., :rotary_dim]
    if rotary_dim > 2 or form in HALF:
        assert not np.allclose(y[..., :rotary_dim], whole)


@forms
def test_rot_14_rotary_dim_of_the_whole_head_is_the_default(form):
    """None stands for D."""
    x = _vectors(5, 3, 8)
    np.testing.assert_array_equal(form(x, range(5), rotary_dim=8), form(x, range(5)))


@forms
@pytest.mark.parametrize("positions", [[3, -7, 0, 100, 4095]])
def test_rot_15_linear_in_x(form, positions):
    """f(ax + by) = a f(x) + b f(y) (P-22)."""
    x, y = _vectors(2, 5, 3, 8)
    a, b = 0.75, -3.0
    found = form(a * x + b * y, positions)
    expected = a * form(x, positions) + b * form(y, positions)
    np.testing.assert_allclose(found, expected, rtol=0, atol=64 * EPS * np.abs(y).max())
    np.testing.assert_array_equal(form(2 * x, positions), 2 * form(x, positions))


@pytest.mark.parametrize("form", [_sparse, _sparse_half, apply_rotary_complex])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("component", range(8))
def test_rot_16_a_pair_touches_no_other_pair(form, wrong, component):
    """Changing one component changes its pair at most, to NaN and infinity too (P-24)."""
    x = _vectors(4, 2, 8)
    spoilt = x.copy()
    spoilt[:, 0, component] = wrong
    plain, found = form(x, [0, 1, -5, 1000]), form(spoilt, [0, 1, -5, 1000])
    partner = (component + 4) % 8 if form in HALF else component ^ 1
    others = [j for j in range(8) if j not in (component, partner)]
    np.testing.assert_array_equal(found[:, 0, others], plain[:, 0, others])
    np.testing.assert_array_equal(found[:, 1], plain[:, 1])
    assert not np.array_equal(found[:, 0, [component, partner]], plain[:, 0, [component, partner]])
    if np.isnan(wrong):
        assert np.isnan(found[:, 0, [component, partner]]).all()


@pytest.mark.parametrize("form", [_dense, _dense_half])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_rot_16_the_dense_product_spreads_over_its_own_head_and_no_further(form, wrong):
    """0 * NaN is NaN: R x is for finite x; other tokens, heads and the tail never see it."""
    x = _vectors(3, 2, 8)
    spoilt = x.copy()
    spoilt[1, 0, 2] = wrong
    plain, found = (form(v, [1, 2, 3], rotary_dim=6) for v in (x, spoilt))
    assert not np.isfinite(found[1, 0, :6]).any()
    found[1, 0, :6] = plain[1, 0, :6]
    np.testing.assert_array_equal(found, plain)


@pytest.mark.parametrize("entry", [(3, 0), (0, 3), (2, 5)])
@pytest.mark.parametrize("interleaved", [True, False])
def test_rot_3_every_entry_of_the_dense_matrix_is_multiplied(monkeypatch, entry, interleaved):
    """A wrong entry outside the pairs, which the sparse form cannot see, changes R x."""
    x = np.arange(1.0, 7.0).reshape(1, 1, 6)
    right = apply_rotary_dense(x, [2], interleaved=interleaved)

    def spoilt(*args, **options):
        R = rotation_matrix(*args, **options)
        R[entry] += 7.0
        return R

    monkeypatch.setattr("ropespec.reference.rotation.rotation_matrix", spoilt)
    wrong = apply_rotary_dense(x, [2], interleaved=interleaved)
    expected = np.zeros(6)
    expected[entry[0]] = 7.0 * x[0, 0, entry[1]]
    np.testing.assert_allclose((wrong - right)[0, 0], expected, atol=1e-13)


@forms
@dtypes
def test_rot_17_shape_and_dtype_of_x_are_kept_and_x_is_not_written(form, dtype):
    """The result is a new array like x, and a read-only x is good enough (P-40, ROT-17)."""
    x = _vectors(2, 5, 3, 8).astype(dtype)
    positions = np.arange(5, dtype=np.int16)
    before = x.copy()
    x.flags.writeable = positions.flags.writeable = False
    y = form(x, positions)
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    assert y.flags.writeable
    assert not np.shares_memory(x, y)
    np.testing.assert_array_equal(_bits(x), _bits(before))


@forms
@dtypes
def test_rot_17_there_is_one_rounding_at_the_end(form, dtype):
    """A result in a small dtype is the float64 result rounded to it."""
    x = _vectors(5, 3, 8).astype(dtype)
    exact = form(x.astype(np.float64), range(5))
    np.testing.assert_array_equal(form(x, range(5)), round_to(exact, x.dtype))


def test_rot_17_rounding_to_bfloat16_happens_once():
    """Just above and below a tie, float32 in between would land on the tie and go astray."""
    bfloat16 = np.dtype(ml_dtypes.bfloat16)
    y = np.array([1 + 2**-8 + 2**-40, 1 + 3 * 2**-8 - 2**-40, 1 + 2**-8, 1 + 3 * 2**-8])
    expected = [1 + 2**-7, 1 + 2**-7, 1.0, 1 + 2**-6]
    for sign in (1, -1):
        rounded = round_to(sign * y, bfloat16).astype(np.float64)
        np.testing.assert_array_equal(rounded, sign * np.array(expected))
    assert y.astype(bfloat16)[0] == 1  # what the conversion of ml_dtypes alone does


@dtypes
def test_rot_17_rounding_of_the_extremes(dtype):
    """Infinity, NaN and signed zero stay, what is too large becomes infinite, and exact stays."""
    dtype = np.dtype(dtype)
    y = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.5, -1e300, 1e-320])
    rounded = round_to(y, dtype).astype(np.float64)
    assert rounded[:2].tolist() == [np.inf, -np.inf]
    assert np.isnan(rounded[2])
    assert np.signbit(rounded[3:5]).tolist() == [False, True]
    assert rounded[5] == 1.5
    assert rounded[6] == (-1e300 if dtype == np.float64 else -np.inf)
    assert rounded[7] == (1e-320 if dtype == np.float64 else 0)


def test_rot_17_rounding_to_bfloat16_agrees_with_exact_arithmetic():
    """Against rounding by integers: the nearest multiple of the spacing, ties to even."""
    y = _vectors(2000) * 2.0 ** np.arange(-20, 20).repeat(50)
    spacing = 2.0 ** (np.floor(np.log2(np.abs(y))) - 7)
    found = round_to(y, np.dtype(ml_dtypes.bfloat16)).astype(np.float64)
    np.testing.assert_array_equal(found, np.round(y / spacing) * spacing)


@forms
@pytest.mark.parametrize("shape", [(0, 3, 8), (5, 0, 8), (0, 5, 3, 8), (2, 0, 3, 8), (2, 5, 0, 8)])
def test_rot_18_zero_sizes_give_empty_results(form, shape):
    """Nothing to rotate is no error (ROT-18)."""
    y = form(np.zeros(shape, np.float32), np.arange(shape[-3]))
    assert (y.shape, y.dtype) == (shape, np.float32)


@forms
def test_rot_18_an_empty_list_is_an_empty_sequence_of_positions(form):
    """[] has no type of its own, and is taken for integers."""
    assert form(np.zeros((0, 3, 8)), []).shape == (0, 3, 8)


@forms
def test_rot_19_every_token_is_rotated_by_its_own_position(form):
    """The result at a token is that of the token alone, at its position."""
    x = _vectors(2, 3, 4, 8)
    positions = np.array([[0, 5, -2], [7, 7, 1000]])
    y = form(x, positions)
    for b, s, h in np.ndindex(2, 3, 4):
        alone = form(x[b, s, h].reshape(1, 1, 8), [positions[b, s]])
        np.testing.assert_allclose(y[b, s, h], alone[0, 0], rtol=0, atol=16 * EPS)


@forms
@pytest.mark.parametrize("lead", [(), (1,), (3,), (1, 1), (2, 1), (1, 3), (2, 3)])
def test_rot_19_leading_axes_of_positions_broadcast(form, lead):
    """Positions of fewer or of unit axes hold for all rows of the batch."""
    x = _vectors(2, 3, 4, 1, 6)
    positions = np.random.default_rng(1).integers(-50, 50, (*lead, 4))
    full = np.broadcast_to(positions, (2, 3, 4))
    found, expected = form(x, positions), form(x, full.copy())
    np.testing.assert_allclose(found, expected, rtol=0, atol=16 * EPS)


@forms
def test_rot_19_strides_chunks_and_earlier_calls_do_not_matter(form):
    """Memory order, a cut in two and calls before change nothing in the numbers."""
    x = _vectors(2, 6, 3, 8)
    y = form(x, range(6))
    form(_vectors(1, 3, 5, 4).astype(np.float16), [100, 2, -3])
    strided = np.asfortranarray(x)
    backwards = x[:, ::-1][:, ::-1]
    parts = np.concatenate([form(x[:, :2], range(2)), form(x[:, 2:], range(2, 6))], axis=1)
    for found in (form(strided, range(6)), form(backwards, range(6)), parts):
        np.testing.assert_allclose(found, y, rtol=0, atol=16 * EPS)


@forms
def test_rot_20_opposite_position_is_the_adjoint(form):
    """<g, R_m x> = <R_{-m} g, x> (P-18)."""
    x, g = _vectors(2, 5, 3, 8)
    positions = np.array([0, 3, -4, 100, 4095])
    left = np.sum(g * form(x, positions, rotary_dim=6))
    right = np.sum(form(g, -positions, rotary_dim=6) * x)
    assert left == pytest.approx(right, abs=1e-12)
    assert left != pytest.approx(np.sum(form(g, positions, rotary_dim=6) * x), abs=1e-3)


ARRAY = "got an array of shape"
X = np.ones((2, 5, 3, 8))
REFUSED = [
    (
        {"x": [[[1.0, 2.0]]]},
        ArgumentTypeError,
        "x must be a numpy.ndarray; got [[[1.0, 2.0]]] (list)",
    ),
    (
        {"x": X.astype(np.int32)},
        ArgumentTypeError,
        (
            "x must be of dtype float16, bfloat16, float32 or float64; "
            f"{ARRAY} (2, 5, 3, 8) and dtype int32"
        ),
    ),
    (
        {"x": X.astype(np.complex64)},
        ArgumentTypeError,
        (
            "x must be of dtype float16, bfloat16, float32 or float64; "
            f"{ARRAY} (2, 5, 3, 8) and dtype complex64"
        ),
    ),
    (
        {"x": X[0, 0]},
        ArgumentValueError,
        f"x must be an array of at least 3 axes; {ARRAY} (3, 8) and dtype float64",
    ),
    (
        {"positions": np.arange(5.0)},
        ArgumentTypeError,
        f"positions must be integers that fit in int64; {ARRAY} (5,) and dtype float64",
    ),
    (
        {"base": 1.0},
        ArgumentValueError,
        "base must be a finite number above 1; got 1.0 (float)",
    ),
    (
        {"rotary_dim": 5},
        ArgumentValueError,
        "rotary_dim must be an even integer of at least 2; got 5 (int)",
    ),
    (
        {"rotary_dim": 0},
        ArgumentValueError,
        "rotary_dim must be an even integer of at least 2; got 0 (int)",
    ),
    (
        {"rotary_dim": 4.0},
        ArgumentTypeError,
        "rotary_dim must be an even integer of at least 2; got 4.0 (float)",
    ),
    (
        {"rotary_dim": 10},
        ArgumentValueError,
        "rotary_dim must be at most head_dim = 8; got 10 (int)",
    ),
    (
        {"x": X[..., :7]},
        ArgumentValueError,
        "head_dim must be an even integer of at least 2; got 7 (int)",
    ),
    (
        {"x": X[..., :0]},
        ArgumentValueError,
        "head_dim must be an even integer of at least 2; got 0 (int)",
    ),
    (
        {"positions": 3},
        ArgumentValueError,
        f"positions must be of shape (5,) or (2, 5); {ARRAY} () and dtype int64",
    ),
    (
        {"positions": [3]},
        ArgumentValueError,
        f"positions must be of shape (5,) or (2, 5); {ARRAY} (1,) and dtype int64",
    ),
    (
        {"positions": np.zeros((3, 5), np.int32)},
        ArgumentValueError,
        f"positions must be of shape (5,) or (2, 5); {ARRAY} (3, 5) and dtype int32",
    ),
    (
        {"positions": np.zeros((1, 2, 5), np.int32)},
        ArgumentValueError,
        f"positions must be of shape (5,) or (2, 5); {ARRAY} (1, 2, 5) and dtype int32",
    ),
]


@forms
@pytest.mark.parametrize(("change", "kind", "message"), REFUSED)
def test_rot_21_what_is_refused_and_how(form, change, kind, message):
    """Every form raises the same error with the same words, all of them tested (P-46)."""
    arguments = {"x": X, "positions": range(5)} | change
    with pytest.raises(kind) as error:
        form(**arguments)
    assert str(error.value) == message


@pytest.mark.parametrize("function", [apply_rotary, apply_rotary_dense])
def test_rot_21_the_layout_is_named_and_is_a_flag(function):
    """There is no default layout, and 0 and 1 are no answer to the question."""
    with pytest.raises(TypeError, match=r"missing 1 required keyword-only argument: 'interleaved'"):
        function(X, range(5))
    with pytest.raises(ArgumentTypeError) as error:
        function(X, range(5), interleaved=1)
    assert str(error.value) == "interleaved must be True or False; got 1 (int)"


def test_rot_21_the_matrix_refuses_alike():
    """Positions, dimension, layout and base of the dense matrix are checked in this order."""
    calls = [
        ({}, ArgumentTypeError, "positions must be integers that fit in int64; got 0.5 (float)"),
        (
            {"positions": 0},
            ArgumentValueError,
            "dim must be an even integer of at least 2; got 3 (int)",
        ),
        (
            {"positions": 0, "dim": 4},
            ArgumentTypeError,
            "interleaved must be True or False; got None (NoneType)",
        ),
        (
            {"positions": 0, "dim": 4, "interleaved": True},
            ArgumentValueError,
            "base must be a finite number above 1; got 0 (int)",
        ),
    ]
    for given, kind, message in calls:
        arguments = {"positions": 0.5, "dim": 3, "interleaved": None, "base": 0} | given
        with pytest.raises(kind) as error:
            rotation_matrix(**arguments)
        assert str(error.value) == message


def test_rot_21_arguments_are_checked_in_order():
    """x, positions, layout, base, rotary_dim, then the fit: the first that is wrong is named."""
    wrong = {
        "x": X[..., :7].astype(int),
        "positions": 0.5,
        "interleaved": None,
        "base": 0,
        "rotary_dim": 3,
    }
    right = {"x": X, "positions": [1], "interleaved": True, "base": 2, "rotary_dim": 4}
    for name in wrong:
        for function in (apply_rotary, apply_rotary_dense):
            with pytest.raises((ArgumentTypeError, ArgumentValueError)) as error:
                function(**wrong)
            assert error.value.argument == name
        wrong = wrong | {name: right[name]}
    with pytest.raises(ArgumentValueError) as fit:
        apply_rotary(**wrong)
    assert fit.value.argument == "positions"
