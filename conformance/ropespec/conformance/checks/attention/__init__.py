"""Checks of the chapter `attention`: softmax of scaled scores of rotated queries and keys."""

from ropespec.conformance.checks.attention import masks, order, values, walked

__all__ = ["masks", "order", "values", "walked"]
