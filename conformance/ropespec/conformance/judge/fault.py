"""What is wrong with a result, where more depends on it than the words of a message."""

from enum import StrEnum

__all__ = ["Fault"]


class Fault(StrEnum):
    """A kind of failure that is told from others."""

    FORM = "form"  # it is no array that could be judged
    FLUSHED = "flushed"  # it is right but for numbers below the normal range, which became zero
