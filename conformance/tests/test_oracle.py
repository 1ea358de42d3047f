"""The oracle is correctly rounded at any position, and shares nothing with the reference."""

import mpmath
import numpy as np
import pytest
from click.testing import CliRunner

from ropespec import reference
from ropespec.bench.oracle.hard import next_to_quarter_turns
from ropespec.bench.oracle.hard import positions as mixed
from ropespec.bench.oracle.verify import SETTINGS, TIMED, main, misrounded, verify
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.oracle import ORACLE_ERROR
from ropespec.spec.convention import Frequencies

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
    cos, sin = oracle.cos_sin(m, dim, Frequencies(base))

    for row, position in enumerate(m):
        for i in rng.integers(0, dim // 2, 3):
            c, s = exact(position, i, dim, base)
            assert abs(c - mpmath.mpf(float(cos[row, i]))) <= ORACLE_ERROR
            assert abs(s - mpmath.mpf(float(sin[row, i]))) <= ORACLE_ERROR


@pytest.mark.parametrize(("dim", "base"), BASES)
def test_frequencies_are_correctly_rounded(dim, base):
    """theta_i is the float64 nearest to base^(-2i/d)."""
    for i, theta in enumerate(oracle.frequencies(dim, Frequencies(base))):
        with mpmath.workdps(80):
            wanted = mpmath.power(mpmath.mpf(base), mpmath.mpf(-2 * i) / dim)
            assert theta == float(wanted)


def test_angles_next_to_a_quarter_turn():
    """Where cos or sin is nearly zero the small value is right, not only the large one."""
    convergents = [(355, 113), (103993, 33102), (245850922, 78256779)]  # of pi
    for numerator, _ in convergents:
        cos, sin = oracle.cos_sin(np.array([numerator]), 2, Frequencies(10000.0))
        c, s = exact(numerator, 0, 2, 10000.0)
        assert abs(c - mpmath.mpf(float(cos[0, 0]))) <= ORACLE_ERROR
        assert abs(s - mpmath.mpf(float(sin[0, 0]))) <= abs(s) * 2.0**-50


@pytest.mark.parametrize(("dim", "base"), SETTINGS)
def test_every_value_is_the_nearest_float(dim, base):
    """Of a hundred thousand values, hard ones included, none is misrounded."""
    count = verify(dim, base, 7200, seed=1)

    assert count.angles >= 7200
    assert count.wrong == 0


@pytest.mark.parametrize("direction", [-2.0, 2.0])
def test_one_unit_in_the_last_place_is_counted(direction):
    """The verification sees a single value that is one float off, of either kind."""
    m = np.arange(1, 200)
    cos, sin = oracle.cos_sin(m, 6, Frequencies(10000.0))
    assert misrounded(m, 6, 10000.0, (cos, sin)) == 0

    cos[17, 2] = np.nextafter(cos[17, 2], direction)
    sin[101, 0] = np.nextafter(sin[101, 0], direction)
    assert misrounded(m, 6, 10000.0, (cos, sin)) == 2


@pytest.mark.parametrize(("dim", "base"), [(2, 1e4), (64, 5e5), (128, 1.0000001), (1024, 1e4)])
def test_every_angle_next_to_a_quarter_turn(dim, base):
    """A cos or sin below 2^-50 is the nearest float too, up to the largest position."""
    for index in {0, dim // 4, dim // 2 - 1}:
        m = np.array(next_to_quarter_turns(dim, base, index))
        cos, sin = (value[:, index] for value in oracle.cos_sin(m, dim, Frequencies(base)))
        smallest = np.minimum(np.abs(cos), np.abs(sin))

        assert m[-1] > 2**50
        assert smallest.min() < 2.0**-50
        for row, position in enumerate(m):
            c, s = exact(position, index, dim, base)
            assert (float(c), float(s)) == (cos[row], sin[row])


def test_the_smallest_and_largest_angles():
    """Subnormal angles and the largest positions are rounded correctly at the largest base."""
    m = np.array([1, 2, 3, 2**53 + 1, 2**63 - 1])
    base = 1.7e308
    cos, sin = oracle.cos_sin(m, 4096, Frequencies(base))

    assert 0 < sin[0, -1] < 2.0**-1022
    assert misrounded(m, 4096, base, (cos, sin)) == 0


def test_unsigned_positions_reach_the_last_bit():
    """Unsigned positions are never taken for negative ones."""
    m = np.array([0, 1, 2**63, 2**64 - 1], dtype=np.uint64)

    assert misrounded(m, 6, 10000.0, oracle.cos_sin(m, 6, Frequencies(10000.0))) == 0


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0, 3), (7, 5), (2, 3, 4)])
def test_shapes(shape):
    """The result has one axis more than the positions, and each value depends on its own alone."""
    m = np.random.default_rng(3).integers(-(2**40), 2**40, shape)
    cos, sin = oracle.cos_sin(m, 10, Frequencies(500.0))

    assert cos.shape == sin.shape == (*shape, 5)
    for place in np.ndindex(shape):
        one = oracle.cos_sin(m[place], 10, Frequencies(500.0))
        assert np.array_equal(one[0], cos[place])
        assert np.array_equal(one[1], sin[place])


