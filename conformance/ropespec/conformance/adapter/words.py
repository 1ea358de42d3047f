"""The lines of an adapter."""

from typing import Any, NamedTuple

__all__ = ["Body"]


class Body(NamedTuple):
    """The lines of an adapter, and what it claims because it is written so."""

    lines: list[str]
    claims: dict[str, Any]
