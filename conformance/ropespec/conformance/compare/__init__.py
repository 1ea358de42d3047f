"""Comparison of two subjects: whether one can stand for the other, and after which change.

Both are identified and given the same inputs. Where they differ, B is asked again through the
change that their conventions suggest: channels permuted, positions shifted, another base.
"""

from ropespec.conformance.compare.compare import compare
from ropespec.conformance.compare.result import Comparison
from ropespec.conformance.compare.sides import Side, open_side

__all__ = ["Comparison", "Side", "compare", "open_side"]
