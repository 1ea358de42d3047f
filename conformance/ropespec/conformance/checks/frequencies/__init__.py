"""Checks of the chapter `frequencies`: dimension, inv_freq, angles, positions, cos and sin."""

from ropespec.conformance.checks.frequencies import angles, vectors

__all__ = ["angles", "vectors"]