@pytest.mark.parametrize("dim", [2, 66, 128, 16384])
def test_blocks_leave_no_seam(dim):
    """Many positions at once have the values they have in small groups, at any block limit."""
    count = max(40, 30000 // dim)
    m = mixed(np.random.default_rng(dim), count, np.zeros(0, dtype=np.int64))
    cos, sin = oracle.cos_sin(m, dim, Frequencies(10000.0))
    groups = [oracle.cos_sin(group, dim, Frequencies(10000.0)) for group in np.array_split(m, 37)]

    assert np.array_equal(cos, np.concatenate([group[0] for group in groups]))
    assert np.array_equal(sin, np.concatenate([group[1] for group in groups]))


def test_position_zero():
    """The one exact angle: cos is 1, and sin is 0 without a sign, whatever the neighbours are."""
    cos, sin = oracle.cos_sin(np.array([[0, -5], [5, 0]]), 64, Frequencies(10000.0))

    assert np.all(cos[[0, 1], [0, 1]] == 1.0)
    assert np.all(sin[[0, 1], [0, 1]] == 0.0)
    assert not np.any(np.signbit(sin[[0, 1], [0, 1]]))


def test_the_error_bound_is_reached():
    """ORACLE_ERROR holds, and no bound a hundredth smaller would."""
    m = np.arange(1, 500)
    cos, sin = oracle.cos_sin(m, 2, Frequencies(10000.0))
    worst = 0
    for row, position in enumerate(m):
        c, s = exact(position, 0, 2, 10000.0)
        worst = max(worst, abs(c - mpmath.mpf(cos[row, 0])), abs(s - mpmath.mpf(sin[row, 0])))

    assert 0.99 * ORACLE_ERROR < worst <= ORACLE_ERROR


def test_the_command_verifies_and_measures():
    """It counts the values that are wrong and prints the ratio of speeds."""
    result = CliRunner().invoke(main, ["--values", "500"])

    assert result.exit_code == 0
    assert ", 0 of " in result.output.splitlines()[len(SETTINGS)]
    assert result.output.count("ratio") == len(TIMED)


def test_the_command_fails_for_a_wrong_oracle(monkeypatch):
    """Its exit status is 1 when a value is not correctly rounded."""
    right = oracle.cos_sin

    def rough(m, dim, of):
        cos, sin = right(m, dim, of)
        return cos, np.nextafter(sin, 2.0)

    monkeypatch.setattr(oracle, "cos_sin", rough)

    assert CliRunner().invoke(main, ["--values", "50"]).exit_code == 1


def test_signs_mirror_exactly():
    """Cos is even and sin is odd, bit for bit."""
    m = np.arange(1, 5000, 7)
    cos, sin = oracle.cos_sin(m, 64, Frequencies(10000.0))
    mirrored = oracle.cos_sin(-m, 64, Frequencies(10000.0))

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
    assert (
        votes(
            lambda m: reference.cos_sin(m, 64),
            lambda m: oracle.cos_sin(m, 64, Frequencies(1e4)),
            addition_law,
        )
        == []
    )


@pytest.mark.parametrize("fault", ["literal", "oracle", "law"])
def test_a_fault_in_one_source_is_found_by_the_other_two(fault):
    """A planted fault shows in exactly the pairs that contain the faulty source."""

    def literal(m):
        cos, sin = reference.cos_sin(m, 64)
        return (cos, sin) if fault != "literal" else (cos, sin + 1e-6 * (m[:, None] > 2000))

    def exact_side(m):
        base = 1e4 if fault != "oracle" else 1e4 * (1 + 1e-6)
        cos, sin = oracle.cos_sin(m, 64, Frequencies(base))
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
