"""Where the position of a token may come from."""

import numpy as np

from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.orders import (
    Source,
    as_the_first_document,
    evens_first,
    flat,
    front_and_back,
    going_on,
    growing,
    of_head,
    of_rows,
    own,
    places,
    regrouped,
    reshaped,
    restarted,
    restarted_in_runs,
    row_of_head,
    rows_first,
    spread,
    tiled,
    tiled_rows,
    without_gaps,
    without_gaps_or_repeats,
)
from ropespec.conformance.mistakes.rows import OF_ROWS
from ropespec.conformance.mistakes.sides import OF_SIDES

__all__ = ["MISTAKES", "SOURCES"]

MISTAKES = entries("""
P1 positions ignored
    Tokens are counted from 0 whatever positions are given; index the table by the positions.
P4 one position for all tokens
    A single position is broadcast over the sequence; take a slice as long as the sequence.
P6 positions shared over a ragged batch
    One position of several rows, or their sum, rotates all of them; keep a position per row.
B2 positions not reset
    Positions count on where a new document begins; use the positions given.
B5 positions of one row for all
    The batch index of the table is ignored; index cos and sin by the row as well.
X1 wrong axis
    The head axis is taken for the sequence; read the length from the sequence axis.
positions repeated in another order
    Positions are tiled over the heads, where each is to stand beside itself; repeat each of them.
heads read as tokens
    Two axes change places by a reshape, which leaves every number where it is; transpose them.
counted from the first position
    Tokens are counted from the first position; use the positions given.
positions not reordered
    Tokens are dealt out in another order and positions are not; reorder both alike.
rotated by the position of another
    Some token is rotated by the position of another token or row; index positions by its own row
    and place.
sign of positions lost
    Positions below zero are rotated as positive ones; keep their sign.
counted from the end
    Tokens are counted from the end of the sequence; use the positions given.
counted from the last position
    Tokens are counted back from the last position; use the positions given.
gaps closed
    Gaps between positions are closed; use the positions given.
position 0 for all
    Every token is rotated as at position 0; use the positions given.
positions replaced by their rank
    Positions are replaced by their order; use their values.
positions restart
    Counting begins again where positions jump; use the positions given.
""")

