# ruff: noqa: ARG001, T201  # arguments and prints of a subject are its own
"""Prints in every way there is while it is called and imported."""

import os
import sys

print("imported")


def apply(x, positions):
    """Print, then return a copy."""
    print("to standard output")
    print("to standard error", file=sys.stderr)
    os.write(1, b"\x00\x01 to descriptor 1\n" * 1000)
    sys.stdout.flush()
    return x.copy()


def reads(x, positions):
    """Ask a question nobody answers."""
    return input("continue? ")
