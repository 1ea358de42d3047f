"""What the commands take: a target, and the options that say what a subject claims."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from ropespec.conformance.claims import Claim
from ropespec.conformance.cli.configured import CONFIG_OPTIONS, configured
from ropespec.conformance.cli.status import Unusable
from ropespec.conformance.frameworks import BUILTIN
from ropespec.conformance.profile import CLAIMS, STYLE
from ropespec.conformance.scaled import OPTIONS
from ropespec.conformance.styles import STYLES
from ropespec.conformance.subject.environment import PYTHON
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.subject.target import Target, current_folder, parse
from ropespec.spec.scaling import words

__all__ = [
    "claims_of",
    "deadline_option",
    "naming_backends",
    "profile_options",
    "python_option",
    "require_target",
    "timeout_option",
    "try_axes_option",
]

Command = TypeVar("Command", bound=Callable[..., Any])


def _even(_: click.Context, parameter: click.Parameter, value: Any) -> Any:  # noqa: ANN401  # the signature of click
    """Refuse a dimension that is no even integer of at least 2 (FREQ-1)."""
    for number in value if isinstance(value, tuple) else (value,):
        if number is not None and (number < 2 or number % 2):
            raise click.BadParameter(
                f"must be an even integer of at least 2; got {number}", param=parameter
            )
    return value


def _option(name: str, told: Claim) -> Callable[[Command], Command]:
    """Make the option of one claim."""
    if told.of is bool:
        return click.option(told.option, name, is_flag=True, help=told.help)
    number: Any = int if told.even else click.IntRange(min=1)
    of: Any = {int: number, tuple: str, list: str}.get(told.of, told.of)
    listed: Any = _listed(int) if told.of is tuple else _rows if told.of is list else None
    return click.option(
        told.option,
        name,
        type=click.Choice(told.choices) if told.choices else of,
        callback=_even if told.even else listed,
        multiple=isinstance(told.default, tuple),
        metavar=told.metavar or None,
        help=told.help + _default(told.default),
    )


def _default(usual: object) -> str:
    """Say the default; it is not passed on, for the `PROFILE` of a target may claim otherwise."""
    if isinstance(usual, tuple) and len(usual) == 1:
        (usual,) = usual
    if usual in (None, ()):
        return ""
    if isinstance(usual, tuple):
        return f"  [default: {len(usual)} sizes of models, {usual[0]} to {usual[-1]}]"
    return f"  [default: {usual:g}]" if isinstance(usual, float) else f"  [default: {usual}]"


def _listed(of: type[int] | type[float]) -> Callable[..., list[float] | None]:
    """Return what takes a list of numbers with commas between them apart."""

    def take(_: click.Context, parameter: click.Parameter, text: str | None) -> list[float] | None:
        try:
            return None if text is None else [of(one) for one in text.split(",")]
        except ValueError:
            must = f"must be {'integers' if of is int else 'numbers'} with commas between them"
            raise click.BadParameter(f"{must}; got {text!r}", param=parameter) from None

    return take


def _rows(
    _: click.Context, parameter: click.Parameter, text: str | None
) -> list[list[float]] | None:
    """Take rows of numbers apart, or read them in a file."""
    if text is None:
        return None
    try:
        if Path(text).suffix != ".json":
            return [[float(one) for one in row.split(",")] for row in text.split(";")]
        told = json.loads(Path(text).read_text(encoding="utf-8"))
        return [[float(one) for one in row] for row in told]
    except (OSError, ValueError, TypeError) as problem:
        must = "must be rows of numbers, 0.5,1;0.25,2 or a list of lists in a .json"
        raise click.BadParameter(f"{must}; got {text!r}: {problem}", param=parameter) from None


def _number_of_a_scheme(key: str, word: words.Word) -> Callable[[Command], Command]:
    """Make the option of one number of a scheme."""
    option, of = OPTIONS[key], word.of
    having = [name for name, scheme in words.SCHEMES.items() if hasattr(scheme, word.field)]
    meaning = f"{key} of {', '.join(having)}."
    if of is bool:
        return click.option(option, key, is_flag=True, help=meaning)
    return click.option(
        option,
        key,
        type=click.IntRange(min=1) if of is int else str if of is tuple else float,
        callback=_listed(float) if of is tuple else None,
        metavar="X,X,..." if of is tuple else None,
        help=meaning,
    )


_OPTIONS = (
    click.option("--interleaved", is_flag=True, help="It pairs components (2i, 2i+1)."),
    click.option("--half", is_flag=True, help="It pairs (i, i+d/2); with --interleaved: both."),
    *(_option(name, told) for name, told in CLAIMS.items()),
    click.option(
        "--scaling",
        "rope_type",
        type=click.Choice(list(words.SCHEMES)),
        help="How the frequencies are scaled; see `ropespec spec scaling`. Where they depend on a"
        " length, that is --length in every call, or the original one, and no position beyond.",
    ),
    *(_number_of_a_scheme(key, word) for key, word in words.WORDS.items()),
    *CONFIG_OPTIONS,
    click.option(
        "--style",
        type=click.Choice(list(STYLES)),
        help="How it is called, where its parameters do not tell; classes are made of what is"
        " claimed, and instances taken as they are.",
    ),
)


def _seconds(_: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """Refuse a time that no clock can reach or be compared with."""
    if value is not None and not value > 0:  # NaN is not above 0 either
        raise click.BadParameter(f"must be a number above 0; got {value}", param=parameter)
    return value


_STARTS = 20.0
"""Seconds in which an interpreter says its version."""


def _interpreter(_: click.Context, parameter: click.Parameter, path: str | None) -> None:
    """Have subjects live there, after it has said that it is of the version of this one."""
    if path is None:
        return
    ask = "import sys; print(*sys.version_info[:2], sep='.')"
    try:
        found = subprocess.run(  # noqa: S603  # whoever types the command names it
            [path, "-c", ask],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_STARTS,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        told = f"{path} cannot be run: {getattr(problem, 'strerror', 'it does not answer')}"
        raise click.BadParameter(told, param=parameter) from None
    own = ".".join(map(str, sys.version_info[:2]))
    if found.stdout.strip() != own:
        told = found.stdout.strip()[:20] or "something else"
        raise click.BadParameter(f"must be Python {own}; {path} is {told}", param=parameter)
    os.environ[PYTHON] = str(Path(path).absolute()) if os.sep in path else path


timeout_option = click.option(
    "--timeout",
    type=float,
    callback=_seconds,
    default=30.0,
    show_default=True,
    metavar="S",
    help="Seconds for one call of an implementation; twice that, and at least 10, for its import.",
)
"""The deadline of a command that calls implementations; see `opening.open_subject`."""

python_option = click.option(
    "--python",
    metavar="PATH",
    expose_value=False,
    callback=_interpreter,
    help="Run implementations in this interpreter, which has their framework.",
)
"""In which interpreter subjects live: one of the same version."""

deadline_option = click.option(
    "--deadline",
    type=float,
    callback=_seconds,
    default=math.inf,
    metavar="S",
    help="Seconds for the checks; what is not checked by then is said.  [default: none]",
)
"""The deadline of all checks; see `jobs.plan.Plan`."""


try_axes_option = click.option(
    "--try-axes",
    is_flag=True,
    help="Call it in the other orders of axes, and with the other form of positions, as well.",
)
"""Whether more is tried on a subject than is claimed of it."""


def profile_options(function: Command) -> Command:
    """Add the profile options to a command; they arrive as keywords for `claims_of`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def naming_backends(function: Command) -> Command:
    """Put the names of the built-in backends where the help of a command says BACKENDS."""
    *others, last = BUILTIN
    named = f"{', '.join(others)} or {last}"
    function.__doc__ = (function.__doc__ or "").replace("BACKENDS", named)
    return function


