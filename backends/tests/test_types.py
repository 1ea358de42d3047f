"""The arrays that a type checker sees: `mypy` reads this file as well."""

from typing import Any, assert_type

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import ropespec.backends.jax as of_jax
import ropespec.backends.numpy as of_numpy
import ropespec.backends.torch as of_torch
from ropespec.spec.errors import ArgumentTypeError

AT = [0, 1, 2]


def test_results_of_numpy_are_arrays_of_numpy() -> None:
    """Of a kernel, of what is derived, one and two of them."""
    x = np.ones((3, 1, 4), np.float32)

    assert_type(of_numpy.inv_freq(8), NDArray[Any])
    assert_type(of_numpy.apply_rotary(x, AT, interleaved=True, out=x), NDArray[Any])
    assert_type(of_numpy.apply_rotary_dense(x, AT, interleaved=True), NDArray[Any])
    assert_type(of_numpy.cos_sin(AT, 4), tuple[NDArray[Any], NDArray[Any]])


def test_results_of_torch_are_tensors() -> None:
    """Of a kernel, of what is derived, one and two of them."""
    x = torch.ones(3, 1, 4)

    assert_type(of_torch.inv_freq(8), torch.Tensor)
    assert_type(of_torch.apply_rotary(x, AT, interleaved=True, out=x.clone()), torch.Tensor)
    assert_type(of_torch.apply_rotary_dense(x, AT, interleaved=True), torch.Tensor)
    assert_type(of_torch.cos_sin(AT, 4), tuple[torch.Tensor, torch.Tensor])


def test_results_of_jax_are_arrays_of_jax() -> None:
    """Of a kernel, of what is derived, one and two of them."""
    x = jnp.ones((3, 1, 4))

    assert_type(of_jax.inv_freq(8), jax.Array)
    assert_type(of_jax.apply_rotary(x, AT, interleaved=True), jax.Array)
    assert_type(of_jax.apply_rotary_dense(x, AT, interleaved=True), jax.Array)
    assert_type(of_jax.cos_sin(AT, 4), tuple[jax.Array, jax.Array])


def test_arrays_of_another_framework_are_told_apart() -> None:
    """ROT-21: what is refused at run time a type checker refuses before."""
    array, tensor = np.ones(4), torch.ones(4)

    with pytest.raises(ArgumentTypeError):
        of_numpy.to_complex(tensor)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError):
        of_torch.to_complex(array)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError):
        of_jax.to_complex(array)  # type: ignore[arg-type]
