"""Checks of the chapter `axes`: several position numbers a token, and the ends of a head."""

from ropespec.conformance.checks.axes import alike, ends, numbers

__all__ = ["alike", "ends", "numbers"]
