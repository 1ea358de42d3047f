"""Scaled rotations and those of several numbers: far positions, transforms, gradients."""

import importlib
from decimal import Context, localcontext

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import torch

from ropespec import reference
from ropespec.backends.phase import axial_steps, scaled_steps
from ropespec.spec.axes import Axial, Mixed, Sections, Woven
from ropespec.spec.scaling import Llama3, LongRope, NtkAware, Proportional, Yarn

D = 32
MAKE = {"numpy": np.asarray, "torch": torch.as_tensor, "jax": jnp.asarray}
SCHEMES = [
    NtkAware(3.0),
    Yarn(16.0, 4096),
    Llama3(8.0, 1.0, 4.0, 8192),
    LongRope((1.0,) * 16, tuple(range(1, 17)), 32.0, 4096, 5000),
    Proportional(0.5),
]
KINDS = [Sections((4, 6, 6)), Woven((6, 5, 5)), Axial((4, 6, 6)), Mixed(((0.3, -0.2) * 8,) * 3)]
X = np.random.default_rng(0).standard_normal((2, 3, 2, D)).astype(np.float32)
FAR = np.array([2**31, 2**31 - 1, -(2**31)])
every_backend = pytest.mark.parametrize("name", MAKE)


def backend(name):
    return importlib.import_module(f"ropespec.backends.{name}")


def exact(positions, theta):
    """Return cos of m theta_i, from exact frequencies."""
    with mpmath.workdps(80):
        rows = [[mpmath.cos(int(m) * mpmath.mpf(str(t))) for t in theta] for m in positions]
    return np.array([[float(one) for one in row] for row in rows])


def theta_of(scheme):
    with localcontext(Context(prec=60)):
        return scheme.theta(10000.0, D)


@every_backend
@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_scaled_tables_are_right_at_far_positions(name, scheme):
    """SCAL-1: at 2^31 as at 3, for T_i comes from the exact frequency."""
    cos, _ = backend(name).cos_sin_scaled(FAR, D, scaling=scheme)
    expected = float(scheme.gain) * exact(FAR, theta_of(scheme))
    bound = 4e-7 if name == "jax" else 1e-9

    np.testing.assert_allclose(np.asarray(cos), expected, rtol=0, atol=bound)


@every_backend
@pytest.mark.parametrize("axes", KINDS, ids=lambda axes: type(axes).__name__)
def test_sums_wrap_as_angles_do(name, axes):
    """AXES-1: near zero the literal reference, and far away a whole turn of every pair is none."""
    module, make = backend(name), MAKE[name]
    near = np.array([[1, 2, 30], [-4, 5, 6], [7, 80, 0]])
    y = module.apply_rotary_axes(make(X), near, interleaved=True, axes=axes)
    literal = reference.apply_rotary_axes(X, near, interleaved=True, axes=axes)
    np.testing.assert_allclose(np.asarray(y), literal, rtol=0, atol=2e-6)

    turns = axial_steps(axes, None, D, 10000.0).turns.astype(object)
    far = np.array([FAR, FAR[::-1], FAR])
    cos, _ = module.cos_sin_axes(far, D, axes=axes)
    phase = (far.T.astype(object) @ turns) % 2**64  # in Python's integers
    expected = np.cos(2 * np.pi * (phase / 2**64).astype(float))
    np.testing.assert_allclose(np.asarray(cos), expected, rtol=0, atol=4e-7)


YARN = SCHEMES[1]
CALLS = {
    "scaled": (
        lambda of, x: of.apply_rotary_scaled(x, [5, 6, 7], interleaved=False, scaling=YARN),
        lambda x: reference.apply_rotary_scaled(
            x, [5, 6, 7], interleaved=False, scaling=SCHEMES[1]
        ),
    ),
    "axes": (
        lambda of, x: of.apply_rotary_axes(x, [[5, 6, 7]] * 3, interleaved=True, axes=KINDS[0]),
        lambda x: reference.apply_rotary_axes(x, [[5, 6, 7]] * 3, interleaved=True, axes=KINDS[0]),
    ),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@every_call
def test_torch_compiles_maps_and_differentiates(call):
    """ROT-24, ROT-20: as the plain rotation is; the gradient is linear, so it tells the values."""
    function, literal = call
    of, x = backend("torch"), torch.tensor(X, requires_grad=True)
    torch.compiler.reset()
    compiled = torch.compile(lambda x: function(of, x), backend="aot_eager")
    np.testing.assert_allclose(compiled(x).detach(), literal(X), atol=2e-6)
    mapped = torch.vmap(lambda x: function(of, x))(x.detach()[None])
    np.testing.assert_allclose(mapped[0], literal(X), atol=2e-6)
    (gradient,) = torch.autograd.grad(function(of, x), x, torch.tensor(X))
    back = float((gradient * x.detach()).sum())
    assert back == pytest.approx(float(np.sum(literal(X) * X)), rel=1e-4)


@every_call
def test_jax_compiles_maps_and_differentiates(call):
    """ROT-24, ROT-20: and with x64 to the last digits of float64."""
    function, literal = call
    of, x = backend("jax"), jnp.asarray(X)
    np.testing.assert_allclose(jax.jit(lambda x: function(of, x))(x), literal(X), atol=2e-6)
    mapped = jax.vmap(lambda x: function(of, x))(x[None])
    np.testing.assert_allclose(mapped[0], literal(X), atol=2e-6)
    _, pull = jax.vjp(lambda x: function(of, x), x)
    assert float((pull(x)[0] * x).sum()) == pytest.approx(float(np.sum(literal(X) * X)), rel=1e-4)
    with jax.enable_x64(True):
        wide = X.astype(np.float64)
        np.testing.assert_allclose(function(of, jnp.asarray(wide)), literal(wide), atol=1e-12)


def test_tables_are_made_once():
    """A scheme is a key: the same numbers find the same table."""
    assert scaled_steps(Yarn(17.0, 4096), D, 1e4) is scaled_steps(Yarn(17.0, 4096), D, 1e4)
    assert not scaled_steps(Yarn(17.0, 4096), D, 1e4).turns.flags.writeable
