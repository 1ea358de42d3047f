import itertools
import math

import ml_dtypes
import numpy as np
import pytest

from ropespec.reference import relative_plane as plane
from ropespec.reference.arrays import round_to
from ropespec.reference.relative import (
    complex_pairs,
    relative_score,
    score,
    score_by_transpose,
    score_complex,
    score_pairs,
)
from ropespec.reference.rotation import apply_rotary
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

E1, E2 = (1.0, 0.0), (0.0, 1.0)
SIN1 = 0.8414709848078965
LAYOUTS = [True, False]
DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


def draw(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def every_plane_form(q, k, m, n, theta):
    """Compute the score of one pair in each printed form, by name."""
    return {
        "eight terms": plane.eight_terms(q, k, m, n, theta=theta).sum(),
        "four groups": plane.four_groups(q, k, m, n, theta=theta).sum(),
        "four groups, m-n": plane.four_groups_by_difference(q, k, m - n, theta=theta).sum(),
        "expanded": plane.g_expanded(q, k, m - n, theta=theta),
        "real part": plane.g_real_part(q, k, m - n, theta=theta),
        "rotated, real part": plane.g_of_rotated(q, k, m, n, theta=theta),
        "transpose": plane.score_by_matrices(q, k, m, n, theta=theta),
        "matrix": plane.g_matrix(q, k, n - m, theta=theta),
        "exponential": plane.score_by_exponential(q, k, n - m, theta=theta),
        "query rotated": plane.score_query_rotated(q, k, m, n, theta=theta),
        "key rotated": plane.score_key_rotated(q, k, m, n, theta=theta),
        "product of rows": plane.inner_product(
            plane.f_real(q, m, theta=theta), plane.f_real(k, n, theta=theta)
        ),
    }


def test_anchor():
    """sin(m - n): +0.841471 for (1, 0), -0.841471 for (0, 1), in every form (REL-6, P-14)."""
    for m, n in itertools.product(range(-3, 4), repeat=2):
        for name, value in every_plane_form(E1, E2, m, n, 1.0).items():
            assert value == pytest.approx(math.sin(m - n), abs=1e-15), name
    assert score(np.array(E1), np.array(E2), 1, 0, interleaved=True) == pytest.approx(SIN1)
    assert score(np.array(E1), np.array(E2), 0, 1, interleaved=True) == pytest.approx(-SIN1)


def test_the_anchor_separates_the_wrong_sign():
    """The matrix of m - n, and the query rotated by n - m, give the opposite sign.

    REL-6; E-04, E-21, E-24, E-40, E-41.
    """
    assert plane.g_matrix(E1, E2, 1 - 0, theta=1.0) == pytest.approx(-SIN1)
    assert plane.score_query_rotated(E1, E2, 0, 1, theta=1.0) == pytest.approx(-SIN1)
    q, k = np.array([1.0, 2.0, 3.0, 4.0]), np.array([4.0, 3.0, 2.0, 1.0])
    assert relative_score(q, k, 1 - 3, interleaved=True) == pytest.approx(1.190051, abs=5e-7)
    assert relative_score(q, k, 3 - 1, interleaved=True) == pytest.approx(10.483012, abs=5e-7)


def test_the_matrix_of_the_query_less_the_key_expands_to_the_other_sign():
    """Multiplied out, q^T M((m-n)θ) k has plus where the score has minus (REL-4; E-68)."""
    (q1, q2), (k1, k2) = q, k = (1.0, 2.0), (3.0, -1.0)
    cos, sin = math.cos(2), math.sin(2)
    printed = (q1 * k1 + q2 * k2) * cos + (q2 * k1 - q1 * k2) * sin
    assert printed == pytest.approx(plane.g_matrix(q, k, 3 - 1, theta=1.0), abs=1e-14)
    assert printed == pytest.approx(5.948935, abs=5e-7)
    assert plane.g_expanded(q, k, 3 - 1, theta=1.0) == pytest.approx(-6.781229, abs=5e-7)


@pytest.mark.parametrize("seed", range(5))
def test_every_plane_form_is_one_number(seed):
    """All printed forms of one pair agree for random q, k, m, n, theta.

    REL-2 to REL-6, P-13; F-094, F-097, F-098, F-104, F-106 to F-109, F-111, F-113, F-114,
    F-119 to F-123, F-125.
    """
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, 2))
    m, n = (int(p) for p in rng.integers(-200, 200, 2))
    forms = every_plane_form(q, k, m, n, float(rng.uniform(0, 2)))
    for name, value in forms.items():
        assert value == pytest.approx(forms["transpose"], abs=1e-12), name


