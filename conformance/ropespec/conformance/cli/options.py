"""What the commands take: a target, and the options that say what a subject claims."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from ropespec.conformance.cli.status import Unusable
from ropespec.conformance.judge.precision import PRECISIONS
from ropespec.conformance.profile import ARRAYS, AXES
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.subject.target import Target, parse
from ropespec.spec.arguments import FLOAT_DTYPES

__all__ = ["claims_of", "deadline_option", "profile_options", "require_target", "timeout_option"]

Command = TypeVar("Command", bound=Callable[..., Any])


def _even(_: click.Context, parameter: click.Parameter, value: Any) -> Any:  # noqa: ANN401  # the signature of click
    """Refuse a dimension that is no even integer of at least 2 (FREQ-1)."""
    for number in value if isinstance(value, tuple) else (value,):
        if number is not None and (number < 2 or number % 2):
            raise click.BadParameter(
                f"must be an even integer of at least 2; got {number}", param=parameter
            )
    return value


_OPTIONS = (
    click.option("--interleaved", is_flag=True, help="It pairs components (2i, 2i+1)."),
    click.option("--half", is_flag=True, help="It pairs components (i, i+d/2)."),
    click.option("--array", type=click.Choice(ARRAYS), help="Its arrays.  [default: numpy]"),
    click.option(
        "--axes",
        type=click.Choice(AXES),
        help="Order of batch, sequence, heads, head_dim in x.  [default: bshd]",
    ),
    click.option(
        "--dtype",
        "dtypes",
        type=click.Choice(FLOAT_DTYPES),
        multiple=True,
        help="dtype of x; may be repeated.  [default: float32]",
    ),
    click.option("--base", type=float, help="Base of the frequencies.  [default: 10000]"),
    click.option(
        "--rotary-dim", type=int, callback=_even, help="How many leading components turn."
    ),
    click.option(
        "--head-dim",
        "head_dims",
        type=int,
        callback=_even,
        multiple=True,
        help="A size of the last axis; may be repeated.",
    ),
    click.option(
        "--precision",
        type=click.Choice(tuple(PRECISIONS)),
        metavar="CLASS",
        help="Precision it claims; measured if absent. See `ropespec spec judging`.",
    ),
    click.option(
        "--max-position",
        type=click.IntRange(min=1),
        metavar="N",
        help="Largest absolute position.  [default: 131071]",
    ),
    click.option("--no-negative-positions", is_flag=True, help="It takes no positions below zero."),
    click.option(
        "--shared-positions",
        is_flag=True,
        help="Positions are one vector (sequence,), not (batch, sequence).",
    ),
    click.option("--device", help="Where its arrays live, such as cuda:0."),
)


def _seconds(_: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """Refuse a time that no clock can reach or be compared with."""
    if value is not None and not value > 0:  # NaN is not above 0 either
        raise click.BadParameter(f"must be a number above 0; got {value}", param=parameter)
    return value


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

deadline_option = click.option(
    "--deadline",
    type=float,
    callback=_seconds,
    default=math.inf,
    metavar="S",
    help="Seconds for the whole run; what is not checked by then is said.  [default: none]",
)
"""The deadline of a whole run; see `runner.Plan`."""


def profile_options(function: Command) -> Command:
    """Add the profile options to a command; they arrive as keywords for `claims_of`."""
    for option in reversed(_OPTIONS):
        function = option(function)
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
    """
    layouts = [value for name, value in (("interleaved", True), ("half", False)) if options[name]]
    claims = {
        "layouts": layouts,
        "array": options["array"],
        "axes": options["axes"],
        "dtypes": list(dict.fromkeys(options["dtypes"])),
        "base": options["base"],
        "rotary_dim": options["rotary_dim"],
        "head_dims": list(dict.fromkeys(options["head_dims"])),
        "precision": options["precision"],
        "max_position": options["max_position"],
        "negative_positions": False if options["no_negative_positions"] else None,
        "shared_positions": True if options["shared_positions"] else None,
        "device": options["device"],
    }
    return {name: value for name, value in claims.items() if value not in (None, [])}


def require_target(text: str) -> Target:
    """Take a target apart, and refuse what is none before anything is said to be loading.

    Raises
    ------
    Unusable
        If it has no form of a target, or names a file that is not there.
    """
    try:
        return parse(text, Path.cwd())
    except FileNotFoundError:
        raise Unusable("the current folder is gone: change to one that exists") from None
    except (OSError, RuntimeError) as problem:  # a loop of links, a folder one may not enter
        raise Unusable(f"{text}: {getattr(problem, 'strerror', None) or problem}") from None
    except TargetUnusable as problem:
        raise Unusable(str(problem)) from None
