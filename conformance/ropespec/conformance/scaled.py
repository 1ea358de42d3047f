"""How a scheme is said: the options that claim it, and its words in a report."""

import shlex
from collections.abc import Mapping
from typing import Any

from ropespec.spec.axes import Anew, Told
from ropespec.spec.convention import Scheme
from ropespec.spec.scaling import check_scaling, words

__all__ = ["OPTIONS", "arguments", "named", "said"]

OPTIONS: Mapping[str, str] = {
    key: f"--{'no-' * (word.of is bool)}{key.removesuffix('_embeddings').replace('_', '-')}"
    for key, word in words.WORDS.items()
}
"""The option of each number of a scheme; one that is true or false is denied."""


def arguments(told: Mapping[str, Any] | None) -> list[str]:
    """Write a scheme as arguments of a command; `words.say` returns it so."""
    if told is None:
        return []
    rest = [one for key, value in told.items() if key in OPTIONS for one in _argument(key, value)]
    return [f"--scaling {told['rope_type']}", *rest]


def _argument(key: str, value: object) -> list[str]:
    if isinstance(value, bool):
        return [] if value else [OPTIONS[key]]
    return [f"{OPTIONS[key]} {shlex.quote(_number(value))}"]


def _number(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(_number, value))
    return repr(int(value) if isinstance(value, float) and value.is_integer() else value)


def said(told: Mapping[str, Any] | None) -> str:
    """Say a scheme in a report."""
    if told is None:
        return ""
    numbers = (
        f"{key.removesuffix('_embeddings').replace('_', ' ')} {_short(value)}"
        for key, value in told.items()
        if key in OPTIONS
    )
    return f"scaling {told['rope_type']} ({', '.join(numbers)})"


def named(scheme: Scheme | None) -> str:
    """Say what frequencies are; empty where they are those of their base."""
    if isinstance(scheme, Anew):
        return ", ".join(filter(None, ("axial", named(scheme.scheme))))
    if isinstance(scheme, Told):
        return f"mixed frequencies of {len(scheme.frequencies)} numbers"
    return "" if scheme is None else said(words.say(check_scaling(scheme)))


def _short(value: object) -> str:
    if isinstance(value, list):
        return f"{value[0]:g}...{value[-1]:g}"
    return f"{value:g}" if isinstance(value, float) else str(value).lower()
