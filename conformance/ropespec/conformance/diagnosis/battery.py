"""The calls of a diagnosis: patterns of positions crossed with shapes, dtypes and views."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ropespec.conformance.diagnosis.edges import edges, farthest, no_runs, powers
from ropespec.conformance.diagnosis.patterns import PATTERNS
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
        yield from self.numbers()
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
        yield from self.numbers()
        for shape in ((2, 131, 1), (1, 517, 1)):
            yield self.given(shape, "scattered", 70, dim=self._narrow(shape))

    def numbers(self) -> Iterator[Given]:
        """Make calls in which one of a token's several numbers counts alone, ever farther out.

        They come first, before what is kept has grown for all of them.
        """
        count = max(self.profile.rotation.axes, default=-1) + 1
        for power in powers(self) if count else ():
            rng = np.random.default_rng([power, 7])
            far = rng.integers(2 ** (power - 1), 2**power, (2, 5))
            yield replace(self.given((2, 5, 3), far, 801 + 2 * power), only=power % count)

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
