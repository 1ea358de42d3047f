"""One call of attention, and what each choice makes of its queries and keys."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np

from ropespec.conformance.diagnosis.candidates import made
from ropespec.conformance.diagnosis.others import answered
from ropespec.conformance.diagnosis.scored import places, sent
from ropespec.conformance.mistakes.chain import RIGHT, run
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.subject.session import Session
from ropespec.spec.convention import Convention

__all__ = [
    "BARE",
    "BLOCKS",
    "DIM",
    "FAR",
    "GROUPED",
    "HEADS",
    "LARGE",
    "MANY",
    "NOTHING",
    "OTHER_MASKS",
    "SIZES",
    "Attended",
    "attended",
    "centred",
    "own_tops",
    "rise",
]

DIM = 16
GROUPED, NARROW, OPEN = " of grouped heads", " of narrow values", " without a mask"
MASKED, BARE = " of heads with masks of their own", " of masks without an axis of rows"
LARGE = " of large scores"
MANY, FAR, PARTS = " of many keys", " of far positions", " of heads that see parts of the keys"
SIZES = {
    "": (5, 6),
    " of as many queries as keys": (0, 6),
    MANY: (5, 70),
    GROUPED: (5, 6),
    NARROW: (5, 6),
    OPEN: (5, 6),
    MASKED: (5, 6),
    BARE: (5, 6),
    FAR: (5, 6),
    PARTS: (5, 130),
    LARGE: (5, 6),
}
"""How many queries, 0 for as many as keys, and at least how many keys, by what a call is of."""

HEADS: dict[str, Callable[[Array, int, int], Array]] = {
    "": lambda h, heads, groups: h // (heads // groups),
    "head h has group min(h // groups, groups - 1)": lambda h, _, groups: np.minimum(
        h // groups, groups - 1
    ),
    "heads have the groups in turn": lambda h, _, groups: h % groups,
    "heads have the groups from the last": lambda h, heads, groups: (
        groups - 1 - h // (heads // groups)
    ),
    "all heads have the first group": lambda h, *_: 0 * h,
}
"""Which group of keys and values a head attends with, as claimed and otherwise."""

OTHER_MASKS: dict[str, Callable[[Array, int, int], Array]] = {
    "heads have masks in the order of the members of groups": lambda h, heads, groups: (
        h % (heads // groups) * groups + h // (heads // groups)
    ),
    "heads have masks in the order of their groups": lambda h, heads, groups: (
        h % groups * (heads // groups) + h // groups
    ),
    "the heads of a group have the mask of the first of them": lambda h, heads, groups: (
        h // (heads // groups) * (heads // groups)
    ),
    "the heads of a group have the mask of the last of them": lambda h, heads, groups: (
        (h // (heads // groups) + 1) * (heads // groups) - 1
    ),
    "all heads have the mask of the first": lambda h, *_: 0 * h,
}
"""Which head's mask a head is given, where it is not its own."""

_TAIL_AS_IT_IS = Choice(
    "scale without the tail",
    "product",
    "what passes by is not divided by sqrt(head_dim), as what rotates is",
    {},
    1.5,
)


@dataclass(frozen=True, eq=False)
class Attended:
    """One call and what came of it.

    Attributes
    ----------
    q, k : Given
        With their positions.
    v : ndarray
        (B, T, G, E).
    mask : ndarray of bool
        (S, T), or (H, S, T) where heads have masks of their own, (B, H, S, T) where rows have too.
    output, weights : ndarray
        (B, S, H, E) and (B, H, S, T).
    plain : bool
        Whether only what is claimed is tried of queries and keys.
    keyed : str
        The one of `HEADS` by which heads have their keys.
    split : int
        Of how many keys the blocks are whose weights are relative to their own largest score; 0
        for none.
    cap : float
        What scores are held below by a tanh; 0 for nothing.
    warm : bool
        Whether the scores of each query are multiplied by a number of its own.
    """

    q: Given
    k: Given
    v: Array
    mask: Array
    output: Array
    weights: Array
    plain: bool
    keyed: str = ""
    split: int = 0
    cap: float = 0.0
    warm: bool = False

    @cached_property
    def sides(self) -> tuple[dict[Choice, Array], dict[Choice, Array]]:
        """What each choice makes of the queries, and what of the keys, of each head of these."""
        key = replace(self.k, x=self.of_heads(self.k.x, self.keyed))
        most = 1 if self.plain else None
        queries, keys = (dict(islice(made(side), most)) for side in (self.q, key))
        r = self.q.convention.rotary_dim
        if r is not None:
            whole = np.where(np.arange(DIM) < r, 1.0, np.sqrt(DIM))
            queries[_TAIL_AS_IT_IS] = run(RIGHT, self.q).y * whole
            shared = np.where(np.arange(DIM) < r, key.x[:, :, :1], key.x)
            keys[_OF_ONE_KEY] = run(RIGHT, replace(key, x=shared)).y
        if not self.plain and self.q.positions.shape == self.k.positions.shape:
            queries[_OF_OTHERS] = run(RIGHT, replace(self.q, positions=self.k.positions)).y
            keys[_OF_OTHERS] = run(RIGHT, replace(key, positions=self.q.positions)).y
        return queries, keys

    @property
    def open(self) -> Array:
        """Which keys have a weight."""
        return np.asarray(self.weights > NOTHING)

    @property
    def masks(self) -> dict[str, Array]:
        """Which keys may have one, if the mask is taken rightly and otherwise."""
        found = {"right": self.mask, "ignored": np.ones_like(self.mask), "inverted": ~self.mask}
        if self.mask.ndim == 3:
            heads, groups = self.q.shape[2], self.k.shape[2]
            for name, other in OTHER_MASKS.items():
                found[name] = self.mask[other(np.arange(heads), heads, groups)]
            if len(self.mask) == self.q.shape[0]:
                found[BARE] = self.mask[:, None]
        if self.mask.ndim == 4:
            first = self.mask[0, 0].any(axis=0)
            for block in BLOCKS[_TILES:]:
                kept = own_tops(first.astype(float), block) > 0
                found[f"blocks of {block} keys"] = self.mask & kept
        return found

    def of_heads(self, parts: Array, how: str = "") -> Array:
        """Return what each head has of keys or values."""
        heads, groups = self.q.shape[2], parts.shape[2]
        return parts[:, :, HEADS[how](np.arange(heads), heads, groups)]


