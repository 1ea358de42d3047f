"""Environments of packages: how they are built, and what is in them."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ropespec.conformance.gallery.listed import Environment, normal

__all__ = ["Installed", "install", "installed", "is_installed"]

_NOTE = "gallery.json"
_LIST = (
    "import importlib.metadata as m, json\n"
    "print(json.dumps({one.metadata['Name']: one.version for one in m.distributions()}))"
)
_SECONDS = 1800
"""For one call of pip: some build what they install."""

Run = Callable[[Sequence[str], dict[str, str]], "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True, slots=True)
class Installed:
    """What is in an environment.

    Attributes
    ----------
    python : Path
        Its interpreter.
    versions : dict of str to str
        What is installed, by names as indices compare them.
    failed : dict of str to str
        What could not be installed, and the last words of pip.
    missing : str
        Why there is nothing at all; else empty.
    """

    python: Path
    versions: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    missing: str = ""


def install(environment: Environment, folder: Path, *, run: Run | None = None) -> dict[str, str]:
    """Build an environment in a folder; what is there of it already stays.

    Parameters
    ----------
    environment : Environment
        What is wanted.
    folder : Path
        The folder of all environments.
    run : callable or None
        Runs a command, for tests.

    Returns
    -------
    dict of str to str
        What could not be installed, and the last words of pip.
    """
    call = run or _run
    place = folder / environment.name
    python = _python(place)
    if not python.exists():
        done = call([sys.executable, "-m", "venv", str(place)], {})
        if done.returncode:
            return {"venv": _last(done)}
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    variables = dict(environment.variables)
    failed = {}
    if environment.requires and (done := call([*pip, *environment.requires], variables)).returncode:
        failed = {", ".join(environment.requires): _last(done)}
    for one in environment.alone if not failed else ():
        done = call([*pip, "--no-deps", one], variables)
        if done.returncode:
            failed[one] = _last(done)
    note = {"wanted": _digest(environment), "failed": failed}
    (place / _NOTE).write_text(json.dumps(note, indent=1), encoding="utf-8")
    return failed


def is_installed(environment: Environment, folder: Path) -> bool:
    """Whether all that the list says was installed there."""
    note = _note(folder / environment.name)
    return note.get("wanted") == _digest(environment) and not note.get("failed")


def installed(environment: Environment, folder: Path) -> Installed:
    """Return what is in an environment."""
    place = folder / environment.name
    python = _python(place)
    if not python.exists():
        return Installed(python, missing=f"there is no environment {environment.name}: --install")
    try:
        done = _run([str(python), "-c", _LIST], {})
        told = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return Installed(python, missing=f"the interpreter of {environment.name} does not answer")
    versions = {normal(name): version.partition("+")[0] for name, version in told.items() if name}
    failed = _note(place).get("failed")
    return Installed(python, versions, failed if isinstance(failed, dict) else {})


def _note(place: Path) -> dict[str, object]:
    try:
        told = json.loads((place / _NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def _digest(environment: Environment) -> str:
    words = json.dumps([environment.requires, environment.alone, dict(environment.variables)])
    return hashlib.sha256(words.encode()).hexdigest()


def _python(place: Path) -> Path:
    folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return (place / folder / name).absolute()


def _run(words: Sequence[str], variables: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603  # an interpreter of ours and what the list names
        words,
        check=False,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        env={**os.environ, **variables},
    )


def _last(done: "subprocess.CompletedProcess[str]") -> str:
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["pip said nothing"])[-1]
