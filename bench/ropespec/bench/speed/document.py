"""The result file: the environment, the rows, and what came of the targets."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ropespec.bench.speed.ladder import Plan
from ropespec.bench.speed.run import Found
from ropespec.bench.speed.targets import Outcome

__all__ = ["SCHEMA", "document", "write"]

SCHEMA = Path(__file__).with_name("result.schema.json")
"""What a result file looks like."""


def document(
    environment: dict[str, Any], plan: Plan, found: Found, targets: Sequence[Outcome]
) -> dict[str, Any]:
    """Return the whole result as JSON objects.

    Parameters
    ----------
    environment : dict
        What `environment` found.
    plan : Plan
        What was to be measured, and how.
    found : Found
        All rows, failed ones too, and who was not measured.
    targets : sequence of Outcome
        What was held against the targets.
    """
    how = {
        "full": plan.full,
        "rounds": plan.rounds,
        "repetitions": plan.repetitions,
        "left": found.left,
        "statistic": "least of all repetitions, for one tensor and one pass",
    }
    return {
        "environment": environment,
        "how": how,
        "rows": [row.to_json() for row in found.rows],
        "absent": [asdict(one) for one in found.absent],
        "targets": [one.to_json() for one in targets],
    }


def write(path: Path, value: dict[str, Any]) -> None:
    """Write a result, a row a line, so that two files can be compared."""
    parts = [f'  "{name}": {json.dumps(value[name], indent=2)}' for name in ("environment", "how")]
    for name in ("rows", "absent", "targets"):
        lines = ",\n".join(f"    {json.dumps(one)}" for one in value[name])
        parts.append(f'  "{name}": [\n{lines}\n  ]' if lines else f'  "{name}": []')
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
