# ruff: noqa: ARG001  # arguments of a subject are its own
"""Overwrites and returns its input."""

import types


def apply(x, positions):
    """Work in place."""
    x *= 2
    return x


def positions_too(x, positions):
    """Write to positions alone."""
    positions += 1
    return x.copy()


def passes_through(x, positions):
    """Return a view of the input."""
    return x[..., ::-1]


api = types.SimpleNamespace(
    apply_rotary=apply,
    apply_rotary_dense=positions_too,
    apply_rotary_complex=passes_through,
)
