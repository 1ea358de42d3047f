"""Chapter `complex_plane`: CPLX-1 to CPLX-8."""

import cmath
import math

import ml_dtypes
import numpy as np
import pytest

from ropespec.reference import from_complex, to_complex
from ropespec.reference.complex_plane import (
    argument,
    conjugate,
    cos_from_exp,
    cos_series,
    euler,
    euler_reduced,
    euler_series,
    euler_substituted,
    exp_series,
    modulus,
    phase_difference,
    product,
    sin_from_exp,
    sin_series,
    squared_modulus,
    times_i,
)
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

EPS = np.finfo(np.float64).eps
ANGLES = np.concatenate([np.linspace(-7, 7, 57), [0.0, np.pi, -np.pi / 2, 1e-8, 1000.0]])


@pytest.fixture
def pairs():
    """Return two arrays of complex numbers, the same in every run."""
    z = np.random.default_rng(1).standard_normal((2, 50, 2)) @ np.array([1, 1j])
    return z[0], z[1]


def test_cplx_1_modulus_and_argument_give_the_number_back(pairs):
    """z = |z| e^{i arg z}, the argument counter-clockwise from the real axis (F-035, F-036)."""
    z, _ = pairs
    np.testing.assert_allclose(modulus(z) * euler(argument(z)), z, rtol=8 * EPS)
    np.testing.assert_array_equal(argument([1, 1j, -1]), [0, math.pi / 2, math.pi])
    assert modulus(3 + 4j) == 5


def test_cplx_1_arguments_lie_above_minus_pi():
    """An argument is in (-pi, pi], also where the imaginary part is -0.0."""
    assert argument(complex(-1.0, -0.0)) == math.pi
    assert argument([complex(-2.0, -0.0), -1j]).tolist() == [math.pi, -math.pi / 2]
    assert -math.pi < float(argument(complex(-1.0, -1e-15))) < -3


def test_cplx_2_product_with_the_conjugate_is_real(pairs):
    """The product z z^* = |z|^2 has the imaginary part 0 exactly (F-038, F-039; P-07)."""
    z, _ = pairs
    square = squared_modulus(z)
    assert np.all(square.imag == 0)
    np.testing.assert_allclose(square.real, modulus(z) ** 2, rtol=4 * EPS)


def test_cplx_2_conjugate_of_a_product(pairs):
    """(zw)^* = z^* w^*; without conjugation the product is another number (F-057; P-07, E-30)."""
    z, w = pairs
    np.testing.assert_array_equal(conjugate(product(z, w)), product(conjugate(z), conjugate(w)))
    assert conjugate(product(1 + 2j, 3 - 1j)) == 5 - 5j
    assert product(1 + 2j, 3 - 1j) == 5 + 5j


def test_cplx_2_the_conjugate_has_the_opposite_imaginary_part(pairs):
    """(a + ib)^* = a - ib, and (e^{ix})^* = e^{-ix} (F-037, F-056)."""
    z, _ = pairs
    np.testing.assert_array_equal(conjugate(z), z.real - 1j * z.imag)
    np.testing.assert_array_equal(conjugate(euler(ANGLES)), euler(-ANGLES))


def test_cplx_3_i_is_a_quarter_of_a_turn(pairs):
    """(a, b) goes to (-b, a), 90 degrees counter-clockwise (F-040, F-041; E-67; P-08)."""
    z, _ = pairs
    np.testing.assert_array_equal(times_i(z), product(1j, z))
    np.testing.assert_array_equal(times_i(times_i(z)), -z)
    angle = (argument(times_i(z)) - argument(z)) % (2 * math.pi)
    np.testing.assert_allclose(angle, math.pi / 2, rtol=8 * EPS)
    assert times_i(1j) == -1


def test_cplx_3_an_infinite_part_stays_where_it_goes():
    """Parts are moved and not computed, so infinity makes no NaN."""
    turned = complex(times_i(complex(1, math.inf)))
    assert (turned.real, turned.imag) == (-math.inf, 1)
    mirrored = complex(conjugate(complex(1, math.inf)))
    assert (mirrored.real, mirrored.imag) == (1, -math.inf)


def test_cplx_4_eulers_formula():
    """e^{ix} = cos x + i sin x lies on the unit circle (F-042, F-043, F-048, F-052; P-06)."""
    e = euler(ANGLES)
    np.testing.assert_allclose(e, np.exp(1j * ANGLES), rtol=0, atol=2 * EPS)
    np.testing.assert_array_equal(e.real, np.cos(ANGLES))
    np.testing.assert_array_equal(e.imag, np.sin(ANGLES))
    np.testing.assert_allclose(modulus(e), 1, rtol=2 * EPS)
    np.testing.assert_array_equal(euler(-ANGLES), conjugate(e))
    assert abs(complex(euler(math.pi)) + 1) < EPS


def test_cplx_4_the_misprinted_left_side_is_real():
    """At 1 radian e^{ix} + e^{-ix} is 1.0806, which is not cos x + i sin x (F-053; E-07)."""
    both = complex(euler(1.0) + euler(-1.0))
    assert both == pytest.approx(1.0806046117 + 0j)
    assert complex(euler(1.0)) == pytest.approx(0.5403023059 + 0.8414709848j)


