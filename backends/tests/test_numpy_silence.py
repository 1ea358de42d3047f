"""What is special to NumPy: it warns of what is legal, and has one device."""

import ml_dtypes
import numpy as np
import pytest

import ropespec.backends.numpy as backend
from ropespec.spec.errors import ArgumentError

M = np.array([3, -700, 2**10])


def test_numpy_float16_overflow_is_infinity_without_a_warning():
    """JDG-3: a rotated value beyond float16 is infinity, in every form."""
    x = np.full((1, 1, 2), 65504, np.float16)
    for y in (
        backend.apply_rotary(x, [1], interleaved=True),
        backend.apply_rotary_dense(x, [1], interleaved=True),
        backend.apply_rotary_complex(x, [1]),
    ):
        assert np.isposinf(y[0, 0, 1])
        assert np.isfinite(y[0, 0, 0])


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numpy_no_function_warns_of_nan_or_infinity(value, dtype):
    """Warnings are errors here: NaN and infinity are legal everywhere."""
    x = np.full((2, 3, 4, 8), value, dtype)
    weight = np.full((4, 8, 8), value, dtype)
    options = {"query_positions": M, "key_positions": M, "interleaved": True}
    backend.attention(x, x, x, **options)
    backend.attention(x, x, x, **options, mask=np.tri(3, dtype=bool))
    backend.project_query(x[0], [0, 1, 2, 3], weight, interleaved=True)
    backend.project_value(x[0], weight)
    for interleaved in (True, False):
        backend.apply_rotary(x, M, interleaved=interleaved)
        backend.apply_rotary_dense(x, M, interleaved=interleaved)
    backend.apply_rotary_complex(x, M)
    freqs = np.full((3, 4), value * 1j, np.complex128)
    backend.apply_rotary_emb(x, x, freqs)
    backend.RoPE(x, x)
    backend.angles([0], x[0, 0, 0])
    score = backend.relative_score(x, x, 1, interleaved=True)
    assert np.isnan(score.astype(np.float32)).all()


def test_numpy_has_one_device():
    """API-2: None and "cpu" are the host; what other frameworks have is refused."""
    for make in (
        lambda device: backend.inv_freq(8, device=device),
        lambda device: backend.precompute_freqs_cis(8, 3, device=device),
        lambda device: backend.sinusoidal_position_embedding(2, 1, 3, 8, device),
    ):
        assert np.array_equal(make("cpu"), make(None))
        for device in ("cuda", "CPU", "cpu:0"):
            with pytest.raises(ArgumentError, match='^device must be None or "cpu", the only'):
                make(device)
