"""The device of every result of CuPy, as far as it shows without a GPU.

Two devices are stood in for: arrays lie in host memory and say that they lie on one of them, and
contexts only note which one is current. What NumPy and CuPy share is not run, but asked on which
device it would, and with arrays of which devices. Nothing of it shows that two GPUs do.
"""

import importlib.util
from pathlib import Path

import cupy
import numpy as np
import pytest

import ropespec.backends.cupy as backend
from ropespec.backends import namespace
from ropespec.backends.cupy import launch, primitives
from ropespec.spec.axes import Sections
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError
from ropespec.spec.scaling import Linear

HOST = importlib.util.spec_from_file_location("cupy_host", Path(__file__).with_name("cupy_host.py"))
cupy_host = importlib.util.module_from_spec(HOST)
HOST.loader.exec_module(cupy_host)

KERNELS = ("apply_rotary", "apply_rotary_cos_sin")
SCALING, AXES = Linear(2.0), Sections((2, 2))
FROM_LISTS = ("cos_sin", "sinusoidal_embedding", "rotation_matrix", "decay_bound")


def devices(values):
    """Return on which devices the arrays of a call lie, "cpu" for those of NumPy."""
    parts = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
    arrays = (value for value in parts if isinstance(value, cupy.ndarray | np.ndarray))
    return {getattr(array.device, "id", array.device) for array in arrays}


@pytest.fixture(name="seen")
def _seen(monkeypatch):
    """Let calls note the current device and those of the arrays, of shared text and of kernels."""
    cupy_host.run_on_host(monkeypatch)
    monkeypatch.setattr(primitives, "cupy", cupy_host.host_namespace())
    noted = []

    def note(*arguments, **options):
        noted.append((cupy_host.Device.current, devices([*arguments, *options.values()])))
        return cupy_host.new(np.ones((2, 3, 4, 8), np.float32))

    run = primitives.CupyPrimitives.run
    monkeypatch.setattr(
        primitives.CupyPrimitives, "run", lambda of, _, *a, **options: run(of, note, *a, **options)
    )
    monkeypatch.setattr(primitives, "inv_freq", note)
    monkeypatch.setattr(namespace, "cos_sin", note)

    def tables(_, positions, steps):
        # They are of the host: their copy is made beside the positions.
        assert steps.turns.dtype == np.uint64
        note(positions)
        return cupy_host.new(np.ones((3, 4))), cupy_host.new(np.ones((3, 4)))

    monkeypatch.setattr(namespace, "cos_sin_by", tables)

    def kernel(dtype, **options):
        run = cupy_host.host_kernel(dtype, **options)

        def noting(grid, block, args):
            note(*args)
            run(grid, block, args)

        return noting

    monkeypatch.setattr(launch, "kernel", kernel)
    return noted


def calls(device, other):
    """List calls of every function that takes arrays: what is rotated here, by how much there."""

    def ones(*shape, dtype=np.float32, at=device):
        return cupy_host.host_array(np.ones(shape, dtype), at)

    x, q, v = ones(2, 3, 4, 8), ones(2, 4, 3, 8), ones(2, 3, 4, 6)
    m, own = ones(3, dtype=np.int64, at=other), ones(3, dtype=np.int64)
    cos, freqs = ones(3, 4, at=other), ones(3, 4, dtype=np.complex64, at=other)
    z, tokens, weight = ones(2, 3, 4, 4, dtype=np.complex64), ones(2, 3, 5), ones(4, 8, 5)
    whole, part = {"interleaved": True}, {"interleaved": False, "rotary_dim": 4}
    return [
        ("angles", (own, ones(4, at=other)), {}),
        *((name, (own, 8), {}) for name in FROM_LISTS if name != "rotation_matrix"),
        ("rotation_matrix", (own, 8), whole),
        ("cos_sin_scaled", (own, 8), {"scaling": SCALING}),
        ("cos_sin_axes", (ones(2, 3, dtype=np.int64), 8), {"axes": AXES}),
        ("apply_rotary_scaled", (x, m), {**whole, "scaling": SCALING}),
        ("apply_rotary_axes", (x, ones(2, 3, dtype=np.int64, at=other)), {**whole, "axes": AXES}),
        *((name, (x,), {}) for name in ("to_complex", "interleaved_to_half")),
        ("half_to_interleaved", (x,), {}),
        ("from_complex", (z,), {}),
        ("apply_rotary", (x, m), whole),
        ("apply_rotary_dense", (x, m), part),
        ("apply_rotary_complex", (x, m), {}),
        ("apply_rotary_cos_sin", (x, cos, cos), whole),
        *((name, (tokens, m, weight), part) for name in ("project_query", "project_key")),
        ("project_value", (tokens, weight), {}),
        ("relative_score", (x[0], x[1], ones(3, 1, dtype=np.int64, at=other)), part),
        ("attention", (x, x, v), {**part, "query_positions": m, "key_positions": m}),
        ("RoPE", (q, q), {}),
        ("reshape_for_broadcast", (ones(3, 4, dtype=np.complex64), z), {}),
        ("apply_rotary_emb", (x, x, freqs), {}),
    ]


