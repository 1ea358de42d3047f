"""The frequencies of the pairs: base^(-2i/r), and what was computed instead."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.chain import ladder as _right
from ropespec.conformance.mistakes.choice import Choice, Shown
from ropespec.conformance.mistakes.dealt import DEALT
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.steps import STEPPED

__all__ = [
    "LADDERS",
    "MISTAKES",
    "fitted_base",
    "fitted_exponent",
    "fitted_scale",
    "fitted_stretch",
    "fitted_width",
    "listed",
]

MISTAKES = entries("""
F1 wrong base
    The base is not the one claimed; pass it on to the frequencies.
F2 reciprocal frequencies
    The exponent is positive, so frequencies grow; use base^(-2i/d).
F3 wrong exponent
    The exponent is not 2i/rotary_dim; mind the index, the step and the denominator.
K1 positions scaled
    All frequencies are multiplied by one factor that nobody declared; check the factor and its
    direction.
K6 position scale 2
    Positions are doubled; the default scale must be 1.
I1 frequencies not initialised
    The frequencies are no ladder and do not begin at 1; fill the buffer after loading.
one scalar theta
    All pairs rotate by the same angle; each has its own frequency.
frequencies in equal steps
    The frequencies are equally spaced; space their logarithms.
special width
    At some head_dim the result is otherwise than at the rest; look at the path for it.
heads rotated differently
    Equal heads come back different; rotate all heads by the position of their token.
some pairs do not rotate
    Some pairs come back as they were; fill the whole ladder.
some pairs rotate backwards
    Some pairs rotate clockwise; look at the sign of their frequencies.
unknown frequencies
    The frequencies are none that is known; everything else is right.
