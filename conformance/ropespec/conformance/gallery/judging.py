"""A row of the gallery: what became of one implementation, beside what is known of it."""

from collections.abc import Mapping
from typing import Any

from ropespec.conformance.gallery.listed import Deviation, Implementation
from ropespec.conformance.report.advice import command

__all__ = [
    "AS_KNOWN",
    "CONFORMS",
    "DEVIATES",
    "MISTAKEN",
    "NOT_RUN",
    "OUTDATED",
    "judged",
    "judged_as",
    "settled",
    "unrun",
]

CONFORMS = "conforms"
AS_KNOWN = "deviates as known"
DEVIATES = "deviates"
OUTDATED = "no longer deviates"
NOT_RUN = "not run"

MISTAKEN = "the claims of another model are not refused"
"""What stands among what is not known where they hold."""

_KEPT = ("numbers", "contract", "precision_by_dtype", "head_dims", "environment")
_MOST = 160


def unrun(why: str) -> dict[str, Any]:
    """Return the row of what was not run."""
    return {"status": NOT_RUN, "why": _line(why)}


def judged(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept of a verdict."""
    ran = [item for item in verdict["checks"] if item["status"] != "skip"]
    return {
        "claims": _claims(verdict["profile"]),
        **{name: verdict[name] for name in _KEPT},
        "clauses": len({item["clause"] for item in ran}),
        "diagnosis": [f"{one['name']}: {one['sentence']}" for one in verdict["diagnosis"]],
        "failed": [
            {name: item[name] for name in ("id", "clause", "kind", "status")}
            | {"message": _line(item["message"])}
            for item in ran
            if item["status"] != "pass"
        ],
    }


def judged_as(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept of a verdict under the claims of another model."""
    found = judged(verdict)
    return {name: found[name] for name in ("claims", "numbers", "diagnosis")}


def settled(implementation: Implementation, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row beside what is known of its implementation.

    A check that did not pass is covered by a known deviation or not; a deviation none of whose
    checks failed is known no longer.
    """
    told = {**row, **_head(implementation)}
    if "failed" not in row:
        return told
    known = [_known(one, row["failed"]) for one in implementation.deviations]
    covered = {name for one in known for name in one["failed"]}
    unknown = [item["id"] for item in row["failed"] if item["id"] not in covered]
    if row.get("another", {"numbers": "wrong"})["numbers"] != "wrong":
        unknown.append(MISTAKEN)
    status = _status(row["failed"], unknown, known)
    return {**told, "status": status, "known": known, "unknown": unknown}


def _head(implementation: Implementation) -> dict[str, Any]:
    names = ("package", "version", "bound")
    return {name: getattr(implementation, name) for name in names}


def _known(deviation: Deviation, failed: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "checks": list(deviation.checks),
        "reason": deviation.reason,
        "link": deviation.link,
        "failed": [item["id"] for item in failed if deviation.covers(item)],
    }


def _status(failed: list[Any], unknown: list[Any], known: list[dict[str, Any]]) -> str:
    if any(not one["failed"] for one in known):
        return OUTDATED
    if unknown:
        return DEVIATES
    return AS_KNOWN if failed else CONFORMS


def _claims(profile: Mapping[str, Any]) -> str:
    """Return the options that say what is claimed; dtypes stand with the precision."""
    words = command("check", "it", {**profile, "dtypes": ["float32"]})
    return words.removeprefix("ropespec check it").strip()


def _line(text: str) -> str:
    """Return a text as one line that is not long."""
    words = " ".join(text.split())
    return words if len(words) <= _MOST else f"{words[: _MOST - 3]}..."
