"""What was covered, in one line, and what was left out."""

from collections.abc import Mapping
from typing import Any

__all__ = ["coverage_line", "left_out_lines"]

_OF = {2: "pairs", 3: "triples"}


def coverage_line(coverage: Mapping[str, Any]) -> str:
    """Say what was covered; nothing if nothing was walked.

    Parameters
    ----------
    coverage : mapping
        As `Verdict.coverage`.
    """
    if not coverage or not (coverage["of"] or coverage["positions"]):
        return ""
    parts = []
    if coverage["of"]:
        many = f"{coverage['combinations']:,} of {coverage['of']:,}"
        parts.append(f"{_OF[coverage['levels']]} of levels {many}")
    if coverage["positions"]:
        first, last = coverage["positions"]
        parts.append(f"positions {first}..{last}, all")
    return f"covered {'; '.join(parts)}"


def left_out_lines(coverage: Mapping[str, Any]) -> list[str]:
    """Say what was left out and why, in one line."""
    left = coverage.get("left_out", ())
    return [f"left out {'; '.join(left)}"] if left else []