""")

Ladder = Callable[[Given], Array]


def _n(g: Given) -> int:
    return g.turning // 2


def _i(g: Given) -> Array:
    return np.arange(_n(g), dtype=np.float64)


def _choice(
    key: str, what: str, ladder: Ladder, cost: float = 1.0, shown: tuple[Shown, ...] = ()
) -> Choice:
    return Choice(key, "frequency", what, {"frequency": ladder}, cost, shown=shown)


def _power(
    what: str,
    exponent: Callable[[Given], Array],
    key: str = "F3",
    cost: float = 1.0,
    shown: tuple[Shown, ...] = (),
) -> Choice:
    def ladder(g: Given) -> Array:
        return np.asarray(g.base ** -exponent(g))

    return _choice(key, f"the frequencies are {what}", ladder, cost, shown=shown)


def _wide(g: Given) -> int:
    return 1 << max(g.turning - 1, 1).bit_length()


def _parts(pick: Callable[[Array], Array]) -> Ladder:
    return lambda g: np.asarray(pick(_right(g)))


def _signs(pick: Callable[[Array], Array]) -> Ladder:
    """Return the right frequencies with some of them turned back."""
    return lambda g: np.asarray(np.where(pick(_i(g)), -1.0, 1.0) * _right(g))


def _stopped(pick: Callable[[Array], Array]) -> Ladder:
    return lambda g: np.asarray(np.where(pick(_i(g)), 0.0, 1.0) * _right(g))


LADDERS: tuple[Choice, ...] = (
    _power(
        "base^(+2i/r): they grow",
        lambda g: -2 * _i(g) / g.turning,
        "F2",
        shown=(Shown.by("reciprocal", "FREQ-2.read-off", "FREQ-5.order"),),
    ),
    _power(
        "base^(-i/r)",
        lambda g: _i(g) / g.turning,
        shown=(Shown.by("exponent_i", "FREQ-2.read-off"),),
    ),
    _power(
        "base^(-4i/r)",
        lambda g: 4 * _i(g) / g.turning,
        shown=(Shown.by("denominator_half", "FREQ-2.read-off"),),
    ),
    _power(
        "base^(-2i/(r-2))",
        lambda g: 2 * _i(g) / max(g.turning - 2, 1),
        shown=(Shown.by("denominator_d_minus_2", "FREQ-2.read-off"),),
    ),
    _power("base^(-2i/(r-1))", lambda g: 2 * _i(g) / max(g.turning - 1, 1)),
    _power("base^(-2i/(r+2))", lambda g: 2 * _i(g) / (g.turning + 2)),
    _power("base^(-i/(r/2-1))", lambda g: _i(g) / max(_n(g) - 1, 1)),
    _power(
        "base^(-2(i+1)/r): the index runs from 1",
        lambda g: 2 * (_i(g) + 1) / g.turning,
        shown=(Shown.by("index_from_1", "FREQ-2.read-off", "ERR-1.printed"),),
    ),
    _power("base^(-2(i-1)/r): the index runs from -1", lambda g: 2 * (_i(g) - 1) / g.turning),
    _power("base^(-(2i+1)/r)", lambda g: (2 * _i(g) + 1) / g.turning),
    _power("base^(-(i+1)/r)", lambda g: (_i(g) + 1) / g.turning),
    _power(
        "base^(-2i/head_dim)",
        lambda g: 2 * _i(g) / g.x.shape[-1],
        "R1",
        0.9,  # before what is the same at one width
        shown=(
            Shown.by(
                "width_of_head",
                "FREQ-2.read-off",
                "ROT-14.forms",
                "WGT-4.moved",
                rotary_dim=8,
                head_dims=(16, 32),
            ),
        ),
    ),
    _power(
        "base^(-2i/(heads head_dim))",
        lambda g: 2 * _i(g) / (g.x.shape[-1] * g.x.shape[2]),
        "X3",
        shown=(Shown.by("width_of_model", "ROT-7.value"),),
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
    _choice(
        "one scalar theta",
        "all frequencies are 1",
        lambda g: np.ones(_n(g)),
        shown=(Shown.by("one_scalar_theta", "FREQ-2.read-off", "ERR-1.printed"),),
    ),
    _choice("A3", "all frequencies are 0", lambda g: np.zeros(_n(g))),
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
        "some pairs rotate backwards",
        "the slower half turns backwards",
        _signs(lambda i: i >= len(i) // 2),
    ),
    _choice(
        "some pairs rotate backwards",
        "the faster half turns backwards",
        _signs(lambda i: i < len(i) // 2),
    ),
    _choice(
        "some pairs rotate backwards",
        "every second pair turns backwards",
        _signs(lambda i: i % 2 == 1),
    ),
    _choice(
        "some pairs do not rotate",
        "the slower half does not rotate",
        _stopped(lambda i: 2 * i >= len(i)),
    ),
    _choice(
        "some pairs do not rotate",
        "the faster half does not rotate",
        _stopped(lambda i: i < len(i) // 2),
    ),
    _choice(
        "some pairs do not rotate",
        "every second pair does not rotate",
        _stopped(lambda i: i % 2 == 1),
    ),
    _choice(
        "some pairs do not rotate",
        "every second pair does not rotate, from the first on",
        _stopped(lambda i: i % 2 == 0),
    ),
    _choice(
        "some pairs do not rotate",
        "the last pair does not rotate",
        _stopped(lambda i: i == len(i) - 1),
    ),
    _choice(
        "some pairs do not rotate", "the first pair does not rotate", _stopped(lambda i: i == 0)
    ),
    *DEALT,
    *STEPPED,
)
"""Ladders without a number of their own."""


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


def fitted_exponent(first: float, times: float, more: float) -> Choice:
    """Return the ladder whose exponent begins elsewhere, or falls by steps of another width."""
    index = "2i" + (f" {first:+g}" if first else "")
    width = ("r" if times == 1 else f"{times:g} r") + (f" {more:+g}" if more else "")
    return _power(
        f"base^(-({index})/({width}))",
        lambda g: (2 * _i(g) + first) / max(times * g.turning + more, 1e-3),
        cost=2.0,
    )


def fitted_stretch(times: float, key: str) -> Choice:
    """Return the ladder whose base is multiplied by a power of a number (SCAL-3)."""

    def ladder(g: Given) -> Array:
        base = g.base * times ** (g.turning / max(g.turning - 2, 1))
        return np.asarray(base ** (-2 * _i(g) / g.turning))

    return _choice(key, f"the base is multiplied by {times:.6g}^(r/(r-2))", ladder, 2.0)


def fitted_scale(factor: float, said: str = "") -> Choice:
    """Return all frequencies times one factor, which may be said otherwise than as a number."""
    key = {2.0: "K6", -1.0: "S1"}.get(factor, "K1")
    return _choice(
        key,
        f"the frequencies, or the positions, are multiplied by {said or format(factor, '.10g')}",
        lambda g: factor * _right(g),
        2.0,
    )


def listed(ladders: dict[int, Array], what: str, key: str) -> Choice:
    """Return frequencies as they were measured, by the number of components that rotate."""

    def ladder(g: Given) -> Array:
        return ladders.get(g.turning, np.full(_n(g), np.nan))

    return Choice(key, "frequency", what, {"frequency": ladder}, 9.0, free=True)
