"""The files of the results: one a step, named after the device and the day."""

import json
import re
from pathlib import Path
from typing import Any

__all__ = ["finished", "path_of", "slug", "write"]

DONE = ("passed", "failed", "not here")
"""What is known of a step that need not run again; one that ran out of time may."""


def slug(device: str) -> str:
    """Return the name of a device as part of the name of a file."""
    return re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")


def path_of(folder: Path, device: str, date: str, step: str) -> Path:
    """Return the file of a step."""
    return folder / f"{slug(device)}-{date}-{step}.json"


def finished(
    folder: Path, device: str, versions: dict[str, str], step: str
) -> dict[str, Any] | None:
    """Return what a step found earlier, on any day, on this device with these versions.

    Parameters
    ----------
    folder : Path
        Of the results.
    device : str
        Its full name.
    versions : dict of str to str
        Those of now.
    step : str
        Its name.
    """
    for path in sorted(folder.glob(f"{slug(device)}-????-??-??-{step}.json"), reverse=True):
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        same = kept["device"] == device and kept["versions"] == versions
        if same and kept["status"] in DONE:
            return kept
    return None


def write(path: Path, found: dict[str, Any]) -> None:
    """Write a result whole or not at all, so that what is there is what a step found."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    part.replace(path)
