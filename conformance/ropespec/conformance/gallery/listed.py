"""Lists of implementations: what is installed, what is checked, what is known of it."""

import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "Deviation",
    "Environment",
    "Gallery",
    "GalleryError",
    "Implementation",
    "normal",
    "read",
]

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_PIN = re.compile(r"([\w.-]+)(?:\[[\w,-]+\])?==([\w.]+)")
_FILE = re.compile(r"([\w.-]+) @ \S+-(\d[\w.]*)\.tar\.gz")
_KINDS = ("numbers", "contract")
_CHECK = re.compile(r"[A-Z]+-[0-9]+(\.[A-Za-z0-9_-]+)?")


class GalleryError(Exception):
    """A list that cannot be used, or its rows; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment of packages.

    Attributes
    ----------
    name : str
        That of its list, and of the folder it is installed in.
    requires : tuple of str
        What pip installs together; what an implementation is of, pinned.
    alone : tuple of str
        What is then installed one by one, without what it asks for.
    variables : mapping of str to str
        What is set while it is installed.
    """

    name: str
    requires: tuple[str, ...]
    alone: tuple[str, ...]
    variables: Mapping[str, str]

    @property
    def versions(self) -> dict[str, str]:
        """The pinned packages with their versions."""
        found = (_PIN.fullmatch(one) or _FILE.fullmatch(one) for one in self.every)
        return {normal(one[1]): one[2] for one in found if one}

    @property
    def every(self) -> tuple[str, ...]:
        """All requirements."""
        return (*self.requires, *self.alone)


@dataclass(frozen=True, slots=True)
class Deviation:
    """What is known to fail, and why.

    Attributes
    ----------
    checks : tuple of str
        Checks (`ROT-18.empty`), clauses (`ROT-18`), or a kind: `numbers`, `contract`.
    reason : str
        In one sentence.
    link : str
        Where more is said: an address, or a file beside the list.
    """

    checks: tuple[str, ...]
    reason: str
    link: str

    def covers(self, item: Mapping[str, Any]) -> bool:
        """Whether a check of a verdict is one of these."""
        return not {item["id"], item["clause"], item["kind"]}.isdisjoint(self.checks)


@dataclass(frozen=True, slots=True)
class Implementation:
    """One implementation.

    Attributes
    ----------
    name : str
        Its own.
    package, version : str
        What it is of.
    environment : Environment
        Where that is installed.
    bound : str
        What of it is checked, in words.
    words : tuple of str
        What is typed after `ropespec check`, in the folder of the lists.
    refused : tuple of str
        Options of another model, under which it must be refused; empty where none are given.
    deviations : tuple of Deviation
        What is known to fail.
    not_run : str
        Why it is not run at all; empty if it is.
    """

    name: str
    package: str
    version: str
    environment: Environment
    bound: str
    words: tuple[str, ...]
    refused: tuple[str, ...]
    deviations: tuple[Deviation, ...]
    not_run: str


@dataclass(frozen=True, slots=True)
class Gallery:
    """A folder of lists.

    Attributes
    ----------
    folder : Path
        Where the lists are, and all files that they name.
    environments : tuple of Environment
        One for each list, in the order of their names.
    implementations : tuple of Implementation
        In the order of the lists.
    """

    folder: Path
    environments: tuple[Environment, ...]
    implementations: tuple[Implementation, ...]


def normal(package: str) -> str:
    """Return the name of a package as indices compare it."""
    return re.sub(r"[-_.]+", "-", package).lower()


def read(folder: Path) -> Gallery:
    """Read the lists of a folder: `NAME.toml` is what is installed in the environment NAME.

    Raises
    ------
    GalleryError
        If one cannot be read, or says what has no meaning.
    """
    environments, implementations = [], dict[str, Implementation]()
    for file in sorted(folder.glob("*.toml")):
        if not _NAME.fullmatch(file.stem):
            raise GalleryError(f"{file} must have a name such as small.toml")
        table = _Table(str(file), _told(file))
        entries = table.tables("implementations")
        environment = _environment(file.stem, table)
        environments.append(environment)
        for name, entry in entries.items():
            if name in implementations:
                raise GalleryError(f"{file}: {name} stands in another list too")
            implementations[name] = _implementation(name, entry, environment)
    if not implementations:
        raise GalleryError(f"{folder} has no list of implementations: NAME.toml")
    return Gallery(folder, tuple(environments), tuple(implementations.values()))


