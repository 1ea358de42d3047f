"""Identification: what a subject does, found out from its inputs and outputs alone.

RoPE is linear in x, so unit vectors at a few positions show the whole operator: which components
turn together, by which matrix, with which gain and phase, on which grid of numbers.
"""

from ropespec.conformance.identify.convention import convention, oriented
from ropespec.conformance.identify.facts import (
    Block,
    Fact,
    Identification,
    Name,
    Pairing,
    Source,
)
from ropespec.conformance.identify.identify import identify

__all__ = [
    "Block",
    "Fact",
    "Identification",
    "Name",
    "Pairing",
    "Source",
    "convention",
    "identify",
    "oriented",
]
