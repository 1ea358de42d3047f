"""Positions that are kept of an earlier call, by what the two have alike."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.chain import own_position
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.keys import (
    KEYS,
    KEYS_OF_NUMBERS,
    LIMITS,
    Source,
    first,
    limited,
    previous,
    run,
)

__all__ = ["KEPT_POSITIONS", "LIMITED", "MISTAKES"]

MISTAKES = entries("""
C1 stale positions
    The positions of an earlier call are used; put the offset into the key of the cache.
slots overwritten
    Positions of one call share a slot of a cache, and the row of one is overwritten before it is
    read; read each row before the next is filled in, or let no two positions share a slot.
bits of the first call
    What is kept goes as far as the first call did, and later positions lose the digits above; make
    it longer for each call that goes farther.
""")


def _placed(given: Given, kept: Given) -> Array:
    """Return positions of another call as far as they fit this one."""
    b, s = given.positions.shape
    p = kept.positions
    if p.shape == (b, s):
        return own_position(_at(given, kept, p))
    if p.shape[1] == s and len(p):
        return own_position(_at(given, kept, np.broadcast_to(p[:1], (b, s))))
    if p.shape[1] > s and len(p):
        cut = p[:, :s] if len(p) == b else p[:1, :s]
        return own_position(_at(given, kept, np.broadcast_to(cut, (b, s))))
    return own_position(given)


def _at(given: Given, kept: Given, positions: Array) -> Given:
    """Return the call at positions of another, whose tokens may have several numbers."""
    return replace(given.following(kept.axes), positions=positions, only=kept.only)


def _of(source: Source, *, row: bool = False) -> Callable[[Given], Array]:
    """Return the place in the call that left what is kept, or in its first row."""

    def place(given: Given) -> Array:
        kept = source(given)
        if row:
            p = kept.positions[:1, : given.x.shape[1]]
            return own_position(_at(given, kept, np.broadcast_to(p, given.positions.shape)))
        return _placed(given, kept)

    return place


def _longest(given: Given) -> Array:
    """Return the positions of the longest call so far, cut to this one."""
    kept = given
    for one in (*given.past, given):
        if one.x.shape[1] > kept.x.shape[1] or kept is given:
            kept = one
    return _placed(given, kept)


def _gone_on(g: Given) -> Array:
    """Return the position of a token that goes on from the first token of the call before."""
    ends, place = np.zeros((0, 1)), g.positions
    for one in (*(one for one in g.past if one.turning == g.turning), g):
        place = place[:, :1] + 1 if np.array_equal(one.positions, ends) else one.positions
        ends = one.positions[:, -1:] + 1
    return place[..., None, None].astype(np.float64)


def _in_bits_of_the_first(g: Given) -> Array:
    """Return the position in as many bits as the farthest of the first call of this width has."""
    source = first(lambda one: one.turning)(g)
    bits = int(np.abs(source.positions).max(initial=1)).bit_length()
    p = own_position(g)
    return np.asarray(np.fmod(p, 2.0**bits))


def _in_slots(bits: int) -> Callable[[Given], Array]:
    """Return the position whose row is in the slot, of a cache that a call fills and then reads."""

    def place(given: Given) -> Array:
        rows = np.full(2**bits, np.iinfo(np.int64).min)
        for one in (*(one for one in given.past if one.turning == given.turning), given):
            p = one.positions.ravel()
            new = p[rows[p % 2**bits] != p]
            rows[new % 2**bits] = new  # the last one stays
        return np.asarray(rows[given.positions % 2**bits][..., None, None], np.float64)

    return place


def _stale(what: str, place: Callable[[Given], Array], cost: float) -> Choice:
    return Choice("C1", "memory", f"the position is {what}", {"place": place}, cost)


KEPT_POSITIONS: tuple[Choice, ...] = (
    *(
        _stale(f"that of the first {word}", _of(first(key)), 1.0 + 0.01 * k)
        for k, (word, key) in enumerate(KEYS)
    ),
    *(
        _stale(f"that of row 0 of the first {word}", _of(first(key), row=True), 1.1 + 0.01 * k)
        for k, (word, key) in enumerate(KEYS[1:6])
    ),
    *(
        _stale(f"that of the last {word} before", _of(previous(key)), 1.2 + 0.01 * k)
        for k, (word, key) in enumerate(KEYS)
    ),
    *(
        _stale(f"that of the first {word} since another", _of(run(key)), 1.15 + 0.01 * k)
        for k, (word, key) in enumerate(KEYS[1:])
    ),
    *(
        _stale(f"that of the first {word}{since}", _of(source(key)), 1.3 + 0.01 * k)
        for k, (word, key) in enumerate(KEYS_OF_NUMBERS)
        for since, source in (("", first), (" since another", run))
    ),
    Choice(
        "bits of the first call",
        "memory",
        "the position is its own in as many bits as the farthest of the first of this head_dim has",
        {"place": _in_bits_of_the_first},
        1.3,
    ),
    *(
        Choice(
            "slots overwritten",
            "memory",
            f"the position is that of the last token whose row has its slot, of {2**bits}",
            {"place": _in_slots(bits)},
            1.6,
        )
        for bits in range(4, 18)
    ),
    _stale("that of the longest call so far", _longest, 1.3),
    _stale("counted on from the first token of the call before", _gone_on, 1.0),
)
"""Positions of another call."""

LIMITED: tuple[Choice, ...] = tuple(
    _stale(
        f"that of the first {word}, of {most} such that are kept; {makes_room} for one more",
        _of(limited(key, most, makes_room)),
        1.5 + 0.01 * k,
    )
    for k, (word, key) in enumerate((*KEYS, *KEYS_OF_NUMBERS))
    for most in (2, 3, 4, 8, 10, 16, 32, 64, 128)
    for makes_room in LIMITS
)
"""What is kept in so many entries: these are tried last, for they are many."""
