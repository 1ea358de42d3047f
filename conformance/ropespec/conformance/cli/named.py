"""What `ropespec spec` says of a check, and of a mistake that a diagnosis names."""

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ropespec.conformance import checks
from ropespec.conformance.mistakes.catalogue import CATALOGUE, ROOMS, UNLISTED, Entry
from ropespec.conformance.registry import Check, all_checks
from ropespec.conformance.zoo import Wrong, zoo
from ropespec.spec.clauses import clauses

__all__ = ["check_text", "known_names", "mistake_text"]


def known_names() -> list[str]:
    """Return the ids of all checks, and the ids and names of all mistakes."""
    ids = [item.id for item in all_checks()]
    return [*ids, *CATALOGUE, *(one.name for one in CATALOGUE.values()), *UNLISTED]


def check_text(name: str) -> str | None:
    """Return the Markdown about a check, or None if none is called like this."""
    for item in all_checks():
        if item.id.lower() == name.lower():
            return _check(item)
    return None


def _check(item: Check) -> str:
    clause = clauses()[item.clause]
    needs = ", ".join(f"`{name}`" for name in item.needs) or "nothing in particular"
    law = " ".join((inspect.getdoc(item.judge) or "").split())
    killed = [entry for entry in _wrong() if item.id in entry.killed_by]
    return "\n".join(
        [
            f"## {item.id} {clause.title}",
            "",
            f"It looks for this: {item.sentence}",
            "",
            f"The law: {law}",
            "",
            f"- Clause: **{clause.id}** {clause.title}",
            f"- Needs: {needs}",
            f"- Documents: {', '.join(item.names) or 'none'}",
            f"- Lives at: `{_registration(item.id)}`",
            f"- Judged at: `{_place(item.judge)}`",
            *_implementations("Wrong implementations that fail it", killed),
        ]
    )


def _registration(id_: str) -> str:
    """Return file and line where a check is registered: the one literal that is its id."""
    for file in sorted(Path(checks.__path__[0]).rglob("*.py")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if f'"{id_}"' in line:
                return f"{_below(str(file))}:{number}"
    raise LookupError(f"no file of {checks.__name__} registers {id_} by its id")


def mistake_text(name: str) -> str | None:
    """Return the Markdown about a mistake, or None if none has this id or name.

    An id is that of the catalogue as it is printed, such as `L1`; F-001 is a formula, F1 a mistake.
    """
    entry = CATALOGUE.get(name.upper()) if "-" not in name else None
    known = (*CATALOGUE.values(), *UNLISTED.values())
    named = (one for one in known if one.name.lower() == name.lower())
    entry = entry or next(named, None)
    return None if entry is None else _mistake(entry)


def _mistake(entry: Entry) -> str:
    key = entry.id or entry.name
    shown = [one for one in _wrong() if one.catalogue == key]
    return "\n".join(
        [
            f"## {' '.join(filter(None, (entry.id, entry.name)))}",
            "",
            entry.sentence,
            "",
            f"- Lives at: `{_line_of(entry)}`",
            *_implementations("Implementations with this mistake", shown),
        ]
    )


def _wrong() -> list[Wrong]:
    return [entry for entry in zoo() if isinstance(entry, Wrong)]


def _implementations(title: str, entries: Iterable[Wrong]) -> list[str]:
    lines = []
    for entry in entries:
        place = f" (`{_place(entry.function)}`)" if callable(entry.function) else ""
        lines.append(f"- `{entry.target}`{place}: {entry.sentence}")
    return ["", f"### {title}", "", *lines] if lines else []


def _place(function: Callable[..., Any]) -> str:
    """Return file and line of a function, from the current folder if it lies below."""
    inner = inspect.unwrap(function)
    try:
        file, line = inspect.getsourcefile(inner), inspect.getsourcelines(inner)[1]
    except (OSError, TypeError):
        return str(inner.__module__)
    return f"{_below(file or str(inner.__module__))}:{line}"


def _below(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _line_of(entry: Entry) -> str:
    """Return file and line of an entry: it stands beside the choices that are it."""
    heading = " ".join(filter(None, (entry.id, entry.name)))
    file = next(str(room.__file__) for room in ROOMS if entry in room.MISTAKES)
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    return f"{_below(file)}:{lines.index(heading) + 1}"
