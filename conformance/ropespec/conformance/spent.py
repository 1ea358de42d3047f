"""Where the time of a check goes."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

__all__ = ["Spent"]


class _Timed(Protocol):
    @property
    def seconds(self) -> float: ...


_Answer = TypeVar("_Answer", bound=_Timed)


@dataclass(slots=True)
class Spent:
    """Seconds spent so far.

    Attributes
    ----------
    drawing : float
        In Hypothesis: drawing cases, and making those that fail smaller.
    calling : float
        Inside the subject.
    talking : float
        To its worker: frames, arrays made and read, fresh workers.
    judging : float
        Making inputs, and comparing with what is exact.
    """

    drawing: float = 0.0
    calling: float = 0.0
    talking: float = 0.0
    judging: float = 0.0

    @property
    def on_cases(self) -> float:
        """Seconds spent on what was drawn."""
        return self.calling + self.talking + self.judging

    def asking(self, ask: Callable[[], _Answer]) -> _Answer:
        """Ask a worker; its answer says how many seconds of that were the subject's."""
        began, inside = time.perf_counter(), 0.0
        try:
            answer = ask()
            inside = answer.seconds
            return answer
        finally:
            self.calling += inside
            self.talking += time.perf_counter() - began - inside
