"""Whether arrays share memory is told by their addresses alone."""

import subprocess
import sys

READS_NOTHING = """
from types import SimpleNamespace

import numpy as np

from ropespec.backends.overlap import overlaps_itself, same, share

def at(address, shape, strides):
    interface = {"version": 3, "shape": shape, "strides": strides, "typestr": "|V4"}
    interface["data"] = (address, False)
    return np.asarray(SimpleNamespace(__array_interface__=interface))

one = at(4096, (2, 3, 4), (48, 16, 4))  # where no process may read
assert not overlaps_itself(one)
assert not overlaps_itself(at(4096, (1,), (4,)))
assert overlaps_itself(at(4096, (2, 4), (4, 4)))
assert overlaps_itself(at(4096, (3, 2), (8, 0)))
assert same(one, one)
assert share(one, at(4100, (1,), (4,)))
assert not share(one, at(4096 + 96, (1,), (4,)))
print("read nothing")
"""


def test_nothing_is_read():
    """Memory of a GPU has an address, and whoever reads there is ended."""
    done = subprocess.run(
        [sys.executable, "-c", READS_NOTHING], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr, done.returncode) == ("read nothing\n", "", 0)
