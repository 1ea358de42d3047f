"""Check the packages that are installed here, and write their verdicts.

`python run.py [NAME ...]`: all bindings, or these; the other rows stay as they are.
"""

import ast
import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ropespec.conformance.report.advice import command

FOLDER = Path(__file__).parent
BINDINGS = FOLDER / "bindings"
JSON = FOLDER / "verdicts.json"
TABLE = FOLDER / "verdicts.md"
REQUIREMENTS = ("requirements.txt", "alone.txt")

HEAD = """# Verdicts of packages

Written by `run.py` from `verdicts.json`; what the columns mean is in the [README](README.md).

| package | version | bound | claims | numbers | contract | precision | clauses | what deviates |
|---|---|---|---|---|---|---|---|---|
"""
KEPT = ("conforms", "numbers", "contract", "precision_by_dtype", "waivers", "environment")


class NotRunError(Exception):
    """The package is not installed here, or cannot be used; the message says why."""


def names() -> list[str]:
    """Return the bindings, in the order of the table."""
    return sorted(path.stem for path in BINDINGS.glob("*.py"))


def told(name: str) -> tuple[str, str]:
    """Return the package of a binding and what of it is bound: its first line says both."""
    tree = ast.parse((BINDINGS / f"{name}.py").read_text(encoding="utf-8"))
    first = (ast.get_docstring(tree) or "").partition("\n")[0]
    package, _, bound = first.partition(": ")
    return package, bound.removesuffix(".")


def check(name: str) -> dict[str, Any]:
    """Check one binding with the command; return its row.

    Raises
    ------
    NotRunError
        If there is no verdict.
    """
    package, bound = told(name)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "verdict.json"
        words = [sys.executable, "-m", "ropespec", "check", f"{name}.py:apply", "--json", str(file)]
        done = subprocess.run(  # noqa: S603  # this interpreter and our own module
            words, cwd=BINDINGS, check=False, capture_output=True, text=True
        )
        if not file.exists():
            raise NotRunError(done.stderr.strip().splitlines()[-1])
        verdict = json.loads(file.read_text(encoding="utf-8"))
    version = importlib.metadata.version(package.partition(",")[0]).partition("+")[0]
    return {"package": package, "version": version, "bound": bound} | row(verdict)


def row(verdict: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of a verdict."""
    ran = [item for item in verdict["checks"] if item["status"] != "skip"]
    # dtypes stand with the precision.
    claims = command("check", "it", verdict["profile"] | {"dtypes": ["float32"]})
    return {
        "claims": claims.removeprefix("ropespec check it").strip(),
        "head_dims": " ".join(map(str, verdict["head_dims"])),
        **{name: verdict[name] for name in KEPT},
        "clauses": len({item["clause"] for item in ran}),
        "deviates": [
            {name: item[name] for name in ("id", "status", "message")}
            for item in ran
            if item["status"] != "pass"
        ],
    }


def table(rows: dict[str, Any]) -> str:
    """Return the rows as the text of the table."""
    return HEAD + "".join(f"| {' | '.join(_cells(name, rows[name]))} |\n" for name in sorted(rows))


def _cells(name: str, item: dict[str, Any]) -> tuple[str, ...]:
    precision = "<br>".join(
        f"{dtype}: {found}" for dtype, found in item["precision_by_dtype"].items()
    )
    deviates = "<br>".join(deviation(one, item["waivers"]) for one in item["deviates"])
    return (
        item["package"],
        item["version"],
        f"[{item['bound']}](bindings/{name}.py)",
        f"`{item['claims']}`",
        item["numbers"],
        item["contract"],
        precision,
        str(item["clauses"]),
        deviates or "nothing",
    )


def deviation(item: dict[str, str], waivers: dict[str, str]) -> str:
    """Return a check that did not pass in one line, with the reason if it is waived."""
    clause = item["id"].partition(".")[0]
    why = waivers.get(item["id"]) or waivers.get(clause)
    waived = f" (waived: {why})" if why else ""
    message = re.sub(r"[|\s]+", " ", item["message"])
    return f"{item['id']}: {message}{waived}"


def main() -> None:
    """Check what is asked for, and write both files."""
    rows = json.loads(JSON.read_text(encoding="utf-8")) if JSON.exists() else {}
    for name in sys.argv[1:] or names():
        try:
            rows[name] = check(name)
        except NotRunError as error:
            sys.stderr.write(f"{name}: not run: {error}\n")
            continue
        found = rows[name]
        sys.stderr.write(f"{name}: numbers {found['numbers']}, contract {found['contract']}\n")
        JSON.write_text(json.dumps(dict(sorted(rows.items())), indent=1) + "\n", encoding="utf-8")
        TABLE.write_text(table(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
