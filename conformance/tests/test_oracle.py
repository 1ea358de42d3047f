"""The oracle is right to about one unit in the last place, and shares nothing with the reference."""

import mpmath
import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.oracle import ORACLE_ERROR

BASES = ((128, 10000.0), (64, 500000.0), (6, 2.5), (2, 10000.0), (80, 1000.0), (256, 1e6))


def exact(m, i, dim, base):
    """Return cos and sin of m * base^(-2i/dim) with 80 digits."""
    with mpmath.workdps(80):
        angle = mpmath.mpf(int(m)) * mpmath.power(mpmath.mpf(base), mpmath.mpf(-2 * int(i)) / dim)
        return mpmath.cos(angle), mpmath.sin(angle)


def positions(rng):
    """Return positions of every size and both signs, with the ends of the range."""
    sizes = [2.0**n for n in (4, 12, 20, 31, 40, 52, 62)]
    drawn = [rng.integers(-int(size), int(size), 6) for size in sizes]
    ends = [-(2**63) + 1, 2**63 - 1, 0, 1, -1, 2**31 - 1, -(2**31), 2**53 + 1]
    return np.concatenate([*drawn, ends])


@pytest.mark.parametrize(("dim", "base"), BASES)
def test_cos_and_sin_against_eighty_digits(dim, base):
    """Every value lies within the stated error of the exact one, at any position."""
    rng = np.random.default_rng(dim)
    m = positions(rng)
    cos, sin = oracle.cos_sin(m, dim, base)

    for row, position in enumerate(m):
        for i in rng.integers(0, dim // 2, 3):
            c, s = exact(position, i, dim, base)
            assert abs(c - mpmath.mpf(float(cos[row, i]))) <= ORACLE_ERROR
            assert abs(s - mpmath.mpf(float(sin[row, i]))) <= ORACLE_ERROR


@pytest.mark.parametrize(("dim", "base"), BASES)
def test_frequencies_are_correctly_rounded(dim, base):
    """theta_i is the float64 nearest to base^(-2i/d)."""
    for i, theta in enumerate(oracle.frequencies(dim, base)):
        with mpmath.workdps(80):
            wanted = mpmath.power(mpmath.mpf(base), mpmath.mpf(-2 * i) / dim)
            assert theta == float(wanted)


def test_angles_next_to_a_quarter_turn():
    """Where cos or sin is nearly zero the small value is right, not only the large one."""
    convergents = [(355, 113), (103993, 33102), (245850922, 78256779)]  # of pi
    for numerator, _ in convergents:
        cos, sin = oracle.cos_sin(np.array([numerator]), 2, 10000.0)
        c, s = exact(numerator, 0, 2, 10000.0)
        assert abs(c - mpmath.mpf(float(cos[0, 0]))) <= ORACLE_ERROR
        assert abs(s - mpmath.mpf(float(sin[0, 0]))) <= abs(s) * 2.0**-50


def test_signs_mirror_exactly():
    """cos is even and sin is odd, bit for bit."""
    m = np.arange(1, 5000, 7)
    cos, sin = oracle.cos_sin(m, 64, 10000.0)
    mirrored = oracle.cos_sin(-m, 64, 10000.0)

    assert np.array_equal(mirrored[0], cos)
    assert np.array_equal(mirrored[1], -sin)


def votes(literal, exact_side, law):
    """Return which of the three sources disagree with each other, as pairs."""
    m = np.arange(0, 4096, 37)
    c1, s1 = literal(m)
    c2, s2 = exact_side(m)
    bound = 5 * 2.0**-53 * m[:, None] + 4 * ORACLE_ERROR
    apart = []
    if np.any(np.abs(c1 - c2) > bound) or np.any(np.abs(s1 - s2) > bound):
        apart.append("literal-oracle")
    for name, source in (("literal", literal), ("oracle", exact_side)):
        if not law(source, m):
            apart.append(f"{name}-law")
    return apart


def addition_law(source, m):
    """cos(m+1) from cos and sin of m and 1."""
    (c, s), (c1, s1), (cn, _) = source(m), source(np.array([1])), source(m + 1)
    bound = 10 * 2.0**-53 * (m[:, None] + 1) + 8 * ORACLE_ERROR
    return bool(np.all(np.abs(c * c1 - s * s1 - cn) <= bound))


def test_three_sources_agree():
    """The literal reference, the oracle and the addition law have one opinion."""
    assert votes(
        lambda m: reference.cos_sin(m, 64), lambda m: oracle.cos_sin(m, 64, 1e4), addition_law
    ) == []


@pytest.mark.parametrize("fault", ["literal", "oracle", "law"])
def test_a_fault_in_one_source_is_found_by_the_other_two(fault):
    """A planted fault shows in exactly the pairs that contain the faulty source."""

    def literal(m):
        cos, sin = reference.cos_sin(m, 64)
        return (cos, sin) if fault != "literal" else (cos, sin + 1e-6 * (m[:, None] > 2000))

    def exact_side(m):
        base = 1e4 if fault != "oracle" else 1e4 * (1 + 1e-6)
        cos, sin = oracle.cos_sin(m, 64, base)
        return (cos, sin) if fault != "oracle" else (cos, sin * (1 + 1e-9))

    def law(source, m):
        return addition_law(source, m)

    found = votes(literal, exact_side, (lambda *_: False) if fault == "law" else law)

    expected = {
        "literal": {"literal-oracle", "literal-law"},
        "oracle": {"literal-oracle", "oracle-law"},
        "law": {"literal-law", "oracle-law"},
    }
    assert set(found) == expected[fault]