def claims_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Translate the options that were given into claims.

    Parameters
    ----------
    options : mapping
        The keywords of a command with `profile_options`.

    Returns
    -------
    dict
        Arguments of `Profile`; what was not given is absent, so that the target's own `PROFILE`
        or the default holds.

    Raises
    ------
    Unusable
        If a model configuration cannot be read, or numbers of no scheme are given.
    """
    layouts = [value for name, value in (("interleaved", True), ("half", False)) if options[name]]
    claims = {
        "layouts": layouts,
        "scaling": _scaling(options),
        **{name: _claimed(name, options[name]) for name in CLAIMS},
    }
    claims = {name: value for name, value in claims.items() if value not in (None, [])}
    styled = {} if options[STYLE] is None else {STYLE: options[STYLE]}
    return {**configured(options), **claims, **styled}


def _scaling(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what is said of a scheme."""
    told = {}
    for key, word in words.WORDS.items():
        value = (False if options[key] else None) if word.of is bool else options[key]
        if value is not None:
            told[key] = value
    if options["rope_type"] is not None:
        return {"rope_type": options["rope_type"], **told}
    if options["config"] is not None:
        told.pop("length", None)
    for key in told:
        raise Unusable(f"{OPTIONS[key]} is a number of a scheme: give --scaling as well")
    return None


def _claimed(name: str, given: object) -> object:
    """Return what an option claims; None or nothing where it was not given."""
    if CLAIMS[name].of is bool:
        return not CLAIMS[name].default if given else None
    return list(dict.fromkeys(given)) if isinstance(given, tuple) else given


def require_target(text: str) -> Target:
    """Take a target apart, and refuse what is none before anything is said to be loading.

    Raises
    ------
    Unusable
        If it has no form of a target, or names a file that is not there.
    """
    try:
        return parse(text, current_folder())
    except TargetUnusable as problem:
        raise Unusable(str(problem)) from None
