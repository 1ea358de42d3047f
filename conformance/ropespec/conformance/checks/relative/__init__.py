"""Checks of the chapter `relative`: the score as a function of the offset."""

from ropespec.conformance.checks.relative import forms, laws, printed, scored

__all__ = ["forms", "laws", "printed", "scored"]
