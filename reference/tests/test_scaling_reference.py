"""Chapter `scaling`: SCAL-1 to SCAL-13."""

import math
from decimal import Context, localcontext

import numpy as np
import pytest

from ropespec.reference import (
    apply_rotary,
    apply_rotary_cos_sin,
    apply_rotary_scaled,
    cos_sin,
    cos_sin_scaled,
    inv_freq,
    inv_freq_scaled,
    relative_score,
)
from ropespec.reference.scaling import gain_of
from ropespec.reference.scaling_blends import softmax_gain, yarn_gain, yarn_range
from ropespec.spec.errors import ArgumentError
from ropespec.spec.scaling import (
    DynamicNtk,
    Linear,
    Llama3,
    LongRope,
    NtkAware,
    NtkByParts,
    PaperDynamicNtk,
    Proportional,
    Yarn,
)

D = 64
LONG = tuple(1 + i / 4 for i in range(D // 2))
SCHEMES = [
    Linear(4.0),
    NtkAware(3.0),
    PaperDynamicNtk(100, 250),
    PaperDynamicNtk(100, 50),
    DynamicNtk(2.0, 100, 250),
    DynamicNtk(2.0, 100, 50),
    NtkByParts(16.0, 4096),
    NtkByParts(16.0, 4096, 0.5, 64.0),
    Yarn(16.0, 4096),
    Yarn(16.0, 4096, truncate=False),
    Yarn(16.0, 4096, 24.0, 2.0, attention_factor=1.25),
    Yarn(40.0, 4096, mscale=1.0, mscale_all_dim=0.5),
    Yarn(40.0, 4096, mscale=0.7),
    Yarn(40.0, 4096, mscale=0.7, mscale_all_dim=0.0),
    Yarn(1.0, 4096),
    Yarn(4.0, 64),
    Llama3(8.0, 1.0, 4.0, 8192),
    Llama3(16.0, 1.0, 1.0, 8192),
    LongRope((1.0,) * (D // 2), LONG, 32.0, 4096, 4096),
    LongRope((1.0,) * (D // 2), LONG, 32.0, 4096, 4097),
    LongRope((1.0,) * (D // 2), LONG, 1.0, 4096, 4097),
    LongRope((1.0,) * (D // 2), LONG, 32.0, 4096, 1, attention_factor=1.5),
    Proportional(0.25),
    Proportional(0.3, 8.0),
]
every_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=repr)


@every_scheme
@pytest.mark.parametrize("base", [50.0, 10000.0, 1e6])
def test_the_printed_formulas_give_the_exact_frequencies(scheme, base):
    """SCAL-2 to SCAL-11: float64 as printed, and exact decimals, are two sources that agree."""
    with localcontext(Context(prec=60)):
        exact = np.array([float(theta) for theta in scheme.theta(base, D)])
        gain = float(scheme.gain)
    # A blend cancels: theta (1 - ramp) + theta/s ramp loses s times the rounding of the ramp.
    bound = (8 + 4 * getattr(scheme, "factor", 1.0)) * 2.0**-53

    assert np.all(np.abs(inv_freq_scaled(D, base, scaling=scheme) - exact) <= bound * exact)
    assert abs(gain_of(scheme) - gain) <= 4 * 2.0**-53


@every_scheme
def test_tables_are_those_of_the_frequencies_times_the_gain(scheme):
    """SCAL-1: cos and sin of m omega_i, each times A, for positions of any shape."""
    m = np.array([[0, 3], [-7, 1000]])
    cos, sin = cos_sin_scaled(m, D, 50.0, scaling=scheme)
    angle = m[..., None] * inv_freq_scaled(D, 50.0, scaling=scheme)

    np.testing.assert_array_equal(cos, gain_of(scheme) * np.cos(angle))
    np.testing.assert_array_equal(sin, gain_of(scheme) * np.sin(angle))


@every_scheme
@pytest.mark.parametrize("interleaved", [True, False])
@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_the_rotation_is_that_by_scaled_tables(scheme, interleaved, dtype):
    """SCAL-1: and what is not rotated passes through without a gain, bit for bit."""
    x = np.random.default_rng(0).standard_normal((2, 3, 2, D + 4)).astype(dtype)
    m = np.array([[0, 5, 9], [1, 1, 800]])
    y = apply_rotary_scaled(x, m, interleaved=interleaved, scaling=scheme, base=50.0, rotary_dim=D)
    tables = cos_sin_scaled(m, D, 50.0, scaling=scheme)

    assert y.dtype == dtype
    np.testing.assert_array_equal(y, apply_rotary_cos_sin(x, *tables, interleaved=interleaved))
    np.testing.assert_array_equal(y[..., D:], x[..., D:])


def test_scal_1_a_factor_of_1_is_the_plain_rotation():
    """Frequencies, tables and rotation are those without a scaling."""
    x = np.random.default_rng(0).standard_normal((3, 2, D))
    one = Linear(1.0)

    np.testing.assert_array_equal(inv_freq_scaled(D, scaling=one), inv_freq(D))
    for found, plain in zip(cos_sin_scaled(5, D, scaling=one), cos_sin(5, D), strict=True):
        np.testing.assert_array_equal(found, plain)
    np.testing.assert_array_equal(
        apply_rotary_scaled(x, [0, 1, 2], interleaved=True, scaling=one),
        apply_rotary(x, [0, 1, 2], interleaved=True),
    )


def test_scal_2_linear_divides_positions():
    """Position s m of the scaled rotation is position m of the plain one."""
    x = np.random.default_rng(0).standard_normal((3, 2, D))
    scaled = apply_rotary_scaled(x, [0, 4, 400], interleaved=False, scaling=Linear(4.0))

    np.testing.assert_allclose(scaled, apply_rotary(x, [0, 1, 100], interleaved=False), atol=1e-12)


def test_scal_3_the_ends_of_ntk():
    """The first frequency stays, and the last one is divided by s."""
    ratio = inv_freq_scaled(D, scaling=NtkAware(4.0)) / inv_freq(D)

    assert ratio[0] == 1
    assert ratio[-1] == pytest.approx(0.25, rel=1e-13)


def test_scal_4_and_scal_5_differ_where_the_factor_is_above_1():
    """Two schemes of one name."""
    length = {"original_length": 100, "length": 300}
    paper = inv_freq_scaled(D, scaling=PaperDynamicNtk(**length))

    same = inv_freq_scaled(D, scaling=DynamicNtk(factor=1.0, **length))
    np.testing.assert_allclose(same, paper, rtol=1e-13)
    other = inv_freq_scaled(D, scaling=DynamicNtk(factor=2.0, **length))
    assert abs(other[-1] / paper[-1] - 3 / 5) < 1e-12


def test_scal_6_and_scal_7_differ_between_their_ends():
    """Linear in the turns, and linear in the index: alike for fast and for slow pairs alone."""
    ratio = inv_freq_scaled(128, scaling=Yarn(16.0, 4096)) / inv_freq_scaled(
        128, scaling=NtkByParts(16.0, 4096)
    )
    assert (ratio[:21] == 1).all()
    np.testing.assert_allclose(ratio[46:], 1, rtol=1e-12)
    assert ratio.max() > 3


@pytest.mark.parametrize(
    ("dim", "base", "length", "fast", "slow", "truncate", "expected"),
    [
        (128, 1e4, 4096, 32.0, 1.0, True, (20, 46)),
        (64, 1e4, 64, 32.0, 1.0, True, (0, 9)),  # would begin below 0
        (16, 1.5, 65536, 32.0, 1.0, True, (114, 15)),  # would end behind the last component
        (64, 1e4, 4096, 32.0, 1.0, False, (10.472241, 22.513441)),
    ],
)
def test_scal_7_the_ends_of_the_ramp(dim, base, length, fast, slow, truncate, expected):
    """Rounded apart or not, and clamped to 0 and to d - 1."""
    found = yarn_range(dim, base, length, fast, slow, truncate=truncate)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_scal_8_one_mscale_alone_is_left_aside():
    """So is a 0; both given alike are a gain of 1, whatever they are."""
    alone = [yarn_gain(40.0, 0.5), yarn_gain(40.0, None, 0.5), yarn_gain(40.0, 0.5, 0.0)]

    assert alone == [yarn_gain(40.0)] * 3
    assert yarn_gain(40.0) == pytest.approx(0.1 * math.log(40) + 1)
    assert yarn_gain(40.0, 0.3, 0.3) == 1
    assert yarn_gain(1.0) == 1


def test_scal_12_the_gain_in_the_scores():
    """A on queries and keys is A^2 on the score, which is what a scale of the softmax does."""
    q, k = np.random.default_rng(0).standard_normal((2, 1, 1, D))
    scheme = Yarn(16.0, 4096)
    turned = [
        apply_rotary_scaled(v[None], [m], interleaved=True, scaling=scheme)
        for v, m in ((q, 5), (k, 70))
    ]
    plain = Yarn(16.0, 4096, attention_factor=1.0)
    moved = apply_rotary_scaled(k[None], [65], interleaved=True, scaling=plain)

    expected = softmax_gain(16.0, 1.0) * np.sum(q * moved)
    assert np.sum(turned[0] * turned[1]) == pytest.approx(expected)
    assert gain_of(scheme) ** 2 == pytest.approx(softmax_gain(16.0, 1.0))


def test_scal_13_two_lengths_have_no_offset():
    """A query of one length and a key of another: the score depends on both positions."""
    q, k = np.random.default_rng(0).standard_normal((2, 1, 1, 1, D))

    def score(m, n, lengths):
        turned = (
            apply_rotary_scaled(v, [at], interleaved=True, scaling=DynamicNtk(2.0, 100, length))
            for v, at, length in ((q, m, lengths[0]), (k, n, lengths[1]))
        )
        return float(np.sum(np.multiply(*turned)))

    assert score(5, 9, (300, 300)) == pytest.approx(score(105, 109, (300, 300)))
    assert abs(score(5, 9, (300, 50)) - score(105, 109, (300, 50))) > 0.1
    plain = relative_score(q[0, 0, 0], k[0, 0, 0], 4, interleaved=True)
    assert score(5, 9, (50, 50)) == pytest.approx(float(plain))


@pytest.mark.parametrize(
    "call",
    [
        lambda: inv_freq_scaled(3, scaling=Linear(2.0)),
        lambda: inv_freq_scaled(4, 1.0, scaling=Linear(2.0)),
        lambda: inv_freq_scaled(4, scaling="linear"),
        lambda: inv_freq_scaled(2, scaling=NtkAware(2.0)),
        lambda: inv_freq_scaled(4, scaling=Linear(2.0), device="cuda"),
        lambda: cos_sin_scaled(0.5, 4, scaling=Linear(2.0)),
        lambda: apply_rotary_scaled(np.ones((1, 4)), [0], interleaved=True, scaling=Linear(2.0)),
        lambda: apply_rotary_scaled(np.ones((1, 1, 4)), [0], interleaved=1, scaling=Linear(2.0)),
        lambda: apply_rotary_scaled(np.ones((1, 1, 4)), [0], interleaved=True, scaling=None),
    ],
)
def test_wrong_arguments_are_refused(call):
    """As the plain functions refuse them."""
    with pytest.raises(ArgumentError):
        call()
