"""The operator that a subject applies, read off basis vectors (RoPE is linear in x)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.facts import Block, Pairing, Source
from ropespec.conformance.identify.probe import Probe
from ropespec.conformance.identify.sources import Sources

__all__ = ["Blocks", "Channels", "Reader", "read_blocks", "read_channels"]

Float = NDArray[np.float64]

_HEADS = 2  # for the whole operator
_MORE = 3  # for the blocks: a frequency that depends on the number of heads then stands alone
_PLACES = ((0, 1, 2, 101, 64, 83, 17, 5, 3), (0, 1, 2, 3))
# Slow pairs may need far positions to show that they turn at all; tables may end before them.
_DISTANT = (0, 1, 2, 101, 1009, 30011, 17, 5, 3)


@dataclass(frozen=True, slots=True)
class Channels:
    """Which components turn together.

    Attributes
    ----------
    pairing : Pairing
        The convention.
    inputs, outputs : ndarray of int, shape (pairs, 2)
        Components of each pair, before and after, counted through all heads.
    head_dim : int
        At which it was read.
    start : int
        The first component that turns.
    rotary_dim : int
        How many turn.
    tail : str
        What becomes of the others: `none`, `kept`, `zeroed`, `scaled`.
    permuted : str
        The order of the result where it is not that of x.
    diagonal : Block or None
        If no component reaches another, yet they change: what they are multiplied by.
    """

    pairing: Pairing
    inputs: NDArray[np.intp]
    outputs: NDArray[np.intp]
    head_dim: int
    start: int
    rotary_dim: int
    tail: str
    permuted: str = ""
    diagonal: Block | None = None


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

    def up_to(self, largest: int) -> "Blocks":
        """Return those at the positions that are not larger."""
        return self.cut(slice(int(np.argmax(self.positions > largest)) or None))

    def cut(self, places: slice) -> "Blocks":
        """Return those at some of the places."""
        return Blocks(self.positions[places], self.matrix[places])

    @property
    def angle(self) -> Float:
        """Angle of each pair, counter-clockwise, (P, pairs)."""
        m = self.matrix
        return np.arctan2(m[..., 1, 0] - m[..., 0, 1], m[..., 0, 0] + m[..., 1, 1])

    @property
    def gain(self) -> Float:
        """Length of the first column of each block, (P, pairs)."""
        return np.asarray(np.hypot(self.matrix[..., 0, 0], self.matrix[..., 1, 0]))


@dataclass(frozen=True, slots=True)
class Reader:
    """Turns rows of vectors at chosen positions, whatever the subject takes positions from.

    Attributes
    ----------
    probe : Probe
        The subject.
    sources : Sources
        Where its positions come from.
    """

    probe: Probe
    sources: Sources

    def turn(self, vectors: Float, positions: tuple[int, ...]) -> Float | None:
        """Turn vectors (N, H, D) by each of the positions: (N, P, H, D), or None if it raises."""
        match self.sources.tokens:
            case Source.ONE | Source.FIRST_PART | Source.MOVED:
                parts = [self._plain(vectors, (p, p)) for p in positions]
                if any(part is None for part in parts):
                    return None
                return np.stack([part[:, 0] for part in parts if part is not None], axis=1)
            case Source.COUNTED | Source.FROM_FIRST:
                if max(positions) > 300:
                    return None
                run = self._plain(vectors, tuple(range(max(positions) + 1)))
                return None if run is None else run[:, list(positions)]
            case Source.LOCAL:  # the first of up to four parts
                if max(positions) > 300:
                    return None
                run = self._plain(vectors, tuple(range(4 * max(positions) + 4)))
                return None if run is None else run[:, list(positions)]
            case _:
                return self._plain(vectors, positions)

    def _plain(self, vectors: Float, positions: tuple[int, ...]) -> Float | None:
        many, heads, dim = vectors.shape
        x = np.broadcast_to(vectors[:, None], (many, len(positions), heads, dim))
        where = np.broadcast_to(np.array(positions, dtype=np.int64), (many, len(positions)))
        return self.probe.rotate(x, where).y


def read_channels(reader: Reader, dim: int) -> Channels | None:
    """Find which components turn together, by unit vectors in every component of two heads."""
    size = _HEADS * dim
    vectors = np.eye(size).reshape(size, _HEADS, dim)

    def read(places: tuple[int, ...]) -> Channels | None:
        y = reader.turn(vectors, places)
        if y is None or (places is _DISTANT and not np.isfinite(y).all()):
            return None  # beyond the end of a table that is filled with what is no number
        # columns of the operator, by position: (P, out, in)
        return _channels(y.reshape(size, len(places), size).transpose(1, 2, 0), dim)

    limit = reader.probe.session.profile.max_position
    usable = [places for places in _PLACES if max(places) <= limit] or _PLACES[-1:]
    near = next((found for found in map(read, usable) if found is not None), None)
    if near is None or near.tail != "kept" or limit < max(_DISTANT):
        return near
    return read(_DISTANT) or near


def _channels(m: Float, dim: int) -> Channels:
    size = m.shape[1]
    quiet = 2e-6
    with np.errstate(invalid="ignore"):
        away = np.abs(m - np.eye(size)).max(axis=0)
    moving = away.max(axis=0) > quiet
    support = np.abs(m).max(axis=0) > quiet
    crossing = bool(support[:dim, dim:].any() or support[dim:, :dim].any())
    columns = np.flatnonzero(moving if crossing else moving[:dim])
    zeroed = [j for j in columns if not support[:, j].any()]
    columns = np.array([j for j in columns if j not in zeroed], dtype=np.intp)
    scaled = _scaled(m, support, columns)
    columns = np.array([j for j in columns if j not in scaled], dtype=np.intp)
    first = int(columns[0]) if len(columns) else 0
    tail = "kept" if len(columns) < len(moving if crossing else moving[:dim]) else "none"
    tail = "zeroed" if zeroed else "scaled" if scaled else tail
    empty = np.zeros((0, 2), dtype=np.intp)
    if not len(columns):
        return Channels(Pairing.NONE, empty, empty, dim, 0, 0, tail)
    inputs, outputs = _pairs(support, columns)
    if inputs is None or outputs is None:
        alone = not (support & ~np.eye(size, dtype=bool)).any()
        kind = Pairing.NONE if alone else Pairing.OTHER
        diagonal = _factors(np.diagonal(m, axis1=1, axis2=2)[:, columns]) if alone else None
        return Channels(kind, empty, empty, dim, first, len(columns), tail, diagonal=diagonal)
    kind = Pairing.CROSSING_HEADS if crossing else _convention(inputs, dim, first)
    permuted = ""
    if (inputs != outputs).any():
        permuted = "de-interleaved" if _deinterleaved(inputs, outputs) else "permuted"
    return Channels(kind, inputs, outputs, dim, first, 2 * len(inputs), tail, permuted)


def _scaled(m: Float, support: NDArray[np.bool_], columns: NDArray[np.intp]) -> list[int]:
    """Return the columns that a factor multiplies, the same at every position, beside pairs."""
    lone = [
        int(j)
        for j in columns
        if support[:, j].sum() == 1 == support[j].sum() and np.ptp(m[:, j, j]) < 1e-3
    ]
    rest = [int(j) for j in columns if j not in lone]
    if not lone or not rest or np.abs(m[0, rest, rest] - 1).max() > 1e-2:
        return []  # a gain on all components, or the slowest pairs of them
    return lone if (np.abs(m[0, lone, lone] - 1) > 1e-2).all() else []


def _factors(factors: Float) -> Block:
    """Tell cosines, 1 at position 0 and smaller elsewhere, from other factors."""
    start = np.abs(factors[0] - 1).max() < 0.02
    cosines = np.abs(factors).max() < 1.02 and np.ptp(factors, axis=0).max() > 0.2
    return Block.LOST_SINE if start and cosines else Block.OTHER


def _pairs(
    support: NDArray[np.bool_], columns: NDArray[np.intp]
) -> tuple[NDArray[np.intp] | None, NDArray[np.intp] | None]:
    """Group the columns that reach the same two rows; None where they do not come in pairs."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for j in columns:
        groups.setdefault(tuple(int(i) for i in np.flatnonzero(support[:, j])), []).append(int(j))
    if any(len(rows) != 2 or len(members) != 2 for rows, members in groups.items()):
        groups = _joined(support, columns)
    if any(len(rows) != 2 or len(members) != 2 for rows, members in groups.items()):
        return None, None
    ordered = sorted(groups.items(), key=lambda item: item[1])
    inputs = np.array([members for _, members in ordered], dtype=np.intp)
    outputs = np.array([rows for rows, _ in ordered], dtype=np.intp)
    return inputs, outputs