@pytest.mark.parametrize("interleaved", LAYOUTS)
@pytest.mark.parametrize("dim", [2, 4, 10])
def test_every_form_in_d_dimensions_is_one_number(dim, interleaved):
    """Rotated, transposed, dense, complex and pair forms agree.

    REL-1, REL-5, P-13, P-20; F-092, F-093, F-124, F-156, F-157.
    """
    q, k = draw(dim, 2, dim)
    for m, n in [(0, 0), (5, 2), (2, 5), (-7, 100)]:
        expected = score(q, k, m, n, interleaved=interleaved)
        for value in (
            relative_score(q, k, n - m, interleaved=interleaved),
            score_complex(q, k, n - m, interleaved=interleaved),
            score_by_transpose(q, k, m, n, interleaved=interleaved),
            score_pairs(q, k, n - m, interleaved=interleaved).sum(),
        ):
            assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("interleaved", LAYOUTS)
def test_shifting_both_positions_changes_nothing(interleaved):
    """<R_{m+s} q, R_{n+s} k> does not depend on s (REL-1, P-12; F-092, F-099)."""
    q, k = draw(1, 2, 8)
    here = score(q, k, 9, 4, interleaved=interleaved)
    for s in (1, -9, 500):
        assert score(q, k, 9 + s, 4 + s, interleaved=interleaved) == pytest.approx(here, abs=1e-12)


def test_shift_invariance_is_lost_if_the_layouts_are_mixed():
    """Turning q interleaved and k half-split breaks P-12, so the test above can fail (P-27)."""
    q, k = draw(2, 2, 1, 1, 8)

    def mixed(m, n):
        return (
            apply_rotary(q, [m], interleaved=True) * apply_rotary(k, [n], interleaved=False)
        ).sum()

    assert abs(mixed(9, 4) - mixed(10, 5)) > 1e-3


@pytest.mark.parametrize("interleaved", LAYOUTS)
def test_swapping_negates_the_offset(interleaved):
    """g(q, k, D) = g(k, q, -D), and it is not even in D (REL-7, P-15, E-31)."""
    q, k = draw(3, 2, 6)
    offsets = np.arange(-20, 21)
    g = relative_score(q, k, offsets, interleaved=interleaved)
    swapped = relative_score(k, q, -offsets, interleaved=interleaved)
    np.testing.assert_allclose(g, swapped, atol=1e-13)
    assert np.abs(g - g[::-1]).max() > 0.1


@pytest.mark.parametrize("interleaved", LAYOUTS)
def test_equal_positions_cancel(interleaved):
    """<R_m q, R_m k> = <q, k>, exactly so at offset 0 up to the order of the sum (REL-8, P-21)."""
    q, k = draw(4, 2, 8)
    for m in (0, 3, -8, 1000):
        assert score(q, k, m, m, interleaved=interleaved) == pytest.approx(q @ k, abs=1e-12)
    assert relative_score(q, k, 0, interleaved=interleaved) == pytest.approx(q @ k, abs=1e-14)


def test_pairs_add_up_to_the_score():
    """Each entry of score_pairs is the score of that pair alone (REL-9, P-23; F-136)."""
    q, k = draw(5, 2, 6)
    for interleaved, pairs in [(True, [(0, 1), (2, 3), (4, 5)]), (False, [(0, 3), (1, 4), (2, 5)])]:
        found = score_pairs(q, k, -3, interleaved=interleaved)
        for i, pair in enumerate(pairs):
            theta = 10000.0 ** (-2 * i / 6)
            alone = plane.g_real_part(q[list(pair)], k[list(pair)], 3, theta=theta)
            assert found[i] == pytest.approx(alone, abs=1e-14)


def test_real_inner_product():
    """With q = 1+2i and k = 3+4i, q k* = 11+2i; the dot product is 11.

    REL-3, REL-4, P-16; F-096, F-100, F-101, F-103, F-110, E-42, E-47, E-69.
    """
    q, k = (1.0, 2.0), (3.0, 4.0)
    assert plane.times_conjugate(q, k) == 11 + 2j
    assert plane.inner_product(q, k) == 11.0
    assert plane.real_inner_product(q, k) == 11.0
    assert plane.times_conjugate(q, q).imag == 0.0


def test_real_inner_product_of_random_pairs():
    """Re[q k*] is the dot product, and Im[q k*] is not zero in general.

    REL-3, P-16; F-102, E-48.
    """
    for q, k in draw(6, 20, 2, 2):
        product = plane.times_conjugate(q, k)
        assert product.real == pytest.approx(np.dot(q, k), abs=1e-14)
        assert product.imag != 0.0
        assert plane.real_inner_product(q, k) == pytest.approx(product.real, abs=1e-15)


