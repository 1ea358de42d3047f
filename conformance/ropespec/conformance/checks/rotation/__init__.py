"""Checks of the chapter `rotation`: the operation itself."""

from ropespec.conformance.checks.rotation import contract, forms, history, independence, laws

__all__ = ["contract", "forms", "history", "independence", "laws"]
