"""Which components are rotated together, and where they are written."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.chain import Pairs, claimed_pairs
from ropespec.conformance.mistakes.choice import Choice, Shown
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["MISTAKES", "PAIRINGS", "claimed_layout", "split"]

MISTAKES = entries("""
L1 wrong pairing
    The other convention's pairs are rotated; pair (2i, 2i+1) where interleaved is claimed, (i,
    i+d/2) where half is.
L3 left de-interleaved
    The rotated pairs are concatenated instead of woven; stack them on a last axis and reshape.
L6 convention flag ignored
    The flag for the layout has no effect on some call; pass it on to every path.
other pairs
    Components rotate with others than in either layout; see the pairing claimed.
mirrored pairs
    A component rotates with the one as far from the other end; see the pairing claimed.
""")


def split(first: Array, second: Array) -> Pairs:
    """Return pairs that are written where they were read."""
    return Pairs(first, second, first, second)


def _interleaved(n: int, start: int = 0) -> Pairs:
    return split(start + 2 * np.arange(n), start + 2 * np.arange(n) + 1)


def _half(n: int, start: int = 0) -> Pairs:
    return split(start + np.arange(n), start + n + np.arange(n))


def claimed_layout(g: Given, n: int, start: int = 0) -> Pairs:
    """Return n pairs of the layout that is claimed, from a component on."""
    return _interleaved(n, start) if g.interleaved else _half(n, start)


def _other(g: Given) -> Pairs:
    n = g.turning // 2
    return _half(n) if g.interleaved else _interleaved(n)


def _always_half(g: Given) -> Pairs:
    return _half(g.turning // 2)


def _always_interleaved(g: Given) -> Pairs:
    return _interleaved(g.turning // 2)


def _mirrored(g: Given) -> Pairs:
    n = g.turning // 2
    return split(np.arange(n), 2 * n - 1 - np.arange(n))


def _written(
    read: Callable[[Given], Pairs], write: Callable[[int], Pairs]
) -> Callable[[Given], Pairs]:
    def pairs(g: Given) -> Pairs:
        r, w = read(g), write(g.turning // 2)
        return Pairs(r.first, r.second, w.first, w.second)

    return pairs


def _woven(k: Array, n: int) -> Array:
    """Return which component of halves stands at place k of neighbours."""
    return np.asarray(k % 2 * n + k // 2)


def _unwoven(k: Array, n: int) -> Array:
    """Return which component of neighbours stands at place k of halves."""
    return np.where(k < n, 2 * k, 2 * (k - n) + 1)


def _sorted(*, into: bool, back: bool) -> Callable[[Given], Pairs]:
    """Return pairs that are sorted into the other layout, rotated there, and sorted back.

    Either of the two may be done by the permutation of the other.
    """

    def pairs(g: Given) -> Pairs:
        n = g.turning // 2
        places = _half(n) if g.interleaved else _interleaved(n)
        right, wrong = (_unwoven, _woven) if g.interleaved else (_woven, _unwoven)
        read, write = (wrong if into else right), (wrong if back else right)
        first, second = places.first, places.second
        return Pairs(read(first, n), read(second, n), write(first, n), write(second, n))

    return pairs


def _exchanged(g: Given) -> Pairs:
    r = claimed_pairs(g)
    return Pairs(r.first, r.second, r.second, r.first)


def _exchanged_in(g: Given) -> Pairs:
    r = claimed_pairs(g)
    return Pairs(r.second, r.first, r.second, r.first)


PAIRINGS: tuple[Choice, ...] = (
    Choice(
        "L1",
        "pairing",
        "the pairs are those of the other layout",
        {"pairing": _other},
        shown=(
            Shown.by(
                "half_for_adjacent",
                "ROT-6.pairing",
                "ROT-6.value",
                "PUB-7.bare",
                "REL-9.additive",
                "ROT-3.forms",
                "ROT-6.forms",
                interleaved=True,
            ),
        ),
    ),
    Choice(
        "L6", "pairing", "the pairs are halves whatever is asked for", {"pairing": _always_half}
    ),
    Choice(
        "L6",
        "pairing",
        "the pairs are neighbours whatever is asked for",
        {"pairing": _always_interleaved},
    ),
    Choice(
        "mirrored pairs",
        "pairing",
        "component j rotates with the one as far from the end",
        {"pairing": _mirrored},
    ),
    Choice(
        "L3",
        "pairing",
        "what was rotated is written in two halves",
        {"pairing": _written(claimed_pairs, _half)},
    ),
    Choice(
        "L3",
        "pairing",
        "what was rotated is written in neighbours",
        {"pairing": _written(claimed_pairs, _interleaved)},
    ),
    Choice(
        "L3",
        "pairing",
        "pairs of the other layout are rotated, and written in the claimed one",
        {
            "pairing": lambda g: Pairs(
                _other(g).first, _other(g).second, claimed_pairs(g).first, claimed_pairs(g).second
            )
        },
    ),
    *(
        Choice(
            "other pairs",
            "pairing",
            f"components are sorted {how} the other layout by the permutation that undoes it",
            {"pairing": _sorted(into=into, back=back)},
        )
        for how, into, back in (
            ("into", True, False),
            ("back from", False, True),
            ("into and back from", True, True),
        )
    ),
    Choice(
        "pairs in another order",
        "pairing",
        "the halves change places after turning",
        {"pairing": _exchanged},
    ),
    Choice(
        "S1",
        "pairing",
        "the members change places before and after turning",
        {"pairing": _exchanged_in},
    ),
)
"""What else is rotated together, or written elsewhere."""