def test_complex_g():
    """With q = 1, k = i, m - n = 1: g_c = 0.841471 - 0.540302i, g its real part.

    REL-2; F-095, F-105, E-49.
    """
    g = plane.g_c(E1, E2, 1, theta=1.0)
    assert g == pytest.approx(complex(0.841471, -0.540302), abs=5e-7)
    assert plane.g_real_part(E1, E2, 1, theta=1.0) == g.real


def test_exponential_read_as_a_complex_number_is_wrong():
    """With q = i, k = 1: as a matrix -0.841471, as complex 0.841471 + 0.540302i (E-22)."""
    assert plane.score_by_exponential(E2, E1, -1, theta=1.0) == pytest.approx(-SIN1)
    literal = 1j * 1 * complex(math.cos(-1), math.sin(-1))
    assert literal == pytest.approx(complex(0.841471, 0.540302), abs=5e-7)


def test_eight_terms_group_in_the_stated_pairs():
    """Terms 1&8, 2&7, 3&6, 4&5 are the groups of q1k1, q1k2, q2k1, q2k2.

    REL-4; F-109, F-111, F-113.
    """
    t = plane.eight_terms((1.5, -2.0), (0.5, 3.0), 4, 1, theta=0.7)
    paired = [t[0] + t[7], t[1] + t[6], t[2] + t[5], t[3] + t[4]]
    groups = plane.four_groups((1.5, -2.0), (0.5, 3.0), 4, 1, theta=0.7)
    np.testing.assert_allclose(groups, paired, atol=1e-15)
    by_difference = plane.four_groups_by_difference((1.5, -2.0), (0.5, 3.0), 3, theta=0.7)
    np.testing.assert_allclose(groups, by_difference, atol=1e-14)


def test_addition_formulas():
    """The four formulas agree with sine and cosine of sum and difference (REL-4, P-48; F-112)."""
    for a, b in draw(7, 50, 2) * 10:
        assert plane.sin_of_sum(a, b) == pytest.approx(math.sin(a + b), abs=1e-14)
        assert plane.sin_of_difference(a, b) == pytest.approx(math.sin(a - b), abs=1e-14)
        assert plane.cos_of_sum(a, b) == pytest.approx(math.cos(a + b), abs=1e-14)
        assert plane.cos_of_difference(a, b) == pytest.approx(math.cos(a - b), abs=1e-14)


def test_middle_product_in_three_forms():
    """The product of matrices, its expansion and its result are one matrix.

    REL-5, P-20; F-115, F-116, F-117, F-118.
    """
    for m, n in [(0, 0), (3, 1), (1, 3), (-4, 9)]:
        product = plane.middle_product(m, n, theta=0.4)
        expanded = plane.middle_product_expanded(m, n, theta=0.4)
        result = plane.middle_product_result(m, n, theta=0.4)
        np.testing.assert_allclose(expanded, product, atol=1e-15)
        np.testing.assert_allclose(result, product, atol=1e-14)
        np.testing.assert_allclose(plane.exponential_matrix((n - m) * 0.4), product, atol=1e-14)


def test_parentheses_belong_to_the_angle():
    """cos((m-n)θ) = 0.877583 for θ = 0.5 and m - n = 1, not cos(1) 0.5 (REL-5, E-43)."""
    result = plane.middle_product_result(1, 0, theta=0.5)
    np.testing.assert_allclose(result, [[0.877583, 0.479426], [-0.479426, 0.877583]], atol=5e-7)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interleaved", LAYOUTS)
def test_score_has_the_dtype_of_q_and_is_rounded_once(dtype, interleaved):
    """The score is the float64 score of the same values, rounded once."""
    q, k = draw(8, 2, 3, 8).astype(dtype)
    narrow = relative_score(q, k, 5, interleaved=interleaved)
    full = relative_score(q.astype(np.float64), k.astype(np.float64), 5, interleaved=interleaved)
    assert narrow.dtype == dtype
    np.testing.assert_array_equal(narrow, round_to(full, np.dtype(dtype)))


