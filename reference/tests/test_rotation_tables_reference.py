"""Chapter `rotation`: tables that are given, ROT-22, and writing in place, ROT-23."""

import ml_dtypes
import numpy as np
import pytest

from ropespec.reference import apply_rotary, apply_rotary_complex, apply_rotary_cos_sin, cos_sin
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

LAYOUTS = [True, False]
DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]

layouts = pytest.mark.parametrize("interleaved", LAYOUTS)


def _drawn(shape=(2, 5, 3, 8), seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


@layouts
@pytest.mark.parametrize("positions", [np.arange(5), np.array([[0, 7, 1, 9, 2], [4, 4, 0, -3, 1]])])
@pytest.mark.parametrize("rotary_dim", [2, 6, 8])
def test_tables_of_the_positions_give_the_rotation_by_them(interleaved, positions, rotary_dim):
    """With the tables of `cos_sin` every bit is that of `apply_rotary`, for (S,) and (B, S)."""
    x = _drawn()
    cos, sin = cos_sin(positions, rotary_dim)
    found = apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
    expected = apply_rotary(x, positions, interleaved=interleaved, rotary_dim=rotary_dim)

    assert np.array_equal(found, expected)


def test_tables_are_complex_numbers_in_two_parts():
    """Interleaved, the product with C + iS is another source of the same numbers."""
    x = _drawn()
    z = _drawn((5, 4), 1) + 1j * _drawn((5, 4), 2)
    rotated = (x[..., 0::2] + 1j * x[..., 1::2]) * z[:, None]
    found = apply_rotary_cos_sin(x, z.real, z.imag, interleaved=True)

    assert np.allclose(found[..., 0::2], rotated.real, rtol=0, atol=1e-15 * 8)
    assert np.allclose(found[..., 1::2], rotated.imag, rtol=0, atol=1e-15 * 8)
    unit = cos_sin(np.arange(5), 8)
    assert np.allclose(
        apply_rotary_cos_sin(x, *unit, interleaved=True),
        apply_rotary_complex(x, np.arange(5)),
        rtol=0,
        atol=1e-15 * 8,
    )


@layouts
def test_a_factor_of_the_tables_scales_what_rotates_and_nothing_else(interleaved):
    """Tables times 2 give 2 y in the rotated part, exactly; the tail has no factor."""
    x = _drawn()
    cos, sin = cos_sin(np.arange(5), 6)
    once = apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
    twice = apply_rotary_cos_sin(x, 2 * cos, 2 * sin, interleaved=interleaved)

    assert np.array_equal(twice[..., :6], 2 * once[..., :6])
    assert np.array_equal(twice[..., 6:], x[..., 6:])


@layouts
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("table", DTYPES)
def test_the_result_has_the_dtype_of_x_and_is_rounded_once(interleaved, dtype, table):
    """Whatever the dtype of the tables: float64 arithmetic on what they hold, then one rounding."""
    x = _drawn().astype(dtype)
    cos, sin = (part.astype(table) for part in cos_sin(np.arange(5), 6))
    before = x.tobytes(), cos.tobytes(), sin.tobytes()
    found = apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
    wide = [part.astype(np.float64) for part in (x, cos, sin)]
    expected = apply_rotary_cos_sin(*wide, interleaved=interleaved).astype(dtype)

    assert found.dtype == x.dtype
    assert found.tobytes() == expected.tobytes()
    assert (x.tobytes(), cos.tobytes(), sin.tobytes()) == before
    assert not np.shares_memory(found, x)


@pytest.mark.parametrize(
    ("cos", "sin", "error", "message"),
    [
        (np.ones((5, 4)), np.ones((5, 3)), ArgumentValueError, "sin must be of the shape of cos"),
        (np.ones((4, 4)), np.ones((4, 4)), ArgumentValueError, "cos must be of shape"),
        (np.ones((1, 4)), np.ones((1, 4)), ArgumentValueError, "cos must be of shape"),
        (np.ones((5, 5)), np.ones((5, 5)), ArgumentValueError, "cos must be of shape"),
        (np.ones((5, 0)), np.ones((5, 0)), ArgumentValueError, "cos must be of shape"),
        (np.ones((3, 5, 4)), np.ones((3, 5, 4)), ArgumentValueError, "cos must be of shape"),
        (np.ones(4), np.ones(4), ArgumentValueError, "cos must be of shape"),
        (np.ones((5, 4), int), np.ones((5, 4), int), ArgumentTypeError, "cos must be"),
        (np.ones((5, 4)), np.ones((5, 4), np.float32), ArgumentTypeError, "sin must be of the dty"),
        ([[1.0] * 4] * 5, np.ones((5, 4)), ArgumentTypeError, "cos must be"),
    ],
)
def test_tables_that_do_not_fit_are_refused(cos, sin, error, message):
    """The error names the table and what it must be."""
    with pytest.raises(error, match=f"^{message}"):
        apply_rotary_cos_sin(_drawn(), cos, sin, interleaved=True)


def test_the_layout_is_a_bool():
    """0 and 1 are refused, as they are by `apply_rotary`."""
    cos, sin = cos_sin(np.arange(5), 8)
    with pytest.raises(ArgumentTypeError, match="^interleaved must be True or False"):
        apply_rotary_cos_sin(_drawn(), cos, sin, interleaved=1)


def test_in_place_by_one_member_after_the_other_is_wrong():
    """The mistake that ROT-23 warns of shows: the second member is not the rotated one."""
    x = _drawn()
    cos, sin = (part[:, None] for part in cos_sin(np.arange(5), 8))
    a, b = x.copy()[..., :4], x[..., 4:]
    a[...] = a * cos - b * sin
    wrong = b * cos + a * sin
    right = apply_rotary(x, np.arange(5), interleaved=False)

    assert np.allclose(a, right[..., :4], rtol=0, atol=1e-14)
    assert np.abs(wrong - right[..., 4:]).max() > 0.1