FROM_NUMBERS = {
    "inv_freq": lambda device: backend.inv_freq(8, device=device),
    "inv_freq_scaled": (lambda device: backend.inv_freq_scaled(8, scaling=SCALING, device=device)),
    "precompute_freqs_cis": lambda device: backend.precompute_freqs_cis(8, 3, device=device),
    "sinusoidal_position_embedding": (
        lambda device: backend.sinusoidal_position_embedding(2, 1, 3, 8, device)
    ),
}


def test_calls_name_every_function():
    """Those that take arrays and those that take numbers are the whole API."""
    assert {name for name, _, _ in calls(1, 0)} | set(FROM_NUMBERS) == set(backend.__all__)


@pytest.mark.parametrize("index", range(len(calls(1, 0))), ids=lambda i: calls(1, 0)[i][0])
def test_everything_is_done_where_the_first_array_lies(seen, index):
    """API-2: on device 1 while 0 is current, with positions and tables copied there from 0."""
    name, arguments, keywords = calls(1, 0)[index]
    found = getattr(backend, name)(*arguments, **keywords)

    viewed = name == "reshape_for_broadcast"  # which computes nothing
    assert bool(seen) is not viewed
    assert all(one == (1, {1}) for one in seen)
    assert not (viewed or name in KERNELS) or found.device.id == 1


@pytest.mark.parametrize("name", ["apply_rotary_dense", "apply_rotary_emb"])
def test_a_mixture_is_seen(seen, monkeypatch, name):
    """Positions or tables that stay where they are are noted as such."""
    monkeypatch.setattr(primitives, "on_device", lambda array: array)
    call = next(call for call in calls(1, 0) if call[0] == name)
    getattr(backend, name)(*call[1], **call[2])

    assert seen
    assert all(one == (1, {0, 1}) for one in seen)


@pytest.mark.parametrize("name", FROM_NUMBERS)
def test_results_of_numbers_lie_where_they_are_asked_for(seen, name):
    """API-2: a number or a Device; without it the current device."""
    for device in (1, cupy_host.Device(1), None):
        FROM_NUMBERS[name](device)
    with cupy_host.Device(1):
        FROM_NUMBERS[name](None)
        FROM_NUMBERS[name](0)

    steps = len(seen) // 5
    assert [current for current, _ in seen] == [d for d in (1, 1, 0, 1, 0) for _ in range(steps)]


def test_lists_follow_the_array_that_there_is(seen):
    """API-2: else they go to the current device."""
    backend.angles([4, -2], cupy_host.host_array(np.ones(4, np.float32), 1))
    assert seen == [(1, {1})]
    for name in FROM_LISTS:
        options = {"interleaved": True} if name == "rotation_matrix" else {}
        getattr(backend, name)([4, -2], 8, **options)
        with cupy_host.Device(1):
            getattr(backend, name)(7, 8, **options)
        assert seen[-2:] == [(0, {0}), (1, {1})]


@pytest.mark.parametrize("name", FROM_NUMBERS)
def test_other_devices_are_refused(name):
    """API-2: in the words of the specification, before CUDA is asked for anything."""
    for device in (1.5, "cuda:0", True):
        with pytest.raises(ArgumentTypeError, match="device must be None or an int of at least 0"):
            FROM_NUMBERS[name](device)
    with pytest.raises(ArgumentValueError, match=r"cupy.cuda.Device; got -1 \(int\)"):
        FROM_NUMBERS[name](-1)
