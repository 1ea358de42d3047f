"""JAX on three virtual devices: the device of every result."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ropespec.backends.jax as backend
from ropespec.spec.errors import ArgumentTypeError

SCRIPT = Path(__file__).parent / "jax_devices.py"
FLAGS = "--xla_force_host_platform_device_count=3"


@pytest.fixture(scope="module")
def held():
    """Run all calls in a process that has three devices, and return which did as they should."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} {FLAGS}".strip()
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def broken(held, kind):
    """Return the calls of a kind that did not do as they should."""
    some = {name: good for name, good in held.items() if name.startswith(kind)}
    assert some
    return [name for name, good in some.items() if not good]


def test_results_of_arrays_lie_where_the_first_of_them_does(held):
    """API-2: positions and tables follow; the numbers are those of the default device."""
    assert broken(held, "arrays:") == []


def test_lists_follow_the_array_that_there_is(held):
    """API-2: positions that are no array have no device."""
    assert broken(held, "lists:") == []


def test_results_of_numbers_lie_where_they_are_asked_for(held):
    """API-2: on `device`, and without it on the default device, lists of positions too."""
    assert broken(held, "numbers:") == []


def test_uncommitted_arrays_follow(held):
    """API-2: JAX takes an array that is committed to no device where the others are."""
    assert broken(held, "uncommitted:") == []


def test_what_is_not_brought_together_is_refused(held):
    """JAX itself tells a mixture apart, and q and k on two devices are one."""
    assert broken(held, "mistake:") == []


def test_every_function_was_called(held):
    """The calls name the whole API."""
    assert held["every function"]


@pytest.mark.parametrize("device", ["cpu", 0, 1.5])
def test_other_devices_are_refused(device):
    """API-2: only a jax.Device or None will do."""
    with pytest.raises(ArgumentTypeError, match="device must be None or a jax.Device; got"):
        backend.inv_freq(8, device=device)
