"""What is written once holds in every framework: docstrings, copies, transforms and compilers."""

import copy
import importlib
import inspect
import pickle
from typing import Any

import cupy
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from ropespec.backends.derived import Derived
from ropespec.spec.api import FUNCTIONS, RopeAPI

NAMES = tuple(name for names in FUNCTIONS.values() for name in names)
BACKENDS = ("numpy", "torch", "jax", "cupy")
ROTATIONS = ("apply_rotary", "apply_rotary_cos_sin")
M = np.array([3, -70, 2**20])
LAYOUT = {"interleaved": False, "rotary_dim": 4}
AT = {"query_positions": M, "key_positions": M}
MASK = np.tri(3, dtype=bool)


def backend(name):
    return importlib.import_module(f"ropespec.backends.{name}")


def sections(text):
    """Return the parts of a docstring but for those to which `out` adds something."""
    parts = inspect.cleandoc(text).split("\n\n")
    return [part for part in parts if not part.startswith(("Parameters\n", "Raises\n"))]


def misdocumented(module):
    """List the functions that say something else than `RopeAPI`, where `out` adds nothing."""
    found = []
    for name in NAMES:
        said, written = getattr(module, name).__doc__ or "", getattr(RopeAPI, name).__doc__
        same = sections(said) == sections(written) if name in ROTATIONS else said == written
        if not same:
            found.append(name)
    return found


@pytest.mark.parametrize("name", BACKENDS)
def test_every_function_has_the_docstring_of_the_api(name):
    """`help()` shows the text of the spec, to which the two rotations add their `out`."""
    assert misdocumented(backend(name)) == []


def test_another_docstring_is_found():
    """A function that is documented by its backend says something else than the others."""

    class Own(Derived[float]):
        def decay_bound(self, offsets, dim, base=10000.0):
            """Another text."""

    own = Own(None)
    found = misdocumented(own)

    assert found == ["decay_bound"]


@pytest.mark.parametrize("name", BACKENDS)
def test_out_is_documented_where_it_is_taken(name):
    """The parameters of the two rotations are all in their docstrings, and no other is."""
    for function in (getattr(backend(name), rotation) for rotation in ROTATIONS):
        takes = "out" in inspect.signature(function).parameters
        assert ("\nout : array" in inspect.getdoc(function)) is takes


@pytest.mark.parametrize("name", BACKENDS)
def test_functions_are_copied_and_pickled_as_themselves(name):
    """A model that holds a function can be copied, and sent to another process."""
    for function in (getattr(backend(name), one) for one in NAMES):
        assert copy.deepcopy(function) == function
        assert pickle.loads(pickle.dumps(function)) == function  # noqa: S301  # our own


ARRAYS = {
    "numpy": NDArray[Any],
    "torch": torch.Tensor,
    "jax": jax.Array,
    "cupy": cupy.ndarray,
}


@pytest.mark.parametrize("name", BACKENDS)
def test_signatures_name_the_array_of_the_framework(name):
    """`help()` shows what a function takes and returns, and no type variable."""
    array = ARRAYS[name]
    for one in NAMES:
        found = inspect.signature(getattr(backend(name), one))
        assert found.return_annotation in (array, tuple[array, array])
        assert "ArrayT" not in str(found)
    assert "ArrayT" in str(inspect.signature(RopeAPI.cos_sin))


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