def _told(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise GalleryError(f"{file} cannot be read: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise GalleryError(f"{file} is no TOML: {problem}") from None


def _environment(name: str, table: "_Table") -> Environment:
    variables = table.tables("variables", of=str)
    found = Environment(name, table.texts("requires"), table.texts("alone"), variables)
    if not found.every:
        raise table.error("requires", "must list packages; got none")
    table.end()
    return found


def _implementation(name: str, table: "_Table", environment: Environment) -> Implementation:
    package = table.text("package")
    version = environment.versions.get(normal(package))
    if version is None:
        raise table.error("package", f"must be pinned (NAME==VERSION) above; got {package!r}")
    not_run = table.text("not_run", "")
    words = table.words("check", "" if not_run else None)
    refused = table.words("refused_under", "")
    deviations = tuple(_deviation(one) for one in table.list_of_tables("deviations"))
    if not_run and (words or refused or deviations):
        raise table.error("not_run", "stands alone: leave out check and what is known of it")
    bound = table.text("bound")
    table.end()
    return Implementation(
        name, package, version, environment, bound, words, refused, deviations, not_run
    )


def _deviation(table: "_Table") -> Deviation:
    found = Deviation(table.texts("checks"), table.text("reason"), table.text("link"))
    for one in found.checks:
        if one not in _KINDS and not _CHECK.fullmatch(one):
            raise table.error("checks", f"must be checks, clauses or {_KINDS}; got {one!r}")
    if not found.checks:
        raise table.error("checks", "must name a check; got none")
    table.end()
    return found


class _Table:
    """Takes a table of the file apart, and knows what nobody asked for."""

    def __init__(self, place: str, told: Mapping[str, Any]) -> None:
        self._place = place
        self._told = dict(told)

    def error(self, key: str, words: str) -> GalleryError:
        return GalleryError(f"{self._place}: {key} {words}")

    def end(self) -> None:
        """Refuse what was not asked for."""
        if self._told:
            raise GalleryError(f"{self._place}: {next(iter(self._told))!r} is no known key")

    def text(self, key: str, usual: str | None = None) -> str:
        found = self._told.pop(key, usual)
        if found is None:
            raise GalleryError(f"{self._place}: {key} is missing")
        if not isinstance(found, str) or (not found and found != usual):
            raise self.error(key, f"must be a text; got {found!r}")
        return found

    def words(self, key: str, usual: str | None = None) -> tuple[str, ...]:
        text = self.text(key, usual)
        try:
            return tuple(shlex.split(text))
        except ValueError as problem:
            told = f"cannot be split into words: {problem}; got {text!r}"
            raise self.error(key, told) from None

    def texts(self, key: str) -> tuple[str, ...]:
        found = self._told.pop(key, [])
        if not isinstance(found, Sequence) or not all(isinstance(one, str) for one in found):
            raise self.error(key, f"must be a list of texts; got {found!r}")
        if isinstance(found, str):
            raise self.error(key, f"must be a list of texts; got {found!r}")
        return tuple(found)

    def tables(self, key: str, of: type = dict) -> dict[str, Any]:
        found = self._told.pop(key, {})
        if not isinstance(found, dict) or not all(isinstance(one, of) for one in found.values()):
            raise self.error(key, f"must be a table; got {found!r}")
        if of is not dict:
            return found
        for name in found:
            if not _NAME.fullmatch(name):
                raise self.error(key, f"must have names such as my_rope; got {name!r}")
        return {name: _Table(f"{self._place}: {key}.{name}", one) for name, one in found.items()}

    def list_of_tables(self, key: str) -> "list[_Table]":
        found = self._told.pop(key, [])
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise self.error(key, f"must be a list of tables; got {found!r}")
        return [_Table(f"{self._place}: {key}", one) for one in found]
