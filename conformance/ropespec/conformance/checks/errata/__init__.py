"""Checks of the chapter `errata`."""

from ropespec.conformance.checks.errata import named

__all__ = ["named"]
