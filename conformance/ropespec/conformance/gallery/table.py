"""The rows as text: the page beside the list, and a summary in one sentence."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ropespec.conformance.gallery.judging import (
    AS_KNOWN,
    CONFORMS,
    DEVIATES,
    MISTAKEN,
    NOT_RUN,
    OUTDATED,
)
from ropespec.conformance.gallery.listed import Gallery, Implementation

__all__ = ["page", "summary"]

_HEAD = """# Verdicts of the gallery

Written by `ropespec gallery` from `verdicts.json`; the [README](README.md) says what is meant.

{summary}

| package | bound | claims | numbers | contract | precision | clauses | verdict |
|---|---|---|---|---|---|---|---|
"""

Row = Mapping[str, Any]


def summary(gallery: Gallery, rows: Mapping[str, Row]) -> str:
    """Return how many there are of what, and how long they took."""
    count = Counter(row["status"] for row in rows.values())
    packages = len({one.package for one in gallery.implementations})
    told = [f"{count[one]} {words}" for one, words in _WORDS.items() if count[one]]
    missing = len(gallery.implementations) - len(rows)
    told += [f"{missing} without a row"] if missing else []
    total = f"{len(gallery.implementations)} implementations of {packages} packages"
    return f"{total}: {', '.join(told) or 'none was run'}."


_WORDS = {
    CONFORMS: "conform",
    AS_KNOWN: "deviate as is known",
    DEVIATES: "deviate in what is not known",
    OUTDATED: "no longer deviate as is known",
    NOT_RUN: "were not run",
}


def page(gallery: Gallery, rows: Mapping[str, Row]) -> str:
    """Return the page of a list and its rows."""
    lines = [_line(one, rows[one.name]) for one in gallery.implementations if one.name in rows]
    return _HEAD.format(summary=summary(gallery, rows)) + "".join(lines)


def _line(one: Implementation, row: Row) -> str:
    package = f"{row['package']} {row['version']}"
    bound = _linked(one, _plain(row["bound"]))
    if row["status"] == NOT_RUN:
        cells = [package, bound, "", "", "", "", "", f"not run: {_plain(row['why'])}"]
    else:
        claims = f"`{row['claims']}`" if row["claims"] else ""
        cells = [package, bound, claims, row["numbers"], row["contract"], _precision(row)]
        cells += [str(row["clauses"]), _verdict(row)]
    return f"| {' | '.join(cells)} |\n"


def _linked(one: Implementation, bound: str) -> str:
    file = one.words[0].partition(":")[0] if one.words else ""
    return f"[{bound}]({file})" if file.endswith(".py") else bound


def _precision(row: Row) -> str:
    return "<br>".join(f"{name}: {found}" for name, found in row["precision_by_dtype"].items())


def _verdict(row: Row) -> str:
    told = [row["status"]]
    for one in row["known"]:
        failed = "" if one["failed"] else "; none of it fails"
        told.append(
            f"{', '.join(one['checks'])}: {_plain(one['reason'])} ([why]({one['link']})){failed}"
        )
    unknown = [one for one in row["failed"] if one["id"] in row["unknown"]]
    told += [f"{one['id']}: {_plain(one['message'])}" for one in unknown]
    told += [f"diagnosis: {_plain(one)}" for one in row["diagnosis"]]
    told += [one for one in row["unknown"] if one == MISTAKEN]
    if another := row.get("another"):
        named = "; ".join(map(_plain, another["diagnosis"]))
        told.append(f"as `{another['claims']}`, numbers {another['numbers']}: {named}")
    if row["scripts"]:
        told.append(f"scripts that show it: {row['shown']} of {row['scripts']}")
    return "<br>".join(told)


def _plain(text: str) -> str:
    return re.sub(r"[|\s]+", " ", text)
