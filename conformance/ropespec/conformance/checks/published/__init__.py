"""Checks of the chapter `published`: the code functions of the documents, corrected."""

from ropespec.conformance.checks.published import examples, long, rotations, tables

__all__ = ["examples", "long", "rotations", "tables"]
