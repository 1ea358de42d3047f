"""Checks of scaled frequencies, of functions that take a scheme (SCAL-1 to SCAL-13)."""

from ropespec.conformance.checks.scaling import apart, frequencies, rotations

__all__ = ["apart", "frequencies", "rotations"]
