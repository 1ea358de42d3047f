"""Checks of the chapter `decay`: the Abel bound, the decay curve, and what is not true of it."""

from ropespec.conformance.checks.decay import laws, printed

__all__ = ["laws", "printed"]
