"""Chapter `frequencies`: FREQ-1 to FREQ-9."""

import math

import mpmath
import numpy as np
import pytest

from ropespec.reference import angles, cos_sin, inv_freq, rotation_matrix
from ropespec.reference.arrays import as_positions
from ropespec.reference.frequencies import (
    div_term,
    duplicate_half,
    duplicate_interleaved,
    even_indices,
    pow_via_exp,
    theta_from_arange,
    theta_llama,
    theta_one_based,
    theta_pow,
    theta_step2,
)
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

EPS = np.finfo(np.float64).eps
DIMS = [2, 4, 6, 8, 64, 128, 512]
BASES = [1.5, 2.0, 10000.0, 500000.0, 1e12]
CODE_FORMS = [theta_from_arange, theta_llama, theta_pow, div_term]
LABELLED = [theta_one_based, theta_step2]


@pytest.mark.parametrize("function", [inv_freq, *CODE_FORMS, *LABELLED])
@pytest.mark.parametrize("dim", [3, 1, 0, -2, 129])
def test_freq_1_odd_or_small_dimensions_are_refused(function, dim):
    """A dimension that leaves a component without partner raises (F-020; E-44; P-46)."""
    with pytest.raises(ArgumentValueError) as error:
        function(dim)
    assert str(error.value) == f"dim must be an even integer of at least 2; got {dim} (int)"


@pytest.mark.parametrize("function", [inv_freq, *CODE_FORMS, *LABELLED, even_indices])
@pytest.mark.parametrize(
    ("dim", "got"), [(4.0, "4.0 (float)"), ("4", "'4' (str)"), (True, "True (bool)")]
)
def test_freq_1_dimensions_that_are_no_integers_are_refused(function, dim, got):
    """A dimension of another type raises even if its value would do."""
    with pytest.raises(ArgumentTypeError) as error:
        function(dim)
    assert str(error.value) == f"dim must be an even integer of at least 2; got {got}"


def test_freq_1_numpy_integers_are_integers():
    """A dimension may come from a shape or an array."""
    assert inv_freq(np.int32(8)).shape == (4,)


@pytest.mark.parametrize("function", [inv_freq, *CODE_FORMS, *LABELLED])
@pytest.mark.parametrize("base", [1, 1.0, 0.5, 0.0, -10000.0, math.inf])
def test_freq_2_bases_up_to_1_are_refused(function, base):
    """At or below 1 the frequencies would not fall, and an infinite base has none."""
    with pytest.raises(ArgumentValueError) as error:
        function(4, base)
    must = "base must be a finite number above 1"
    assert str(error.value) == f"{must}; got {base!r} ({type(base).__name__})"


@pytest.mark.parametrize(
    ("base", "got"), [("10000", "'10000' (str)"), (True, "True (bool)"), (1j, "1j (complex)")]
)
def test_freq_2_bases_that_are_no_numbers_are_refused(base, got):
    """A base of another type raises."""
    with pytest.raises(ArgumentTypeError) as error:
        inv_freq(4, base)
    assert str(error.value) == f"base must be a finite number above 1; got {got}"


def test_freq_2_the_dimension_is_looked_at_before_the_base():
    """If both are wrong, the first argument is named."""
    for function in (inv_freq, *CODE_FORMS, *LABELLED):
        with pytest.raises(ArgumentValueError, match=r"^dim "):
            function(3, 0.5)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("base", BASES)
