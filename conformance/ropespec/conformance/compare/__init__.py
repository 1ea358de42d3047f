"""Comparison of two subjects: whether one can stand for the other, and after which change.

Both are identified and given the same inputs. Where they differ, B is asked again through the
change that their conventions suggest: channels permuted, positions shifted, another base.
"""

from ropespec.conformance.compare.change import Change
from ropespec.conformance.compare.compare import compare
from ropespec.conformance.compare.logits import Drift
from ropespec.conformance.compare.measure import Held, Worst
from ropespec.conformance.compare.result import (
    Band,
    ByDtype,
    Comparison,
    Outcome,
    Permutation,
    Relation,
    SideReport,
)
from ropespec.conformance.compare.search import Parting
from ropespec.conformance.compare.side import Side, open_side

__all__ = [
    "Band",
    "ByDtype",
    "Change",
    "Comparison",
    "Drift",
    "Held",
    "Outcome",
    "Parting",
    "Permutation",
    "Relation",
    "Side",
    "SideReport",
    "Worst",
    "compare",
    "open_side",
]
