"""`ropespec identify`: find out which convention an implementation follows."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from ropespec.conformance.cli.options import (
    claims_of,
    profile_options,
    python_option,
    require_target,
    timeout_option,
    try_axes_option,
)
from ropespec.conformance.cli.output import deliver, writable
from ropespec.conformance.cli.status import CONFORMS, Unusable
from ropespec.conformance.subject.errors import TargetUnusable

if TYPE_CHECKING:  # NumPy and the judge are loaded by the command itself
    from ropespec.conformance.identify import Identification
    from ropespec.conformance.results import Diagnosis
    from ropespec.conformance.subject.session import Session

__all__ = ["identify_command"]


@click.command("identify", short_help="Find out which convention an implementation follows.")
@click.argument("target")
@profile_options
@try_axes_option
@click.option("--json", "json_file", metavar="FILE", help="Write what was found there.")
@python_option
@timeout_option
def identify_command(
    *,
    target: str,
    try_axes: bool,
    json_file: str | None,
    timeout: float,
    **options: Any,  # noqa: ANN401  # the profile options
) -> int:
    """Find out which convention an implementation follows, from its inputs and outputs alone.

    TARGET is as for `ropespec check`. Options say what is known already. How to call it has to be:
    --array, and --axes where x is not (batch, sequence, heads, head_dim). The first line says the
    convention in one sentence; then come the command that checks the implementation under it, and
    every fact.

    \b
    ropespec identify my_rope.py:apply
    ropespec identify my_kernels.rope:apply --array torch --axes bhsd --json found.json

    Exit status: 0 if something was found out, 2 if not, as the call or the target is unusable.
    """  # noqa: D301  # click reads the character \b as "keep these lines"
    destination = writable(json_file, require_target(target).path)
    try:
        found, mistakes, session = _found(target, claims_of(options), timeout, try_axes=try_axes)
    except TargetUnusable as problem:
        raise Unusable(str(problem), problem.remedy) from None
    from ropespec.conformance.report.identification import (  # NumPy is loaded by now
        headline,
        print_identification,
        print_kept,
    )

    if found.is_nothing:
        raise Unusable(f"{target}: {headline(found)}")
    content = {
        "headline": headline(found),
        **found.as_dict(),
        "diagnosis": [one.as_dict() for one in mistakes],
        "lacks": list(session.lacks),
        "stragglers": dict(session.stragglers),
    }

    def show(screen: Console) -> None:
        print_identification(screen, found, mistakes)
        print_kept(screen, session.lacks, session.stragglers)

    deliver(_strict(content), destination, show)
    return CONFORMS


def _found(
    target: str, claims: dict[str, Any], timeout: float, *, try_axes: bool
) -> "tuple[Identification, tuple[Diagnosis, ...], Session]":
    """Return what was found, the mistakes, and the session, which is closed."""
    from ropespec.conformance.diagnosis import diagnose
    from ropespec.conformance.first_call import require_answer
    from ropespec.conformance.identify import (  # half a second that --help saves
        Name,
        Pairing,
        convention,
        identify,
    )
    from ropespec.conformance.opening import open_guessing

    session, guessed = open_guessing(target, claims, timeout, try_axes=try_axes)
    with session:
        found = identify(session, try_axes=try_axes)
        if try_axes and found.is_nothing:
            require_answer(session, pairing_known=not guessed)  # in no order of axes it answers
        claimed = convention(found, session.profile, claims) if guessed else session.profile
        told = diagnose(session.under(claimed, session.timeout))
        if guessed and found.value(Name.PAIRING) in (None, Pairing.NONE):
            # No pairs were seen to turn: what it is may be told under the other layout.
            other = replace(claimed, layouts=(not claimed.layouts[0],))
            told = min(
                (told, diagnose(session.under(other, session.timeout))),
                key=lambda names: [one.name == "unknown" or " and " in one.name for one in names],
            )
        return found, told, session


def _strict(value: Any) -> Any:  # noqa: ANN401  # JSON in, JSON out
    """Return the value with numbers that JSON has not as strings."""
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(value)
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    return [_strict(item) for item in value] if isinstance(value, list) else value
