"""Checks of scaled frequencies, of functions that take a scheme (SCAL-1 to SCAL-13)."""

from ropespec.conformance.checks.scaling import frequencies, rotations

__all__ = ["frequencies", "rotations"]
