"""JAX over eight virtual devices: shards with global positions are the whole."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")

SCRIPT = Path(__file__).parent / "jax_sharding_devices.py"
FLAGS = "--xla_force_host_platform_device_count=8"
CUTS = (
    *("batch", "sequence", "heads"),
    *("batch and sequence", "sequence and heads", "sequence twice"),
)


@pytest.fixture(scope="module")
def held():
    """Run all comparisons in a process that has eight devices, and return which held."""
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


def broken(held, *words):
    """Return the comparisons that start with one of these words and did not hold."""
    some = {name: good for name, good in held.items() if name.startswith(words)}
    assert some
    return [name for name, good in some.items() if not good]


@pytest.mark.parametrize("cut", CUTS)
def test_jit_on_shards_gives_the_whole_in_the_placement_of_x(held, cut):
    """Automatic and explicit meshes, all forms of positions: the same numbers, cut the same way."""
    assert broken(held, f"jit: {cut},") == []


@pytest.mark.parametrize("cut", CUTS)
def test_gradients_of_shards_are_those_of_the_whole(held, cut):
    """The pull-back is cut as x is."""
    assert broken(held, f"gradient: {cut},") == []


def test_no_device_asks_another(held):
    """The compiled programs, forward and backward, hold no collective operation."""
    assert broken(held, "alone:", "gradient alone:") == []


def test_shard_map_with_the_positions_of_each_shard_gives_the_whole(held):
    """Each device sees its tokens and their global positions only."""
    assert broken(held, "shard_map:") == []


def test_calls_without_jit_keep_the_placement(held):
    """Positions of NumPy beside an x that is cut."""
    assert broken(held, "eager:") == []


def test_tables_are_cut_with_x(held):
    """Given cos and sin, cut along the sequence or present everywhere."""
    assert broken(held, "tables:") == []


def test_padding_makes_an_uneven_cut_even(held):
    """The tokens in front of the padding do not notice it."""
    assert broken(held, "padded") == []


def test_what_is_looked_for_can_be_seen(held):
    """Local positions, and programs that communicate, are told apart from right ones."""
    assert broken(held, "mistake:") == []


def test_everything_was_compared_on_eight_devices(held):
    """Six cuts, two kinds of mesh, three forms of positions; nothing else fails."""
    assert held["eight devices"]
    assert sum(name.startswith("jit:") for name in held) == 6 * 2 * 3
    assert [name for name, good in held.items() if not good] == []
