"""Chapter `axes`: AXES-1 to AXES-9."""

import numpy as np
import pytest

from ropespec.reference import (
    apply_rotary,
    apply_rotary_axes,
    apply_rotary_cos_sin,
    cos_sin,
    cos_sin_axes,
    cos_sin_scaled,
    inv_freq,
)
from ropespec.reference.axes_ends import (
    apply_rotary_deinterleaved,
    apply_rotary_trailing,
    apply_xpos,
    xpos_centre,
)
from ropespec.reference.rotation_dense import permutation
from ropespec.spec.axes import Axial, Mixed, Sections, Woven
from ropespec.spec.errors import ArgumentError
from ropespec.spec.scaling import Yarn

D = 16
NUMBERS = np.array([[[3, 0], [1, 5]], [[-2, 7], [4, 4]], [[9, 9], [0, 100]]])
X = np.random.default_rng(0).standard_normal((2, 2, 3, D))
KINDS = [Sections((2, 3, 3)), Woven((4, 2, 2)), Axial((2, 3, 3)), Mixed(((0.1,) * 8,) * 3)]
every_kind = pytest.mark.parametrize("axes", KINDS, ids=lambda axes: type(axes).__name__)


@every_kind
def test_axes_1_angles_are_sums_over_the_numbers(axes):
    """Literal angles, and the rows of exact frequencies, give the same cos and sin."""
    from ropespec.spec.convention import Frequencies  # noqa: PLC0415  # the other source

    theta = np.array(axes.rows(Frequencies(50.0), D), dtype=float)
    angle = np.einsum("nbs,ni->bsi", NUMBERS, theta)
    cos, sin = cos_sin_axes(NUMBERS, D, 50.0, axes=axes)

    np.testing.assert_allclose(cos, np.cos(angle), atol=1e-13)
    np.testing.assert_allclose(sin, np.sin(angle), atol=1e-13)


@every_kind
@pytest.mark.parametrize("interleaved", [True, False])
def test_axes_1_the_rotation_is_that_by_tables(axes, interleaved):
    """As ROT-22 rotates by tables."""
    y = apply_rotary_axes(X, NUMBERS, interleaved=interleaved, axes=axes, base=50.0)
    tables = cos_sin_axes(NUMBERS, D, 50.0, axes=axes)

    np.testing.assert_array_equal(y, apply_rotary_cos_sin(X, *tables, interleaved=interleaved))


@pytest.mark.parametrize("axes", KINDS[:2])
def test_axes_1_text_is_the_plain_rotation(axes):
    """Equal numbers are one position, with a scaling too."""
    text = np.broadcast_to(NUMBERS[0], NUMBERS.shape)
    y = apply_rotary_axes(X, text, interleaved=True, axes=axes)
    np.testing.assert_array_equal(y, apply_rotary(X, NUMBERS[0], interleaved=True))

    scaling = Yarn(4.0, 100)
    scaled = cos_sin_axes(text, D, axes=axes, scaling=scaling)
    for found, plain in zip(scaled, cos_sin_scaled(NUMBERS[0], D, scaling=scaling), strict=True):
        np.testing.assert_array_equal(found, plain)


def test_axes_2_each_section_has_the_table_of_its_number():
    """The first pairs are those of number 0, the last ones those of the last number."""
    cos, _ = cos_sin_axes(NUMBERS, D, axes=Sections((2, 3, 3)))
    tables = [cos_sin(p, D)[0] for p in NUMBERS]

    np.testing.assert_array_equal(cos[..., :2], tables[0][..., :2])
    np.testing.assert_array_equal(cos[..., 2:5], tables[1][..., 2:5])
    np.testing.assert_array_equal(cos[..., 5:], tables[2][..., 5:])


def test_axes_4_blocks_are_rotations_of_their_own():
    """Interleaved, each block is the plain rotation of its own components."""
    y = apply_rotary_axes(X, NUMBERS, interleaved=True, axes=Axial((2, 3, 3)))
    for numbers, part in zip(NUMBERS, (np.s_[:4], np.s_[4:10], np.s_[10:]), strict=True):
        block = X[..., part]
        np.testing.assert_allclose(
            y[..., part], apply_rotary(block, numbers, interleaved=True), atol=1e-14
        )


def test_axes_5_sections_are_a_case_of_mixed():
    """Frequencies of 0 for what a pair does not follow."""
    theta = inv_freq(D)
    axes = Sections((2, 3, 3))
    given = tuple(tuple(np.where(np.equal(axes.followed(), a), theta, 0)) for a in range(3))
    for one, other in zip(
        cos_sin_axes(NUMBERS, D, axes=axes),
        cos_sin_axes(NUMBERS, D, axes=Mixed(given)),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, atol=1e-13)


def test_axes_6_the_last_components_rotate():
    """The first ones pass through bit for bit."""
    y = apply_rotary_trailing(X, NUMBERS[0], interleaved=False, rotary_dim=6)

    np.testing.assert_array_equal(y[..., :10], X[..., :10])
    np.testing.assert_array_equal(
        y[..., 10:], apply_rotary(X[..., 10:], NUMBERS[0], interleaved=False)
    )


def test_axes_7_members_come_out_in_two_halves():
    """It is the half-split rotation of what was put into that order, and no score changes."""
    y = apply_rotary_deinterleaved(X, NUMBERS[0])
    apart = X[..., permutation(D)]

    np.testing.assert_allclose(y, apply_rotary(apart, NUMBERS[0], interleaved=False), atol=1e-13)


@pytest.mark.parametrize("ceiling", [True, False])
def test_axes_8_and_9_the_centre_drops_out(ceiling):
    """The score has the factor of the distance alone, whichever way the centre is rounded."""
    q, k = X[:1, :1], X[1:, :1]

    def score(m, n, centre):
        turned = (
            apply_xpos(v, [[at]], interleaved=True, keys=keys, centre=centre)
            for v, at, keys in ((q, m, False), (k, n, True))
        )
        return np.sum(np.multiply(*turned), axis=-1)

    centre = xpos_centre(101, ceiling=ceiling)
    assert centre == 50 + ceiling
    np.testing.assert_allclose(score(90, 40, centre), score(50, 0, 0), rtol=1e-12)
    assert (abs(score(90, 40, 0) - score(90, 41, 0)) > 1e-6).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: cos_sin_axes(NUMBERS, D, axes=(2, 3, 3)),
        lambda: cos_sin_axes(NUMBERS[:2], D, axes=KINDS[0]),
        lambda: cos_sin_axes(NUMBERS, 14, axes=KINDS[0]),
        lambda: cos_sin_axes(NUMBERS, D, axes=KINDS[3], scaling=Yarn(2.0, 9)),
        lambda: cos_sin_axes(NUMBERS, D, axes=KINDS[0], scaling="yarn"),
        lambda: apply_rotary_axes(X, NUMBERS[..., :1], interleaved=True, axes=KINDS[0]),
        lambda: apply_rotary_axes(X, NUMBERS[0], interleaved=True, axes=KINDS[0]),
        lambda: apply_rotary_axes(X, NUMBERS, interleaved=True, axes=KINDS[0], rotary_dim=8),
        lambda: apply_rotary_trailing(X, NUMBERS[0], interleaved=True, rotary_dim=18),
    ],
)
def test_wrong_arguments_are_refused(call):
    """As the plain functions refuse them."""
    with pytest.raises(ArgumentError):
        call()
