"""Checks of the chapter `attention`: softmax of scaled scores of turned queries and keys."""

from ropespec.conformance.checks.attention import masks, values

__all__ = ["masks", "values"]
