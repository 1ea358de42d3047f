"""Cases: small frozen values, from which all arrays are made."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.values import make_positions, make_values, numpy_dtype
from ropespec.spec.convention import Convention, Frequencies, Keywords

__all__ = ["Case", "Space", "pool", "seed_of"]

_FOLLOWED = "followed"
"""Which position number each pair follows, as plain JSON."""

_BETWEEN = 7
"""How far apart the position numbers of a token begin."""


@dataclass(frozen=True, slots=True)
class Case:
    """One drawn input of a rotation.

    Attributes
    ----------
    batch, seq, heads, head_dim : int
        Shape of x: (batch, seq, heads, head_dim).
    convention : Convention
        How it rotates.
    dtype : str
        dtype of x.
    positions : str
        Pattern of positions, see `ropespec.conformance.judge.values.POSITIONS`.
    start : int
        First position.
    limit : int
        Largest absolute position.
    values : str
        Pattern of x, see `ropespec.conformance.judge.values.VALUES`.
    strided : bool or str
        Whether x is handed over as a strided view, or as which one.
    seed : int
        Seed of the random numbers.
    positions_view : str
        As which view positions are handed over; empty for none.
    integers : str
        dtype of positions.
    cotangent_view : str
        As which view the cotangent of a gradient is handed over.
    """

    batch: int
    seq: int
    heads: int
    head_dim: int
    convention: Convention
    dtype: str
    positions: str
    start: int
    limit: int
    values: str
    strided: bool | str
    seed: int
    positions_view: str = ""
    integers: str = "int64"
    cotangent_view: str = ""

    @property
    def dim(self) -> int:
        """How many components are rotated."""
        return self.convention.dim(self.head_dim)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of x."""
        return self.batch, self.seq, self.heads, self.head_dim

    @property
    def numpy_dtype(self) -> np.dtype:
        """The NumPy dtype of x."""
        return numpy_dtype(self.dtype)

    @property
    def keywords(self) -> dict[str, Any]:
        """The keyword arguments of the rotation."""
        return self.convention.keywords

    @property
    def frequencies(self) -> Frequencies:
        """How far each pair rotates per position."""
        return self.convention.frequencies

    def only(self, *names: str) -> dict[str, Any]:
        """Return some of the keywords."""
        return {name: self.keywords[name] for name in names}

    def stating(self, **keywords: Unpack[Keywords]) -> Self:
        """Return the case in which these keywords of the rotation are others."""
        return dataclasses.replace(self, convention=self.convention.stating(**keywords))

    def make_positions(self) -> NDArray[np.int64]:
        """Positions of shape (batch, seq), or (batch, seq, n) where pairs follow n numbers."""
        if not self.convention.axes:
            return self._run(0)
        return np.stack([self._run(axis) for axis in range(max(self.convention.axes) + 1)], axis=-1)

    def _run(self, axis: int) -> NDArray[np.int64]:
        """Make one position number of each token; another one begins elsewhere."""
        start = abs(self.start - _BETWEEN * axis)
        of = self.positions, self.batch, self.seq, start, self.limit, self.seed + axis
        return np.roll(make_positions(*of), axis, axis=1)

    def make_x(
        self, positions: NDArray[np.int64] | None = None, seed: int = 0
    ) -> NDArray[np.floating]:
        """X of shape (batch, seq, heads, head_dim); `seed` tells apart several of one case."""
        where = self.make_positions() if positions is None else positions
        return make_values(
            self.values,
            self.shape,
            self.dtype,
            self.seed + 1000 * seed,
            positions=where,
            by=self.convention,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the case as plain JSON values."""
        plain = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        by = plain.pop("convention")
        return {**by.keywords, **({_FOLLOWED: list(by.axes)} if by.axes else {}), **plain}

    @classmethod
    def read(cls, plain: Mapping[str, Any], like: Convention) -> Self:
        """Return the case that `as_dict` wrote; what has no keyword is as in another convention."""
        said = {name: plain[name] for name in like.keywords}
        rest = {name: value for name, value in plain.items() if name not in said}
        axes = tuple(rest.pop(_FOLLOWED, ()))
        return cls(convention=dataclasses.replace(like.stating(**said), axes=axes), **rest)


@dataclass(frozen=True, slots=True)
class Space:
    """What a check draws from, beside what the profile allows.

    Attributes
    ----------
    values : sequence of str
        Patterns of x.
    positions : sequence of str
        Patterns of positions.
    dtypes : sequence of str or None
        Restrict the dtypes to these where claimed.
    max_position : int or None
        A limit below that of the profile, where the check itself needs one.
    min_batch, min_seq, min_heads, min_dim : int
        Smallest sizes.
    max_dim : int or None
        Largest head_dim where a smaller one is claimed.
    strided : bool
        Whether strided views are drawn.
    layouts : sequence of bool or None
        Restrict the layouts.
    partial : bool
        Only cases with a tail.
    usual_base : bool
        Draw base 10000, which is the default of printed forms, as often as all others together.
    numbers : bool
        Draw tokens whose position numbers differ, too, where several are claimed.
    """

    values: Sequence[str] = ("normal",)
    positions: Sequence[str] = ("arange", "ragged", "shuffled", "negative", "spread")
    dtypes: Sequence[str] | None = None
    max_position: int | None = None
    min_batch: int = 1
    min_seq: int = 1
    min_heads: int = 1
    min_dim: int = 2
    max_dim: int | None = None
    strided: bool = False
    layouts: Sequence[bool] | None = None
    partial: bool = False
    usual_base: bool = False
    numbers: bool = False


def seed_of(turn: int) -> int:
    """Return the seed of a case by its turn: any twelve in a row have all remainders by 12.

    Some are large, for what a check makes of their size.
    """
    return turn + 60 * (3 * turn % 7 > 3)


def pool(head_dims: tuple[int, ...], *, one_row: bool) -> list[tuple[int, int, int, int]]:
    """Return three shapes, the same for all checks: a compiler pays for each new one."""
    last = len(head_dims) - 1
    steps = ((1, 1, 1, 0), (2, 3, 2, min(3, last)), (3, 8, 4, last))
    shapes = [(1 if one_row else b, s, h, head_dims[i]) for b, s, h, i in steps]
    return list(dict.fromkeys(shapes))
