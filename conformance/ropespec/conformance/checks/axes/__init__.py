"""Checks of the chapter `axes`: several position numbers a token, and the ends of a head."""

from ropespec.conformance.checks.axes import ends, numbers

__all__ = ["ends", "numbers"]
