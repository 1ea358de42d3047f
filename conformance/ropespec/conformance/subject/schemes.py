"""A scheme of scaled frequencies as JSON, on its way to the process of a subject."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from ropespec.spec import scaling
from ropespec.spec.scaling import Scaling

__all__ = ["from_json", "to_json"]


def to_json(scheme: Scaling) -> dict[str, Any]:
    """Return its name and its numbers."""
    return {"scheme": type(scheme).__name__, "numbers": dataclasses.asdict(scheme)}


def from_json(told: Mapping[str, Any]) -> Scaling:
    """Make the scheme anew; lists are the tuples that they were."""
    numbers = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in told["numbers"].items()
    }
    scheme: Scaling = getattr(scaling, told["scheme"])(**numbers)
    return scheme
