"""Plain values of ours on their way between the command and a job, both of which run this package.

They are pickled. Nothing of a subject is: what that says has been read by the session, which takes
frames of numbers and JSON alone.
"""

import pickle  # see above
from typing import IO

__all__ = ["receive", "send"]


def send(stream: IO[bytes], value: object) -> None:
    """Write a value.

    Raises
    ------
    BrokenPipeError
        If nobody is there to read it.
    """
    stream.write(pickle.dumps(value))
    stream.flush()


def receive(stream: IO[bytes]) -> object:
    """Read a value.

    Raises
    ------
    EOFError
        If whoever sends has ended, perhaps in the middle of it.
    """
    try:
        value: object = pickle.load(stream)  # noqa: S301  # see above
    except pickle.UnpicklingError as error:
        raise EOFError(str(error)) from None
    return value
