"""The tables of the chapter `names`: facts of others, held against each other where they can be."""

import re

from ropespec.spec.clauses import clauses

_ROTATED = re.compile(r"all|(?:first|last) (\d+)")


def _models(rows: list[dict[str, str]]) -> list[str]:
    """Layout, base, head_dim and rotated components are what FREQ-1, FREQ-2 and ROT-14 allow."""
    found = [f"{name} stands twice" for name in _twice([row["model"] for row in rows])]
    repositories = {row.split(",")[0].split("/")[-1] for row in _read()} | {"transformers"}
    for row in rows:
        layout, base, head_dim = row["layout"], row["base"], row["head_dim"]
        rotated = _ROTATED.fullmatch(row["rotated"])
        size = int(head_dim) if head_dim != "-" else 0
        part = int(rotated[1] or size) if rotated else 1
        files = {
            file.split(" ")[0].replace("llama.cpp", "llama.cpp") for file in row["file"].split("; ")
        }
        fits = {
            "layout": layout in {"interleaved", "half-split"},
            "base": base == "-" or float(base) > 1,
            "rotated": part % 2 == 0 and (not size or 0 < part <= size),
            "file": files <= repositories,
        }
        found += [f"{row['model']}: {name}" for name, fit in fits.items() if not fit]
    return found


def _layouts(rows: list[dict[str, str]]) -> list[str]:
    """No function is listed twice, and what holds without a word is one of its two layouts."""
    found = [f"{name} stands twice" for name in _twice([row["library, function"] for row in rows])]
    allowed = {"interleaved", "half-split", "it has to be said", "as the model"}
    for row in rows:
        default = row["if nothing is said"]
        if default not in allowed or (row["argument"] == "none" and row[default] != "always"):
            found.append(f"{row['library, function']}: {default}")
    return found


def _read() -> list[str]:
    lines = [line for line in clauses()["NAME-5"].text.splitlines() if line.startswith("| ")]
    return [line.split("|")[1].strip().split(" on ")[0] for line in lines[1:]]


def _twice(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


TABLES = {"NAME-1": _layouts, "NAME-4": _models}
FACTS = {
    "NAME-2": "the signatures of other libraries",
    "NAME-5": "the versions that were read",
}
RECORDED = {
    "NAME-1": "e5fff7357496",
    "NAME-2": "0e66f65e53bc",
    "NAME-4": "ef7ff366fafc",
    "NAME-5": "33c147f77dac",
}
