"""Checks of the chapter `derivation`: modulus and argument of the rotated pairs."""

from ropespec.conformance.checks.derivation import laws, printed

__all__ = ["laws", "printed"]
