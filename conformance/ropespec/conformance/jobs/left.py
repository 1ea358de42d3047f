"""What is left of a job: the command knows it before it imports what runs one."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ropespec.conformance.spent import Spent

__all__ = ["Left"]


@dataclass(frozen=True, slots=True)
class Left:
    """What is known of a subject when its checks are done, and it has ended.

    Attributes
    ----------
    spent : Spent
        Where the time went.
    stragglers : mapping of str to int
        Processes that outlived it: how many of each name.
    """

    spent: Spent = field(default_factory=Spent)
    stragglers: Mapping[str, int] = field(default_factory=dict)
