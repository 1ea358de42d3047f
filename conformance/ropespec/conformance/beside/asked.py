"""What a job in another process is asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ropespec.conformance.jobs.plan import Plan

__all__ = ["GOODBYE", "Asked", "Subject"]

GOODBYE = 2.0
"""Seconds for a job that is not wanted any more to end its subject."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a job, which it opens as soon as it hears of it.

    Attributes
    ----------
    target : str
        The subject.
    claims : mapping
        What is claimed of it.
    timeout : float
        Seconds for one call.
    """

    target: str
    claims: Mapping[str, Any]
    timeout: float


@dataclass(frozen=True, slots=True)
class Asked:
    """The checks of a job.

    Attributes
    ----------
    plan : Plan
        How many cases.
    checks : tuple of str
        The ids of the checks, in the order in which to run them.
    """

    plan: "Plan"
    checks: tuple[str, ...]