def test_cplx_4_exponents_add():
    """e^{im theta} e^{-in theta} is e^{i(m-n) theta} and not e^{i(n-m) theta} (F-055, F-058)."""
    for m, n, theta in [(5, 2, 1.0), (2, 5, 0.1), (-3, 7, 0.01)]:
        found = complex(phase_difference(m, n, theta=theta))
        assert found == pytest.approx(complex(euler((m - n) * theta)), abs=8 * EPS)
        assert found != pytest.approx(complex(euler((n - m) * theta)), abs=1e-3)


def test_cplx_4_a_negative_angle_mirrors():
    """At -omega t it is cos omega t - i sin omega t (F-054)."""
    omega, t = 0.3, ANGLES
    np.testing.assert_array_equal(euler(-omega * t).real, np.cos(omega * t))
    np.testing.assert_array_equal(euler(-omega * t).imag, -np.sin(omega * t))


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 5, 8, 20])
def test_cplx_4_the_steps_of_the_derivation_are_equal(degree):
    """Powers of i theta, reduced powers and grouped terms give one partial sum (F-047)."""
    x = ANGLES[np.abs(ANGLES) <= 7]
    literal = sum((1j * x) ** k / math.factorial(k) for k in range(degree + 1))
    bound = 8 * EPS * np.exp(np.abs(x))
    for step in (euler_substituted, euler_reduced, euler_series):
        assert step(x, degree).shape == x.shape
        assert np.all(np.abs(step(x, degree) - literal) <= bound)


def test_cplx_4_the_powers_of_i_have_a_period_of_four():
    """Each reduced power is one term of the grouped sums, with its own sign."""
    terms = [
        complex(euler_reduced(1.0, k) - (euler_reduced(1.0, k - 1) if k else 0)) for k in range(8)
    ]
    signs = [1, 1j, -1, -1j] * 2
    wanted = [sign / math.factorial(k) for k, sign in enumerate(signs)]
    assert terms == pytest.approx(wanted, abs=4 * EPS)


def test_cplx_4_worked_numbers_of_the_derivation():
    """The sum to order 8 misses e^i by 2.7445e-6, below 1/9!, and to order 24 e^{i pi} by 1.7e-13.

    The second rest is still above the rounding of the sum.
    """
    assert abs(complex(euler_series(1.0, 8)) - cmath.exp(1j)) == pytest.approx(2.7445e-6, rel=1e-4)
    assert abs(complex(euler_series(1.0, 8)) - cmath.exp(1j)) <= 1 / math.factorial(9)
    assert abs(complex(euler_series(math.pi, 24)) + 1) == pytest.approx(1.7e-13, rel=0.05)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 7, 8, 15, 30])
def test_cplx_5_partial_sums_are_as_near_as_the_next_term(degree):
    """The rest after degree N is at most |x|^(N+1)/(N+1)! (F-044, F-045, F-046; P-06)."""
    x = ANGLES[np.abs(ANGLES) <= 7]
    rest = np.abs(x) ** (degree + 1) / math.factorial(degree + 1)
    bound = rest + 4 * EPS * np.exp(np.abs(x))  # the terms add up to e^|x| in modulus
    assert np.all(np.abs(sin_series(x, degree) - np.sin(x)) <= bound)
    assert np.all(np.abs(cos_series(x, degree) - np.cos(x)) <= bound)
    assert np.all(np.abs(euler_series(x, degree) - np.exp(1j * x)) <= bound)
    assert np.all(np.abs(exp_series(1j * x, degree) - np.exp(1j * x)) <= bound)


def test_cplx_5_first_terms_are_the_printed_ones():
    """Signs and factorials of the first terms are those of the display."""
    x = 0.5
    assert sin_series(x, 0) == 0
    assert sin_series(x, 5) == pytest.approx(x - x**3 / 6 + x**5 / 120, rel=4 * EPS)
    assert cos_series(x, 5) == pytest.approx(1 - x**2 / 2 + x**4 / 24, rel=4 * EPS)
    assert exp_series(x, 3) == pytest.approx(1 + x + x**2 / 2 + x**3 / 6, rel=4 * EPS)
    assert exp_series(x, 30) == pytest.approx(math.exp(x), rel=4 * EPS)


@pytest.mark.parametrize(
    "series",
    [exp_series, sin_series, cos_series, euler_series, euler_substituted, euler_reduced],
)
def test_cplx_5_the_degree_is_an_integer_of_at_least_0(series):
    """A series has no negative and no broken degree."""
    with pytest.raises(ArgumentValueError) as error:
        series(1.0, -1)
    assert str(error.value) == "degree must be an integer of at least 0; got -1 (int)"
    with pytest.raises(ArgumentTypeError) as refused:
        series(1.0, 2.5)
    assert str(refused.value) == "degree must be an integer of at least 0; got 2.5 (float)"