SOURCES: dict[str, tuple[str, str, Source]] = {
    # word: (key of the mistake if it stands alone, what it is, where it comes from)
    "own": ("", "its own position", own),
    "zero": ("position 0 for all", "0", lambda g: 0 * own(g)),
    "counted": (
        "P1",
        "its place in the sequence, counted from 0",
        lambda g: spread(np.arange(g.x.shape[1]), g),
    ),
    "from the first": (
        "counted from the first position",
        "the first position of its row plus its place",
        lambda g: spread(places(g)[:, :1] + np.arange(g.x.shape[1]), g),
    ),
    "less the first": (
        "counted from the first position",
        "its own less the first position of its row",
        lambda g: spread(places(g) - places(g)[:, :1], g),
    ),
    "from the last": (
        "counted from the last position",
        "the last position of its row, counted back by its distance from the end",
        lambda g: spread(places(g)[:, -1:] + np.arange(g.x.shape[1]) - g.x.shape[1] + 1, g),
    ),
    "from row 0": (
        "B5",
        "the first position of row 0 plus its place",
        lambda g: spread(places(g)[:1, :1] + np.arange(g.x.shape[1]), g) if g.x.size else own(g),
    ),
    "first": ("P4", "the first position of its row", lambda g: spread(places(g)[:, :1], g)),
    "last": ("P4", "the last position of its row", lambda g: spread(places(g)[:, -1:], g)),
    **OF_ROWS,
    **OF_SIDES,
    "largest of its row": (
        "P4",
        "the largest position of its row",
        of_rows(lambda p: p.max(1, keepdims=True)),
    ),
    "smallest of its row": (
        "P4",
        "the smallest position of its row",
        of_rows(lambda p: p.min(1, keepdims=True)),
    ),
    "largest of all": (
        "P4",
        "the largest position of the call",
        of_rows(lambda p: np.full((1, 1), p.max())),
    ),
    "smallest of all": (
        "P4",
        "the smallest position of the call",
        of_rows(lambda p: np.full((1, 1), p.min())),
    ),
    "token before": (
        "rotated by the position of another",
        "the position of the token before, that of the first for the first",
        of_rows(lambda p: np.concatenate([p[:, :1], p[:, :-1]], 1)),
    ),
    "token before, round": (
        "rotated by the position of another",
        "the position of the token before, that of the last for the first",
        of_rows(lambda p: np.roll(p, 1, axis=1)),
    ),
    "token after": (
        "rotated by the position of another",
        "the position of the token after, that of the last for the last",
        of_rows(lambda p: np.concatenate([p[:, 1:], p[:, -1:]], 1)),
    ),
    "token after, round": (
        "rotated by the position of another",
        "the position of the token after, that of the first for the last",
        of_rows(lambda p: np.roll(p, -1, axis=1)),
    ),
    "row before": (
        "rotated by the position of another",
        "the position at its place in the row before",
        of_rows(lambda p: np.concatenate([p[:1], p[:-1]])),
    ),
    "row before, round": (
        "rotated by the position of another",
        "the position at its place in the row before, of the last row for the first",
        of_rows(lambda p: np.roll(p, 1, axis=0)),
    ),
    "row after": (
        "rotated by the position of another",
        "the position at its place in the row after",
        of_rows(lambda p: np.concatenate([p[1:], p[-1:]])),
    ),
    "row after, round": (
        "rotated by the position of another",
        "the position at its place in the row after, of row 0 for the last",
        of_rows(lambda p: np.roll(p, -1, axis=0)),
    ),
    "rows reversed": (
        "rotated by the position of another",
        "the position at its place, the rows counted from the last",
        of_rows(lambda p: p[::-1]),
    ),
    "reversed": (
        "rotated by the position of another",
        "the positions of its row from the last to the first",
        of_rows(lambda p: p[:, ::-1]),
    ),
    "sorted": (
        "rotated by the position of another",
        "the positions of its row in increasing order",
        of_rows(lambda p: np.sort(p, axis=1)),
    ),
    "evens first": (
        "positions not reordered",
        "the positions of its row, those at even places first",
        of_rows(evens_first),
    ),
    "zigzag": (
        "positions not reordered",
        "the positions of its row in turn from the front and the back",
        of_rows(front_and_back),
    ),
    "reshaped": (
        "rotated by the position of another",
        "positions of (sequence, batch) read as (batch, sequence)",
        reshaped,
    ),
    "reshaped back": (
        "rotated by the position of another",
        "positions of (batch, sequence) read as (sequence, batch)",
        of_rows(lambda p: p.reshape(p.shape[::-1]).T),
    ),
    "head": ("X1", "the index of its head", lambda g: g.index(2)),
    "by head": ("X1", "the position of the token whose place is the index of the head", of_head),
    "by head, around": (
        "X1",
        "the position of the token whose place is the index of the head, from the first on again",
        lambda g: of_head(g, around=True),
    ),
    "row by head": ("X1", "the position at its place in the row of the head", row_of_head),
    "row": ("X1", "the index of its row", lambda g: g.index(0)),
    "flat": ("X1", "its place counted through the whole batch", flat),
    "tiled": (
        "positions repeated in another order",
        "that at its place when all positions are repeated for each head, and not each of them",
        tiled,
    ),
    "tiled rows": (
        "positions repeated in another order",
        "that at its place when the positions of all rows are repeated for each head",
        tiled_rows,
    ),
    "flat, rows first": (
        "X1",
        "its place counted through the batch, rows first",
        rows_first,
    ),
    "restarted": (
        "positions restart",
        "counted from 0 wherever positions do not go on by one",
        of_rows(restarted),
    ),
    "restarted in runs": (
        "positions restart",
        "counted from 0 wherever two or more positions go on by one",
        of_rows(restarted_in_runs),
    ),
    "as the first document": (
        "positions restart",
        "counted as in the first document of its row wherever positions fall back",
        of_rows(as_the_first_document),
    ),
    "going on": (
        "B2",
        "counted on wherever positions fall back",
        of_rows(going_on),
    ),
    "growing": (
        "B2",
        "counted on by one wherever a position is not above those before",
        of_rows(growing),
    ),
    "without gaps": (
        "gaps closed",
        "counted on by one wherever positions rise",
        of_rows(without_gaps),
    ),
    "without gaps or repeats": (
        "gaps closed",
        "counted on by one unless positions fall",
        of_rows(without_gaps_or_repeats),
    ),
    "without gaps, through the batch": (
        "gaps closed",
        "counted on by one wherever positions rise, through the batch",
        of_rows(lambda p: without_gaps(p.reshape(1, -1)).reshape(p.shape)),
    ),
    "distance from the end": (
        "counted from the end",
        "its distance from the end of the sequence",
        lambda g: spread(g.x.shape[1] - 1 - np.arange(g.x.shape[1]), g),
    ),
    "sign": ("", "the sign of its position", lambda g: np.sign(own(g))),
    "length": ("", "the length of the sequence", lambda g: spread(np.array(g.x.shape[1]), g)),
    "rows": ("", "the number of rows", lambda g: spread(np.array(g.x.shape[0]), g)),
    "heads": ("", "the number of heads", lambda g: spread(np.array(g.x.shape[2]), g)),
    "size": (
        "sign of positions lost",
        "the absolute value of its position",
        lambda g: np.abs(own(g)),
    ),
    "heads first": (
        "heads read as tokens",
        "that of the token where it stands when (heads, tokens) is read as (tokens, heads)",
        lambda g: regrouped(g, heads_first=True),
    ),
    "tokens first": (
        "heads read as tokens",
        "that of the token where it stands when (tokens, heads) is read as (heads, tokens)",
        lambda g: regrouped(g, heads_first=False),
    ),
    "rank": (
        "positions replaced by their rank",
        "the rank of its position in its row",
        of_rows(lambda p: np.argsort(np.argsort(p, 1), 1).astype(np.float64)),
    ),
}
"""Where the position of a token may come from, by a word for each."""
