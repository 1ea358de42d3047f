"""Schemes and axes as JSON, on their way to the process of a subject."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from ropespec.spec import axes, scaling
from ropespec.spec.axes import Axes
from ropespec.spec.scaling import Scaling

__all__ = ["Value", "from_json", "to_json"]

Value = Scaling | Axes


def to_json(value: Value) -> dict[str, Any]:
    """Return its name and its numbers."""
    return {"value": type(value).__name__, "numbers": dataclasses.asdict(value)}


def from_json(told: Mapping[str, Any]) -> Value:
    """Make the value anew; lists are the tuples that they were."""
    name = told["value"]
    kind = getattr(scaling, name, None) or getattr(axes, name)
    made: Value = kind(**{key: _tuples(number) for key, number in told["numbers"].items()})
    return made


def _tuples(told: object) -> object:
    return tuple(map(_tuples, told)) if isinstance(told, list) else told
