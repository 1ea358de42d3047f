"""One call of a subject, and whatever it does is an answer."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.subject.asked import Asked
from ropespec.conformance.subject.session import Session

__all__ = ["Answer", "Asker", "Lost"]


class Lost(Exception):  # noqa: N818  # as SubjectCrashed
    """The subject crashed or hung; what was asked ends here."""

    def __init__(self, answer: str, message: str) -> None:
        super().__init__(message)
        self.answer = answer


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call came to.

    Attributes
    ----------
    given : Given
        What was asked.
    y : ndarray or None
        (B, S, H, D) in float64; None if no array like x came.
    fault : str
        What came instead: `raises`, `crash`, `timeout`, `no array`, `axes`, `shape`, `complex`,
        `dtype`; empty if it is as it should be. With `dtype` there is a y.
    detail : str
        What it said.
    written : tuple of str
        Arguments that were written to.
    aliased, reused : bool
        Whether the result shares memory with an argument, or with a result of an earlier call.
    littered : bool
        Whether the result holds memory that was never written to.
    """

    given: Given
    y: Array | None
    fault: str = ""
    detail: str = ""
    written: tuple[str, ...] = ()
    aliased: bool = False
    reused: bool = False
    littered: bool = False


@dataclass(slots=True)
class Asker:
    """Calls one function of a subject, and counts.

    Attributes
    ----------
    session : Session
        The subject.
    function : str
        The rotation that is called.
    backward : bool
        Whether the gradient is asked for; x is then the cotangent.
    calls : int
        How many calls were made.
    past : list of Given
        Those since the instance was started.
    anew : bool
        Whether each call is made of a fresh instance.
    """

    session: Session
    function: str = "apply_rotary"
    backward: bool = False
    calls: int = 0
    past: list[Given] = field(default_factory=list)
    anew: bool = False

    def fresh(self) -> None:
        """Start a fresh instance, which remembers nothing."""
        self.session.refresh()
        self.past.clear()

    def ask(self, given: Given) -> Answer | None:
        """Call it; None for what is not claimed."""
        self.calls += 1
        if self.anew:
            self.fresh()
        given = replace(given, past=tuple(self.past))
        asked = self._asked(given)
        if asked.fault in ("crash", "timeout"):
            self.past.clear()
        if len(self.past) < _REMEMBERED:
            self.past.append(given.alone())
        return None if asked.fault == "not asked" else _answer(given, asked)

    def _asked(self, given: Given) -> Asked:
        how: dict[str, Any] = {
            "keywords": {
                "interleaved": given.interleaved,
                "base": given.base,
                "rotary_dim": given.rotary_dim,
            },
            "strided": given.strided,
            "function": self.function,
        }
        if given.rotary_dim is None:
            del how["keywords"]["rotary_dim"]
        if self.backward:
            point = np.ones_like(given.x)
            return self.session.attempt_vjp(point, given.numbers, given.x, **how)
        how["strided_positions"] = given.strided_positions
        return self.session.attempt(given.x, given.numbers, **how)


_REMEMBERED = 600


def _answer(given: Given, asked: Asked) -> Answer:
    fault, reply = asked.fault, asked.reply
    if reply is None:
        return Answer(given, None, fault, asked.said)
    changed = zip(("x", "positions"), reply.written, strict=False)
    return Answer(
        given,
        None if asked.y is None or fault == "complex" else asked.y.astype(np.float64),
        fault,
        ", ".join(reply.descriptions) or "nothing",
        written=tuple(name for name, is_written in changed if is_written),
        aliased=any(reply.aliases),
        reused=any(reply.reused),
        littered=reply.littered,
    )
