"""Gradients of subjects, in NumPy, torch and JAX."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.session import (
    NotDifferentiable,
    Session,
    SubjectRaised,
)

SUBJECTS = Path(__file__).parent / "subjects"
X = np.random.default_rng(0).standard_normal((2, 3, 4, 8)).astype(np.float32)
POSITIONS = np.array([[0, 1, 2], [5, 9, -3]])


def session(name, **options):
    """Return a session with one of the sample subjects."""
    limits = {key: options.pop(key) for key in ("timeout", "memory_limit") if key in options}
    profile = Profile(**{"layouts": (False,), **options})
    return Session(f"{SUBJECTS}/{name}", profile, **limits)


def half(x, positions, sign=1):
    """Rotate x (B, S, H, D) in the half-split layout, as plainly as possible."""
    pairs = x.shape[-1] // 2
    theta = 10000.0 ** (-np.arange(pairs) / pairs)
    turn = np.exp(sign * 1j * positions[..., None, None] * theta)
    z = (x[..., :pairs].astype(float) + 1j * x[..., pairs:].astype(float)) * turn
    return np.concatenate([z.real, z.imag], -1)


def test_gradients_without_a_way_to_them():
    """NumPy has no gradients unless the subject brings its own."""
    refusal = pytest.raises(NotDifferentiable, match="apply_rotary_vjp is not offered")
    with session("half_numpy.py:apply") as subject, refusal:
        subject.rotate_vjp(X, POSITIONS, X)
    with session("offers.py") as subject:
        assert np.array_equal(subject.rotate_vjp(X, POSITIONS, X).y, 3 * X)


def test_torch():
    """Calls, dtypes and gradients of a torch subject."""
    with session("torch_half.py:api", array="torch") as subject:
        for dtype in (np.float32, ml_dtypes.bfloat16):
            rotated = subject.rotate(X.astype(dtype), POSITIONS, strided=True)
            expected = half(X.astype(dtype), POSITIONS)
            assert np.allclose(rotated.y.astype(float), expected, rtol=0.01, atol=1e-6)
            assert rotated.y.dtype == dtype
            assert rotated.reply.is_array == (True,)
            assert rotated.reply.devices == (subject.environment["device"],) == ("cpu",)
            assert rotated.reply.aliases == (False,)
        assert "jax" not in subject.environment
        gradient = subject.rotate_vjp(X, POSITIONS, X)
        assert gradient.shape_ok
        assert np.allclose(gradient.y, half(X, POSITIONS, -1), atol=1e-6)

        # a cut graph, a subject that leaves torch, and one that works in place
        assert subject.call("apply_rotary_dense", [X, POSITIONS]).is_array == (True,)
        with pytest.raises(NotDifferentiable, match="autograd finds no way"):
            subject.rotate_vjp(X, POSITIONS, X, function="apply_rotary_dense")
        assert subject.call("apply_rotary_complex", [X, POSITIONS]).is_array == (False,)
        with pytest.raises(SubjectRaised, match="t call numpy"):
            subject.rotate_vjp(X, POSITIONS, X, function="apply_rotary_complex")
        reply = subject.call("half_to_interleaved", [X, POSITIONS], strided=True)
        assert reply.written == (True, False)
        assert reply.aliases == (True,)


def test_the_way_back_begins_with_the_very_cotangent():
    """A view is one there too, and one of another shape than the result is refused."""
    with session("torch_half.py:dense_alone", array="torch") as subject:
        for strided in (False, True):
            gradient = subject.rotate_vjp(X, POSITIONS, X, strided=strided).y
            assert np.array_equal(gradient, 0 * X if strided else X)
    shapes = r"the result has \(2, 3, 1, 8\), and the cotangent \(2, 3, 4, 8\)"
    refusal = pytest.raises(SubjectRaised, match=f"Mismatch in shape: {shapes}")
    with session("torch_half.py:one_head", array="torch") as subject, refusal:
        subject.rotate_vjp(X, POSITIONS, X)


def test_jax():
    """Calls and gradients of a JAX subject; float64 runs in x64 without being asked."""
    with session("jax_half.py:api", array="jax") as subject:
        rotated = subject.rotate(X, POSITIONS)
        assert np.allclose(rotated.y, half(X, POSITIONS), atol=1e-5)
        assert rotated.reply.is_array == (True,)
        assert rotated.reply.devices == (subject.environment["device"],) == ("cpu:0",)
        assert "torch" not in subject.environment
        gradient = subject.rotate_vjp(X, POSITIONS, X)
        assert np.allclose(gradient.y, half(X, POSITIONS, -1), atol=1e-5)
        wide = subject.rotate(X.astype(np.float64), POSITIONS)
        assert wide.reply.dtypes == ("float64",)
        assert np.allclose(wide.y, half(X.astype(np.float64), POSITIONS), atol=1e-14)
        assert subject.rotate(X, POSITIONS).reply.dtypes == ("float32",)

        # positions, donation, and a subject that leaves JAX
        kinds = "apply_rotary_complex"
        assert subject.call(kinds, [X, POSITIONS]).dtypes == ("float32", "int32")
        reply = subject.call(kinds, [X, POSITIONS + 2**40])
        assert reply.is_array == (True, False)
        assert np.array_equal(reply.values[1], POSITIONS + 2**40)
        assert subject.call("half_to_interleaved", [X, POSITIONS]).written == (True, False)
        assert np.array_equal(subject.call("apply_rotary_dense", [X, POSITIONS]).values[0], 2 * X)
        with pytest.raises(NotDifferentiable, match="JAX cannot trace it"):
            subject.rotate_vjp(X, POSITIONS, X, function="apply_rotary_dense")
