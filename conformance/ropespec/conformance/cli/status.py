"""Exit statuses, and the one way to end with "this cannot be used".

0: the subject conforms, or the command did what it was asked.
1: the subject does not conform, or a waiver is not needed.
2: the call or the target is unusable; one line on standard error says why. Also where nothing of
   what was asked can be checked; the report says why.
3: something was found, and the file of `--json` could not be written; the report says what.
4: nothing failed, but the deadline of the run left something unchecked.
130: interrupted from the keyboard.
"""

import click

__all__ = [
    "CONFORMS",
    "FAILS",
    "INTERRUPTED",
    "UNDECIDED",
    "UNDELIVERED",
    "UNUSABLE",
    "Undelivered",
    "Unusable",
]

CONFORMS = 0
FAILS = 1
UNUSABLE = 2
UNDELIVERED = 3
UNDECIDED = 4
INTERRUPTED = 130


class Unusable(click.ClickException):
    """The call or the target cannot be used; the message is one line for the user.

    Attributes
    ----------
    remedy : str
        What to do about it, on lines of their own below the message; may be empty.
    """

    exit_code = UNUSABLE

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class Undelivered(click.ClickException):
    """What was found could not be written where it was to be; the message is one line."""

    exit_code = UNDELIVERED
