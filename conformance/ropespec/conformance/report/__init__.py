"""What a person, a script and a continuous integration get to see of a verdict."""

from ropespec.conformance.report.document import document, documents, schema, text_of
from ropespec.conformance.report.failure import failure
from ropespec.conformance.report.progress import Progress
from ropespec.conformance.report.script import reproduction, reproduction_call
from ropespec.conformance.report.summary import print_report

__all__ = [
    "Progress",
    "document",
    "documents",
    "failure",
    "print_report",
    "reproduction",
    "reproduction_call",
    "schema",
    "text_of",
]
