"""What a call of attention may be like: masks, lengths, heads, positions."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.coverage.array import Level, Levels, Table
from ropespec.conformance.profile import Profile

__all__ = ["MASKS", "Place", "attention_rows", "attention_table", "masked", "pair_of"]

_LENGTHS = (
    *("4 of 4", "3 of 37", "1 of 1", "5 of 7", "7 of 5", "1 of 9", "9 of 1", "33 of 35"),
    "5 of 300",
)
_HEADS = ("1 of 1", "4 of 2", "2 of 1", "2 of 2", "6 of 3", "8 of 1", "8 of 8")
_AXES = ("B H S T", "S T", "1 1 S T", "B 1 S T", "H S T", "1 H S T", "B 1 1 T")
_POSITIONS = ("arange", "ragged", "shuffled", "gaps", "restarts", "negative")
_FEW = 4
_WIDEST = 64

Bool = NDArray[np.bool_]


class Place:
    """Queries and keys of a call, as axes that broadcast to (rows, heads, queries, keys).

    Parameters
    ----------
    shape : tuple of int
        Rows, heads, queries, keys.
    m, n : ndarray
        Positions of queries (B, S) and keys (B, T).
    seed : int
        For what is random.
    """

    def __init__(
        self,
        shape: tuple[int, int, int, int],
        m: NDArray[np.int64],
        n: NDArray[np.int64],
        seed: int,
    ) -> None:
        self.shape = shape
        self.row = np.arange(shape[0])[:, None, None, None]
        self.head = np.arange(shape[1])[:, None, None]
        self.i, self.j = np.arange(shape[2])[:, None], np.arange(shape[3])
        self.m, self.n = m[:, None, :, None], n[:, None, None, :]
        self.rng = np.random.default_rng([seed, 19])

    @property
    def kept(self) -> NDArray[np.int64]:
        """How many keys a row keeps of a padding that differs, times one more than the rows."""
        return (self.row + 1) * self.shape[3]

    @property
    def ahead(self) -> int:
        """How many keys more there are than queries."""
        return self.shape[3] - self.shape[2]


def _none(at: Place) -> None:
    del at


MASKS: Mapping[str, Callable[[Place], Bool | None]] = {
    "none": _none,
    "counted from the front": lambda at: at.j <= at.i,
    "counted from the back": lambda at: at.j <= at.i + at.ahead,
    "by position": lambda at: at.n <= at.m,
    "window": lambda at: (at.j <= at.i) & (at.j > at.i - _FEW),
    "packed": lambda at: 2 * at.i // at.shape[2] == 2 * at.j // at.shape[3],
    "padded": lambda at: at.j * (at.shape[0] + 1) < at.kept,
    "padded in front": lambda at: (at.shape[3] - at.j) * (at.shape[0] + 1) <= at.kept,
    "a part for each head": lambda at: at.j * at.shape[1] // at.shape[3] == at.head,
    "all": lambda at: np.ones(at.shape, dtype=bool),
    "one key": lambda at: at.j == at.rng.integers(at.shape[3]),
    "no key": lambda at: np.zeros(at.shape, dtype=bool),
    "random": lambda at: at.rng.random(at.shape) < 0.6,
}
"""Which keys a query may see."""


def attention_table(profile: Profile) -> Table:
    """Return the dimensions of a call of attention; of two numbers the first is the queries'.

    Parameters
    ----------
    profile : Profile
        The claims.
    """
    dims = list(profile.head_dims)
    dims = [dim for dim in dims if dim <= _WIDEST] or dims[:1]
    chosen = sorted({dims[0], dims[len(dims) // 2], dims[-1]})
    shared = profile.shared_positions or profile.axes == "shd"
    kinds = [kind for kind in _POSITIONS if not (shared and kind in ("ragged", "shuffled"))]
    few = 1 if profile.compiles else None
    return Table(
        (
            ("dtype", profile.dtypes),
            ("lengths", _LENGTHS[1:2] if few else _LENGTHS),
            ("heads", _HEADS[1:2] if few else _HEADS),
            ("mask", tuple(MASKS)),
            ("axes of the mask", _AXES[:few]),
            ("rows", (3,) if few else (1, 3)),
            ("head_dim", tuple(chosen[:few])),
            ("positions", tuple(k for k in kinds if profile.negative_positions or k != "negative")),
            ("scores", ("small", "large")),
        )
    )


_APART: Mapping[str, Sequence[str]] = {
    "padded": ("B H S T", "B 1 S T", "B 1 1 T"),
    "padded in front": ("B H S T", "B 1 S T", "B 1 1 T"),
    "a part for each head": ("B H S T", "1 H S T", "H S T"),
}
"""Masks that differ from row to row or from head to head, and the axes with which they do."""


def attention_rows(profile: Profile) -> Sequence[Levels]:
    """Return the rows of the table that are walked.

    They hold each pair of levels; and each mask that is not alike for all rows and heads over many
    keys, so that what skips blocks of these has to look at the mask of each.
    """
    table = attention_table(profile)
    levels, (first, *more) = dict(table.dimensions), table.rows()
    several = dict(first) | {"rows": levels["rows"][-1], "heads": "4 of 2"}
    apart = [
        several | {"mask": kind, "axes of the mask": axes, "lengths": length}
        for kind, asked in _APART.items()
        for axes in asked
        for length in levels["lengths"]
        if axes in levels["axes of the mask"] and pair_of(length)[1] > _WIDEST // 2
    ]
    return [first, *more, *apart]


def pair_of(level: Level) -> tuple[int, int]:
    """Return the two numbers of a level such as `5 of 7`."""
    one, other = str(level).split(" of ")
    return int(one), int(other)


def masked(kind: str, axes: str, at: Place) -> Bool | None:
    """Return a mask, True where a query may attend, with the axes that are named."""
    found = MASKS[kind](at)
    if found is None:
        return None
    whole = np.broadcast_to(found, at.shape)
    cut = {
        "S T": whole[0, 0],
        "1 1 S T": whole[:1, :1],
        "B 1 S T": whole[:, :1],
        "H S T": whole[0],
        "1 H S T": whole[:1],
        "B 1 1 T": whole[:, :1, :1],
    }
    return np.ascontiguousarray(cut.get(axes, whole))