Q, K = draw(2, 3, 4, 8), draw(2, 3, 2, 8, seed=1)
CALLS = {
    "attention": (lambda of, q, k: of.attention(q, k, k, **AT, **LAYOUT), (Q, K)),
    "attention under a mask": (
        lambda of, q, k: of.attention(q, k, k, **AT, **LAYOUT, mask=q[0, :, 0, :3] < 2),
        (Q, K),
    ),
    "relative_score": (lambda of, q, k: of.relative_score(q, k, M[:, None], **LAYOUT), (Q, Q + 1)),
    "project_query": (
        lambda of, x, w: of.project_query(x, M, w, **LAYOUT),
        (draw(2, 3, 5), draw(4, 8, 5, seed=1)),
    ),
    "project_value": (
        lambda of, x, w: of.project_value(x, w),
        (draw(2, 3, 5), draw(4, 8, 5, seed=1)),
    ),
    "apply_rotary_dense": (lambda of, x: of.apply_rotary_dense(x, M, **LAYOUT), (Q,)),
    "apply_rotary_complex": (lambda of, x: of.apply_rotary_complex(x, M), (Q,)),
    "to_complex": (lambda of, x: of.from_complex(of.to_complex(x)), (Q,)),
    "interleaved_to_half": (lambda of, x: of.interleaved_to_half(x), (Q,)),
    "half_to_interleaved": (lambda of, x: of.half_to_interleaved(x), (Q,)),
    "RoPE": (lambda of, q, k: of.RoPE(q, k), (Q.swapaxes(1, 2), K.swapaxes(1, 2))),
    "apply_rotary_emb": (
        lambda of, q, k: of.apply_rotary_emb(q, k, of.precompute_freqs_cis(8, 3)),
        (Q, K),
    ),
}
ALL = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
TORCH, JAX = backend("torch"), backend("jax")


def leaves(found):
    return [np.asarray(one) for one in (found if isinstance(found, tuple) else (found,))]


def alike(found, expected):
    for one, other in zip(leaves(found), leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=5e-6)


def rows_of(arrays, stack):
    """Return a batch of two calls, and the two."""
    pairs = [(array, 2 * array) for array in arrays]
    return [stack(pair) for pair in pairs], list(zip(*pairs, strict=True))


@ALL
def test_torch_maps_what_is_derived(call):
    """ROT-24: `torch.vmap` over the arrays gives what the calls one by one give."""
    function, arrays = call
    batch, rows = rows_of([torch.tensor(array) for array in arrays], torch.stack)
    mapped = torch.vmap(lambda *a: function(TORCH, *a))(*batch)
    for index, row in enumerate(rows):
        alike(tuple(torch.as_tensor(one)[index] for one in _tuple(mapped)), function(TORCH, *row))


@ALL
def test_torch_compiles_what_is_derived(call):
    """ROT-24: one graph, where positions are a tensor."""
    function, arrays = call
    tensors = [torch.tensor(array) for array in arrays]
    expected = function(TORCH, *tensors)
    torch.compiler.reset()
    graph = torch.compile(lambda *a: function(TORCH, *a), backend="aot_eager")
    alike(graph(*tensors), expected)


@ALL
def test_torch_differentiates_what_is_derived(call):
    """ROT-20: gradients reach every array, and agree with those of JAX."""
    function, arrays = call
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    sum((one**2).sum() for one in _tuple(function(TORCH, *tensors))).backward()

    def squares(*a):
        return sum((one**2).sum() for one in _tuple(function(JAX, *a)))

    traced = jax.jit(jax.grad(squares, argnums=tuple(range(len(arrays)))))
    expected = traced(*(jnp.asarray(array) for array in arrays))
    for tensor, other in zip(tensors, expected, strict=True):
        np.testing.assert_allclose(tensor.grad.numpy(), other, rtol=1e-4, atol=1e-4)


@ALL
def test_jax_maps_and_compiles_what_is_derived(call):
    """ROT-24: `jax.vmap` and `jax.jit` give what plain calls give."""
    function, arrays = call
    batch, rows = rows_of([jnp.asarray(array) for array in arrays], jnp.stack)
    mapped = jax.vmap(lambda *a: function(JAX, *a))(*batch)
    compiled = jax.jit(lambda *a: function(JAX, *a))
    for index, row in enumerate(rows):
        expected = function(JAX, *row)
        alike(tuple(one[index] for one in _tuple(mapped)), expected)
        alike(compiled(*row), expected)


def _tuple(found):
    return found if isinstance(found, tuple) else (found,)
