"""A job in a process of its own: a judge and a subject beside those of the command."""

from ropespec.conformance.beside.beside import Beside

__all__ = ["Beside"]