def test_offsets_broadcast():
    """Offsets broadcast against the leading axes in both directions (REL-5)."""
    q, k = draw(9, 2, 3, 8)
    grid = np.arange(6).reshape(2, 3) - 2
    found = relative_score(q, k, grid, interleaved=True)
    assert found.shape == (2, 3)
    for a, b in np.ndindex(2, 3):
        alone = relative_score(q[b], k[b], grid[a, b], interleaved=True)
        assert alone.shape == ()
        assert isinstance(alone, np.ndarray)
        assert found[a, b] == pytest.approx(float(alone), abs=1e-14)
    assert relative_score(q[:, None], k[:, None], np.arange(4), interleaved=True).shape == (3, 4)
    np.testing.assert_allclose(
        score_pairs(q, k, grid, interleaved=True).sum(axis=-1), found, atol=1e-13
    )
    np.testing.assert_allclose(score_complex(q, k, grid, interleaved=True), found, atol=1e-13)


def test_unsigned_offsets_and_small_integers():
    """An offset is the same number in every integer dtype."""
    q, k = draw(10, 2, 4)
    expected = relative_score(q, k, 100, interleaved=True)
    for dtype in (np.int8, np.uint8, np.int16, np.uint32, np.int64):
        assert relative_score(q, k, dtype(100), interleaved=True) == expected
        assert score_complex(q, k, np.asarray(100, dtype), interleaved=True) == pytest.approx(
            float(expected), abs=1e-13
        )


def test_infinity_gives_an_infinite_or_undefined_score():
    """An infinite component reaches the score without a warning; a NaN makes it NaN."""
    q, k = np.array([np.inf, 1.0]), np.array([1.0, 1.0])
    assert relative_score(q, k, 0, interleaved=True) != 0
    assert not np.isfinite(relative_score(q, k, 1, interleaved=True))
    assert np.isnan(relative_score(np.array([np.nan, 1.0]), k, 1, interleaved=True))


def test_inputs_are_not_written():
    """q, k and offset are the same after every form."""
    q, k = draw(11, 2, 3, 4)
    offset = np.arange(3)
    for array in (q, k, offset):
        array.flags.writeable = False
    for form in (relative_score, score_pairs, score_complex):
        form(q, k, offset, interleaved=False)
    complex_pairs(q, interleaved=False)


@pytest.mark.parametrize("lead", [(0,), (0, 3), (2, 0)])
def test_zero_sizes(lead):
    """No vectors, no scores."""
    q = np.ones((*lead, 4))
    for form in (relative_score, score_complex):
        assert form(q, q, 1, interleaved=True).shape == lead


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"q": [1.0, 0.0]}, ArgumentTypeError, "q must be a numpy.ndarray; got [1.0, 0.0] (list)"),
        (
            {"k": np.ones((3, 4), dtype=np.float32)},
            ArgumentTypeError,
            "k must be of the dtype of q, float64; got an array of shape (3, 4) and dtype float32",
        ),
        (
            {"k": np.ones((1, 4))},
            ArgumentValueError,
            "k must be of the shape of q, (3, 4); got an array of shape (1, 4) and dtype float64",
        ),
        (
            {"q": np.ones((3, 5)), "k": np.ones((3, 5))},
            ArgumentValueError,
            "head_dim must be an even integer of at least 2; got 5 (int)",
        ),
        (
            {"offset": np.arange(2)},
            ArgumentValueError,
            (
                "offset must be broadcastable to the leading axes (3,) of q; "
                "got an array of shape (2,) and dtype int64"
            ),
        ),
        (
            {"offset": 0.5},
            ArgumentTypeError,
            "offset must be integers that fit in int64; got 0.5 (float)",
        ),
        (
            {"interleaved": None},
            ArgumentTypeError,
            "interleaved must be True or False; got None (NoneType)",
        ),
        (
            {"base": float("nan")},
            ArgumentValueError,
            "base must be a finite number above 1; got nan (float)",
        ),
    ],
)
def test_refused_arguments(change, error, words):
    """Each wrong argument is refused with the shared words."""
    call = {"q": np.ones((3, 4)), "k": np.ones((3, 4)), "offset": 1, "interleaved": True}
    relative_score(**call)
    with pytest.raises(error) as raised:
        relative_score(**(call | change))
    assert str(raised.value) == words


@pytest.mark.parametrize("interleaved", [True, False])
def test_a_part_of_q_and_k_rotates(interleaved):
    """The first r components give q^T R_{n-m} k of their own, the others the plain product."""
    q, k = draw(12, 2, 4, 7)
    offsets = np.array([3, -2, 0, 100])
    found = relative_score(q, k, offsets, interleaved=interleaved, rotary_dim=4)
    head = relative_score(q[:, :4].copy(), k[:, :4].copy(), offsets, interleaved=interleaved)
    tail = (q[:, 4:] * k[:, 4:]).sum(axis=-1)
    np.testing.assert_allclose(found, head + tail, rtol=0, atol=1e-13)
