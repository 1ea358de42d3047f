"""Calls of JAX that their caller does not compile: one token takes one program, checks and all."""

import functools
import re

import numpy as np
import pytest

from ropespec.spec.errors import ArgumentError

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402  # where there is JAX
from jax import lax  # noqa: E402  # where there is JAX

from ropespec import reference  # noqa: E402
from ropespec.backends import jax as backend  # noqa: E402
from ropespec.backends.jax import calls  # noqa: E402
from ropespec.spec.axes import Sections  # noqa: E402
from ropespec.spec.scaling import Yarn  # noqa: E402


@pytest.fixture(autouse=True)
def _no_bases(monkeypatch):
    """No test has used up the programs of another."""
    monkeypatch.setattr(calls, "_bases", set())


def token(dim=8):
    return jnp.ones((1, 1, 2, dim)), jnp.array([[3]])


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ({"interleaved": 1}, "interleaved"),
        ({"interleaved": [True]}, "interleaved"),
        ({"interleaved": True, "rotary_dim": [4]}, "rotary_dim"),
        ({"interleaved": True, "rotary_dim": True}, "rotary_dim"),
        ({"interleaved": True, "rotary_dim": 3}, "rotary_dim"),
        ({"interleaved": True, "base": float("nan")}, "base"),
        ({"interleaved": True, "base": -1.0}, "base"),
        ({"interleaved": True, "base": [10000.0]}, "base"),
    ],
)
def test_arguments_are_refused_in_our_words_after_a_right_call(words, named):
    """Though there is a program for what equals them, and though some cannot be hashed."""
    x, positions = token()
    backend.apply_rotary(x, positions, interleaved=True)
    with pytest.raises(ArgumentError, match=f"^{named}"):
        backend.apply_rotary(x, positions, **words)


def test_a_flag_of_tables_is_read_as_that_of_positions():
    """The same of the function that takes cos and sin."""
    x, _ = token()
    cos, sin = backend.cos_sin(jnp.array([3]), 8)
    backend.apply_rotary_cos_sin(x, cos, sin, interleaved=True)
    with pytest.raises(ArgumentError, match="^interleaved"):
        backend.apply_rotary_cos_sin(x, cos, sin, interleaved=[True])


def test_a_base_that_changes_at_each_token_compiles_nothing_in_the_end(caplog):
    """As dynamic NTK has it; the first bases alone get programs of their own."""
    x, positions = token()
    bases = [20000.0 + 1000 * i for i in range(24)]
    for base in bases[:12]:
        backend.apply_rotary(x, positions, interleaved=True, base=base)
    with jax.log_compiles():
        turned = [backend.apply_rotary(x, positions, interleaved=True, base=b) for b in bases[12:]]
    assert "Compiling" not in caplog.text
    for base, y in zip(bases[12:], turned, strict=True):
        expected = reference.apply_rotary(
            jax.device_get(x), jax.device_get(positions), interleaved=True, base=base
        )
        assert abs(y - expected).max() < 1e-6


X, YARN = jnp.ones((2, 19, 3, 12)), Yarn(8.0, 64)
M, BOTH = jax.device_put((np.arange(19, dtype=np.int32), np.ones((2, 19), np.int32)))


def attended(interleaved):
    """Attend to x by x."""
    options = {"query_positions": M, "key_positions": M, "interleaved": interleaved}
    return backend.attention(X, X, X, **options)


CALLS = {
    "scaled": lambda: backend.apply_rotary_scaled(X, M, interleaved=True, scaling=YARN),
    "axes": lambda: backend.apply_rotary_axes(X, BOTH, interleaved=True, axes=Sections((2, 4))),
    "tables": lambda: backend.cos_sin_scaled(M, 12, scaling=YARN),
    "frequencies": lambda: (backend.inv_freq(34), backend.inv_freq_scaled(34, scaling=YARN)),
    "attention": lambda: attended(True),
    "the other layout": lambda: (attended(True), attended(False)),
}
ROTATED = ["_turned", "unit_circle"]


@pytest.mark.parametrize(
    ("name", "programs"),
    [
        ("scaled", ROTATED),
        ("axes", ROTATED),
        ("tables", ["cos_sin"]),
        ("frequencies", []),
        ("attention", ["_attend", *ROTATED]),
        ("the other layout", ["_attend", "_turned", *ROTATED]),
    ],
)
def test_what_is_compiled_for_a_call_is_told(caplog, name, programs):
    """No view, no conversion and no factor is a program, and attention has one for both layouts."""
    jax.clear_caches()
    with jax.log_compiles():
        CALLS[name]()

    assert sorted(re.findall(r"Compiling (?:jit\()?(\w+)", caplog.text)) == programs


@pytest.mark.parametrize("interleaved", [True, False])
def test_on_a_card_one_program_turns_any_number_of_tokens(monkeypatch, interleaved):
    """There to start a second takes longer than both; on a CPU the tables are a program of theirs.

    It gives the bits of the same call that the caller compiles, and refuses in the same words.
    """
    started, one = [], calls._rotated
    monkeypatch.setattr(calls, "_rotated", lambda *given: started.append(1) or one(*given))
    x, positions = jnp.linspace(-1, 1, 480).reshape(2, 5, 3, 16), jnp.arange(5) * 1000
    apply = functools.partial(backend.apply_rotary, interleaved=interleaved)
    apart = apply(x, positions)
    assert started == []
    monkeypatch.setattr(calls, "_on_cpu", lambda _x: False)
    turned = apply(x, positions)
    words = []
    for on_cpu in (True, False):
        monkeypatch.setattr(calls, "_on_cpu", lambda _x, on_cpu=on_cpu: on_cpu)
        with pytest.raises(ArgumentError) as refused:
            apply(x[..., :3], positions)
        words.append(str(refused.value))

    assert started == [1, 1]
    assert (turned == jax.jit(apply)(x, positions)).all()
    assert abs(turned - apart).max() < 1e-6
    assert words[0] == words[1]


@pytest.mark.parametrize("interleaved", [True, False])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_token_has_the_bits_of_one_among_others(dtype, interleaved):
    """ROT-7, ROT-14: all bit patterns turn, and pass by, as they do in the loop over many."""
    values = np.arange(2**16, dtype=np.uint16).reshape(1, 1, -1, 32)
    many = np.concatenate((np.zeros_like(values), values), axis=1)
    one, two = (lax.bitcast_convert_type(jnp.asarray(a), dtype) for a in (values, many))
    options = {"interleaved": interleaved, "rotary_dim": 16}
    turned = backend.apply_rotary(one, jnp.array([7]), **options)
    expected = backend.apply_rotary(two, jnp.array([0, 7]), **options)[:, 1:]

    assert turned.dtype == dtype
    got, right = (np.asarray(lax.bitcast_convert_type(a, jnp.uint16)) for a in (turned, expected))
    assert np.array_equal(got[..., 16:], values[..., 16:])
    # NaN has no one pattern, and XLA clears products below 2^-126, fused with a sum or not.
    unlike = np.asarray(jnp.isnan(expected)) | np.asarray(jnp.abs(one) < 2.0**-110)
    assert np.array_equal(jnp.isnan(turned), jnp.isnan(expected))
    assert np.array_equal(got[~unlike], right[~unlike])
