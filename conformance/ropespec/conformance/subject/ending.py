"""How a worker ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Ending"]


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known of a worker that is no more.

    Attributes
    ----------
    code : int or None
        Its exit code, or the negated number of the signal it died of; None if it was killed because
        it did not end by itself.
    words : str
        The end of what it printed.
    left : mapping of str to int
        Processes that were still there after it and were killed: how many of each name.
    over_memory : bool
        Whether it was killed for taking too much memory.
    """

    code: int | None = None
    words: str = ""
    left: Mapping[str, int] = field(default_factory=dict)
    over_memory: bool = False
