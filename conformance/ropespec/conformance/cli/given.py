"""What `ropespec check` is told of a subject: its options, over a file of claims and waivers."""

import dataclasses
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from ropespec.conformance.cli.options import claims_of
from ropespec.conformance.cli.status import Unusable
from ropespec.conformance.profile import ALIASES, STYLE, WAIVERS, Profile
from ropespec.conformance.subject.target import did_you_mean

__all__ = ["given", "given_options"]

Command = TypeVar("Command", bound=Callable[..., Any])


def _waivers(_: click.Context, parameter: click.Parameter, words: Sequence[str]) -> dict[str, str]:
    """Take `ROT-18="why"` apart; whether there is such a clause is asked when it is used."""
    found = {}
    for word in words:
        name, _sign, reason = word.partition("=")
        if not name.strip() or not reason.strip():
            wanted = 'must be a clause or a check, and a reason: ROT-18="never called so"'
            raise click.BadParameter(f"{wanted}; got {word!r}", param=parameter)
        found[name.strip()] = reason.strip()
    return found


_OPTIONS = (
    click.option(
        "--profile",
        "profile_file",
        metavar="FILE",
        help="Claims by the names of a PROFILE, style, and a table [waivers]; TOML; options win.",
    ),
    click.option(
        "--waive",
        WAIVERS,
        multiple=True,
        callback=_waivers,
        metavar='ROT-18="WHY"',
        help="Known: this clause or check may fail, for this reason; may be repeated.",
    ),
)


def given_options(function: Command) -> Command:
    """Add the options to a command; they arrive as keywords for `given`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return claims and waivers as `open_subject` takes them.

    Parameters
    ----------
    options : mapping
        The keywords of a command with `profile_options` and `given_options`.

    Raises
    ------
    Unusable
        If the file cannot be read, or says what is no claim.
    """
    file = options["profile_file"]
    claims = _read(file) if file is not None else {}
    waivers = {**claims.pop(WAIVERS, {}), **options[WAIVERS]}
    claims |= claims_of(options)
    return {**claims, WAIVERS: waivers} if waivers else claims


def _read(name: str) -> dict[str, Any]:
    """Read a file of claims; what their values may be is asked when all claims are together."""
    try:
        read = tomllib.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as problem:
        raise Unusable(f"--profile: cannot read {name}: {problem.strerror or problem}") from None
    except (tomllib.TOMLDecodeError, ValueError) as problem:
        raise Unusable(f"--profile: {name} is no TOML: {problem}") from None
    found = {key.replace("-", "_"): value for key, value in read.items()}
    known = {field.name for field in dataclasses.fields(Profile)}
    for key in found:
        if key not in {*known, *ALIASES, STYLE, WAIVERS}:
            near = did_you_mean(key, sorted(known)) or f"; known are {', '.join(sorted(known))}"
            raise Unusable(f"--profile: {name} makes an unknown claim, {key!r}{near}")
    if not isinstance(found.get(WAIVERS, {}), dict):
        raise Unusable(f"--profile: {WAIVERS} of {name} must be a table of reasons, [{WAIVERS}]")
    return {ALIASES.get(key, key): value for key, value in found.items()}
