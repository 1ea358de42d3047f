"""Calls that have a feature, as far as it can be chosen."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.where import Atom, Where
from ropespec.conformance.grouped import queries
from ropespec.conformance.mistakes.given import Given

__all__ = ["with_feature"]

_AXES = {"rows": 0, "tokens": 1, "heads": 2, "row": 0, "token": 1, "head": 2}
_SIZES: tuple[tuple[tuple[str, str, str], Callable[[int], int]], ...] = (
    (("rows", "tokens", "heads"), lambda n: n),
    (("last row", "last token", "last head"), lambda n: max(n, 1)),
    (("row", "token", "head"), lambda n: max(n + 2, 1)),
    (("odd rows", "odd length", "odd heads"), lambda n: 2 + n % 2),
)
"""How large an axis is where a feature of it has a value."""
_SIZED = {name: (axis, size) for names, size in _SIZES for axis, name in enumerate(names)}
_OF_ONE = " of q or k"
_MOST = 200_000
_MANY = 3_000


@dataclass(slots=True)
class _Wanted:
    """A call that is to have some features."""

    shape: list[int]
    dim: int
    dtype: str | None = None
    position: int | None = None
    strided: bool = False
    strided_positions: bool = False

    def hold(self, atom: Atom, maker: Maker) -> None:
        """Keep a condition beside the one that is varied."""
        n = int(atom.value)
        match atom.feature:
            case "tokens" | "rows" | "heads":
                self.shape[_AXES[atom.feature]] = n
            case "token" | "row" | "head" if atom.op != "<=":
                axis = _AXES[atom.feature]
                self.shape[axis] = max(self.shape[axis], n + 2)
            case "dtype":
                self.dtype = ("float32", "float64", "float16", "bfloat16")[n]
            case "dim" if n in maker.dims:
                self.dim = n
            case "strided" | "gaps":
                self.strided = n == 1
            case "strided positions":
                self.strided_positions = n == 1

    def vary(self, feature: str, n: int) -> None:
        """Give a feature a value."""
        if n > _MANY and feature != "elements":
            self.shape = [1, 1, 1]
        if feature in _SIZED:
            axis, size = _SIZED[feature]
            self.shape[axis] = size(n)
        elif feature in ("all places", "place"):
            self.shape[:2] = [1, max(n, 1)]
        elif feature in ("distance", "position", "farthest", "highest", "start"):
            self.position = n
        elif feature.startswith("rest of"):
            pack, word = feature.removesuffix(_OF_ONE).split()[2:]
            self._leave_over(int(pack), word, 1 + n)
        elif feature.endswith(_OF_ONE):
            self.shape[2] = max(n + 2, 1)
        if feature.endswith(_OF_ONE):
            self.shape[2] = _shared_out(self.shape[2])

    def _leave_over(self, pack: int, word: str, whole: int) -> None:
        """Take whole packs and, but for the first number of them, something over."""
        size = pack * whole + (0, 1, pack - 1)[min(max(whole - 1, 0), 2)]
        if word == "places":
            self.shape[0] = 1
        self.shape[_AXES.get(word, 1)] = size


def _shared_out(of_q: int) -> int:
    """Return how many heads x has where q has so many, or more."""
    return next((n for n in range(of_q, 2 * of_q) if queries(n) == of_q), 2 * of_q)


def with_feature(maker: Maker, feature: str, value: float, where: Where, seed: int) -> list[Given]:
    """Make calls in which a feature has a value, as far as it can be chosen."""
    if feature in ("dim", "pair") or (feature.startswith("rest") and feature.endswith("pairs")):
        return [maker.given((2, 5, 2), "scattered", seed, dim=d) for d in maker.dims[:8]]
    wanted = _Wanted([2, 5, 2], maker.dims[0])
    for atom in where.atoms:
        if atom.feature != feature:
            wanted.hold(atom, maker)
    if feature == "elements":  # of an odd number of tokens, so that packs leave something over
        wanted.dim = min(maker.dims)
        wanted.shape = [1, int(value) // wanted.dim | 1, 1]
    wanted.vary(feature, int(value))
    size = int(np.prod(wanted.shape))
    if not 0 < size <= _MOST or abs(wanted.position or 0) > maker.profile.max_position:
        return []
    b, s, h = wanted.shape
    given = maker.given(
        (b, s, h),
        "scattered" if wanted.position is None else np.full((b, s), wanted.position),
        seed,
        dim=min(maker.dims) if size > _MANY else wanted.dim,
        dtype=wanted.dtype,
    )
    return [replace(given, strided=wanted.strided, strided_positions=wanted.strided_positions)]
