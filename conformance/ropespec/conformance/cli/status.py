"""Exit statuses, and the one way to end with "this cannot be used".

0: the subject conforms, or the command did what it was asked.
1: the subject does not conform.
2: the call or the target is unusable; one line on standard error says why.
130: interrupted from the keyboard.
"""

import click

__all__ = ["CONFORMS", "FAILS", "INTERRUPTED", "UNUSABLE", "Unusable"]

CONFORMS = 0
FAILS = 1
UNUSABLE = 2
INTERRUPTED = 130


class Unusable(click.ClickException):
    """The call or the target cannot be used; the message is one line for the user."""

    exit_code = UNUSABLE
