"""Checks of the chapter `frequencies`: dimension, inv_freq, angles, positions, cos and sin."""

from ropespec.conformance.checks.frequencies import angles, integers, vectors

__all__ = ["angles", "integers", "vectors"]
