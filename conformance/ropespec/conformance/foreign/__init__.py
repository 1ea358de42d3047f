"""Rotations that are not Python: programs that answer over pipes, and libraries in C.

An instance is a function f(x, positions, **keywords) with a `PROFILE`, as any other subject.
"""

from ropespec.conformance.foreign.library import Library
from ropespec.conformance.foreign.program import Program, ProgramError

__all__ = ["Library", "Program", "ProgramError", "opened"]


def opened(target: str) -> Program | Library:
    """Return the function that a target names.

    Parameters
    ----------
    target : str
        `command:` and a program with its arguments, as in a shell; or `c-abi:`, the file of a
        shared library, a colon, and the signature of a function in it.

    Raises
    ------
    ProgramError, ValueError, OSError
        If it cannot be started or loaded.
    """
    kind, _, words = target.partition(":")
    if kind == "command":
        return Program(words)
    return Library(*words.split(":", 1))
