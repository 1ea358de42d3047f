"""Asking both sides the same question, B through a change where there is one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.compare.change import Change, channel_list, into_a, into_b
from ropespec.conformance.compare.measure import Apart, Held, apart, exacts
from ropespec.conformance.compare.samples import Answer, Sample, answer
from ropespec.conformance.compare.side import Side
from ropespec.conformance.compare.terms import Setting, Terms, set_turn
from ropespec.conformance.compare.turn import Exact, Turn

__all__ = ["Both"]


@dataclass(frozen=True, slots=True)
class Both:
    """A and B, as they are or with B changed.

    Attributes
    ----------
    sides : tuple of Side
        A and B.
    terms : Terms
        What both take.
    change : Change or None
        What is changed for B; only for conventions that are known.
    """

    sides: tuple[Side, Side]
    terms: Terms
    change: Change | None = None

    def ask(
        self,
        setting: Setting,
        case: Mapping[str, Any],
        x: NDArray[Any],
        positions: NDArray[np.int64],
    ) -> Sample:
        """Give both sides x (B, S, H, D) and positions (B, S)."""
        if self.change is not None and self.change.offset < 0 and not self.terms.negative:
            positions = positions - self.change.offset
        first = answer(self.sides[0], x, positions, setting.keywords[0])
        second = self._changed(setting, x, positions)
        return Sample(setting, case, x, positions, (first, second))

    def _changed(self, setting: Setting, x: NDArray[Any], positions: NDArray[np.int64]) -> Answer:
        """Ask B, and put its answer in the terms of A."""
        side, keywords = self.sides[1], dict(setting.keywords[1])
        if self.change is None:
            return answer(side, x, positions, keywords)
        if self.change.base is not None and self._by_keyword:
            keywords["base"] = self.change.base[0]
        if self.change.rotary_dim is not None:
            keywords["rotary_dim"] = self.change.rotary_dim
        first = _known(setting.turns[0])
        second = _known(set_turn(side, keywords))
        before, after = channel_list(first, second, x.shape[-1])
        got = answer(side, into_b(x, before), positions + self.change.offset, keywords)
        if got.y is None:
            return got
        y = into_a(got.y, after)
        if self.change.base is not None and not self._by_keyword:
            # It cannot be called with another base: what it errs by is carried over to that base.
            own = replace(first, base=self.change.base[1]).of(x, positions).y
            y = y.astype(np.float64) - own + first.of(x, positions).y
        return Answer(y, got.problem, got.lost)

    @property
    def _by_keyword(self) -> bool:
        """Whether B can be given a base."""
        return self.sides[1].takes("base")

    def frames(self, sample: Sample) -> tuple[Exact | None, Exact | None]:
        """Return what the budgets of both are derived from."""
        if self.change is None:
            return exacts(sample)
        first = _known(sample.setting.turns[0])
        exact = first.of(sample.x, sample.positions)
        if self.change.base is None or self._by_keyword:
            return exact, exact
        other = replace(first, base=self.change.base[1])
        return exact, other.of(sample.x, sample.positions)

    def apart(self, sample: Sample, held: tuple[Held, Held]) -> Apart | None:
        """Return how far apart the answers are; None unless there are two."""
        first, second = (one.y for one in sample.answers)
        if first is None or second is None:
            return None
        return apart(self.sides, held, self.frames(sample), (first, second))


def _known(turn: Turn | None) -> Turn:
    assert turn is not None  # a change is only found between known conventions
    return turn
