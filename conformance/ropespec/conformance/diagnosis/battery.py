"""The calls of a diagnosis: patterns of positions crossed with shapes, dtypes and views."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ropespec.conformance.diagnosis.edges import edges, farthest, no_runs
from ropespec.conformance.judge.values import numpy_dtype
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.profile import Profile

__all__ = ["Maker"]

Shape = tuple[int, int, int]

SMALL: tuple[Shape, ...] = (
    (2, 5, 3),
    (1, 1, 1),
    (3, 1, 2),
    (1, 7, 4),
    (4, 4, 4),
    (2, 2, 3),
    (3, 6, 6),
    (5, 5, 1),
    (1, 16, 1),
    (2, 17, 2),
    (3, 33, 1),
    (1, 40, 2),
    (2, 3, 9),
    (9, 2, 1),
    (1, 2, 5),
    (2, 8, 2),
    (1, 3, 1),
    (2, 1, 3),
    (2, 12, 1),
    (7, 3, 2),
)
LONG: tuple[Shape, ...] = (
    (1, 70, 2),
    (2, 131, 1),
    (1, 300, 1),
    (17, 3, 1),
    (70, 2, 1),
    (1, 2, 20),
    (1, 2, 70),
    (1, 555, 1),
    (1, 1131, 1),
    (2, 2200, 1),
    (1, 4099, 1),
)
"""Longer than blocks of any usual size, and by more than a small part of one."""
_NARROW = 64
"""The widest head whose rotation beyond the limit of a launch grid takes no more than a second."""
COMPILED: tuple[Shape, ...] = ((2, 5, 3), (1, 1, 1), (3, 8, 2), (1, 40, 1))


def _arange(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    del rng, most
    return np.broadcast_to(np.arange(s), (b, s)).copy()


def _from(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    return _arange(rng, b, s, most) + int(rng.integers(3, 60))


def _ragged(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    return _arange(rng, b, s, most) + rng.integers(0, 90, (b, 1))


def _scattered(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    return rng.integers(0, min(400, most + 1), (b, s))


def _falling(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    return np.array(_ragged(rng, b, s, most)[:, ::-1])


def _gaps(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    del most
    return np.cumsum(rng.integers(1, 5, (b, s)), axis=1)


def _packed(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    """Return documents that begin at 0 one after the other."""
    del most
    out = np.zeros((b, s), dtype=np.int64)
    for row in out:
        starts = np.sort(rng.integers(0, s, 2))
        for t in range(1, s):
            row[t] = 0 if t in starts else row[t - 1] + 1
    return out


def _padded(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    """Return rows that begin with some zeros."""
    return np.maximum(_arange(rng, b, s, most) - rng.integers(0, max(s // 2, 1) + 1, (b, 1)), 0)


def _one(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    del most
    return np.full((b, s), int(rng.integers(1, 50)))


def _zero(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    del rng, most
    return np.zeros((b, s), dtype=np.int64)


def _far(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    """Return positions of all magnitudes."""
    return np.exp(rng.uniform(0, np.log(most + 1), (b, s))).astype(np.int64)


def _negative(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    return np.asarray(-_scattered(rng, b, s, most) - (most > 0))


def _signs(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    size = _far(rng, b, s, most)
    size[:, 1::4] = 2 ** np.log2(np.maximum(size[:, 1::4], 1)).astype(np.int64)  # powers of two too
    return np.asarray(np.minimum(size, most) * rng.choice([-1, 1], (b, s)))


def _across_zero(rng: np.random.Generator, b: int, s: int, most: int) -> Array:
    """Return runs that begin below zero, or at its neighbours if they are short."""
    return _arange(rng, b, s, most) - np.minimum(rng.integers(1, 5, (b, 1)), most)


PATTERNS: dict[str, Callable[[np.random.Generator, int, int, int], Array]] = {
    "scattered": _scattered,
    "ragged": _ragged,
    "arange": _arange,
    "from": _from,
    "far": _far,
    "gaps": _gaps,
    "packed": _packed,
    "falling": _falling,
    "padded": _padded,
    "one": _one,
    "zero": _zero,
    "negative": _negative,
    "signs": _signs,
    "across zero": _across_zero,
}


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes calls that a profile claims.

    Attributes
    ----------
    profile : Profile
        The claims.
    taken : frozenset of str
        The keywords that the function takes.
    """

    profile: Profile
    taken: frozenset[str] = frozenset()

    @property
    def dims(self) -> tuple[int, ...]:
        """Head dimensions at which it may be called, the best to measure at first."""
        own = self.profile.head_dims
        first = [d for d in (32, 64, 16, 24, 128) if d in own]
        return tuple(dict.fromkeys((*first, *sorted(own, key=lambda d: abs(d - 32)))))

    def given(
        self,
        shape: Shape,
        pattern: str | Array,
        seed: int,
        *,
        dim: int | None = None,
        dtype: str | None = None,
        values: str = "normal",
    ) -> Given:
        """Make one call; what the profile leaves out is bent to what it allows."""
        b, s, h = self._fit(shape)
        rng = np.random.default_rng([seed, 5])
        if isinstance(pattern, str):
            positions = PATTERNS[pattern](rng, b, s, self.profile.max_position)
        else:
            positions = np.array(pattern[:b, :s])
            b, s = positions.shape
        positions = self._bent(positions)
        dim = dim or self.dims[0]
        x = self._x(rng, (b, s, h, dim), values)
        typed = x.astype(numpy_dtype(dtype or self.profile.dtypes[0]))
        layouts, claimed = self.profile.layouts, self.profile.rotation
        asked = claimed if seed % 2 else claimed.text
        return Given(typed, positions, asked.stating(interleaved=layouts[seed % len(layouts)]))

    def _x(self, rng: np.random.Generator, shape: tuple[int, ...], values: str) -> Array:
        x = rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
        if values == "large":
            return np.asarray(x * 3e4)
        if values == "huge":
            return np.asarray(x * 1e7)
        if values == "tiny":
            return np.asarray(x * 1e-6)
        return np.asarray(x)

    def _fit(self, shape: Shape) -> Shape:
        b, s, h = shape
        if self.profile.axes == "shd":
            b = 1
        most = self.profile.max_tokens
        if most is not None:
            s = min(s, most)
            b = min(b, max(most // s, 1))
        return b, s, h

    def _bent(self, positions: Array) -> Array:
        most = self.profile.max_position
        bent = np.clip(positions, -most, most)
        if not self.profile.negative_positions:
            bent = np.abs(bent)
        if self.profile.shared_positions:
            bent = np.broadcast_to(bent[:1], bent.shape)
        return np.array(bent, dtype=np.int64)

    def battery(self) -> Iterator[Given]:
        """Make the calls, the most usual ones first."""
        if self.profile.compiles:
            yield from self._compiled()
            return
        yield from edges(self)
        seed, names = 0, list(PATTERNS)
        for k, shape in enumerate(SMALL):
            for j in range(5):
                seed += 1
                pattern = names[(5 * k + j * (1 + k % 3)) % len(names)]
                yield self.given(shape, pattern, seed)
        yield from no_runs(self, seed)
        yield from self._widths(seed)
        yield from farthest(self)
        yield from self._kinds(seed)
        yield from self.flags(seed)
        for k, shape in enumerate(LONG):
            dim = self._narrow(shape)
            for pattern in ("scattered", "ragged"):
                yield self.given(shape, pattern, 500 + seed + k, dim=dim)
        for shape in ((1, 65541, 1), (65541, 1, 1)) if min(self.dims) <= _NARROW else ():
            yield self.given(shape, "scattered", 900, dim=min(self.dims))

    def _narrow(self, shape: Shape) -> int:
        """Return a head_dim that keeps long calls small."""
        if shape[1] * shape[0] < 300:
            return self.dims[0]
        return next(d for d in (8, 16, *sorted(self.dims)) if d in self.dims)

    def _compiled(self) -> Iterator[Given]:
        for k, shape in enumerate(COMPILED):
            for j, pattern in enumerate(PATTERNS):
                yield self.given(shape, pattern, 10 * k + j)
            last = self.profile.max_position - shape[1] + 1 + np.arange(shape[1])
            yield self.given(shape, np.broadcast_to(last, shape[:2]), 10 * k)
        for dim in self.dims[1:3]:
            for pattern in ("scattered", "far"):
                yield self.given((2, 5, 3), pattern, 40 + dim, dim=dim)
        yield from self._kinds(60)
        for shape in ((2, 131, 1), (1, 517, 1)):
            yield self.given(shape, "scattered", 70, dim=self._narrow(shape))

    def _widths(self, seed: int) -> Iterator[Given]:
        for dim in self.dims:
            for k, shape in enumerate(((2, 5, 2), (1, 1, 3))):
                pattern = ("scattered", "from")[k]
                yield self.given(shape, pattern, seed + dim + k, dim=dim)

    def _kinds(self, seed: int) -> Iterator[Given]:
        """Make calls of the other dtypes and values, and strided views."""
        shapes = SMALL[:12] if not self.profile.compiles else COMPILED[:2]
        for n, dtype in enumerate(self.profile.dtypes[1:]):
            for k, shape in enumerate(shapes):
                pattern = ("scattered", "far", "ragged", "from")[k % 4]
                yield self.given(shape, pattern, seed + 100 * n + k, dtype=dtype)
        for values in ("large", "huge", "tiny"):
            for dtype in self.profile.dtypes:
                fits = "normal" if (dtype, values) == ("float16", "huge") else values
                yield self.given(shapes[0], "scattered", seed + 7, values=fits, dtype=dtype)
        if self.profile.strided:
            for k, shape in enumerate((*shapes[:6], (1, 1, 1), (3, 1, 2))):
                made = self.given(shape, ("ragged", "scattered")[k % 2], seed + 50 + k)
                yield from (replace(made, strided=view) for view in (True, "offset"))
                yield replace(made, strided_positions=True)

    def flags(self, seed: int) -> Iterator[Given]:
        """Make calls with other values of the keywords that are taken."""
        for k, shape in enumerate(((2, 5, 2), (1, 1, 1), (1, 7, 3))):
            made = self.given(shape, "scattered", seed + 70 + k)
            if "base" in self.taken:
                for base in (500000.0 if made.base != 500000.0 else 10000.0, 1000.0):
                    yield made.scaled(made.scaling, base)
            if "rotary_dim" in self.taken:
                yield made.rotating(made.x.shape[-1] // 2)
                yield made.rotating(max(made.x.shape[-1] // 4, 2))
