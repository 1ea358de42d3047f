"""Rounding to bfloat16 by an instruction is rounding to bfloat16."""

import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import ropespec.backends.numpy as backend
from ropespec.backends.cpu import bfloat16

LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
SMALLEST = 2.0**-133
"""The smallest bfloat16, and the step between those that are subnormal."""

WITHOUT = """
import sys
import ml_dtypes
import numpy as np
from ropespec.backends.cpu import bfloat16

bfloat16._is_able = lambda: False
import ropespec.backends.numpy as backend

x = np.load(sys.argv[1]).view(ml_dtypes.bfloat16)
turned = [
    backend.apply_rotary(x, np.arange(x.shape[1])[None], interleaved=interleaved)
    for interleaved in (True, False)
]
np.save(sys.argv[2], np.stack(turned).view(np.uint16))
"""


@LAYOUTS
@pytest.mark.parametrize("dim", [32, 64, 128, 256])
def test_one_subnormal_number_among_others_is_kept(interleaved, dim):
    """Wherever it stands: the instruction would take it for zero."""
    x = np.ones((1, dim, 3, dim), ml_dtypes.bfloat16)
    at = np.arange(dim)
    x[0, at, at % 3, at] = (SMALLEST * (1 + at % 127)).astype(ml_dtypes.bfloat16)
    positions = np.zeros((1, dim), np.int64)
    y = backend.apply_rotary(x, positions, interleaved=interleaved)

    assert np.array_equal(y.view(np.uint16), x.view(np.uint16))


def rounded_once(a, b, c, s):
    """Return the bfloat16 of fma(a, c, -(b s)), and that of fma(b, c, a s)."""
    wide = (t.astype(np.longdouble) for t in (a, b))
    a, b = (t.astype(np.float32) for t in (a, b))
    first, second = (x * c for x in wide)
    sums = first - (b * s).astype(np.longdouble), second + (a * s).astype(np.longdouble)
    return [t.astype(np.float32).astype(ml_dtypes.bfloat16) for t in sums]


@LAYOUTS
@pytest.mark.parametrize("dim", [32, 64, 128])
def test_no_result_is_taken_for_zero(interleaved, dim):
    """Of pairs, cos and sin of any magnitude, and of such as nearly cancel.

    One component of a pair or one of cos and sin may be large: what is left may be subnormal.
    """
    rng = np.random.default_rng(8)
    tokens, pairs = 4000, dim // 2

    def magnitudes(low, high, size):
        return np.ldexp(1 + rng.random(size), rng.integers(low, high, size))

    c, s = (magnitudes(-60, 1, (tokens, pairs)) for _ in range(2))
    a, b = (magnitudes(-126, -20, (tokens, 1, pairs)) for _ in range(2))
    b = np.where(rng.random(b.shape) < 0.5, a * (c / s)[:, None], b)  # a c and b s nearly cancel
    s = np.where(rng.random(s.shape) < 0.1, 0, s)
    lone = np.arange(tokens) % 2 == 0  # one pair alone is small: nothing else leads off the way
    at = rng.integers(0, pairs, tokens)
    usual = lone[:, None] & (np.arange(pairs) != at[:, None])
    a, b = (np.where(usual[:, None], 1.5, t) for t in (a, b))
    c, s = (np.where(usual, 0.75, t).astype(np.float32) for t in (c, s))
    a, b = (np.clip(t, -1, 1).astype(ml_dtypes.bfloat16) for t in (a, b))
    x = np.empty((tokens, 1, dim), ml_dtypes.bfloat16)
    places = (slice(0, None, 2), slice(1, None, 2)) if interleaved else (
        slice(0, pairs), slice(pairs, None)
    )  # fmt: skip
    for place, part in zip(places, (a, b), strict=True):
        x[..., place] = part
    y = backend.apply_rotary_cos_sin(x, c, s, interleaved=interleaved)
    expected = rounded_once(a, b, c[:, None], s[:, None])

    small = [np.abs(t.astype(np.float32)) for t in expected]
    assert min(np.count_nonzero((t > 0) & (t < 2.0**-126)) for t in small) > 100
    for place, value in zip(places, expected, strict=True):
        assert np.array_equal(y[..., place].view(np.uint16), value.view(np.uint16))


@pytest.mark.skipif(not bfloat16.fits(16), reason="this processor has no such instruction")
def test_without_the_instruction_every_bit_is_the_same(tmp_path):
    """Of numbers of every size, infinity and NaN, in rows of any length."""
    rng = np.random.default_rng(5)
    for dim in (34, 66, 128, 288):
        x = rng.integers(0, 2**16, (1, 200, 2, dim), np.uint16)
        usual = rng.standard_normal((1, 200, 2, dim)).astype(ml_dtypes.bfloat16)
        x[:, ::2] = usual.view(np.uint16)[:, ::2]
        given, found = tmp_path / "x.npy", tmp_path / "y.npy"
        np.save(given, x)
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", WITHOUT, str(given), str(found)],
            env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)},
            check=True,
        )
        positions = np.arange(200)[None]
        with np.errstate(invalid="ignore", over="ignore"):
            ours = [
                backend.apply_rotary(x.view(ml_dtypes.bfloat16), positions, interleaved=interleaved)
                for interleaved in (True, False)
            ]

        assert np.array_equal(np.load(found), np.stack(ours).view(np.uint16))
