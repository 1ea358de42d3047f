"""What is cut off is told from what is rounded, and from what is a little too small."""

import ml_dtypes
import numpy as np
import pytest

from ropespec.conformance.checks.rotation.contract import _is_cut

BITS = {np.dtype(ml_dtypes.bfloat16): 8, np.dtype(np.float16): 11, np.dtype(np.float32): 24}


def cut(exact, dtype):
    """Drop what a dtype does not hold."""
    mantissa, exponent = np.frexp(exact)
    bits = BITS[np.dtype(dtype)]
    return np.ldexp(np.trunc(np.ldexp(mantissa, bits)), exponent - bits).astype(dtype)


def is_cut(y, exact, off=0.0):
    """Ask with nothing that is off before it is stored, or with so much everywhere."""
    return _is_cut(y, exact, np.full_like(exact, off))


@pytest.mark.parametrize("dtype", BITS, ids=str)
def test_what_is_cut_off_is_seen_and_nothing_else(dtype):
    """Rounding passes, and so does a factor just below 1, which is the business of others."""
    exact = np.random.default_rng(3).standard_normal((2, 9, 2, 64))
    half_a_step = 2.0 ** -BITS[dtype]

    assert is_cut(cut(exact, dtype), exact)
    assert is_cut(cut(exact * (1 + half_a_step / 100), dtype), exact)
    assert not is_cut(exact.astype(dtype), exact)
    for less in (0.25, 0.5, 1.0, 2.0):
        assert not is_cut((exact * (1 - less * half_a_step)).astype(dtype), exact)
        assert not is_cut(cut(exact * (1 - less * half_a_step), dtype), exact)


def test_few_components_say_nothing():
    """Of a handful all may lie below by chance."""
    exact = np.random.default_rng(5).standard_normal((1, 3, 2, 8))

    assert not is_cut(cut(exact, np.float16), exact)


def test_float64_is_not_judged():
    """Nothing here is exact enough to say how it was rounded."""
    exact = np.random.default_rng(7).standard_normal((2, 9, 2, 64))

    assert not is_cut(exact, exact)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16], ids=str)
def test_what_is_off_before_it_is_stored_decides_near_a_step(dtype):
    """Angles of few digits move some over a step before they are cut: those are not asked."""
    rng = np.random.default_rng(9)
    exact = rng.standard_normal((2, 9, 2, 64))
    off = 2.0 ** -BITS[np.dtype(dtype)] / 20
    made = exact + rng.uniform(-off, off, exact.shape)

    assert not is_cut(cut(made, dtype), exact)
    assert is_cut(cut(made, dtype), exact, off)
    assert not is_cut(made.astype(dtype), exact, off)
    assert not is_cut(cut(made * (1 - 2.0 ** -BITS[np.dtype(dtype)]), dtype), exact, off)
