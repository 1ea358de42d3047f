"""The verdict as a JSON document, whose published schema is `verdict.schema.json` beside this."""

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from importlib import metadata, resources
from typing import Any

import numpy as np

from ropespec.conformance.frameworks import ARRAYS
from ropespec.conformance.results import Verdict

__all__ = ["SCHEMA", "document", "documents", "plain", "schema", "text_of", "version"]

SCHEMA = "urn:ropespec:verdict:1"
"""The id of the schema; it changes when a reader of the old form could be misled."""


def document(verdict: Verdict, *, only: Sequence[str] = (), full: bool = False) -> dict[str, Any]:
    """Turn the verdict on one subject into plain JSON values.

    Parameters
    ----------
    verdict : Verdict
        What was found.
    only : sequence of str
        What the run was limited to; empty for everything.
    full : bool
        Whether it ran with ten times as many cases.

    Returns
    -------
    dict
        Valid under the schema. A number that JSON does not have is one of the strings `nan`,
        `inf` and `-inf`.
    """
    body = _body(verdict)
    return {"schema": SCHEMA, "ropespec": version(), "only": list(only), "full": full} | body


def documents(
    verdicts: Sequence[Verdict],
    not_run: Mapping[str, str],
    *,
    only: Sequence[str] = (),
    full: bool = False,
) -> dict[str, Any]:
    """Turn the verdicts on several subjects into one document.

    Parameters
    ----------
    verdicts : sequence of Verdict
        One per subject that ran.
    not_run : mapping of str to str
        The others, and why not.
    only, full
        As in `document`.
    """
    asked = [verdict for verdict in verdicts if verdict.judged or verdict.undecided]
    return {
        "schema": SCHEMA,
        "ropespec": version(),
        "only": list(only),
        "full": full,
        "conforms": bool(asked) and all(verdict.conforms for verdict in asked),
        "verdicts": [_body(verdict) for verdict in verdicts],
        "not_run": dict(not_run),
    }


def _body(verdict: Verdict) -> dict[str, Any]:
    found: dict[str, Any] = plain(dataclasses.asdict(verdict))
    for check, result in zip(found["checks"], verdict.checks, strict=True):
        check["kind"] = result.kind
        if check["counterexample"] is not None:
            del check["counterexample"]["drafts"]  # what was not run is no part of what was found
    return {
        "subject": found["subject"],
        "conforms": verdict.conforms,
        "numbers": verdict.numbers,
        "contract": verdict.contract,
        "waivers": found["waivers"],
        "unneeded_waivers": found["unneeded"],
        "remedy": found["remedy"],
        "diagnosis": found["diagnosis"],
        "profile": found["profile"],
        "style": found["style"],
        "head_dims": found["head_dims"],
        "coverage": found["coverage"],
        "seed": found["seed"],
        "precision": verdict.precision,
        "precision_by_dtype": found["precision_by_dtype"],
        "duration": found["duration"],
        "spent": found["spent"],
        "environment": found["environment"],
        "lacks": found["lacks"],
        "stragglers": found["stragglers"],
        "checks": found["checks"],
    }


def plain(value: Any) -> Any:  # noqa: ANN401  # nested values of any kind
    """Turn a value into what strict JSON can say.

    Parameters
    ----------
    value : object
        Nested mappings, sequences, NumPy arrays and scalars.

    Returns
    -------
    object
        dict, list, str, int, bool, None and finite float; other numbers become strings, and
        anything unknown its text.
    """
    match value:
        case np.ndarray() | np.generic():
            return plain(value.tolist())
        case float() if not math.isfinite(value):
            return str(value)
        case None | bool() | int() | float():
            return value
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
        case _:
            return str(value)


def text_of(content: Mapping[str, Any]) -> str:
    """Return a document as the text of a file, with a line break at its end."""
    return json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def schema() -> dict[str, Any]:
    """Return the published JSON Schema (2020-12) of the documents."""
    path = resources.files("ropespec.conformance.report") / "verdict.schema.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    found["$defs"]["profile"]["properties"]["array"]["enum"] = list(ARRAYS)
    return found


def version() -> str:
    """Return the version of ropespec, or `unknown` when it runs without being installed."""
    try:
        return metadata.version("ropespec")
    except metadata.PackageNotFoundError:
        return "unknown"
