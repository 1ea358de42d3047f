"""The option by which several processes share a long list."""

import click

__all__ = ["Part", "part_option"]

Part = tuple[int, int]
"""(i, n): every n-th from the i-th on, counted from 0."""


def _checked(_: click.Context, parameter: click.Parameter, value: Part) -> Part:
    first, step = value
    if 0 <= first < step:
        return value
    must = f"I must be from 0 to N - 1; got {first} {step}"
    raise click.BadParameter(must, param=parameter)


part_option = click.option(
    "--part",
    type=(int, int),
    default=(0, 1),
    callback=_checked,
    help="I N: every N-th from the I-th on, counted from 0, so that N processes share them.",
)
