"""What a test leaves for the summary: plain values that travel between processes, and back."""

import dataclasses
import json
from typing import Any

from ropespec.conformance.judge.fault import Fault
from ropespec.conformance.report.document import plain
from ropespec.conformance.results import CheckResult, Counterexample, Status

__all__ = ["result_of", "text_of"]

_NUMBERS = ("expected", "got", "budget")


def text_of(result: CheckResult) -> str:
    """Return a result as JSON, without the scripts that were not run."""
    found = plain(dataclasses.asdict(result))
    if found["counterexample"] is not None:
        del found["counterexample"]["drafts"]
    return json.dumps(found)


def result_of(text: str) -> CheckResult:
    """Return the result that `text_of` was given."""
    found = json.loads(text)
    example = found["counterexample"]
    if example is not None:
        example |= {name: _number(example[name]) for name in _NUMBERS}
        found["counterexample"] = Counterexample(**example)
    found["worst"] = _number(found["worst"])
    found["status"] = Status(found["status"])
    found["fault"] = found["fault"] and Fault(found["fault"])
    found["diagnosis"] = ()
    return CheckResult(**found)


def _number(value: Any) -> float | None:  # noqa: ANN401  # a number, or the name of one
    return None if value is None else float(value)
