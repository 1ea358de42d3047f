"""What is special to torch: tensors as positions, and parameters."""

import numpy as np
import pytest
import torch

import ropespec.backends.torch as backend


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "uint8", "uint16", "uint32"])
def test_torch_positions_of_every_integer_dtype(kind):
    """FREQ-6: tensors and NumPy arrays of all integer dtypes are read alike, to their ends."""
    info = np.iinfo(kind)
    values = np.array([info.min, 5, info.max], dtype=kind)
    expected = backend.cos_sin([int(v) for v in values], 8)
    for positions in (values, torch.tensor(values.astype(np.int64)).to(getattr(torch, kind))):
        for one, other in zip(backend.cos_sin(positions, 8), expected, strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize("form", ["apply_rotary", "apply_rotary_dense"])
def test_torch_positions_of_every_kind(form):
    """FREQ-6: tensors, arrays and lists, for all rows or for each, turn alike."""
    x, apply = torch.randn(2, 3, 2, 8), getattr(backend, form)
    positions = torch.tensor([1, 0, 100])
    same = apply(x, positions, interleaved=True)
    kinds = (positions[None], positions.tolist(), positions.numpy(), positions.to(torch.uint8))
    for kind in (*kinds, positions.expand(2, 3)):
        assert torch.equal(apply(x, kind, interleaved=True), same)
    assert not torch.equal(apply(x, positions + 1, interleaved=True), same)


def test_torch_parameters_are_tensors():
    """A Parameter is rotated like any other tensor, and its gradient is tracked."""
    m = [3, -700, 2**10]
    y = backend.apply_rotary(torch.nn.Parameter(torch.ones(3, 1, 4)), m, interleaved=True)

    assert y.requires_grad
    assert torch.equal(y.detach(), backend.apply_rotary(torch.ones(3, 1, 4), m, interleaved=True))
