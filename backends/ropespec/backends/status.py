"""What can be said of a backend that needs a GPU."""

from dataclasses import dataclass

__all__ = ["Status"]


@dataclass(frozen=True, slots=True)
class Status:
    """Whether a backend can run on this machine, and what is known of it where it cannot.

    Attributes
    ----------
    available : bool
        True if a GPU can run it.
    reason : str
        The GPU, or what was and what was not done without one.
    """

    available: bool
    reason: str
