"""Check rotations of transformers under the configurations of models, and write what came of it.

`python run.py [NAME ...]`: each under its own, which must conform, and under that of the next of
the same size, which must be refused.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
JSON = FOLDER / "verdicts.json"
TABLE = FOLDER / "verdicts.md"

APART = ["--interleaved", "--pairs-apart"]
"""How DeepSeek-V3 has its pairs, which no configuration says to all who read it."""

OWN = {
    "llama31": ["--config", "configs/llama31.json"],
    "qwen25_yarn": ["--config", "configs/qwen25_yarn.json"],
    "llama_linear": ["--config", "configs/llama_linear.json"],
    "llama_dynamic": ["--config", "configs/llama_dynamic.json", "--no-empty"],
    "llama_dynamic_above": [
        *("--config", "configs/llama_dynamic.json"),
        *("--length", "5000", "--max-position", "4999", "--no-empty"),
    ],
    "deepseek_v3": [*APART, "--config", "configs/deepseek_v3.json"],
    "deepseek_v3_without": [*APART, "--config", "configs/deepseek_v3_without.json"],
    "qwen2_vl": ["--config", "configs/qwen2_vl.json"],
    "qwen3_vl": ["--config", "configs/qwen3_vl.json"],
    "phi3_longrope": ["--config", "configs/phi3_longrope.json", "--no-empty"],
    "phi3_longrope_above": [
        "--config",
        "configs/phi3_longrope.json",
        "--length",
        "5000",
        "--no-empty",
    ],
    "gemma3_full": ["--config", "configs/gemma3.json", "--layer-type", "full_attention"],
    "gemma3_sliding": ["--config", "configs/gemma3.json", "--layer-type", "sliding_attention"],
    "gemma4_full": ["--config", "configs/gemma4.json", "--layer-type", "full_attention"],
    "gemma4_sliding": ["--config", "configs/gemma4.json", "--layer-type", "sliding_attention"],
}
"""The claims of each rotation; what looks for the largest position takes no empty input."""

OTHER = {
    "llama31": "qwen25_yarn",
    "qwen25_yarn": "llama31",
    "llama_linear": "llama31",
    "llama_dynamic": "llama_linear",
    "llama_dynamic_above": "llama_dynamic",
    "phi3_longrope": "phi3_longrope_above",
    "phi3_longrope_above": "phi3_longrope",
    "gemma3_full": "gemma3_sliding",
    "gemma3_sliding": "gemma3_full",
    "gemma4_sliding": "gemma3_full",
    "deepseek_v3": "deepseek_v3_without",
    "deepseek_v3_without": "deepseek_v3",
    "qwen2_vl": "qwen3_vl",
    "qwen3_vl": "qwen2_vl",
    "gemma4_full": "llama31",
}
"""Under whose claims it must be refused, but for what it says of itself in `MORE`."""

MORE = {
    "gemma4_full": ["--head-dim", "512"],
    "llama_dynamic": ["--no-empty", "--max-position", "2047"],
}

REFUSED = {
    "bert4torch_llama3": [
        *("--base", "500000", "--scaling", "llama3", "--factor", "8", "--low-freq-factor", "1"),
        *("--high-freq-factor", "4", "--original-max-position", "8192"),
    ],
    "litgpt_yarn": [
        *("--scaling", "yarn", "--factor", "16", "--original-max-position", "4096"),
        *("--attention-factor", "1"),
    ],
    "keras_hub_dynamic": [
        *("--scaling", "dynamic", "--factor", "4", "--original-max-position", "4096"),
        *("--length", "8192"),
    ],
}
"""What released packages call a scheme and is none, of `refused.py`, with what it is said to be."""

VALUES = ["--only", "ROT-6.value", "--only", "ROT-7.value"]

HEAD = """# Rotations of transformers under configurations of models

Written by `run.py` from `verdicts.json`: each under its own configuration, and what another's says.

| rotation | conforms | precision | clauses | under | conforms | diagnosis |
|---|---|---|---|---|---|---|
"""


REFUSED_HEAD = """
What is configured as a scheme in a released package, and is not that:

| rotation | claimed | conforms | diagnosis |
|---|---|---|---|
"""


def check(name: str, claims: list[str], *, file: str = "rotations.py") -> dict[str, Any]:
    """Return the verdict on one rotation."""
    subject = f"{file}:{name}"
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "verdict.json"
        words = [sys.executable, "-m", "ropespec", "check", subject, *claims]
        done = subprocess.run(  # noqa: S603  # this interpreter and our own module
            [*words, "--json", str(told)], cwd=FOLDER, check=False, capture_output=True, text=True
        )
        if not told.exists():
            return {"error": done.stderr.strip().splitlines()[-1]}
        verdict: dict[str, Any] = json.loads(told.read_text(encoding="utf-8"))
    failed = [one["id"] for one in verdict["checks"] if one["status"] not in ("pass", "skip")]
    ran = {one["clause"] for one in verdict["checks"] if one["status"] != "skip"}
    return {
        "conforms": verdict["conforms"],
        "precision": verdict["precision_by_dtype"],
        "clauses": len(ran),
        "failed": failed,
        "diagnosis": [f"{one['name']}: {one['sentence']}" for one in verdict["diagnosis"]],
    }


def row(name: str) -> dict[str, Any]:
    """Check one rotation under both, or under what it is said to be."""
    if name in REFUSED:
        return {"refused": check(name, [*REFUSED[name], *VALUES], file="refused.py")}
    other = OTHER[name]
    more = [*VALUES, "--dtype", "float32", *MORE.get(name, [])]
    return {"own": check(name, OWN[name]), "other": check(name, [*OWN[other], *more])}


def table(rows: dict[str, Any]) -> str:
    """Return the rows as the text of the table."""
    models = [_cells(name, found) for name, found in rows.items() if name in OWN]
    refused = [
        (name, " ".join(REFUSED[name]), "yes" if of["conforms"] else "no", _named(of))
        for name, found in rows.items()
        if (of := found.get("refused"))
    ]
    return HEAD + _lines(models) + (REFUSED_HEAD + _lines(refused) if refused else "")


def _lines(cells: Iterable[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


def _named(found: dict[str, Any]) -> str:
    return "<br>".join(found["diagnosis"])


def _cells(name: str, found: dict[str, Any]) -> tuple[str, ...]:
    own, other = found["own"], found["other"]
    precision = "<br>".join(f"{dtype}: {one}" for dtype, one in own["precision"].items())
    failed = f"no: {', '.join(own['failed'])}"
    return (
        name,
        "yes" if own["conforms"] else failed,
        precision,
        str(own["clauses"]),
        OTHER[name],
        "yes" if other["conforms"] else "no",
        _named(other),
    )


def main() -> None:
    """Check what is asked for, and write both files."""
    rows = json.loads(JSON.read_text(encoding="utf-8")) if JSON.exists() else {}
    for name in sys.argv[1:] or [*OWN, *REFUSED]:
        rows[name] = row(name)
        sys.stderr.write(f"{name}: {rows[name]}\n")
        JSON.write_text(json.dumps(dict(sorted(rows.items())), indent=1) + "\n", encoding="utf-8")
    if not any("error" in one for found in rows.values() for one in found.values()):
        TABLE.write_text(table(dict(sorted(rows.items()))), encoding="utf-8")


if __name__ == "__main__":
    main()
