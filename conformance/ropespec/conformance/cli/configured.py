"""What a model configuration claims: `--config config.json`, as transformers writes it."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from ropespec.conformance.cli.status import Unusable
from ropespec.spec.config import Claimed, read
from ropespec.spec.errors import ConfigError
from ropespec.spec.scaling import words

__all__ = ["CONFIG_OPTIONS", "config_options", "configured", "read_config"]

Command = TypeVar("Command", bound=Callable[..., Any])

CONFIG_OPTIONS = (
    click.option(
        "--config",
        metavar="FILE",
        help="Base, scaling and sizes as a config.json of transformers says; options win.",
    ),
    click.option(
        "--layer-type", metavar="TEXT", help="Of which layers, where those of --config differ."
    ),
)

_LENGTH = click.option(
    "--length", type=click.IntRange(min=1), help="Of a sequence; the original one if absent."
)


def config_options(function: Command) -> Command:
    """Add the options of a configuration to a command that takes no claims."""
    for option in (_LENGTH, *reversed(CONFIG_OPTIONS)):
        function = option(function)
    return function


def configured(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claims of a configuration, as arguments of `Profile`; none where none is given.

    Parameters
    ----------
    options : mapping
        The keywords of a command with these options and with `--length`.

    Raises
    ------
    Unusable
        If it cannot be read, or says what is no claim.
    """
    if options["config"] is None:
        if options["layer_type"] is not None:
            raise Unusable("--layer-type is of a configuration: give --config as well")
        return {}
    found = read_config(options["config"], options["layer_type"], options["length"])
    return {
        "base": found.base,
        "head_dims": [found.head_dim],
        **({} if found.rotary_dim is None else {"rotary_dim": found.rotary_dim}),
        **({} if found.scaling is None else {"scaling": words.say(found.scaling)}),
        **({"sections": list(found.sections)} if found.sections else {}),
        **({"sections_in_turn": True} if found.in_turn else {}),
    }


def read_config(name: str, layer_type: str | None, length: int | None) -> Claimed:
    """Read a file as a claim.

    Raises
    ------
    Unusable
        If it is no JSON, or no configuration; one line that names the file.
    """
    try:
        return read(json.loads(Path(name).read_text(encoding="utf-8")), layer_type, length=length)
    except OSError as problem:
        raise Unusable(f"--config: cannot read {name}: {problem.strerror or problem}") from None
    except ConfigError as problem:
        raise Unusable(f"--config: {name}: {problem}") from None
    except ValueError as problem:
        raise Unusable(f"--config: {name} is no JSON: {problem}") from None
