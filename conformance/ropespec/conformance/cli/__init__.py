"""The command `ropespec`.

No framework is imported here: it is loaded by the worker of a subject alone.
"""

import importlib
import sys
from collections.abc import Sequence
from typing import Any

import click

from ropespec.conformance.cli.interruption import repeated
from ropespec.conformance.cli.output import forgive_streams, silence
from ropespec.conformance.cli.status import CONFORMS, INTERRUPTED, Unusable
from ropespec.conformance.report.document import version
from ropespec.conformance.report.screen import shown
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.subject.target import current_folder

__all__ = ["command", "main"]


class _Interrupted(click.ClickException):
    """Ctrl-C; the worker of the subject has been ended by then."""

    exit_code = INTERRUPTED


_COMMANDS = ("certify", "check", "compare", "gallery", "identify", "spec", "vectors", "zoo")
"""Each is in the module of its name."""


class _Group(click.Group):
    """A group that imports the one command that is asked for, and all for help.

    It treats Ctrl-C like any other reason to stop: one line, no blank ones.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of `--help`."""
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None if there is none of that name."""
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"{__name__}.{cmd_name}")
        found: click.Command = getattr(module, f"{cmd_name}_command")
        return found

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401  # the signature of click
        """Run the command."""
        try:
            current_folder()  # what is loaded later needs one
            return super().invoke(ctx)
        except TargetUnusable as problem:
            raise Unusable(str(problem)) from None
        except BrokenPipeError:  # before click makes a failure of it
            silence()
            return CONFORMS
        except BaseException as error:
            # Hypothesis, interrupted between two cases, may raise something else on top of it.
            if _is_interruption(error):
                raise _Interrupted("interrupted") from None
            raise


def _is_interruption(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


@click.group(cls=_Group, invoke_without_command=True, context_settings={"max_content_width": 100})
@click.version_option(version(), prog_name="ropespec", message="%(prog)s %(version)s")
@click.pass_context
def command(context: click.Context) -> None:
    """Find out what RoPE is, exactly, and whether yours is right.

    \b
    ropespec check my_rope.py:apply --half     is my implementation right?
    ropespec check                             are the built-in backends?
    ropespec identify my_rope.py:apply         which convention does it follow?
    ropespec compare my_rope.py:apply numpy    do the two agree?
    ropespec certify my_rope.py:apply --half   is every position right?
    ropespec spec                              the chapters and clauses
    ropespec spec ROT-6                        one clause, with formula and sources
    ropespec vectors -o DIR                    the same as data, for other languages
    ropespec gallery                           which released packages conform?
    """  # noqa: D301  # click reads the character \b as "keep these lines"
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str or None
        The words after `ropespec`; None for those of the process.

    Returns
    -------
    int
        The exit status, see `ropespec.conformance.cli.status`.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    forgive_streams()
    try:
        with repeated():
            status = command.main(words, prog_name="ropespec", standalone_mode=False)
    except click.ClickException as problem:
        if sys.stderr is not None:
            line = " ".join(shown(problem.format_message()).split())
            click.echo(f"ropespec: {line}", err=True)
            if remedy := getattr(problem, "remedy", ""):
                click.echo(f"\n{shown(remedy)}", err=True)
        return problem.exit_code
    try:
        # What is still buffered fails here, where it is understood, not while Python exits.
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        silence()
    return status if isinstance(status, int) else CONFORMS