def test_freq_2_frequencies_fall_geometrically_from_1(dim, base):
    """theta_0 is 1, the ratio of neighbours base^(-2/d), all are in (1/base, 1] (F-001; P-01)."""
    theta = inv_freq(dim, base)
    assert theta.shape == (dim // 2,)
    assert theta.dtype == np.float64
    assert theta[0] == 1.0
    assert np.all(np.diff(theta) < 0)
    assert np.all((theta > 1 / base) & (theta <= 1))
    ratio = theta[1:] / theta[:-1]
    np.testing.assert_allclose(ratio, base ** (-2 / dim), rtol=8 * EPS * (1 + math.log(base)))


@pytest.mark.parametrize(
    ("dim", "smallest"),
    [
        (2, 1.0),
        (8, 1e-3),
        (128, 1.154782e-4),
        (512, 1.0366329e-4),
        (4096, 1.0045074e-4),
        (65536, 1.0002811e-4),
        (2**20, 1.0000176e-4),
    ],
)
def test_freq_2_no_dimension_underflows(dim, smallest):
    """The smallest frequency stays above 1/base however large d is (F-015; E-34)."""
    assert inv_freq(dim)[-1] == pytest.approx(smallest, rel=1e-6)


def test_freq_2_the_set_is_a_vector_and_no_matrix():
    """Theta is a vector of d/2 numbers, one for each block of the matrix (F-022; E-01)."""
    assert inv_freq(8).shape == (4,)
    assert rotation_matrix(1, 8, interleaved=True).shape == (8, 8)


def test_freq_2_i_runs_from_0_to_d_half_minus_1():
    """The exponent -2i/d needs i = 0, ..., d/2-1; from 1 on all are off (F-005; E-23, E-26)."""
    right = inv_freq(8)
    assert right.tolist() == pytest.approx([10000.0 ** (-2 * i / 8) for i in range(4)])
    from_one = [10000.0 ** (-2 * i / 8) for i in range(1, 5)]
    assert from_one[:3] == pytest.approx(right[1:].tolist())
    assert from_one[3] == pytest.approx(1 / 10000)


def test_freq_3_a_set_counted_from_1_does_not_fit_labels_from_0():
    """theta_1 of the set counted from 1 is 1, and each label another number (F-004; E-45)."""
    counted = theta_one_based(8)
    assert counted[1] == inv_freq(8)[0] == 1
    assert 0 not in counted
    assert all(counted[i] / inv_freq(8)[i] == pytest.approx(10.0) for i in (1, 2, 3))


def test_freq_4_the_base_of_the_printed_line_is_10000():
    """Document 000 leaves base without a value and ends its line in "float()" (E-12)."""
    assert theta_from_arange(8).tolist() == pytest.approx([1, 0.1, 0.01, 0.001])
    np.testing.assert_array_equal(theta_from_arange(8), theta_from_arange(8, 10000.0))


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("base", BASES)
def test_freq_3_and_4_all_forms_are_one_vector(dim, base):
    """Three ways to count and four code forms give the same frequencies (P-02).

    They are F-002, F-003, F-012 and F-006, F-007, F-008, F-009, F-010.
    """
    theta = inv_freq(dim, base)
    rtol = 4 * EPS * (1 + math.log(base))  # exp(y) magnifies the rounding of y by |y|
    for form in CODE_FORMS:
        np.testing.assert_allclose(form(dim, base), theta, rtol=rtol)
    for labelled in LABELLED:
        np.testing.assert_allclose(list(labelled(dim, base).values()), theta, rtol=rtol)


def test_freq_3_one_label_means_three_values():
    """theta_2 and theta_4 of d = 8 depend on the convention, so labels must not be mixed."""
    zero_based = inv_freq(8)
    assert zero_based[2] == pytest.approx(0.01)
    assert theta_one_based(8)[2] == pytest.approx(0.1)
    assert theta_step2(8)[2] == pytest.approx(0.1)
    assert theta_one_based(8)[4] == pytest.approx(1e-3)
    assert theta_step2(8)[4] == pytest.approx(0.01)


@pytest.mark.parametrize("dim", DIMS)
def test_freq_3_labels_run_as_printed(dim):
    """Labels are 1..d/2 and 0, 2, ..., d-2; the progression ends before d-1 (F-011; E-36)."""
    assert list(theta_one_based(dim)) == list(range(1, dim // 2 + 1))
    assert list(theta_step2(dim)) == list(range(0, dim - 1, 2))
    assert even_indices(dim).tolist() == list(theta_step2(dim))


def test_freq_4_powers_are_exponentials_of_the_natural_logarithm():
    """a^x = e^(x ln a), not by the decimal logarithm (F-013, F-014; P-03, E-37)."""
    x = np.linspace(-1, 1, 41)
    for a in (0.25, 2.0, 10000.0):
        np.testing.assert_allclose(pow_via_exp(a, x), a**x, rtol=32 * EPS)
    assert float(pow_via_exp(10000.0, -0.5)) == pytest.approx(0.01)
    assert math.exp(-0.5 * math.log10(10000.0)) == pytest.approx(0.135335, abs=1e-6)


@pytest.mark.parametrize("dim", DIMS)
def test_freq_5_the_last_pair_is_the_slowest(dim):
    """The first pair is rotated by 1 radian per position, the last least (F-021; P-41)."""
    theta = inv_freq(dim)
    assert theta[0] == 1
    assert theta[-1] == theta.min() == pytest.approx(10000.0 ** (-(dim - 2) / dim))


@pytest.mark.parametrize(
    "positions",
    [
        5,
        [5],
        (5, -3),
        range(4),
        [[1, 2], [3, 4]],
        [],
        np.int16(5),
        np.array([1, -2], np.int8),
        np.array([2**32 - 1], np.uint32),
        np.array([2**62, -(2**63)], np.int64),
        np.zeros((2, 0), np.int32),
    ],
)
def test_freq_6_and_7_angles_are_literal_products(positions):
    """Every angle is the float64 product of position and frequency, bit for bit (F-017, F-019)."""
    theta = inv_freq(6)
    m = np.asarray(positions, dtype=np.int64)
    found = angles(positions, theta)
    assert found.dtype == np.float64
    assert found.shape == (*m.shape, 3)
    for index in np.ndindex(found.shape):
        assert found[index] == float(m[index[:-1]]) * float(theta[index[-1]])


@pytest.mark.parametrize(
    ("positions", "got"),
    [
        (0.5, "0.5 (float)"),
        ([0.0, 1.0], "[0.0, 1.0] (list)"),
        (True, "True (bool)"),
        ([True], "[True] (list)"),
        (None, "None (NoneType)"),
        ("3", "'3' (str)"),
        ([[1, 2], [3]], "[[1, 2], [3]] (list)"),
        (2**63, "9223372036854775808 (int)"),
        (2**80, "1208925819614629174706176 (int)"),
        ([1j], "[1j] (list)"),
        (np.array([1.0]), "an array of shape (1,) and dtype float64"),
        (np.array([]), "an array of shape (0,) and dtype float64"),
        (np.array([True]), "an array of shape (1,) and dtype bool"),
        (np.array([1], np.uint64), "an array of shape (1,) and dtype uint64"),
    ],
)
def test_freq_6_positions_that_are_no_integers_are_refused(positions, got):
    """Nothing is rounded to a position, and what does not fit in int64 is none."""
    for call in (lambda: angles(positions, inv_freq(4)), lambda: cos_sin(positions, 4)):
        with pytest.raises(ArgumentTypeError) as error:
            call()
        assert str(error.value) == f"positions must be integers that fit in int64; got {got}"


def test_freq_6_an_integer_array_is_taken_as_it_is():
    """Positions that are an array are not copied."""
    positions = np.arange(3)
    assert as_positions(positions) is positions


@pytest.mark.parametrize(
    ("frequencies", "kind", "message"),
    [
        ([1.0], ArgumentTypeError, "inv_freq must be a numpy.ndarray; got [1.0] (list)"),
        (
            np.array([1]),
            ArgumentTypeError,
            (
                "inv_freq must be of dtype float16, bfloat16, float32 or float64; "
                "got an array of shape (1,) and dtype int64"
            ),
        ),
        (
            np.ones((2, 2)),
            ArgumentValueError,
            "inv_freq must be an array of one axis; got an array of shape (2, 2) and dtype float64",
        ),
        (
            np.ones(()),
            ArgumentValueError,
            "inv_freq must be an array of one axis; got an array of shape () and dtype float64",
        ),
    ],
)
def test_freq_7_frequencies_of_another_kind_are_refused(frequencies, kind, message):
    """Frequencies are one float vector."""
    with pytest.raises(kind) as error:
        angles([0], frequencies)
    assert str(error.value) == message


def test_freq_7_single_precision_frequencies_are_widened_first():
    """The product is float64 for float32 frequencies too, and they are not written to."""
    theta = inv_freq(8).astype(np.float32)
    theta.flags.writeable = False
    np.testing.assert_array_equal(angles(3, theta), 3.0 * theta.astype(np.float64))


def test_freq_8_listed_twice_does_not_mean_times_two():
    """Doubled angles repeat; doubling their values would rotate twice as far (F-018; E-10)."""
    row = angles(1, inv_freq(4))
    np.testing.assert_allclose(duplicate_interleaved(row), [1, 1, 0.01, 0.01], rtol=2 * EPS)
    np.testing.assert_allclose(duplicate_half(row), [1, 0.01, 1, 0.01], rtol=2 * EPS)
    cos, sin = cos_sin(1, 2)
    assert [*cos, *sin] == pytest.approx([0.540302, 0.841471], abs=1e-6)
    assert [math.cos(2), math.sin(2)] == pytest.approx([-0.416147, 0.909297], abs=1e-6)


def test_freq_8_leading_axes_are_kept():
    """Tables of many positions are widened along their last axis only."""
    table = angles(np.arange(6).reshape(2, 3), inv_freq(8))
    np.testing.assert_array_equal(duplicate_interleaved(table)[..., 0::2], table)
    np.testing.assert_array_equal(duplicate_interleaved(table)[..., 1::2], table)
    np.testing.assert_array_equal(duplicate_half(table)[..., :4], table)
    np.testing.assert_array_equal(duplicate_half(table)[..., 4:], table)


@pytest.mark.parametrize("base", [2.0, 10000.0])
def test_freq_9_tables_are_right_up_to_the_rounding_of_the_angle(base):
    """Tables are those of the exact angle, but for what float64 loses of a large one."""
    positions = [0, 1, -1, 3, 1000, -4095, 2**20]
    cos, sin = cos_sin(positions, 8, base)
    with mpmath.workdps(50):
        for row, m in enumerate(positions):
            for i in range(4):
                exact = m * mpmath.mpf(base) ** (-mpmath.mpf(2 * i) / 8)
                bound = (2 * abs(float(exact)) + 2) * EPS
                assert abs(float(mpmath.cos(exact) - float(cos[row, i]))) <= bound
                assert abs(float(mpmath.sin(exact) - float(sin[row, i]))) <= bound


def test_freq_9_position_0_is_exact():
    """The cosine of 0 is 1 and sin 0 is 0, without rounding."""
    cos, sin = cos_sin(0, 16)
    assert np.all(cos == 1)
    assert np.all(sin == 0)


@pytest.mark.parametrize(("a", "b"), [(1, 2), (-3, 17), (100, -100), (4095, 1)])
def test_freq_9_tables_obey_the_addition_formulas(a, b):
    """Cosine and sine at a+b and a-b follow from those at a and b (P-48)."""
    (ca, cb, cs, cd), (sa, sb, ss, sd) = cos_sin([a, b, a + b, a - b], 64)
    bound = 4 * EPS * (1 + abs(a) + abs(b))
    np.testing.assert_allclose(ca * cb - sa * sb, cs, rtol=0, atol=bound)
    np.testing.assert_allclose(sa * cb + ca * sb, ss, rtol=0, atol=bound)
    np.testing.assert_allclose(ca * cb + sa * sb, cd, rtol=0, atol=bound)
    np.testing.assert_allclose(sa * cb - ca * sb, sd, rtol=0, atol=bound)
