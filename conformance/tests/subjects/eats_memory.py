# ruff: noqa: ARG001  # arguments of a subject are its own
"""Takes memory until there is none."""

import numpy as np


def apply(x, positions):
    """Keep arrays of 64 MiB."""
    kept = []
    while True:
        kept.append(np.ones(2**23))