def _joined(
    support: NDArray[np.bool_], columns: NDArray[np.intp]
) -> dict[tuple[int, ...], list[int]]:
    """Group columns through the rows they share, for blocks with an entry that is zero."""
    left = {int(j) for j in columns}
    groups: dict[tuple[int, ...], list[int]] = {}
    while left:
        members = {min(left)}
        while True:
            rows = {int(i) for j in members for i in np.flatnonzero(support[:, j])}
            more = {j for j in left if any(support[i, j] for i in rows)} | members
            if more == members:
                break
            members = more
        left -= members
        groups[tuple(sorted(rows))] = sorted(members)
    return groups


def _convention(inputs: NDArray[np.intp], dim: int, first: int) -> Pairing:
    distance = inputs[:, 1] - inputs[:, 0]
    if (distance == 1).all() and ((inputs[:, 0] - first) % 2 == 0).all() and len(inputs) > 1:
        return Pairing.INTERLEAVED
    if (distance == len(inputs)).all():
        return Pairing.HALF
    if (distance == dim // 2).all():
        return Pairing.HALF_OF_HEAD
    return Pairing.OTHER


def _deinterleaved(inputs: NDArray[np.intp], outputs: NDArray[np.intp]) -> bool:
    count = len(inputs)
    start = int(inputs.min())
    return bool(
        (inputs[:, 1] - inputs[:, 0] == 1).all()
        and (outputs[:, 0] == start + np.arange(count)).all()
        and (outputs[:, 1] - outputs[:, 0] == count).all()
    )


def read_blocks(reader: Reader, channels: Channels, positions: tuple[int, ...]) -> Blocks | None:
    """Read the blocks of all pairs at once: all first members in one vector, all second in another.

    Returns None if the subject raises or gives no numbers.
    """
    heads = _HEADS if channels.pairing is Pairing.CROSSING_HEADS else _MORE
    dim, many = channels.head_dim, heads * channels.head_dim
    vectors = np.zeros((2, many))
    for member in (0, 1):
        vectors[member, channels.inputs[:, member]] = 1.0
        if channels.pairing is not Pairing.CROSSING_HEADS:
            vectors[member] = np.tile(vectors[member, :dim], heads)
    y = reader.turn(vectors.reshape(2, heads, dim), positions)
    if y is None:
        return None
    flat = y.reshape(2, len(positions), many)
    matrix = np.empty((len(positions), len(channels.inputs), 2, 2))
    for column in (0, 1):
        for row in (0, 1):
            matrix[..., row, column] = flat[column][:, channels.outputs[:, row]]
    return Blocks(np.array(positions, dtype=np.int64), matrix)
