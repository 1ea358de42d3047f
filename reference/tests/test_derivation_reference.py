import cmath
import math

import numpy as np
import pytest

from ropespec.reference import derivation as der
from ropespec.reference.rotation import apply_rotary, rotation_matrix

Q, K = 3 + 4j, 1 - 1j
THETA = 0.7


def draw(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def complex_pairs(seed, count=20):
    """Pairs of complex numbers, none of them zero."""
    z = draw(seed, count, 2, 2) @ np.array([1, 1j])
    return [(complex(q), complex(k)) for q, k in z]


def same_angle(a, b):
    """Equal up to whole turns and rounding."""
    return abs(math.remainder(a - b, math.tau)) < 1e-11


@pytest.mark.parametrize(("m", "n"), [(0, 0), (3, 1), (1, 3), (-5, 40)])
def test_the_four_steps_of_the_block_proof(m, n):
    """Moving R_m over, block by block, one block, and R_m^T R_n = R_{n-m}.

    DER-1, P-20; F-164, F-165, F-166, F-167.
    """
    left, right = der.inner_of_rotated(*draw(1, 2, 8), m, n)
    assert left == pytest.approx(right, abs=1e-13)
    product, offset = der.conclusion(m, n, 8)
    np.testing.assert_allclose(product, offset, atol=1e-13)
    np.testing.assert_allclose(der.blockwise_product(m, n, 8), product, atol=1e-15)
    for theta in (1.0, 0.1):
        np.testing.assert_allclose(
            der.block_product(m, n, theta), der.block_of_offset(n - m, theta), atol=1e-14
        )


def test_the_steps_take_the_base():
    """The block proof holds for another base, and the base matters (DER-1)."""
    product, offset = der.conclusion(7, 2, 4, base=50.0)
    np.testing.assert_allclose(product, offset, atol=1e-14)
    np.testing.assert_allclose(der.blockwise_product(7, 2, 4, base=50.0), product, atol=1e-15)
    assert np.abs(offset - der.conclusion(7, 2, 4)[1]).max() > 0.1
    R = rotation_matrix(-5, 4, interleaved=True, base=50.0)
    np.testing.assert_array_equal(offset, R)


def test_a_block_takes_an_angle_and_not_a_position():
    """θ = 0.1, m = 3, n = 1: angle -0.2, first column (0.980067, -0.198669) (DER-1, E-28)."""
    block = der.block_product(3, 1, 0.1)
    np.testing.assert_allclose(block[:, 0], [0.980067, -0.198669], atol=5e-7)
    twice = der.block_of_offset(-2, 0.1 * 0.1)
    np.testing.assert_allclose(twice[:, 0], [0.999800, -0.019999], atol=5e-7)


@pytest.mark.parametrize(("m", "n"), [(5, 2), (2, 5), (0, 0), (-30, 100)])
def test_both_equations_of_the_polar_form(m, n):
    """Moduli multiply, arguments subtract modulo a turn.

    DER-2, P-33; F-168, F-169, F-170, E-50.
    """
    for q, k in complex_pairs(2):
        left, right = der.equation_one(q, k, m, n, theta=THETA)
        assert left == pytest.approx(right, rel=1e-14)
        assert right == pytest.approx(abs(q) * abs(k), rel=1e-14)
        assert same_angle(*der.equation_two(q, k, m, n, theta=THETA))


def test_the_second_equation_has_the_sign_of_m_minus_n():
    """With n - m in place of m - n the second equation fails (DER-2)."""
    left, _ = der.equation_two(Q, K, 5, 2, theta=THETA)
    assert not same_angle(left, der.theta_g(Q, K, 2 - 5, theta=THETA))


def test_moduli_of_the_worked_example():
    """With q = 3+4i, k = 1-i, m = 5 each member is 5 sqrt 2 = 7.0710678.

    DER-3, P-32; F-171, F-172.
    """
    for value in der.moduli_at_equal_positions(Q, K, 5, theta=THETA):
        assert value == pytest.approx(5 * math.sqrt(2), abs=1e-13)
    for m in range(-10, 10):
        assert der.r_f(Q, m, theta=THETA) == pytest.approx(5.0, abs=1e-14)
        assert der.r_g(Q, K, m, theta=THETA) == pytest.approx(5 * math.sqrt(2), abs=1e-13)


def test_the_modulus_is_forced():
    """With k = q the first equation at m = n is |f(q, m)|^2 = |q|^2 (DER-3, P-32; F-172)."""
    for q, _ in complex_pairs(8):
        for m in (1, -4, 90):
            first, second, third, squared = der.moduli_at_equal_positions(q, q, m, theta=THETA)
            assert first == pytest.approx(der.r_f(q, m, theta=THETA) ** 2, rel=1e-14)
            assert (second, third) == pytest.approx((squared, squared), rel=1e-14)
            assert squared == pytest.approx(abs(q) ** 2, rel=1e-14)


def test_the_wish_alone_admits_a_reflection():
    """Mirroring at odd positions keeps Re[f f*] a function of m - n, but not f f* (DER-2)."""
    for q, k in complex_pairs(9):
        for m, n in ((1, 0), (4, 1), (-3, 2), (6, 2)):
            here = der.f_mirrored(q, m) * der.f_mirrored(k, n).conjugate()
            shifted = der.f_mirrored(q, m + 1) * der.f_mirrored(k, n + 1).conjugate()
            assert shifted.real == pytest.approx(here.real, abs=1e-14)
            assert abs(shifted.imag - here.imag) > 1e-3
        assert der.f_mirrored(q, 0) == q
        assert der.f_mirrored(q, 1) == q.conjugate()


def test_arguments_at_equal_positions():
    """All four members of equation two at m = n are one angle (DER-4; F-173, F-174)."""
    for q, k in complex_pairs(3):
        for m in (0, 1, 17, -4):
            members = der.arguments_at_equal_positions(q, k, m, theta=THETA)
            assert all(same_angle(member, members[3]) for member in members)


def test_phi_is_the_same_for_every_vector_and_grows_evenly():
    """φ(0) = 0, φ(m) - φ(m-1) = θ, φ(m) = mθ, all modulo a turn.

    DER-4, P-32; F-175, F-178, F-179, E-51.
    """
    progression = der.phi_progression(40, THETA)
    for q, k in complex_pairs(4):
        assert der.phi(q, 0, theta=THETA) == 0.0
        assert same_angle(der.phi_step(q, k, theta=THETA), THETA)
        for m in range(1, 40):
            value = der.phi(q, m, theta=THETA)
            assert same_angle(value, der.phi(k, m, theta=THETA))
            assert same_angle(value - der.phi(q, m - 1, theta=THETA), THETA)
            assert same_angle(value, progression[m])
            assert same_angle(value, m * THETA)


def test_neighbours():
    """The difference of neighbours is Θ_g(q, k, 1), also after the substitution.

    DER-4; F-176, F-177.
    """
    for q, k in complex_pairs(5):
        for m in (1, 2, 30):
            expected = der.theta_g(q, k, 1, theta=THETA)
            assert same_angle(der.neighbour_difference(q, k, m, theta=THETA), expected)
            substituted = der.neighbour_difference_substituted(q, k, m, theta=THETA)
            assert same_angle(substituted, expected)


def test_phi_zero_is_needed():
    """φ(m) = 0.7 + m: f((1,0), 0) = (0.764842, 0.644218), with the same score (DER-4, E-51)."""
    z = der.f_with_phase(1 + 0j, 0, theta=1.0, phi_0=0.7)
    assert z == pytest.approx(complex(0.764842, 0.644218), abs=5e-7)
    at_one = der.f_with_phase(1 + 0j, 1, theta=1.0, phi_0=0.7)
    at_zero = der.f_with_phase(1j, 0, theta=1.0, phi_0=0.7)
    assert (at_one * at_zero.conjugate()).real == pytest.approx(0.841471, abs=5e-7)
    assert der.phi_progression(3, 1.0, phi_0=0.7) == pytest.approx([0.7, 1.7, 2.7])


def test_theta_is_determined_modulo_a_turn():
    """θ and θ + 2π give the same f at integer positions, and not in between (DER-4, E-51)."""
    for m in range(50):
        gap = abs(der.f(1 + 0j, m, theta=1.0) - der.f(1 + 0j, m, theta=1.0 + math.tau))
        assert gap < 1e-13
    assert abs(cmath.exp(0.5j) - cmath.exp(0.5j * (1 + math.tau))) > 1


def test_the_solution_in_polar_form():
    """|q| e^{i(Θ(q) + mθ)} = q e^{imθ} (DER-5; F-180, F-181)."""
    for q, _ in complex_pairs(6):
        for m in (0, 1, -7, 60):
            polar = der.f_polar(q, m, theta=THETA)
            assert polar == pytest.approx(der.f(q, m, theta=THETA), abs=1e-13)
            assert same_angle(der.theta_f(q, m, theta=THETA), der.theta_of(q) + m * THETA)


def test_d_dimensions_by_pairs():
    """The solution applied to each pair is the rotation (DER-5, F-182)."""
    x = draw(7, 8)
    for m in (0, 3, -20):
        expected = apply_rotary(x[None, None], [m], interleaved=True, base=500.0)[0, 0]
        np.testing.assert_allclose(der.f_of_pairs(x, m, base=500.0), expected, atol=1e-14)


def test_zero_has_no_argument():
    """The polar form is for vectors other than zero (DER-2)."""
    with pytest.raises(ValueError, match="q must not be zero"):
        der.theta_of(0j)
    with pytest.raises(ValueError, match="q must not be zero"):
        der.phi(0j, 1, theta=1.0)


def test_the_negative_axis_has_the_argument_pi():
    """Arguments lie in (-π, π], also where the imaginary part is -0.0 (DER-4; F-174)."""
    for imaginary in (0.0, -0.0):
        assert der.theta_of(complex(-2.0, imaginary)) == math.pi


@pytest.mark.parametrize(
    ("angle", "wrapped"),
    [
        (0.0, 0.0),
        (math.pi, math.pi),
        (-math.pi, math.pi),
        (3 * math.pi, math.pi),
        (4.0, 4 - math.tau),
    ],
)
def test_wrap(angle, wrapped):
    """Angles come back to (-π, π], with π for both of its ends."""
    assert der.wrap(angle) == pytest.approx(wrapped, abs=1e-15)