def test_cplx_6_cos_and_sin_by_exponentials():
    """Half the sum is the cosine, the difference over 2i the sine (F-049, F-050; P-06)."""
    np.testing.assert_allclose(cos_from_exp(ANGLES), np.cos(ANGLES), rtol=0, atol=2 * EPS)
    np.testing.assert_allclose(sin_from_exp(ANGLES), np.sin(ANGLES), rtol=0, atol=2 * EPS)


def test_cplx_7_product_by_components(pairs):
    """(ac - bd) + i(bc + ad) is the product of complex numbers (F-059; P-07)."""
    z, w = pairs
    bound = 2 * EPS * modulus(z) * modulus(w)
    assert np.all(np.abs(product(z, w) - z * w) <= bound)
    assert product(z[:, np.newaxis], w).shape == (50, 50)


@pytest.mark.parametrize(
    ("dtype", "wide", "back"),
    [
        (np.float16, np.complex64, np.float32),
        (ml_dtypes.bfloat16, np.complex64, np.float32),
        (np.float32, np.complex64, np.float32),
        (np.float64, np.complex128, np.float64),
    ],
)
def test_cplx_8_pairs_become_numbers_without_loss(dtype, wide, back):
    """Components 2i and 2i+1 are real and imaginary part of number i, exactly (F-060, F-061)."""
    x = np.random.default_rng(2).standard_normal((2, 3, 6)).astype(dtype)
    x.flags.writeable = False
    z = to_complex(x)
    assert z.dtype == wide
    assert z.shape == (2, 3, 3)
    np.testing.assert_array_equal(z.real.astype(dtype), x[..., 0::2])
    np.testing.assert_array_equal(z.imag.astype(dtype), x[..., 1::2])
    z.flags.writeable = False
    y = from_complex(z)
    assert y.dtype == back
    np.testing.assert_array_equal(y.astype(dtype), x)


def test_cplx_8_vectors_add_as_their_numbers_do():
    """The number of a sum is the sum of the numbers, component by component (F-051)."""
    x, y = np.random.default_rng(3).standard_normal((2, 4, 6))
    np.testing.assert_array_equal(to_complex(x + y), to_complex(x) + to_complex(y))
    np.testing.assert_array_equal(to_complex(x - y), to_complex(x) - to_complex(y))


def test_cplx_8_a_row_of_two_numbers_is_not_one_number():
    """The pair (1, 2) has two entries and the number 1 + 2i is one (E-70)."""
    row = np.array([1.0, 2.0])
    assert to_complex(row).shape == (1,)
    assert to_complex(row)[0] == 1 + 2j
    assert not np.array_equal(row, to_complex(row))


def test_cplx_8_nan_and_infinity_stay_in_their_part():
    """A NaN or an infinity in one part leaves the other part alone."""
    x = np.array([np.nan, 1.0, 2.0, np.inf, -0.0, -np.inf])
    np.testing.assert_array_equal(from_complex(to_complex(x)), x)
    assert np.signbit(from_complex(to_complex(x))[4])


def test_cplx_8_results_share_no_memory_with_the_input():
    """Writing to the result does not reach the input."""
    x = np.arange(4.0)
    z = to_complex(x)
    assert not np.shares_memory(x, z)
    assert not np.shares_memory(z, from_complex(z))


def test_cplx_8_empty_axes():
    """Zero rows give zero rows."""
    assert to_complex(np.zeros((0, 4))).shape == (0, 2)
    assert from_complex(np.zeros((3, 0), np.complex64)).shape == (3, 0)


@pytest.mark.parametrize(
    ("x", "kind", "message"),
    [
        ([1.0, 2.0], ArgumentTypeError, "x must be a numpy.ndarray; got [1.0, 2.0] (list)"),
        (
            np.arange(4),
            ArgumentTypeError,
            (
                "x must be of dtype float16, bfloat16, float32 or float64; "
                "got an array of shape (4,) and dtype int64"
            ),
        ),
        (
            np.ones(()),
            ArgumentValueError,
            "x must be an array of at least 1 axes; got an array of shape () and dtype float64",
        ),
        (
            np.ones((2, 3)),
            ArgumentValueError,
            "head_dim must be an even integer of at least 2; got 3 (int)",
        ),
        (
            np.ones((2, 0)),
            ArgumentValueError,
            "head_dim must be an even integer of at least 2; got 0 (int)",
        ),
    ],
)
def test_cplx_8_what_has_no_pairs_is_refused(x, kind, message):
    """Only float arrays with an even number of components have pairs (P-46)."""
    with pytest.raises(kind) as error:
        to_complex(x)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("z", "kind", "message"),
    [
        ([1j], ArgumentTypeError, "z must be a numpy.ndarray; got [1j] (list)"),
        (
            np.ones(2),
            ArgumentTypeError,
            (
                "z must be of dtype complex64 or complex128; "
                "got an array of shape (2,) and dtype float64"
            ),
        ),
        (
            np.ones((), complex),
            ArgumentValueError,
            "z must be an array of at least 1 axes; got an array of shape () and dtype complex128",
        ),
    ],
)
def test_cplx_8_what_is_not_complex_is_refused(z, kind, message):
    """Only complex arrays are written as pairs."""
    with pytest.raises(kind) as error:
        from_complex(z)
    assert str(error.value) == message