_OF_ONE_KEY = Choice(
    "one key rotates for all",
    "product",
    "the components that rotate are those of the first head",
    {},
    1.5,
)
_OF_OTHERS = Choice(
    "positions of the other side",
    "place",
    "the position is that of the other side, in the same place",
    {},
    1.5,
)


def attended(session: Session, draw: int, size: str, moved: int = 0) -> Attended | None:
    """Call attention of one of `SIZES`; None if no such result came.

    Queries may be moved by some positions, and keys by twice as many.
    """
    rng = np.random.default_rng([109, draw])
    queries, keys = SIZES[size]
    grouped = size in (GROUPED, MASKED)
    b, t, h = 2, keys + draw, 6 if grouped else 2 + draw % 2 * (size not in (BARE, PARTS))
    s, g = queries or t, 2 + draw % 2 if grouped else h
    shapes = ((b, s, h, DIM), (b, t, g, DIM), (b, t, g, DIM // (1 + (size == NARROW))))
    q, k, v = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    q = 3 * q if size == LARGE else q
    far = {"most": session.profile.max_position} if size == FAR else {}
    at, of = places(session, rng, (b, s), **far), places(session, rng, (b, t), **far)
    at, of = at + moved, of + 2 * moved
    mask = _mask(rng, size, (b, h, s, t))
    profile = session.profile
    partial = DIM // 2 if "rotary_dim" in session.offers["attention"].keywords else None
    how = Convention.of(
        interleaved=profile.layouts[0], base=float(profile.base), rotary_dim=partial
    )
    keywords = how.keywords | {
        "query_positions": sent(session, at),
        "key_positions": sent(session, of),
        **({} if size == OPEN else {"mask": mask[(None,) * (size != BARE) * (4 - mask.ndim)]}),
    }
    got = answered(session, "attention", (q, k, v), keywords)
    if len(got) != 2 or got[0].shape != (b, s, h, v.shape[-1]) or got[1].shape != (b, h, s, t):
        return None
    plain = size in (GROUPED, NARROW, OPEN, MASKED, BARE, FAR, PARTS, LARGE)
    return Attended(Given(q, at, how), Given(k, of, how), v, mask, *got, plain=plain)


def _mask(rng: np.random.Generator, size: str, shape: tuple[int, int, int, int]) -> Array:
    """Return which keys may be seen; of parts each head has another one in each row."""
    b, h, s, t = shape
    if size == PARTS:
        part = (np.arange(h) + np.arange(b)[:, None]) % h
        return np.asarray(np.arange(t) * h // t == part[..., None, None] + np.zeros((s, 1)))
    mask = rng.random((h, s, t) if size in (MASKED, BARE) else (s, t)) < _OPEN
    mask[..., :2] = True, False
    mask[..., 0, :] = True
    return np.asarray(mask | (size == OPEN))


_OPEN = 0.6


NOTHING = 1e-12
"""A weight below this is none."""

BLOCKS = (1, 2, 4, 8, 16, 32, 64)
"""Of how many keys the blocks of a running softmax may be."""

_TILES = 3
"""From which of them on blocks may be skipped."""


def own_tops(scores: Array, block: int) -> Array:
    """Return the largest score in the block of each key."""
    width = scores.shape[-1]
    return np.repeat(_tops(scores, block), block, axis=-1)[..., :width]


def _tops(scores: Array, block: int) -> Array:
    width = scores.shape[-1]
    padded = np.full((*scores.shape[:-1], -(-width // block) * block), -np.inf)
    padded[..., :width] = scores
    return np.asarray(padded.reshape(*scores.shape[:-1], -1, block).max(axis=-1))


def rise(scores: Array, block: int) -> Array:
    """Return by how much the largest score is larger than that until the block of each key."""
    width, tops = scores.shape[-1], _tops(scores, block)
    until = np.repeat(np.maximum.accumulate(tops, axis=-1), block, axis=-1)[..., :width]
    return np.where(np.isfinite(until), scores.max(axis=-1, keepdims=True) - until, 0.0)


def centred(scores: Array, open_: Array, sums: str) -> Array:
    """Take off what a softmax over an axis does not tell."""
    axis = _AXES[sums]
    kept = np.where(open_, scores, 0.0)
    count = np.maximum(open_.sum(axis=axis, keepdims=True), 1)
    return np.asarray(np.where(open_, scores - kept.sum(axis=axis, keepdims=True) / count, 0.0))


_AXES: dict[str, int | tuple[int, ...]] = {
    "over keys": -1,
    "over queries": -2,
    "over heads": 1,
    "none": -1,
}
