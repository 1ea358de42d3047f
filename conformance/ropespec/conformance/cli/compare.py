"""`ropespec compare`: find out whether one implementation can stand for another."""

import copy
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ropespec.conformance.builtin import BUILTIN
from ropespec.conformance.cli.options import (
    claims_of,
    profile_options,
    python_option,
    require_target,
    timeout_option,
    try_axes_option,
)
from ropespec.conformance.cli.output import WIDE, console, deliver, writable
from ropespec.conformance.cli.status import CONFORMS, FAILS, Unusable
from ropespec.conformance.report.progress import Progress
from ropespec.conformance.subject.errors import TargetUnusable

if TYPE_CHECKING:  # NumPy and the judge are loaded by the command itself
    from ropespec.conformance.compare import Comparison

__all__ = ["compare_command"]

SIDES = ("a", "b")

Command = TypeVar("Command", bound=Callable[..., Any])


def _side_options(function: Command) -> Command:
    """Add every profile option once more for each side, as --a-half and --b-half."""
    shared = click.command("shared")(profile_options(lambda **_: None)).params
    for side in reversed(SIDES):
        for option in reversed(shared):
            own = copy.copy(option)
            own.name = f"{side}_{option.name}"
            own.opts = [f"--{side}-{name.removeprefix('--')}" for name in option.opts]
            own.secondary_opts = []
            own.hidden = True  # type: ignore[attr-defined]  # they are options, not arguments
            _memo(function).append(own)
    return function


def _memo(function: Any) -> list[click.Parameter]:  # noqa: ANN401  # click keeps options on it
    if not hasattr(function, "__click_params__"):
        function.__click_params__ = []
    found: list[click.Parameter] = function.__click_params__
    return found


@click.command("compare", short_help="Find out whether two implementations are interchangeable.")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@profile_options
@_side_options
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Draw other cases."
)
@try_axes_option
@click.option("--json", "json_file", metavar="FILE", help="Write everything that was found there.")
@python_option
@timeout_option
def compare_command(  # the options are in the help of each
    *,
    a: str,
    b: str,
    seed: int,
    try_axes: bool,
    json_file: str | None,
    timeout: float,
    **options: Any,  # noqa: ANN401  # the profile options, for both sides and for each
) -> int:
    """Find out whether implementation B can stand for A, on the same inputs.

    A and B are targets as for `ropespec check`. The options say what is claimed of both; each of
    them can be given for one side alone with --a- or --b- in front, as in --a-half, --b-interleaved
    or --b-axes bhsd. Built-in backends need none, a PROFILE mapping is honoured, and where nobody
    says how a side pairs components, that is found out. A side that takes interleaved, base or
    rotary_dim as keywords follows the other.

    Where they differ, the report says from which position on, or after which permutation of
    channels, shift of positions or change of base they would agree.

    \b
    ropespec compare numpy torch
    ropespec compare old_rope.py:apply new_rope.py:apply --b-array torch --b-axes bhsd
    ropespec compare my_rope.py:apply numpy --a-half --dtype bfloat16 --json found.json

    Exit status: 0 interchangeable, 1 not, or only after a change, 2 the call or a target is
    unusable.
    """  # noqa: D301  # click reads the character \b as "keep these lines"
    targets = (a, b)
    sources = [require_target(target).path for target in targets]
    claims = tuple(
        _claims(side, target, options) for side, target in zip(SIDES, targets, strict=True)
    )
    destination = writable(json_file, *sources)
    opened = {"timeout": timeout, "try_axes": try_axes}
    found = _compared(targets, claims, opened, seed)
    # NumPy is loaded by now.
    from ropespec.conformance.report.comparison import (
        comparison_document,
        print_comparison,
    )

    content = comparison_document(found)
    deliver(content, destination, lambda screen: print_comparison(screen, found), WIDE)
    return CONFORMS if found.interchangeable else FAILS


def _claims(side: str, target: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is claimed of one side: what is said of it alone wins."""
    own = claims_of(
        {
            name.removeprefix(f"{side}_"): value
            for name, value in options.items()
            if name.startswith(f"{side}_")
        }
    )
    shared = claims_of({name: options[name] for name in options if name[:2] not in ("a_", "b_")})
    if target in BUILTIN:
        # What they are is known; an option for both is meant for the other side.
        shared = {k: v for k, v in shared.items() if k not in ("array", "axes", "device")}
        shared.pop("shared_positions", None)
    return shared | own


def _compared(
    targets: tuple[str, ...],
    claims: tuple[dict[str, Any], ...],
    opened: Mapping[str, Any],
    seed: int,
) -> "Comparison":
    with Progress(console(sys.stderr, WIDE), " and ".join(targets)):
        # Loaded after the first line is on the screen: Hypothesis alone takes half a second.
        from ropespec.conformance.compare import compare, open_side

        try:
            with (
                open_side("A", targets[0], claims[0], **opened) as first,
                open_side("B", targets[1], claims[1], **opened) as second,
            ):
                return compare(first, second, seed)
        except TargetUnusable as problem:
            raise Unusable(str(problem), problem.remedy) from None
