"""A call beside what was claimed of it: which components are wrong."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ropespec.conformance.diagnosis.ask import Answer
from ropespec.conformance.mistakes.chain import Chain, Made, run
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["Seen", "agree", "nearer", "telling"]


def agree(y: Array, made: Made, slack: float = 1.0) -> Array:
    """Return where y is what was made, within the error allowed; NaN is NaN."""
    with np.errstate(all="ignore"):
        same: Array = np.abs(y - made.y) <= slack * made.allowed
        same |= np.isnan(y) & np.isnan(made.y)
        same |= y == made.y
    return same


def telling(seen: "Seen", made: Made) -> Array:
    """Return where what is made differs from what is claimed by more than it may be off."""
    with np.errstate(all="ignore"):
        apart = np.abs(made.y - seen.made.y)
        told: Array = (apart >= 3 * made.allowed) | (np.isnan(made.y) != np.isnan(seen.made.y))
    return told


def nearer(seen: "Seen", made: Made) -> Array:
    """Return where a call is off, if what is made is far nearer there than it has to be.

    In nearly all such components, or nowhere.
    """
    near = seen.off & agree(seen.y, made, 1 / _NEARER)
    return near if near.sum() > _NEARLY_ALL * seen.off.sum() else np.zeros_like(near)


_NEARER = 8
"""How many times: of what is only near enough, about one component of so many is as near."""
_NEARLY_ALL = 0.9


@dataclass(eq=False)
class Seen:
    """One answer, compared with what a chain makes of the call.

    Attributes
    ----------
    answer : Answer
        With a y.
    right : Chain
        What is claimed.
    """

    answer: Answer
    right: Chain

    @property
    def given(self) -> Given:
        """What was asked."""
        return self.answer.given

    @property
    def y(self) -> Array:
        """What came."""
        assert self.answer.y is not None
        return self.answer.y

    @cached_property
    def made(self) -> Made:
        """What is claimed."""
        return run(self.right, self.given)

    @cached_property
    def off(self) -> Array:
        """Which components are wrong, of the shape of x."""
        return np.asarray(~agree(self.y, self.made))

    @cached_property
    def wrong(self) -> Array:
        """Which components are wrong, or are turned with one that is: a pair is made as one."""
        first, second, *_ = self.right.pairing(self.given)
        wrong = self.off.copy()
        both = wrong[..., first] | wrong[..., second]
        wrong[..., first], wrong[..., second] = both, both
        return wrong

    @cached_property
    def cropped(self) -> "Seen | None":
        """The same call cut to some of its wrong tokens and rows; None if nothing is wrong."""
        rows = np.flatnonzero(self.wrong.any(axis=(1, 2, 3)))[:4]
        if not len(rows):
            return None
        tokens = np.flatnonzero(self.wrong[rows].any(axis=(0, 2, 3)))[:24]
        given = replace(
            self.given,
            x=self.given.x[rows][:, tokens],
            positions=self.given.positions[rows][:, tokens],
        )
        return Seen(replace(self.answer, given=given, y=self.y[rows][:, tokens]), self.right)

    @cached_property
    def is_wrong(self) -> bool:
        """Whether anything is."""
        return bool(self.wrong.any())
