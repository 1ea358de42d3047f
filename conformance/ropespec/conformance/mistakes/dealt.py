"""The right frequencies, dealt out to other pairs."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.chain import ladder
from ropespec.conformance.mistakes.choice import Choice, Shown
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["DEALT", "MISTAKES"]

MISTAKES = entries("""
frequencies reversed
    The first pair is the slowest; the first must be the fastest.
frequencies in another order
    The frequencies are the right ones, though not from the fastest to the slowest.
frequencies repeated
    The frequencies begin again after some pairs; compute one for each.
""")


def _dealt(
    key: str,
    what: str,
    deal: Callable[[Array], Array],
    cost: float = 1.0,
    shown: tuple[Shown, ...] = (),
) -> Choice:
    def frequency(g: Given) -> Array:
        return np.asarray(deal(ladder(g)))

    return Choice(key, "frequency", what, {"frequency": frequency}, cost, shown=shown)


def _half_reversed(f: Array) -> Array:
    out = f.copy()
    out[len(f) // 2 :] = out[len(f) // 2 :][::-1].copy()
    return out


def _first_half_again(f: Array) -> Array:
    return f[np.arange(len(f)) % max(len(f) // 2, 1)]


def _again(n: int) -> Choice:
    """Return frequencies that begin again after every n pairs."""
    what = f"the frequencies begin again after every {n} pairs"
    return _dealt("frequencies repeated", what, lambda f: f[np.arange(len(f)) % n], 2.0)


def _kept(n: int) -> Choice:
    """Return frequencies of which the last is kept from pair n on."""
    what = f"pairs from {n} on have the frequency of pair {n - 1}"
    return _dealt(
        "frequencies repeated", what, lambda f: f[np.minimum(np.arange(len(f)), n - 1)], 2.0
    )


def _shared(n: int) -> Choice:
    """Return frequencies that n pairs each have, of the first of them."""
    what = f"{n} pairs each have the frequency of the first of them"
    return _dealt("frequencies repeated", what, lambda f: f[np.arange(len(f)) // n * n], 2.0)


_SIZES = (3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)

DEALT: tuple[Choice, ...] = (
    _dealt(
        "frequencies reversed",
        "the frequencies are in reverse order",
        lambda f: f[::-1],
        shown=(Shown.by("reversed_order", "FREQ-5.order"),),
    ),
    _dealt(
        "frequencies in another order",
        "the slower half of the frequencies is in reverse order",
        _half_reversed,
    ),
    _dealt(
        "frequencies in another order",
        "the halves of the frequencies are exchanged",
        lambda f: np.roll(f, len(f) // 2),
    ),
    _dealt(
        "frequencies in another order",
        "each pair has the frequency of the pair before, the first that of the last",
        lambda f: np.roll(f, 1),
    ),
    _dealt(
        "frequencies in another order",
        "each pair has the frequency of the pair after, the last that of the first",
        lambda f: np.roll(f, -1),
    ),
    _dealt(
        "frequencies repeated",
        "the frequencies begin again after half of the pairs",
        _first_half_again,
    ),
    _dealt(
        "frequencies repeated",
        "the last frequency is that of the pair before",
        lambda f: np.concatenate([f[:-1], f[-2:-1]]) if len(f) > 1 else f,
        shown=(Shown.by("last_frequency_repeated", "FREQ-2.read-off"),),
    ),
    _dealt(
        "frequencies repeated",
        "two pairs each have the frequency of the first of them",
        lambda f: np.repeat(f[::2], 2)[: len(f)],
    ),
    _dealt(
        "frequencies repeated",
        "each frequency of the first half serves two pairs",
        lambda f: np.repeat(f, 2)[: len(f)],
    ),
    _dealt(
        "frequencies repeated",
        "the first frequency serves two pairs and the others follow one late",
        lambda f: np.concatenate([f[:1], f[:-1]]),
    ),
    *(_again(n) for n in _SIZES),
    *(_kept(n) for n in _SIZES),
    *(_shared(n) for n in _SIZES[:6]),
)
"""Which pair has the frequency of which other."""
