"""The rows that were written: `verdicts.json` beside the lists, and which of them hold."""

import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ropespec.conformance.gallery.judging import NOT_RUN, settled
from ropespec.conformance.gallery.listed import Gallery, GalleryError, Implementation
from ropespec.conformance.gallery.table import page

__all__ = ["JSON", "PAGE", "holds", "kept", "key", "write"]

JSON = "verdicts.json"
PAGE = "verdicts.md"

Rows = dict[str, dict[str, Any]]


def kept(gallery: Gallery) -> Rows:
    """Return the rows beside the lists, by what these say now; of what they lack there is none.

    Raises
    ------
    GalleryError
        If the file is there and holds something else.
    """
    path = gallery.folder / JSON
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as problem:
        raise GalleryError(f"{path} cannot be read: {problem}") from None
    if not isinstance(told, dict) or not all(isinstance(one, dict) for one in told.values()):
        raise GalleryError(f"{path} must hold rows by the names of implementations")
    every = gallery.implementations
    return {one.name: settled(one, told[one.name]) for one in every if one.name in told}


def key(implementation: Implementation, folder: Path, ours: str) -> str:
    """Return what a check is of: its words, the files that they name, the versions.

    Parameters
    ----------
    implementation : Implementation
        The entry.
    folder : Path
        The folder of the lists.
    ours : str
        The version of ropespec.
    """
    words = (*implementation.words, *implementation.refused)
    names = [word.partition(":")[0] for word in words]
    files = [folder / name for name in names if (folder / name).is_file()]
    told = [
        *(implementation.package, implementation.version, ours),
        *(words, implementation.not_run),
        [file.read_text(encoding="utf-8", errors="replace") for file in files],
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def holds(row: Mapping[str, Any] | None, now: str) -> bool:
    """Whether a row need not be made again: it was run, of the same entry and versions."""
    return row is not None and row.get("key") == now and row.get("status") != NOT_RUN


def write(gallery: Gallery, rows: Rows) -> None:
    """Write both files, each whole or not at all.

    Raises
    ------
    GalleryError
        If they cannot be written.
    """
    ordered = {one.name: rows[one.name] for one in gallery.implementations if one.name in rows}
    folder = gallery.folder
    try:
        _replace(folder / JSON, json.dumps(ordered, indent=1) + "\n")
        _replace(folder / PAGE, page(gallery, ordered))
    except OSError as problem:
        raise GalleryError(f"{folder} cannot be written to: {problem.strerror}") from None


def _replace(path: Path, text: str) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".gallery-") as folder:
        made = Path(folder) / path.name
        made.write_text(text, encoding="utf-8")
        made.replace(path)
