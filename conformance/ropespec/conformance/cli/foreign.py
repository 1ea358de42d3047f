"""Options that name a subject which is not Python."""

import functools
from collections.abc import Callable

import click

from ropespec.conformance.cli.status import CONFORMS, Unusable

__all__ = ["foreign_options"]

_OPTIONS = (
    click.option(
        "--command",
        "program",
        metavar="PROGRAM",
        help="In place of TARGET: a program that answers over its standard input and output.",
    ),
    click.option(
        "--smoke", is_flag=True, help="With --command: try the protocol alone, and say what it did."
    ),
    click.option(
        "--c-abi",
        "signature",
        metavar="SIGNATURE",
        help="TARGET is a shared library; this is a function in it, declared as in C.",
    ),
)


def foreign_options(function: Callable[..., int]) -> Callable[..., int]:
    """Let a command take a program or a library as its target."""

    @functools.wraps(function)
    def told(
        *,
        target: str | None,
        program: str | None,
        smoke: bool,
        signature: str | None,
        timeout: float,
        **options: object,
    ) -> int:
        named = _named(target, program, signature)
        if smoke:
            return _smoke(program, timeout)
        return function(target=named, timeout=timeout, **options)

    return functools.reduce(lambda inner, option: option(inner), reversed(_OPTIONS), told)


def _named(target: str | None, program: str | None, signature: str | None) -> str | None:
    """Return the target that is meant, whichever way it was named."""
    if program is not None and (target is not None or signature is not None):
        raise Unusable("--command stands in place of TARGET and --c-abi; leave one out")
    if program is not None:
        return f"command:{program}"
    if signature is None:
        return target
    if target is None:
        raise Unusable("--c-abi is a function in a library: name its file as TARGET")
    return f"c-abi:{target}:{signature}"


def _smoke(program: str | None, seconds: float) -> int:
    if program is None:
        raise Unusable("--smoke tries the protocol of a program; name it with --command")
    try:
        from ropespec.conformance.foreign import ProgramError
        from ropespec.conformance.foreign.smoke import smoke
    except ModuleNotFoundError as missing:
        must = f"{missing.name}, which is not installed: pip install 'ropespec[programs]'"
        raise Unusable(f"--smoke needs {must}") from None
    try:
        for line in smoke(program, seconds):
            click.echo(f"ok: {line}")
    except ProgramError as problem:
        raise Unusable(f"{program}: {problem}") from None
    return CONFORMS
