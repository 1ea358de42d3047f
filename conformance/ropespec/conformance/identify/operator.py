"""The operator that a subject applies, read off basis vectors (RoPE is linear in x)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.probe import Float, Probe

__all__ = ["MODES", "Blocks", "Channels", "read_blocks", "read_channels"]

_HEADS = 2  # for the whole operator
_MORE = 3  # for the blocks: a frequency that depends on the number of heads then stands alone
_PLACES = ((0, 1, 2, 101, 64, 83, 17, 5, 3), (0, 1, 2, 3))
# Slow pairs may need far positions to show that they turn at all; tables may end before them.
_DISTANT = (0, 1, 2, 101, 1009, 30011, 17, 5, 3)
_QUIET = 2e-6

MODES = ("given", "run", "each")
"""How tokens are brought to a position: it is given them, in a run of all, or to all tokens of a
call. One of these reaches a subject that takes positions from elsewhere."""


@dataclass(frozen=True, slots=True)
class Channels:
    """Which components turn together.

    Attributes
    ----------
    inputs, outputs : ndarray of int, shape (pairs, 2)
        Components of each pair, before and after, in ascending order.
    head_dim : int
        At which it was read.
    is_paired : bool
        Whether all that changes does so in pairs.
    crosses : bool
        Whether components of different heads turn together.
    tail : str
        What becomes of the others: `none`, `kept`, `zeroed`, `scaled`.
    """

    inputs: NDArray[np.intp]
    outputs: NDArray[np.intp]
    head_dim: int
    is_paired: bool
    crosses: bool
    tail: str

    @property
    def rotary_dim(self) -> int:
        """How many components turn."""
        return int(self.inputs.size)

    @property
    def start(self) -> int:
        """The first component that turns."""
        return int(self.inputs.min()) if self.inputs.size else 0


@dataclass(frozen=True, slots=True)
class Blocks:
    """The 2x2 matrices of each pair at several positions.

    Attributes
    ----------
    positions : ndarray of int, shape (P,)
        Where.
    matrix : ndarray, shape (P, pairs, 2, 2)
        Row: member of the result; column: member of x.
    """

    positions: NDArray[np.int64]
    matrix: Float

    @property
    def angle(self) -> Float:
        """Angle of each pair, counter-clockwise, (P, pairs)."""
        m = self.matrix
        return np.arctan2(m[..., 1, 0] - m[..., 0, 1], m[..., 0, 0] + m[..., 1, 1])

    @property
    def gain(self) -> Float:
        """Length of the first column of each block, (P, pairs)."""
        return np.asarray(np.hypot(self.matrix[..., 0, 0], self.matrix[..., 1, 0]))

    @property
    def is_rotation(self) -> bool:
        """Whether every block is a rotation times a number."""
        (a, b), (c, d) = np.moveaxis(self.matrix, (-2, -1), (0, 1))
        room = 0.02 * self.gain  # entries of half precision are off by 0.004
        return bool((np.abs(a - d) <= room).all() and (np.abs(b + c) <= room).all())


def _turned(probe: Probe, vectors: Float, positions: tuple[int, ...], mode: str) -> Float | None:
    """Turn vectors (N, H, D) by each of the positions: (N, P, H, D), or None if it raises."""
    if mode == "each":
        parts = [_row(probe, vectors, (p, p)) for p in positions]
        kept = [part[:, 0] for part in parts if part is not None]
        return np.stack(kept, axis=1) if len(kept) == len(parts) else None
    if mode == "given":
        return _row(probe, vectors, positions)
    if max(positions) > 300:
        return None
    # Of a sequence that is cut in parts, up to four, the first one still reaches all positions.
    most = min(4 * max(positions) + 4, max(probe.profile.max_position, *positions) + 1)
    run = _row(probe, vectors, tuple(range(most)))
    return None if run is None else run[:, list(positions)]


def _row(probe: Probe, vectors: Float, positions: tuple[int, ...]) -> Float | None:
    many, heads, dim = vectors.shape
    x = np.broadcast_to(vectors[:, None], (many, len(positions), heads, dim))
    return probe.rotate(x, np.broadcast_to(np.array(positions), (many, len(positions))))


def read_channels(probe: Probe, dim: int, mode: str) -> Channels | None:
    """Find which components turn together, by unit vectors in every component of two heads."""
    size = _HEADS * dim
    vectors = np.eye(size).reshape(size, _HEADS, dim)

    def read(places: tuple[int, ...]) -> Channels | None:
        y = _turned(probe, vectors, places, mode)
        if y is None or (places is _DISTANT and not np.isfinite(y).all()):
            return None  # beyond the end of a table that is filled with what is no number
        # columns of the operator, by position: (P, out, in)
        return _channels(y.reshape(size, len(places), size).transpose(1, 2, 0), dim)

    limit = probe.profile.max_position
    # What takes positions from elsewhere is read near zero: a run to far ones is long.
    tried = _PLACES if mode == MODES[0] else _PLACES[-1:]
    usable = [places for places in tried if max(places) <= limit] or _PLACES[-1:]
    near = next((found for found in map(read, usable) if found is not None), None)
    apart = near is not None and near.tail in ("kept", "scaled") and mode == MODES[0]
    return (read(_DISTANT) if apart and limit >= max(_DISTANT) else None) or near


def _channels(m: Float, dim: int) -> Channels:
    with np.errstate(invalid="ignore"):
        away = np.abs(m - np.eye(m.shape[1])).max(axis=(0, 1))
    support = np.abs(m).max(axis=0) > _QUIET
    crosses = bool(support[:dim, dim:].any() or support[dim:, :dim].any())
    moving = np.flatnonzero(away[: None if crosses else dim] > _QUIET)
    zeroed = ~support.any(axis=0)
    groups = _joined(support, [int(j) for j in moving if not zeroed[j]])
    pairs = {key: rows for key, rows in groups.items() if (len(key), len(rows)) == (2, 2)}
    lone = [key for key, rows in groups.items() if len(key) == 1 and key == rows and pairs]
    rest = "kept" if len(moving) < dim else "none"
    tail = "zeroed" if zeroed[moving].any() else "scaled" if lone else rest
    inputs, outputs = (
        np.array(sorted(pairs) if end == "in" else [pairs[key] for key in sorted(pairs)], np.intp)
        for end in ("in", "out")
    )
    shape = (len(pairs), 2)
    paired = len(pairs) + len(lone) == len(groups)
    return Channels(inputs.reshape(shape), outputs.reshape(shape), dim, paired, crosses, tail)


def _joined(
    support: NDArray[np.bool_], columns: list[int]
) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Group columns through the rows they share: the rows of each group by its columns."""
    left, groups = set(columns), dict[tuple[int, ...], tuple[int, ...]]()
    while left:
        members, rows = set[int](), set[int]()
        more = {min(left)}
        while more:
            members |= more
            rows = {int(i) for i in np.flatnonzero(support[:, sorted(members)].any(axis=1))}
            more = {j for j in left if support[sorted(rows), j].any()} - members
        left -= members
        groups[tuple(sorted(members))] = tuple(sorted(rows))
    return groups


def read_blocks(
    probe: Probe, channels: Channels, positions: tuple[int, ...], mode: str
) -> Blocks | None:
    """Read the blocks of all pairs at once: all first members in one vector, all second in another.

    Returns None if the subject raises or gives no numbers.
    """
    vectors = np.zeros((2, _MORE, channels.head_dim))
    for member in (0, 1):
        vectors[member][:, channels.inputs[:, member]] = 1.0
    y = _turned(probe, vectors, positions, mode)
    if y is None or not np.isfinite(y).all():
        return None
    matrix = np.empty((len(positions), len(channels.inputs), 2, 2))
    for column in (0, 1):
        for row in (0, 1):
            matrix[..., row, column] = y[column, :, 0, channels.outputs[:, row]].T
    return Blocks(np.array(positions, dtype=np.int64), matrix)
