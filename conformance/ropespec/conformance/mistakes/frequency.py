"""The frequencies of the pairs: base^(-2i/r), and what was computed instead."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["DYNAMIC", "LADDERS", "fitted_base", "fitted_scale", "fitted_width", "listed"]

Ladder = Callable[[Given], Array]


def _n(g: Given) -> int:
    return g.turning // 2


def _i(g: Given) -> Array:
    return np.arange(_n(g), dtype=np.float64)


def _right(g: Given) -> Array:
    return np.asarray(g.base ** (-2 * _i(g) / g.turning))


def _choice(key: str, what: str, ladder: Ladder, cost: float = 1.0) -> Choice:
    return Choice(key, "frequency", what, {"frequency": ladder}, cost)


def _power(what: str, exponent: Callable[[Given], Array], key: str = "F3") -> Choice:
    def ladder(g: Given) -> Array:
        return np.asarray(g.base ** -exponent(g))

    return _choice(key, f"the frequencies are {what}", ladder)


def _wide(g: Given) -> int:
    return 1 << max(g.turning - 1, 1).bit_length()


def _parts(pick: Callable[[Array], Array]) -> Ladder:
    return lambda g: np.asarray(pick(_right(g)))


def _half_reversed(f: Array) -> Array:
    out = f.copy()
    out[len(f) // 2 :] = out[len(f) // 2 :][::-1].copy()
    return out


def _first_half_again(f: Array) -> Array:
    return f[np.arange(len(f)) % max(len(f) // 2, 1)]


def _signs(pick: Callable[[Array], Array]) -> Ladder:
    """Return the right frequencies with some of them turned back."""
    return lambda g: np.asarray(np.where(pick(_i(g)), -1.0, 1.0) * _right(g))


def _stopped(pick: Callable[[Array], Array]) -> Ladder:
    return lambda g: np.asarray(np.where(pick(_i(g)), 0.0, 1.0) * _right(g))


LADDERS: tuple[Choice, ...] = (
    _power("base^(+2i/r): they grow", lambda g: -2 * _i(g) / g.turning, "F2"),
    _power("base^(-i/r)", lambda g: _i(g) / g.turning),
    _power("base^(-4i/r)", lambda g: 4 * _i(g) / g.turning),
    _power("base^(-2i/(r-2))", lambda g: 2 * _i(g) / max(g.turning - 2, 1)),
    _power("base^(-2i/(r-1))", lambda g: 2 * _i(g) / max(g.turning - 1, 1)),
    _power("base^(-2i/(r+2))", lambda g: 2 * _i(g) / (g.turning + 2)),
    _power("base^(-i/(r/2-1))", lambda g: _i(g) / max(_n(g) - 1, 1)),
    _power("base^(-2(i+1)/r): the index runs from 1", lambda g: 2 * (_i(g) + 1) / g.turning),
    _power("base^(-2(i-1)/r): the index runs from -1", lambda g: 2 * (_i(g) - 1) / g.turning),
    _power("base^(-(2i+1)/r)", lambda g: (2 * _i(g) + 1) / g.turning),
    _power("base^(-(i+1)/r)", lambda g: (_i(g) + 1) / g.turning),
    _power("base^(-2i/head_dim)", lambda g: 2 * _i(g) / g.x.shape[-1], "R1"),
    _power(
        "base^(-2i/(heads head_dim))",
        lambda g: 2 * _i(g) / (g.x.shape[-1] * g.x.shape[2]),
        "X3",
    ),
    _power(
        "base^(-(i+r/2)/r): those that follow in a table of twice the width",
        lambda g: (_i(g) + _n(g)) / g.turning,
        "heads rotated differently",
    ),
    _power(
        "base^(-2i/w), w the next power of two", lambda g: 2 * _i(g) / _wide(g), "special width"
    ),
    _choice(
        "F1",
        "the base is 10000 whatever is asked for",
        lambda g: np.asarray(10000.0 ** (-2 * _i(g) / g.turning)),
    ),
    _choice("F3", "the frequencies are e^(-2i/r)", lambda g: np.exp(-2 * _i(g) / g.turning)),
    _choice("F3", "the frequencies are 2^(-2i/r)", lambda g: 2.0 ** (-2 * _i(g) / g.turning)),
    _choice("one scalar theta", "all frequencies are 1", lambda g: np.ones(_n(g))),
    _choice("A3", "all frequencies are 0", lambda g: np.zeros(_n(g))),
    _choice(
        "frequencies reversed", "the frequencies are in reverse order", _parts(lambda f: f[::-1])
    ),
    _choice(
        "frequencies in another order",
        "the slower half of the frequencies is in reverse order",
        _parts(_half_reversed),
    ),
    _choice(
        "frequencies in another order",
        "the halves of the frequencies are exchanged",
        _parts(lambda f: np.roll(f, len(f) // 2)),
    ),
    _choice(
        "frequencies in another order",
        "each pair has the frequency of the pair before, the first that of the last",
        _parts(lambda f: np.roll(f, 1)),
    ),
    _choice(
        "frequencies in another order",
        "each pair has the frequency of the pair after, the last that of the first",
        _parts(lambda f: np.roll(f, -1)),
    ),
    _choice(
        "frequencies repeated",
        "the frequencies begin again after half of the pairs",
        _parts(_first_half_again),
    ),
    _choice(
        "frequencies repeated",
        "the last frequency is that of the pair before",
        _parts(lambda f: np.concatenate([f[:-1], f[-2:-1]]) if len(f) > 1 else f),
    ),
    _choice(
        "frequencies repeated",
        "two pairs each have the frequency of the first of them",
        _parts(lambda f: np.repeat(f[::2], 2)[: len(f)]),
    ),
    _choice(
        "frequencies repeated",
        "each frequency of the first half serves two pairs",
        _parts(lambda f: np.repeat(f, 2)[: len(f)]),
    ),
    _choice(
        "frequencies repeated",
        "the first frequency serves two pairs and the others follow one late",
        _parts(lambda f: np.concatenate([f[:1], f[:-1]])),
    ),
    _choice(
        "frequencies in equal steps",
        "the frequencies fall in equal steps from 1 to 1/base",
        lambda g: np.linspace(1, 1 / g.base, _n(g)),
    ),
    _choice(
        "frequencies in equal steps",
        "the frequencies fall in equal steps from the first to the last",
        _parts(lambda f: np.linspace(f[0], f[-1], len(f)) if len(f) else f),
    ),
    _choice(
        "some pairs turn backwards",
        "the slower half turns backwards",
        _signs(lambda i: i >= len(i) // 2),
    ),
    _choice(
        "some pairs turn backwards",
        "the faster half turns backwards",
        _signs(lambda i: i < len(i) // 2),
    ),
    _choice(
        "some pairs turn backwards",
        "every second pair turns backwards",
        _signs(lambda i: i % 2 == 1),
    ),
    _choice(
        "some pairs do not turn",
        "the slower half does not turn",
        _stopped(lambda i: 2 * i >= len(i)),
    ),
    _choice(
        "some pairs do not turn",
        "the faster half does not turn",
        _stopped(lambda i: i < len(i) // 2),
    ),
    _choice(
        "some pairs do not turn", "every second pair does not turn", _stopped(lambda i: i % 2 == 1)
    ),
    _choice(
        "some pairs do not turn",
        "every second pair does not turn, from the first on",
        _stopped(lambda i: i % 2 == 0),
    ),
    _choice(
        "some pairs do not turn",
        "the last pair does not turn",
        _stopped(lambda i: i == len(i) - 1),
    ),
    _choice("some pairs do not turn", "the first pair does not turn", _stopped(lambda i: i == 0)),
)
"""Ladders without a number of their own."""


def _longest(g: Given) -> float:
    return float(g.x.shape[1])


def _farthest(g: Given) -> float:
    return float(np.abs(g.positions).max(initial=0)) + 1


def _dynamic(limit: int, factor: int, size: Callable[[Given], float], word: str) -> Choice:
    """Return the ladder whose base grows with the length of the call."""

    def ladder(g: Given) -> Array:
        ratio = max(factor * size(g) / limit - (factor - 1), 1.0)
        base = g.base * ratio ** (g.turning / max(g.turning - 2, 1))
        return np.asarray(base ** (-2 * _i(g) / g.turning))

    grown = f"({factor} n/{limit} - {factor - 1})" if factor > 1 else f"(n/{limit})"
    what = f"the base is multiplied by {grown}^(r/(r-2)), n the {word} of the call, beyond {limit}"
    return _choice("base grows with the length", what, ladder, 2.0)


def _stretched(limit: int, size: Callable[[Given], float], word: str) -> Choice:
    """Return frequencies that shrink so that the longest call ends where the table does."""

    def ladder(g: Given) -> Array:
        return np.asarray(_right(g) * min(limit / max(size(g), 1.0), 1.0))

    what = f"the frequencies are divided by n/{limit}, n the {word} of the call, beyond {limit}"
    return _choice("K1", what, ladder, 2.0)


_SIZES = ((_longest, "length"), (_farthest, "largest position plus 1"))

DYNAMIC: tuple[Choice, ...] = tuple(
    choice
    for limit in (64, 128, 256, 512, 1024, 2048, 4096, 8192)
    for size, word in _SIZES
    for choice in (
        *(_dynamic(limit, factor, size, word) for factor in (1, 2, 4, 8)),
        _stretched(limit, size, word),
    )
)
"""Ladders that depend on the length of the call."""


def fitted_base(base: float) -> Choice:
    """Return the ladder of another base."""
    return _choice(
        "F1",
        f"the base is {base:.10g}",
        lambda g: np.asarray(base ** (-2 * _i(g) / g.turning)),
        2.0,
    )


def fitted_width(width: float, key: str = "F3") -> Choice:
    """Return the ladder whose exponent is divided by a fixed width."""
    return _choice(
        key,
        f"the frequencies are base^(-2i/{width:g}) at every width",
        lambda g: np.asarray(g.base ** (-2 * _i(g) / width)),
        2.0,
    )


def fitted_scale(factor: float) -> Choice:
    """Return all frequencies times one factor."""
    key = {2.0: "K6", -1.0: "S1"}.get(factor, "K1")
    return _choice(
        key,
        f"the frequencies, or the positions, are multiplied by {factor:.10g}",
        lambda g: factor * _right(g),
        2.0,
    )


def listed(ladders: dict[int, Array], what: str, key: str) -> Choice:
    """Return frequencies as they were measured, by the number of components that turn."""

    def ladder(g: Given) -> Array:
        return ladders.get(g.turning, np.full(_n(g), np.nan))

    return Choice(key, "frequency", what, {"frequency": ladder}, 9.0, free=True)
