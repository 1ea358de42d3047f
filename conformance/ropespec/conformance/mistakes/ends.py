"""The position that a token has where a table ends before it."""

import numpy as np

from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.orders import (
    of_each_number,
    own,
    restarted,
    run_lengths,
    spread,
)
from ropespec.conformance.mistakes.place import whole

__all__ = [
    "LIMITED",
    "MISTAKES",
    "from_the_end",
    "largest",
    "limited",
    "padded",
    "sliced",
    "window",
]

MISTAKES = entries("""
C5 beyond the table
    Positions past the end of a table are clamped, wrapped, passed through or off by some; extend
    the table or raise.
window of a table
    A table has the last positions alone, and those before are clamped to its first row; make it
    as long as positions lie apart.
slice moved back
    A slice that would end behind a table begins earlier, as `dynamic_slice` does, so that all its
    positions are too small; make the table longer by what is sliced beyond the last token.
""")


def sliced(rows: int, bucket: int, *, doubled: bool = False) -> Choice:
    """Return the place of a slice that is moved back so that it ends with a table.

    Parameters
    ----------
    rows : int
        Of the table.
    bucket, doubled : int, bool
        Of `padded`.
    """

    def place(given: Given) -> Array:
        steps = restarted(given.positions)
        lengths = padded(run_lengths(given.positions), bucket, doubled=doubled)
        begin = np.minimum(given.positions - steps, np.maximum(rows - lengths, 0))
        return spread(begin + steps, given)

    how = f" in {bucket}, doubled until it fits" if doubled else f" in whole {bucket}s"
    what = f"that of a slice which ends with row {rows - 1}, as long as the run"
    return whole("slice moved back", what + how * (bucket > 1 or doubled), place)


def padded(lengths: Array, bucket: int, *, doubled: bool) -> Array:
    """Make a length that of whole buckets, or of one that is doubled until it is enough."""
    count = -(-lengths // bucket)
    return np.asarray(bucket * (2 ** np.ceil(np.log2(count)) if doubled else count))


def window(rows: int, *, of_each_row: bool) -> Choice:
    """Return the place in a table of so many rows whose last is the largest position.

    Parameters
    ----------
    rows : int
        Of the table.
    of_each_row : bool
        Whether the largest is that of the row, and not of the call.
    """

    def place(g: Given) -> Array:
        first = largest(g.positions, of_each_row=of_each_row) - rows + 1
        return spread(np.maximum(g.positions, first), g)

    of = "its row" if of_each_row else "the call"
    what = f"its own, and no farther than {rows - 1} below the largest of {of}"
    return whole("window of a table", what, place)


def largest(positions: Array, *, of_each_row: bool) -> Array:
    """Return the largest position of its row, or of the call, for each token."""
    axis = 1 if of_each_row else None
    most = positions.max(axis=axis, keepdims=True, initial=np.iinfo(np.int64).min // 2)
    return np.broadcast_to(most, positions.shape)


def from_the_end(rows: int) -> Choice:
    """Return the place in a table of so many rows that is read from its end below zero."""
    what = f"its own, and {rows} more below zero"
    return whole(
        "negative positions from the end of a table",
        what,
        lambda g: np.where(own(g) < 0, own(g) + rows, own(g)),
    )


LIMITED: tuple[str, ...] = (
    *("clamped", "wrapped", "wrapped with its sign", "wrapped around zero", "restarted at"),
)


def limited(kind: str, limit: int) -> Choice:
    """Return the place that ends at a limit, the length of a table.

    Parameters
    ----------
    kind : str
        One of `LIMITED`.
    limit : int
        The first position that is not its own.
    """

    def place(given: Given) -> Array:
        p = own(given)
        match kind:
            case "clamped":
                return np.clip(p, -(limit - 1), limit - 1)
            case "wrapped":
                return np.mod(p, limit)
            case "wrapped with its sign":
                return np.asarray(np.fmod(p, limit))
            case "wrapped around zero":
                return np.asarray(np.mod(p + limit, 2 * limit) - limit)
        return np.where(np.abs(p) >= limit, p - np.sign(p) * limit, p)

    words = {
        "clamped": f"at most {limit - 1}",
        "wrapped": f"its own modulo {limit}",
        "wrapped with its sign": f"the remainder of its own by {limit}",
        "wrapped around zero": f"its own modulo {2 * limit}, from {-limit} on",
        "restarted at": f"its own, less {limit} from {limit} on",
    }
    change = {"place": of_each_number(place)}
    return Choice("C5", "place", f"the position is {words[kind]}", change, _OF_A_TABLE)


_OF_A_TABLE = 1.9
"""An end says of all positions what one number says of those that are wrong."""
