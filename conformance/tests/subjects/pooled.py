# ruff: noqa: ARG001  # arguments of a subject are its own
"""Works in a pool of processes that it keeps."""

import functools
import multiprocessing


@functools.cache
def _pool():
    return multiprocessing.get_context("fork").Pool(2)


def _same(x):
    return x


def apply(x, positions):
    """Send x there and back."""
    return _pool().map(_same, [x])[0]
