"""The specification: clauses, the shared API, argument checks and errors.

It knows nothing of the reference, the backends or the checks.
"""

from ropespec.spec.api import CHAPTERS, FUNCTIONS, PARTS, RopeAPI
from ropespec.spec.clauses import Clause, chapter_text, chapter_title, clauses, find
from ropespec.spec.errors import ArgumentError, ArgumentTypeError, ArgumentValueError

__all__ = [
    "CHAPTERS",
    "FUNCTIONS",
    "PARTS",
    "ArgumentError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "Clause",
    "RopeAPI",
    "chapter_text",
    "chapter_title",
    "clauses",
    "find",
]
