"""Positions that were decoded, and the places that explain them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from ropespec.conformance.diagnosis.fit_ends import fitted_ends
from ropespec.conformance.diagnosis.read import places, snapped
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.mistakes.blocks import BLOCKS, blocked, by_blocks
from ropespec.conformance.mistakes.chain import Chain
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.ends import (
    LIMITED,
    from_the_end,
    largest,
    limited,
    padded,
    sliced,
    window,
)
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.orders import restarted, run_lengths
from ropespec.conformance.mistakes.place import combined
from ropespec.conformance.mistakes.sources import SOURCES

__all__ = ["fitted_places", "fitted_sums"]


class _Tokens(NamedTuple):
    """Tokens with their decoded positions, and each source's value there."""

    found: Array  # (N,)
    sources: dict[str, Array]  # (N,) each
    own: Array
    turns: Array  # after so many positions the slowest pair is where it was
    givens: list[tuple[Given, Array]]  # the calls, and which tokens of each

    @property
    def room(self) -> Array:
        """How far off a decoded position may be."""
        return np.asarray(2e-3 + 2e-5 * np.abs(self.found))

    def are_near(self, values: Array, at: slice) -> bool:
        """Whether some of the tokens are at these positions, or whole turns of all pairs off."""
        turn = self.turns[at]
        apart = (values - self.found[at] + turn / 2) % turn - turn / 2
        return bool(np.all(np.abs(apart) <= self.room[at]))


def fitted_places(wrong: Sequence[Seen], chain: Chain) -> Iterator[Choice]:
    """Return places that explain every position that was decoded, the simplest first."""
    for told in (True, False):
        tokens = _decoded(wrong, chain, told=told)
        if tokens is not None:
            yield from _sums(tokens)
            yield from _blocks(tokens)
            yield from _limits(tokens)
            yield from _slices(tokens)
            yield from _windows(tokens)
    yield from _usual_limits(wrong)
    yield from (from_the_end(end) for end in fitted_ends(wrong, chain))


def fitted_sums(wrong: Sequence[Seen], chain: Chain) -> Iterator[Choice]:
    """Return sums of sources alone that explain every position that was decoded."""
    tokens = _decoded(wrong, chain, told=False)
    yield from _sums(tokens) if tokens else ()


