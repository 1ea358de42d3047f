"""`ropespec identify`: find out which convention an implementation follows."""

from typing import TYPE_CHECKING, Any

import click

from ropespec.conformance.cli.options import (
    claims_of,
    profile_options,
    require_target,
    timeout_option,
)
from ropespec.conformance.cli.output import deliver, writable
from ropespec.conformance.cli.status import CONFORMS, Unusable
from ropespec.conformance.subject.errors import TargetUnusable

if TYPE_CHECKING:  # NumPy and the judge are loaded by the command itself
    from ropespec.conformance.identify import Diagnosis, Identification

__all__ = ["identify_command"]


@click.command("identify", short_help="Find out which convention an implementation follows.")
@click.argument("target")
@profile_options
@click.option("--json", "json_file", metavar="FILE", help="Write what was found there.")
@timeout_option
def identify_command(
    *,
    target: str,
    json_file: str | None,
    timeout: float,
    **options: Any,  # noqa: ANN401  # the profile options
) -> int:
    """Find out which convention an implementation follows, from its inputs and outputs alone.

    TARGET is as for `ropespec check`. Options say what is known already, such as --array; nothing
    has to be. The first line says it in one sentence; then come the command that checks the
    implementation under the conventions found, and every fact.

    \b
    ropespec identify my_rope.py:apply
    ropespec identify my_kernels.rope:apply --array torch --axes bhsd --json found.json

    Exit status: 0 if something was found out, 2 if the call or the target is unusable.
    """  # noqa: D301  # click reads the character \b as "keep these lines"
    destination = writable(json_file, require_target(target).path)
    try:
        found, mistakes = _found(target, claims_of(options), timeout)
    except TargetUnusable as problem:
        raise Unusable(str(problem)) from None
    from ropespec.conformance.report.identification import (  # noqa: PLC0415  # NumPy is loaded by now
        headline,
        print_identification,
    )

    mistakes = mistakes if found.told == found.facts else ()
    content = {
        "headline": headline(found),
        **found.as_dict(),
        "diagnosis": [one.as_dict() for one in mistakes],
    }
    deliver(
        _strict(content), destination, lambda screen: print_identification(screen, found, mistakes)
    )
    return CONFORMS


def _found(
    target: str, claims: dict[str, Any], timeout: float
) -> "tuple[Identification, tuple[Diagnosis, ...]]":
    from ropespec.conformance.identify import (  # noqa: PLC0415  # half a second that --help saves
        convention,
        diagnose,
        identify,
    )
    from ropespec.conformance.opening import open_subject  # noqa: PLC0415  # as above

    layouts = claims.get("layouts")
    try:
        session = open_subject(target, claims, timeout)
    except TargetUnusable:
        if layouts:
            raise
        # What pairs are turned is the question here; a guess is only what a keyword is set to.
        session = open_subject(target, claims | {"layouts": [True]}, timeout)
        guessed = True
    else:
        guessed = False
    with session:
        found = identify(session)
        claimed = convention(found, session.profile, claims) if guessed else session.profile
        return found, diagnose(found, claimed)


def _strict(value: Any) -> Any:  # noqa: ANN401  # JSON in, JSON out
    """Return the value with numbers that JSON has not as strings."""
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(value)
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    return [_strict(item) for item in value] if isinstance(value, list) else value
