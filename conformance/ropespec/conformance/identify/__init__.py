"""Identification: what a subject does, found out from its inputs and outputs alone.

RoPE is linear in x, so unit vectors at a few positions show which components turn together and by
which frequencies. The convention that has them is then run beside the subject on fresh calls.
"""

from ropespec.conformance.identify.convention import convention, oriented
from ropespec.conformance.identify.facts import Fact, Identification, Name, Pairing
from ropespec.conformance.identify.identify import identify

__all__ = [
    "Fact",
    "Identification",
    "Name",
    "Pairing",
    "convention",
    "identify",
    "oriented",
]
