"""The syntax of TARGET, checked before anything is imported."""

import difflib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from ropespec.conformance.frameworks import ARRAYS, BUILTIN
from ropespec.conformance.subject.errors import TargetUnusable

__all__ = ["FOREIGN", "Target", "current_folder", "did_you_mean", "parse"]

FOREIGN = ("command:", "c-abi:")
"""What the targets begin with that are not Python: see `ropespec.conformance.foreign`."""

FILES = (".py", ".onnx")
"""How the names of files end that can be targets."""

_FORMS = f"a target is {', '.join(BUILTIN)}, package.module:attribute or path/to/file.py:attribute"


@dataclass(frozen=True, slots=True)
class Target:
    """A target taken apart.

    Attributes
    ----------
    text : str
        As given.
    module : str
        The dotted name of the module to import; empty for a file.
    path : str
        The absolute path of the file; empty for a module. Of a program it is where its name points
        to in the current folder, whether it is there or found elsewhere.
    attribute : str
        The dotted attribute; empty for the module itself.
    """

    text: str
    module: str
    path: str
    attribute: str

    @property
    def is_foreign(self) -> bool:
        """Whether it is a program or a library."""
        return self.text.startswith(FOREIGN)

    @property
    def is_builtin(self) -> bool:
        """Whether it is a backend of this project."""
        return self.text in BUILTIN

    @property
    def place(self) -> str:
        """The module or file as the user wrote it, without the attribute."""
        return self.text.removesuffix(f":{self.attribute}") if self.attribute else self.text


def parse(text: str, folder: Path) -> Target:
    """Take a target apart.

    Parameters
    ----------
    text : str
        One of `BUILTIN`, `package.module:attribute` or `path/to/file.py:attribute`. The attribute
        may be dotted, or missing for the module itself. Or what begins with one of `FOREIGN`.
    folder : Path
        What relative paths start from.

    Raises
    ------
    TargetUnusable
        If it has another form, or names a file that is not there or cannot be opened.
    """
    if text in ARRAYS and text not in BUILTIN:
        raise TargetUnusable(f"there is no backend in {text} here; {_FORMS}")
    if text in BUILTIN:
        return Target(text, f"ropespec.backends.{text}", "", "")
    if text.startswith(FOREIGN):
        return _foreign(text, folder)
    place, colon, attribute = text.rpartition(":")
    if not colon or text.endswith(FILES):
        place, colon, attribute = text, "", ""
    if colon and not _is_dotted(attribute):
        what = (
            f"{attribute!r} after the colon is not a Python name" if attribute else "no attribute"
        )
        raise TargetUnusable(f"{text!r}: {what}; {_FORMS}")
    if place.endswith(FILES) or "/" in place:
        return Target(text, "", str(_existing_file(text, place, folder)), attribute)
    if not _is_dotted(place):
        raise TargetUnusable(f"{text!r} is neither a module nor a Python file; {_FORMS}")
    return Target(text, place, "", attribute)


def _foreign(text: str, folder: Path) -> Target:
    kind, _, words = text.partition(":")
    if not words.strip():
        raise TargetUnusable(f"{text!r} names nothing: {kind}: is followed by what is to be called")
    file, colon, _ = words.partition(":")
    if kind == "c-abi" and not colon:
        raise TargetUnusable(f"{text!r} needs a signature: c-abi:LIBRARY:rope(float* y, ...)")
    named = file if kind == "c-abi" else words.split()[0]
    return Target(text, "", str((folder / named).resolve()), "")


def current_folder() -> Path:
    """Return the current folder.

    Raises
    ------
    TargetUnusable
        If it is gone.
    """
    try:
        return Path(os.getcwd())  # noqa: PTH109  # it says what fails
    except OSError as error:
        raise TargetUnusable(f"the current folder cannot be used: {error.strerror}") from error


def did_you_mean(name: str, known: list[str]) -> str:
    """Return `; did you mean ...?` with the closest of the known names, or nothing."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _is_dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _existing_file(text: str, place: str, folder: Path) -> Path:
    try:
        given = folder / Path(place).expanduser()
        path = given.resolve()
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = None
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a closed folder, NUL
        reason = error.strerror if isinstance(error, OSError) else error
        raise TargetUnusable(f"{place} cannot be opened: {reason}") from error
    if mode is not None and stat.S_ISDIR(mode):
        raise TargetUnusable(f"{text!r} names a folder; {_FORMS}")
    if given.suffix not in FILES:
        other = "; a program is named as command:PROGRAM, a library as c-abi:LIBRARY:SIGNATURE"
        raise TargetUnusable(f"{place} is not a Python file: its name does not end in .py{other}")
    if mode is None:
        raise TargetUnusable(f"no such file: {place}{_hint(given)}")
    if not stat.S_ISREG(mode):
        raise TargetUnusable(f"{place} is not a regular file")
    return path


def _hint(missing: Path) -> str:
    if missing.is_symlink():
        return f" is a link to {missing.readlink()}"
    try:
        return did_you_mean(missing.name, [item.name for item in missing.parent.glob("*.py")])
    except OSError:
        return ""
