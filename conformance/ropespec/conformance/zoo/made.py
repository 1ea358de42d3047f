"""Wrong implementations that are choices of the list of mistakes: the chain with one of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.mistakes.chain import run
from ropespec.conformance.mistakes.choice import Choice, Shown
from ropespec.conformance.mistakes.frequency import LADDERS
from ropespec.conformance.mistakes.given import Given
from ropespec.conformance.mistakes.turning import RARE_TURNS, TURNS
from ropespec.conformance.profile import Profile
from ropespec.conformance.zoo.entry import wrong
from ropespec.spec.convention import Convention

__all__: list[str] = []

Array = NDArray[Any]


def _made(choice: Choice, shown: Shown) -> Callable[[Array, Array], Array]:
    """Return a rotation that makes a choice, under its own claims."""
    claimed = Profile.from_mapping({"interleaved": False} | dict(shown.claims))

    def rotation(x: Array, positions: Array) -> Array:
        asked = Convention.of(
            interleaved=claimed.layouts[0], base=claimed.base, rotary_dim=claimed.rotary_dim
        )
        given = Given(x, positions.astype(np.int64), asked)
        return run(choice.chain(), given).y.astype(x.dtype)

    rotation.__name__ = rotation.__qualname__ = shown.name
    return rotation


for _choice in (*TURNS, *RARE_TURNS, *LADDERS):
    for _shown in _choice.shown:
        globals()[_shown.name] = wrong(
            _choice.key,
            f"{_choice.what[0].upper()}{_choice.what[1:]}.",
            *_shown.checks,
            **_shown.claims,
        )(_made(_choice, _shown))