def _decoded(wrong: Sequence[Seen], chain: Chain, *, told: bool) -> _Tokens | None:
    """Decode positions; if `told`, of tokens that the slowest pair tells from all others alone."""
    found, own, turns = list[Array](), list[Array](), list[Array]()
    givens = list[tuple[Given, Array]]()
    sources: dict[str, list[Array]] = {word: [] for word in SOURCES}
    for seen in wrong:
        slowest = np.abs(chain.frequency(seen.given)).min(initial=np.inf)
        if chain.frequency(seen.given).shape[-1] < 4 or not slowest > 0:
            continue
        decoded = places(seen, chain)
        pairs = chain.pairing(seen.given)
        chosen = decoded.fits & seen.wrong[..., pairs.to_first].any(axis=-1)
        most = 0.9 * np.pi / slowest
        far = np.abs(decoded.found) < most
        at = np.flatnonzero(chosen & far)
        # Twice its position is a usual mistake, and has to be told too.
        at = at[np.abs(_spread(seen.given, "own")[at]) < (most / 2 if told else np.inf)]
        if not len(at):
            continue
        at = at[:: max(len(at) // 60, 1)]
        found.append(decoded.found.ravel()[at])
        own.append(_spread(seen.given, "own")[at])
        turns.append(np.full(len(at), 2 * np.pi / slowest))
        givens.append((seen.given, at))
        for word in SOURCES:
            sources[word].append(_spread(seen.given, word)[at])
    if sum(map(len, found)) < 2:
        return None
    joined = {word: np.concatenate(parts) for word, parts in sources.items()}
    return _Tokens(
        np.concatenate(found), joined, np.concatenate(own), np.concatenate(turns), givens
    )


def _spread(given: Given, word: str) -> Array:
    return np.broadcast_to(SOURCES[word][2](given)[..., 0], given.x.shape[:3]).ravel()


_FACTORS = (1.0, -1.0, 2.0, 0.5, 3.0, 4.0, 0.25)


def _sums(tokens: _Tokens) -> Iterator[Choice]:
    """Return sums of up to two sources and a constant."""
    room = tokens.room
    words = [w for w in SOURCES if w != "zero"]
    if np.all(np.abs(tokens.found - tokens.found[0]) <= room):
        yield combined((), snapped(float(tokens.found[0]), 1e-3))
    alone, scaled = list[str](), 0
    for word in words:
        rest = tokens.found - tokens.sources[word]
        if np.all(np.abs(rest - np.round(rest[0])) <= room):
            alone.append(word)
            yield combined(((word, 1.0),), float(np.round(rest[0])))
    for word in words:
        source = tokens.sources[word]
        if alone or not np.ptp(source):
            continue
        factor, constant = np.polyfit(source, tokens.found, 1)
        line = factor * source + constant
        if 1e-4 < abs(factor) < 1e4 and np.all(np.abs(tokens.found - line) <= room):
            scaled += 1
            yield combined(
                ((word, snapped(float(factor), 1e-4)),), snapped_integer(float(constant))
            )
            if scaled > 3:
                break
    if not (alone or scaled):
        yield from islice(_pairs_of(tokens, room, words), 12)


def snapped_integer(value: float) -> float:
    """Return the integer or half that a number is, or the number in few digits."""
    near = round(2 * value) / 2
    return near if abs(near - value) < 5e-3 else snapped(value, 1e-3)


def _pairs_of(tokens: _Tokens, room: Array, words: Sequence[str]) -> Iterator[Choice]:
    matrix = np.stack([tokens.sources[word] for word in words])
    few = np.linspace(0, len(room) - 1, _FEW).astype(int)  # they refute most sums
    screen, allowed = matrix[:, few], room[few]
    for k, word in enumerate(words):
        for factor in _FACTORS:
            rest = tokens.found - factor * matrix[k]
            for other in (1.0, -1.0, 2.0, -2.0, 0.5):
                left = rest[few] - other * screen
                level = np.round(left[:, 0])
                fits = np.all(np.abs(left - level[:, None]) <= allowed, axis=1)
                for j in map(int, np.flatnonzero(fits)):
                    if not (j > k or (j != k and factor != other)):
                        continue
                    if np.all(np.abs(rest - other * matrix[j] - level[j]) <= room):
                        yield combined(((word, factor), (words[j], other)), float(level[j]))


_FEW = 16
_SIZES = (
    *range(2, 34),
    *(48, 63, 64, 65, 96, 100, 127, 128, 129, 192, 200, 255, 256, 257, 384, 500, 511, 512, 513),
    *(1000, 1023, 1024, 1025, 2000, 2047, 2048, 2049, 4096),
)


def _blocks(tokens: _Tokens) -> Iterator[Choice]:
    """Return places by blocks of some size."""
    if np.all(np.abs(tokens.found - tokens.own) <= tokens.room):
        return
    several = any(given.x.shape[0] > 1 for given, _ in tokens.givens)
    for word, through in product(BLOCKS, (False, True)[: 1 + several]):
        source = by_blocks(word, through=through)
        for size in _SIZES:
            begin, fits = 0, True
            for given, at in tokens.givens:
                end = begin + len(at)
                values = np.broadcast_to(source(given, size)[..., 0], given.x.shape[:3]).ravel()
                fits = tokens.are_near(values[at], slice(begin, end))
                begin = end
                if not fits:
                    break
            if fits:
                yield blocked(word, size, through=through)


def _slices(tokens: _Tokens) -> Iterator[Choice]:
    """Return places of slices that are moved back to the end of a table."""
    steps, lengths = (_per_token(tokens, of) for of in (restarted, run_lengths))
    for bucket, doubled in product(_BUCKETS, (False, True)):
        rows = tokens.found - steps + padded(lengths, bucket, doubled=doubled)
        if np.all(np.abs(rows - np.round(rows[0])) <= tokens.room):
            yield sliced(int(np.round(rows[0])), bucket, doubled=doubled)


def _windows(tokens: _Tokens) -> Iterator[Choice]:
    """Return places of tables that end with the largest position, of the row or of the call."""
    for of_each_row in (True, False):
        below = _per_token(tokens, partial(largest, of_each_row=of_each_row)) - tokens.found
        rows = int(np.round(below[0])) + 1
        if rows > 1 and np.all(np.abs(below - below[0]) <= tokens.room):
            yield window(rows, of_each_row=of_each_row)


def _per_token(tokens: _Tokens, of: Callable[[Array], Array]) -> Array:
    parts = (np.repeat(of(one.positions), one.x.shape[2])[at] for one, at in tokens.givens)
    return np.concatenate(list(parts))


_BUCKETS = (1, 8, 16, 32, 64, 128, 256, 512)


def _usual_limits(wrong: Sequence[Seen]) -> Iterator[Choice]:
    """Return places that end with the first that is wrong, or at a power of two before it.

    They may be so far out that no pair tells positions apart.
    """
    sizes = [np.abs(one.given.positions[one.wrong.any(axis=(2, 3))]) for one in wrong]
    least = min((int(one.min()) for one in sizes if one.size), default=0)
    powers = range(least.bit_length() - 1, max(least.bit_length() - 4, 3), -1)
    ends = [least] if least > _SHORTEST else []
    for end in dict.fromkeys((*ends, *(2**power for power in powers))):
        yield from (limited(kind, end) for kind in LIMITED)


_SHORTEST = 16
"""The shortest table that is thought of."""


def _limits(tokens: _Tokens) -> Iterator[Choice]:
    """Return places that end at the length of a table."""
    size = np.abs(tokens.own)
    most = float(np.abs(tokens.found).max())
    ends = {round(most) + 1}
    over = size - np.abs(tokens.found)
    steps = np.round(over[over > 0.5])
    if len(steps):
        ends |= {int(np.gcd.reduce(steps.astype(np.int64))), int(steps.min())}
    for end in ends:
        if end < 2:
            continue
        for kind in LIMITED:
            choice = limited(kind, int(end))
            yield choice
