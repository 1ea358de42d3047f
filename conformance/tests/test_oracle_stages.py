"""Each stage of the oracle keeps the bound it states."""

import functools

import mpmath
import numpy as np
import pytest

from ropespec.bench.oracle.hard import theta
from ropespec.bench.oracle.verify import misrounded
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.oracle import evaluate, exact, expansion, small, table
from ropespec.conformance.judge.oracle.phase import limbs, phase
from ropespec.conformance.judge.oracle.powers import scaled_frequencies, turns
from ropespec.spec.convention import Frequencies

DIGITS = 120


def sum_of(*parts):
    """Return the exact sum of floats."""
    return mpmath.fsum(mpmath.mpf(float(part)) for part in parts)


@pytest.mark.parametrize("bits", [256, 257, 1000, 2048])
def test_pi(bits):
    """Pi is right in the last unit."""
    with mpmath.workprec(bits + 40):
        assert abs(exact.pi(bits) - mpmath.ldexp(mpmath.pi, bits)) <= 1


@pytest.mark.parametrize("bits", [256, 512, 1024])
def test_sine_and_cosine_in_integers(bits):
    """Both are within the units they state, up to an eighth of a turn, and so is the bound used."""
    eighth = 1 << (bits - 3)
    angles = [0, 1, -1, 12345, eighth, -eighth, eighth // 3, -eighth // 7, 1 << (bits // 2)]
    with mpmath.workprec(bits + 40):
        for turn in angles:
            s, c = exact.sine_cosine(turn, bits)
            radians = mpmath.ldexp(2 * mpmath.pi * turn, -bits)
            assert abs(mpmath.ldexp(mpmath.sin(radians), bits) - s) <= bits
            assert abs(mpmath.ldexp(mpmath.cos(radians), bits) - c) <= bits


def test_turns_are_right_in_the_last_two_units():
    """theta_i / (2 pi) in fixed point, also where it is far below the first bits."""
    for dim, base, bits in ((128, 1e4, 160), (1024, 1e300, 2048), (6, 1.0000001, 256)):
        with mpmath.workprec(bits + 60):
            for index, value in enumerate(turns(dim, Frequencies(base), bits)):
                wanted = mpmath.ldexp(theta(dim, base, index) / (2 * mpmath.pi), bits)
                assert abs(value - wanted) <= 2


def test_table():
    """Every direction and slope is right to 2^-104, and the leading parts lie on the grid."""
    rows = table.table().reshape(4, 2, -1)
    count = rows.shape[-1]
    grid = 2.0**table.GRID_BITS

    assert np.array_equal(rows[[0, 2]] * grid, np.rint(rows[[0, 2]] * grid))
    assert np.all(np.abs(rows[2] * grid) <= 2**20)
    assert np.all(np.abs(rows[[1, 3]]) <= 2.0**-53)
    with mpmath.workdps(60):
        w = mpmath.ldexp(2 * mpmath.pi, -table.UNIT_BITS)
        for k in range(0, count, 3):
            c, s = mpmath.cos_sin(2 * mpmath.pi * k / count)
            wanted = [[c, s], [-w * s, w * c]]
            for pair in (0, 1):
                for column in (0, 1):
                    got = sum_of(*rows[2 * pair : 2 * pair + 2, column, k])
                    assert abs(got - wanted[pair][column]) <= 2.0**-104


@pytest.mark.parametrize("bits", [8, 20, 31, 32, 45, 63])
def test_phase(bits):
    """Cell, units and part make the fraction of a turn to 2^-88, with one limb of m or two."""
    dim, base = 32, 10000.0
    rng = np.random.default_rng(bits)
    m = rng.integers(0, 2**bits, 400, dtype=np.int64).astype(np.uint64)
    m[:2] = 2**bits - 1, 0
    index = rng.integers(0, dim // 2, m.size)
    got = phase(m, limbs(dim, Frequencies(base))[:, index], wide=bits > 32)

    assert np.all(np.abs(got.units) <= 2**23)
    assert np.all((got.part >= 0) & (got.part <= 1))
    with mpmath.workdps(DIGITS):
        for row, i in enumerate(index):
            turn = int(m[row]) * theta(dim, base, int(i)) / (2 * mpmath.pi)
            rest = mpmath.ldexp(sum_of(got.units[row], got.part[row]), -table.UNIT_BITS)
            off = turn - mpmath.mpf(int(got.cell[row])) / 2048 - rest
            assert abs(off - mpmath.nint(off)) <= 2.0**-88


def worst_ratio(got, radians, scale):
    """Return the largest error of head + tail, as a part of the slack; sin is divided by scale."""
    worst = 0.0
    with mpmath.workdps(DIGITS):
        for column, angle in enumerate(radians):
            c, s = mpmath.cos_sin(angle)
            for row, wanted in enumerate((c, s / mpmath.mpf(scale[column]))):
                error = abs(sum_of(got.head[row, column], got.tail[row, column]) - wanted)
                slack = np.broadcast_to(got.slack, got.head.shape)[row, column]
                worst = max(worst, float(error / mpmath.mpf(float(slack))))
    return worst


def test_expansion_keeps_its_slack():
    """The sum head + tail is within the slack of the exact value, and the slack is not idle."""
    dim, base = 64, 10000.0
    rng = np.random.default_rng(8)
    m = rng.integers(0, 2**31, 4000).astype(np.uint64)
    m[:200] = np.arange(200)
    index = rng.integers(0, dim // 2, m.size)
    got = expansion.expand(phase(m, limbs(dim, Frequencies(base))[:, index], wide=False))
    with mpmath.workdps(DIGITS):
        frequency = [theta(dim, base, i) for i in range(dim // 2)]
        radians = [int(a) * frequency[i] for a, i in zip(m, index, strict=True)]

    assert 1 / 50 < worst_ratio(got, radians, np.ones(m.size)) < 1


def small_angles(dim, base, most, bits):
    """Return positions below 2^bits, of all sizes, and columns where their angles are small."""
    rng = np.random.default_rng(9)
    index = rng.integers(1, dim // 2, 4000)
    m = rng.integers(2 ** (bits - 1), 2**bits, index.size) >> rng.integers(0, bits, index.size)
    m = m.astype(np.uint64)
    columns = scaled_frequencies(dim, Frequencies(base))[:, index]
    usable = small.is_below(most, m, columns)
    assert 500 < np.count_nonzero(usable) < m.size
    return m[usable], index[usable], columns[:, usable]


@pytest.mark.parametrize(
    ("series", "most", "dim", "base", "bits"),
    [
        (small.expand_small, small.SMALL, 64, 1e9, 16),
        (small.expand_small, small.SMALL, 128, 1e300, 21),
        (small.expand_small, small.SMALL, 128, 1e300, 63),
        (small.expand_tiny, small.TINY, 512, 1e20, 12),
        (small.expand_tiny, small.TINY, 128, 1e300, 63),
    ],
)
def test_small_expansions_keep_their_slack(series, most, dim, base, bits):
    """The same for small angles, where sin has a relative bound, down to 2^-1020."""
    m, index, columns = small_angles(dim, base, most, bits)
    with mpmath.workdps(DIGITS):
        frequency = [theta(dim, base, i) for i in range(dim // 2)]
        radians = [int(a) * frequency[i] for a, i in zip(m, index, strict=True)]

    assert 1 / 16 < worst_ratio(series(m, columns), radians, columns[2]) < 1


@pytest.mark.parametrize("bits", [26, 27, 53, 63])
def test_product_of_a_small_angle(bits):
    """Its two parts are right to 2^-76.5, and the first has all but the last 24 bits."""
    m, index, columns = small_angles(128, 1e300, small.SMALL, bits)
    a, b = small._product(m, columns)
    assert np.all(np.abs(b) <= 2.0**-24.9 * a)
    with mpmath.workdps(DIGITS):
        frequency = [theta(128, 1e300, i) for i in range(64)]
        for j, i in enumerate(index):
            wanted = int(m[j]) * frequency[i] / mpmath.mpf(columns[2, j])
            assert abs(sum_of(a[j], b[j]) / wanted - 1) <= 2.0**-76.5


@pytest.mark.parametrize("base", [10000.0, 1e300, 1.7e308])
def test_all_ways_agree_bit_for_bit(base, monkeypatch):
    """Integers alone, and the series for small angles, give what the fast way gives."""
    dim = 16
    m = np.concatenate([np.arange(-40, 40), 7 ** np.arange(1, 22)])
    fast = [oracle.cos_sin(part, dim, Frequencies(base)) for part in (m[:80], m)]
    monkeypatch.setattr(expansion, "_LEAST_SLACK", 1.0)
    slower = oracle.cos_sin(m, dim, Frequencies(base))
    monkeypatch.setattr(evaluate, "is_below", lambda _, m, __: np.zeros(m.shape, dtype=bool))
    monkeypatch.setattr(evaluate, "columns_below", lambda *_: slice(dim // 2, dim // 2))
    slowest = oracle.cos_sin(m, dim, Frequencies(base))

    assert np.array_equal(fast[0], np.array(slowest)[:, :80])
    assert np.array_equal(fast[1], slowest)
    assert np.array_equal(slower, slowest)


@pytest.mark.parametrize(
    ("m", "dim", "base", "small_from", "tiny_from"),
    [
        (1, 128, 10000.0, 39, None),
        (16, 128, 10000.0, 58, None),
        (512, 128, 10000.0, None, None),
        (1, 1024, 1e300, 5, 18),
        (2**63, 1024, 1e300, 37, 51),
        (1, 2, 1e300, None, None),
    ],
)
def test_columns_of_small_angles(m, dim, base, small_from, tiny_from):
    """They are the last ones, from where the largest angle is small enough, and mostly none."""
    half = dim // 2
    positions = np.array([1, m], dtype=np.uint64)
    angles = float(m) * oracle.frequencies(dim, Frequencies(base))
    for most, first in ((small.COLUMNS, small_from), (small.TINY, tiny_from)):
        start = half if first is None else first
        assert small.columns_below(most, positions, dim, Frequencies(base)) == slice(start, half)
        assert np.count_nonzero(angles > most) == start


def test_columns_below_the_range_of_normal_floats():
    """Where sin would be a subnormal float, the series is not used."""
    m = np.array([1, 3], dtype=np.uint64)
    columns = small.columns_below(small.TINY, m, 4096, Frequencies(1.7e308))

    assert 0 < columns.start < columns.stop < 2048
    assert (
        misrounded(m.astype(np.int64), 4096, 1.7e308, oracle.cos_sin(m, 4096, Frequencies(1.7e308)))
        == 0
    )


@pytest.mark.parametrize("name", ["expand_small", "expand_tiny"])
def test_the_slack_of_small_angles_is_what_makes_it_right(name, monkeypatch):
    """A series that is off by 2^-60 is rounded correctly under a slack that covers it."""
    m = np.arange(1, 200)
    right = oracle.cos_sin(m, 128, Frequencies(1e300))
    series = getattr(small, name)

    def coarse(m, theta, covered):
        head, tail, slack = series(m, theta)
        return expansion.Expansion(head, tail + 2.0**-60 * head, slack + covered * 2.0**-60 * head)

    monkeypatch.setattr(evaluate, name, functools.partial(coarse, covered=1.0))
    covered = oracle.cos_sin(m, 128, Frequencies(1e300))
    monkeypatch.setattr(evaluate, name, functools.partial(coarse, covered=0.0))
    careless = oracle.cos_sin(m, 128, Frequencies(1e300))

    assert np.array_equal(right, covered)
    assert not np.array_equal(right, careless)


def test_the_slack_is_what_makes_it_right(monkeypatch):
    """A coarser series is rounded correctly under a slack that covers it, and not without."""
    m = np.arange(1, 2**14)
    right = oracle.cos_sin(m, 64, Frequencies(10000.0))
    monkeypatch.setattr(expansion, "_A3", 0.0)  # leaves out r^6/720, below 2^-45 r^2/2
    monkeypatch.setattr(expansion, "_SLACK", 2.0**-45 * table.radians_per_unit() ** 2)
    covered = oracle.cos_sin(m, 64, Frequencies(10000.0))
    monkeypatch.setattr(expansion, "_SLACK", 0.0)
    careless = oracle.cos_sin(m, 64, Frequencies(10000.0))
    off = np.abs(np.subtract(right, careless)) / np.spacing(np.abs(right))

    assert np.array_equal(right, covered)
    assert np.count_nonzero(off) > 0
    assert off.max() == 1


def test_integers_take_as_many_bits_as_it_takes():
    """The number of bits is doubled until the angle is seen at all."""
    asked = []

    def recording(bits):
        asked.append(bits)
        return turns(1024, Frequencies(1e300), bits)

    cos, sin = exact.rounded(3, recording, 511)

    assert asked == [256, 512, 1024, 2048]
    with mpmath.workdps(DIGITS):
        assert (cos, sin) == (1.0, float(mpmath.sin(3 * theta(1024, 1e300, 511))))


def test_caches_are_bounded():
    """Tables of many dimensions and bases do not pile up."""
    kept = (turns, scaled_frequencies, evaluate._limbs)
    for base in range(2, 300):
        oracle.cos_sin(np.arange(3), 4, Frequencies(float(base)))

    assert all(cached.cache_info().currsize <= 256 for cached in kept)
