import numpy as np
import pytest

from ropespec.reference.decay import (
    abel_bound,
    abel_sum,
    cosine_sum,
    decay_bound,
    decay_curve,
    pair_products,
    partial_sums,
    trace,
    trivial_bound,
    window_means,
)
from ropespec.reference.relative import relative_score
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

DISTANCES = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
TAPER = np.repeat(1 - np.arange(64) / 64, 2) * np.tile([1.0, 0.0], 64)
UNIT = np.tile([1.0, 0.0], 64)


def draw(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def test_table_of_the_chapter():
    """B, Σcos and |S_64| at the powers of two, d = 128, base 10000 (DEC-2; F-202)."""
    B = [32.5, 31.5382, 28.9560, 22.6040, 19.8174, 15.7750, 13.3843]
    B += [10.0899, 9.2729, 6.5431, 5.3114, 4.0241, 3.6185, 4.8828]
    cosines = [64.0, 62.0937, 57.3819, 48.5860, 45.7205, 39.7017, 35.6778]
    cosines += [30.5201, 21.2988, 20.5248, 14.0432, 13.0843, 7.6342, -3.3826]
    last = [64.0, 62.4871, 58.5424, 49.9994, 47.1237, 41.1910, 37.4999]
    last += [31.7294, 24.4061, 23.4458, 17.2023, 15.8722, 13.0082, 4.3278]
    np.testing.assert_allclose(decay_bound(DISTANCES, 128), B, rtol=0, atol=5.1e-5)
    np.testing.assert_allclose(cosine_sum(DISTANCES, 128), cosines, rtol=0, atol=5.1e-5)
    sums = np.abs(partial_sums(DISTANCES, 128)[:, -1])
    np.testing.assert_allclose(sums, last, rtol=0, atol=5.1e-5)


def test_frequencies_start_at_one():
    """The caption's θ_1..θ_64 would give 31.7739 at distance 1, not 31.5382 (DEC-2)."""
    theta = 10000.0 ** (-2 * np.arange(1, 65) / 128)
    shifted = np.abs(np.cumsum(np.exp(1j * theta))).mean()
    assert shifted == pytest.approx(31.7739, abs=5.1e-5)
    assert decay_bound(1, 128) == pytest.approx(31.5382, abs=5.1e-5)


@pytest.mark.parametrize("dim", [2, 4, 64, 128])
def test_largest_at_offset_zero(dim):
    """B(D) <= B(0) = (d/2 + 1)/2, and 2 Σcos <= d with equality at 0 (DEC-2, P-43)."""
    offsets = np.arange(-300, 301)
    B = decay_bound(offsets, dim)
    assert decay_bound(0, dim) == (dim / 2 + 1) / 2
    assert B.max() <= decay_bound(0, dim) + 1e-12
    assert trace(0, dim) == dim
    assert trace(offsets, dim).max() == dim
    np.testing.assert_allclose(B, B[::-1], rtol=1e-14)


def test_mean_of_moduli_by_hand():
    """For d = 4 and base 100 it is (1 + |1 + e^{-0.9 i D}|) / 2 (DEC-2)."""
    D = np.arange(-6, 7)
    expected = (1 + np.abs(1 + np.exp(0.9j * D))) / 2
    np.testing.assert_allclose(decay_bound(D, 4, base=100.0), expected, atol=1e-14)


def test_window_means_fall():
    """17.938, 9.305, 6.298, 5.019 for B, and 85.631, 51.826, 30.146, 10.981 for C (DEC-2, P-44)."""
    edges = (0, 32, 256, 1024, 4096)
    B = window_means(decay_bound(np.arange(4096), 128), edges)
    C = window_means(decay_curve(4095, 128), edges)
    np.testing.assert_allclose(B, [17.938, 9.305, 6.298, 5.019], rtol=0, atol=5.1e-4)
    np.testing.assert_allclose(C, [85.631, 51.826, 30.146, 10.981], rtol=0, atol=5.1e-4)
    assert (np.diff(B) < 0).all()
    assert (np.diff(C) < 0).all()


def test_not_monotone():
    """B rises at 115 of 256 steps, first from 18 to 19, and at 2020 of 4096.

    DEC-3, P-44; F-201, F-205, E-25.
    """
    rises = np.diff(decay_bound(np.arange(4097), 128)) > 0
    assert np.flatnonzero(rises)[0] == 18
    assert rises[:256].sum() == 115
    assert rises.sum() == 2020


@pytest.mark.parametrize(
    ("dim", "base", "count"), [(64, 1e4, 114), (128, 5e5, 116), (128, 1e6, 111)]
)
def test_not_monotone_elsewhere(dim, base, count):
    """Other dimensions and bases rise about as often in the first 256 steps (DEC-3)."""
    assert (np.diff(decay_bound(np.arange(257), dim, base)) > 0).sum() == count


def test_does_not_go_to_zero():
    """Up to 65536 the smallest B is 1.21; beyond 32768 it still reaches 14.4 (DEC-3)."""
    B = decay_bound(np.arange(65537), 128)
    assert B.min() == pytest.approx(1.206, abs=5.1e-4)
    assert B[2048:4097].max() == pytest.approx(10.87, abs=5.1e-3)
    assert B[2048:4097].max() > B[64]
    assert B[32768:].max() == pytest.approx(14.4, abs=5.1e-2)
    assert B[32768:].max() > B[32]
    assert B[32768:].mean() == pytest.approx(4.7, abs=5.1e-2)


def test_curve_of_the_score():
    """C at six distances; 1992 of 4096 steps rise (DEC-2, E-25)."""
    C = decay_curve(4096, 128)
    assert C.shape == (4097,)
    expected = [128, 124.187, 85.640, 61.087, 20.355, -6.765]
    np.testing.assert_allclose(C[[0, 1, 10, 100, 1000, 4096]], expected, rtol=0, atol=5.1e-4)
    assert (np.diff(C) > 0).sum() == 1992
    np.testing.assert_allclose(C, trace(np.arange(4097), 128), atol=1e-11)


def test_curve_of_a_given_vector():
    """With q = k = (1, 0): cos 3 = -0.989992 at 3, but cos 6 = 0.960170 at 6 (DEC-3, E-25)."""
    C = decay_curve(6, 2, q=np.array([1.0, 0.0]))
    assert C[3] == pytest.approx(-0.989992, abs=5e-7)
    assert C[6] == pytest.approx(0.960170, abs=5e-7)


def test_curve_of_a_given_vector_is_interleaved():
    """q = (1, 0, 0, 0) lies in the pair of θ_0 and (0, 0, 1, 0) in that of θ_1 (DEC-2).

    Half-split both would lie in the pair of another frequency: (0, 1, 0, 0) tells the two apart.
    """
    for component, theta in enumerate((1.0, 1.0, 0.1, 0.1)):
        q = np.eye(4)[component]
        expected = np.cos(np.arange(7) * theta)
        np.testing.assert_allclose(decay_curve(6, 4, 100.0, q=q), expected, atol=1e-14)


@pytest.mark.parametrize(
    ("dim", "base", "first"),
    [(128, 1e4, 1707), (64, 1e4, 725), (128, 5e5, 18438), (128, 1e6, 27115)],
)
def test_cosine_sum_becomes_negative(dim, base, first):
    """The first distance with a negative Σcos (DEC-3)."""
    sums = cosine_sum(np.arange(first + 1), dim, base)
    assert np.flatnonzero(sums < 0).tolist() == [first]


def test_cosine_sum_is_negative_often():
    """Negative at 420 of the first 4097 distances (DEC-3)."""
    assert (cosine_sum(np.arange(4097), 128) < 0).sum() == 420


def test_trace_oscillates():
    """Trace of R_D for d = 8 and D = 0..12 (DEC-3; F-203, E-29)."""
    expected = [8, 7.0705, 5.1274, 3.9298, 4.5332, 6.3200, 7.5674]
    expected += [7.0325, 5.0960, 3.4128, 3.3924, 4.9038, 6.3979]
    np.testing.assert_allclose(trace(np.arange(13), 8), expected, rtol=0, atol=5.1e-5)


def test_independent_vectors_do_not_decay():
    """Independent normal q and k: mean 0, deviation sqrt(d) at every distance.

    DEC-3; F-203, E-29.
    """
    q, k = draw(0, 2, 20000, 8)
    for offset in (0, 10, 1000):
        scores = relative_score(q, k, offset, interleaved=True)
        # four standard errors; the kurtosis of a sum of d products of normals is 3 + 6/d
        assert abs(scores.mean()) < 4 * np.sqrt(8 / 20000)
        assert scores.std() == pytest.approx(np.sqrt(8), rel=4 * np.sqrt((2 + 6 / 8) / (4 * 20000)))


@pytest.mark.parametrize("interleaved", [True, False])
@pytest.mark.parametrize("dim", [2, 4, 32])
def test_abel_bound_holds(dim, interleaved):
    """|g(q, k, D)| is at most the bound, and summation by parts gives the score.

    DEC-1, P-42; F-204.
    """
    q, k = draw(dim, 2, 50, 1, dim)
    offsets = np.array([0, 1, -1, 7, 100, -4000])
    scores = relative_score(q, k, offsets, interleaved=interleaved)
    bounds = abel_bound(q, k, offsets, interleaved=interleaved)
    assert bounds.shape == scores.shape == (50, 6)
    assert (np.abs(scores) <= bounds + 1e-11).all()
    sums = abel_sum(q, k, offsets, interleaved=interleaved)
    np.testing.assert_allclose(sums.real, scores, atol=1e-11)
    assert (np.abs(sums) <= bounds + 1e-11).all()
    assert (np.abs(scores) <= trivial_bound(q, k, interleaved=interleaved) + 1e-11).all()


def test_abel_bound_is_reached():
    """For one pair it is |h|, which the complex sum has everywhere: no smaller bound holds."""
    q, k = draw(3, 2, 2)
    offsets = np.arange(5)
    bound = abel_bound(q, k, offsets, interleaved=True)
    np.testing.assert_allclose(np.abs(abel_sum(q, k, offsets, interleaved=True)), bound, rtol=1e-14)


def test_tapering_products():
    """h_i = 1 - i/64 at 256: Abel 6.54, complex sum 4.96, score 2.94, trivial 32.5.

    DEC-1, DEC-3.
    """
    h = pair_products(TAPER, UNIT, interleaved=True)
    np.testing.assert_allclose(h, 1 - np.arange(64) / 64, atol=1e-15)
    assert abel_bound(TAPER, UNIT, 256, interleaved=True) == pytest.approx(6.5431, abs=5.1e-5)
    total = abel_sum(TAPER, UNIT, 256, interleaved=True)
    assert abs(total) == pytest.approx(4.9555, abs=5.1e-5)
    assert total.real == pytest.approx(2.9365, abs=5.1e-5)
    score = relative_score(TAPER, UNIT, 256, interleaved=True)
    assert score == pytest.approx(2.9365, abs=5.1e-5)
    assert trivial_bound(TAPER, UNIT, interleaved=True) == pytest.approx(32.5, abs=1e-12)


def test_constant_products_make_the_bound_vacuous():
    """All h_i equal: Abel is 64 B, above the trivial 64 wherever B > 1 (DEC-3)."""
    for offset in (0, 1, 100, 4096):
        bound = abel_bound(UNIT, UNIT, offset, interleaved=True)
        assert bound == pytest.approx(64 * decay_bound(offset, 128), rel=1e-13)
        assert bound > trivial_bound(UNIT, UNIT, interleaved=True)


def test_trivial_bound_is_below_the_bound_at_zero():
    """Σ|h_i| <= max|h_{i+1} - h_i| (d/2)(d/2+1)/2, which is Abel at 0 (DEC-3)."""
    q, k = draw(4, 2, 100, 16)
    trivial = trivial_bound(q, k, interleaved=True)
    at_zero = abel_bound(q, k, 0, interleaved=True)
    assert (trivial <= at_zero).all()
    largest = at_zero / (8 * 9 / 2)
    steps = np.diff(pair_products(q, k, interleaved=True), append=0)
    np.testing.assert_allclose(largest, np.abs(steps).max(axis=-1), rtol=1e-14)


@pytest.mark.parametrize(("offset", "share"), [(0, 0.007), (4096, 0.046)])
def test_abel_bound_says_little_of_random_vectors(offset, share):
    """For normal q and k of 128 components the trivial bound is 20 to 140 times lower (DEC-3)."""
    q, k = draw(4, 2, 400, 128)
    ratio = trivial_bound(q, k, interleaved=True) / abel_bound(q, k, offset, interleaved=True)
    assert np.median(ratio) == pytest.approx(share, abs=5.1e-4)


def test_shapes_and_zero_sizes():
    """The result has the shape of the offsets, also where that is empty."""
    for shape in [(), (3,), (2, 3), (0,), (2, 0)]:
        offsets = np.zeros(shape, dtype=np.int64)
        assert decay_bound(offsets, 6).shape == shape
        assert decay_bound(offsets, 6).dtype == np.float64
        assert cosine_sum(offsets, 6).shape == shape
    assert abel_bound(np.ones((0, 4)), np.ones((0, 4)), 3, interleaved=True).shape == (0,)


def test_offsets_of_every_integer_dtype():
    """200 is the same offset in every dtype that holds it, and -1 in every signed one."""
    for dtype in (np.uint8, np.int16, np.uint32, np.int64):
        assert decay_bound(dtype(200), 8) == decay_bound(200, 8)
    for dtype in (np.int8, np.int32):
        assert decay_bound(np.array(-1, dtype), 8) == decay_bound(1, 8)


def test_inputs_are_not_written():
    """Offsets and vectors are the same after every call."""
    offsets, (q, k) = np.arange(4), draw(5, 2, 8)
    for array in (offsets, q, k):
        array.flags.writeable = False
    decay_bound(offsets, 8)
    abel_bound(q, k, offsets, interleaved=False)
    decay_curve(4, 8, q=q)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            (np.arange(3.0), 8),
            ArgumentTypeError,
            (
                "offsets must be integers that fit in int64; "
                "got an array of shape (3,) and dtype float64"
            ),
        ),
        ((1, 7), ArgumentValueError, "dim must be an even integer of at least 2; got 7 (int)"),
        ((1, 8.0), ArgumentTypeError, "dim must be an even integer of at least 2; got 8.0 (float)"),
        (
            (1, 8, 0.5),
            ArgumentValueError,
            "base must be a finite number above 1; got 0.5 (float)",
        ),
    ],
)
def test_refused_arguments(arguments, error, words):
    """Each wrong argument is refused with the shared words."""
    with pytest.raises(error) as raised:
        decay_bound(*arguments)
    assert str(raised.value) == words


def test_abel_bound_refuses_what_the_score_refuses():
    """abel_bound and abel_sum have the checks of relative_score."""
    for form in (abel_bound, abel_sum):
        with pytest.raises(ArgumentValueError, match="k must be of the shape of q"):
            form(np.ones(4), np.ones(6), 1, interleaved=True)
        with pytest.raises(ArgumentTypeError, match="interleaved must be True or False"):
            form(np.ones(4), np.ones(4), 1, interleaved=0)
