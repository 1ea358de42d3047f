# ruff: noqa: ARG005  # a stage is given what any choice for it may need
"""Angle, table, pairing, product, tail and store: what else is done to a pair, or beside it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.chain import (
    Chain,
    Pairs,
    claimed_pairs,
    counter_clockwise,
    ladder,
    own_position,
)
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.rounding import rounded

__all__ = [
    "BACKWARD",
    "GRADIENTS",
    "TURNS",
    "clipped_at",
    "everything_times",
    "fast_sine",
    "gained",
    "tail_times",
]


def _split(first: Array, second: Array) -> Pairs:
    return Pairs(first, second, first, second)


def _interleaved(n: int, start: int = 0) -> Pairs:
    return _split(start + 2 * np.arange(n), start + 2 * np.arange(n) + 1)


def _half(n: int, start: int = 0) -> Pairs:
    return _split(start + np.arange(n), start + n + np.arange(n))


def _way(g: Given, n: int, start: int = 0) -> Pairs:
    return _interleaved(n, start) if g.interleaved else _half(n, start)


def _other(g: Given) -> Pairs:
    n = g.turning // 2
    return _half(n) if g.interleaved else _interleaved(n)


def _always_half(g: Given) -> Pairs:
    return _half(g.turning // 2)


def _always_interleaved(g: Given) -> Pairs:
    return _interleaved(g.turning // 2)


def _half_of_head(g: Given) -> Pairs:
    n, half = g.turning // 2, g.x.shape[-1] // 2
    return _split(np.arange(n), half + np.arange(n))


def _mirrored(g: Given) -> Pairs:
    n = g.turning // 2
    return _split(np.arange(n), 2 * n - 1 - np.arange(n))


def _written(
    read: Callable[[Given], Pairs], write: Callable[[int], Pairs]
) -> Callable[[Given], Pairs]:
    def pairs(g: Given) -> Pairs:
        r, w = read(g), write(g.turning // 2)
        return Pairs(r.first, r.second, w.first, w.second)

    return pairs


def _exchanged(g: Given) -> Pairs:
    r = claimed_pairs(g)
    return Pairs(r.first, r.second, r.second, r.first)


def _exchanged_in(g: Given) -> Pairs:
    r = claimed_pairs(g)
    return Pairs(r.second, r.first, r.second, r.first)


def _last(g: Given) -> Pairs:
    return _way(g, g.turning // 2, g.x.shape[-1] - g.turning)


def _whole(g: Given) -> Pairs:
    return _way(g, g.x.shape[-1] // 2)


def _as_wide(make: Callable[[Given], int]) -> dict[str, object]:
    """Return the stages for another number of components that turn."""

    def pairs(g: Given) -> Pairs:
        return _way(g, min(make(g), g.x.shape[-1]) // 2)

    def theta(g: Given) -> Array:
        r = min(make(g), g.x.shape[-1])
        return np.asarray(g.base ** (-np.arange(0, r, 2) / r))

    return {"pairing": pairs, "frequency": theta}


def _power_of_two(g: Given) -> int:
    return 1 << max(g.turning - 1, 1).bit_length()


def _padded(g: Given) -> Array:
    r = min(_power_of_two(g), g.x.shape[-1])
    return np.asarray(g.base ** (-np.arange(0, r, 2) / g.turning))


def _beside(g: Given) -> Pairs:
    """Return the claimed pairs, and pairs of the same kind among the lanes that pad them."""
    own, extra = claimed_pairs(g), (min(_power_of_two(g), g.x.shape[-1]) - g.turning) // 2
    more = _way(g, extra, g.turning)
    first, second = (
        np.concatenate(both) for both in ((own.first, more.first), (own.second, more.second))
    )
    return Pairs(first, second, first, second)


def _turned(
    pairs: Callable[[Array, Array, Array, Array], tuple[Array, Array]],
) -> dict[str, object]:
    return {"product": pairs}


def _repeated(g: Given, angle: Array) -> tuple[Array, Array]:
    """Return each angle twice in place where the layout lists them one after the other."""
    del g
    n = angle.shape[-1]
    return angle[..., np.arange(n) // 2], angle[..., np.arange(n, 2 * n) // 2]


def _tiled(g: Given, angle: Array) -> tuple[Array, Array]:
    del g
    n = angle.shape[-1]
    return angle[..., 2 * np.arange(n) % n], angle[..., (2 * np.arange(n) + 1) % n]


def _mixed(which: Callable[[Given, Array], tuple[Array, Array]]) -> dict[str, object]:
    """Return the stages in which the two members of a pair have different angles."""

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        one, two = which(g, angle)
        return np.stack([np.cos(one), np.cos(two)]), np.stack([np.sin(one), np.sin(two)])

    def product(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
        return a * c[0] - b * s[0], b * c[1] + a * s[1]

    return {"table": table, "product": product}


def _other_layout(g: Given, angle: Array) -> tuple[Array, Array]:
    return _tiled(g, angle) if g.interleaved else _repeated(g, angle)


def _tables(make: Callable[[Given, Array], tuple[Array, Array]]) -> dict[str, object]:
    return {"table": make}


def _own_angle(change: Callable[[Given], dict[str, Array]]) -> dict[str, object]:
    """Return a table whose cosines and sines come of different angles."""

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        del angle
        made = change(g)
        return np.cos(made["cos"]), np.sin(made["sin"])

    return {"table": table}


def _of_base(cos: float, sin: float) -> dict[str, object]:
    """Return a table of two bases; 0 for the one asked for."""

    def make(g: Given) -> dict[str, Array]:
        p, exponent = own_position(g), -np.arange(0, g.turning, 2) / g.turning
        return {"cos": p * (cos or g.base) ** exponent, "sin": p * (sin or g.base) ** exponent}

    return _own_angle(make)


def _late(cos: int, sin: int) -> dict[str, object]:
    def make(g: Given) -> dict[str, Array]:
        p, theta = own_position(g), ladder(g)
        return {"cos": (p + cos) * theta, "sin": (p + sin) * theta}

    return _own_angle(make)


def _tail(make: Callable[[Given, Array], Array]) -> dict[str, object]:
    return {"tail": make}


def _zeroed(g: Given, x: Array) -> Array:
    y = x.copy()
    y[..., g.turning :] = 0.0
    return y


def _tail_of_token(step: int, axis: int) -> Callable[[Given, Array], Array]:
    def tail(g: Given, x: Array) -> Array:
        y = x.copy()
        y[..., g.turning :] = np.roll(x[..., g.turning :], step, axis=axis)
        return y

    return tail


def _tail_rounded(kind: str) -> Callable[[Given, Array], Array]:
    def tail(g: Given, x: Array) -> Array:
        y = x.copy()
        y[..., g.turning :] = rounded(x[..., g.turning :], kind)
        return y

    return tail


def _tail_reversed(g: Given, x: Array) -> Array:
    y = x.copy()
    y[..., g.turning :] = x[..., g.turning :][..., ::-1]
    return y


def _overwrites_second(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
    u = a * c - b * s
    return u, b * c + u * s


def _overwrites_first(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
    v = b * c + a * s
    return a * c - v * s, v


def _stored(make: Callable[[Given, Array], Array]) -> dict[str, object]:
    return {"store": make}


def _heads_as_one(g: Given) -> Given:
    return replace(g, x=g.x.reshape(*g.x.shape[:2], 1, -1), rotary_dim=None)


def _in_front(g: Given, y: Array) -> Array:
    return np.concatenate([y[..., g.turning :], y[..., : g.turning]], axis=-1)


def _clipped(limit: float) -> Callable[[Given, Array], Array]:
    return lambda g, y: np.clip(y, -limit, limit)


def _normalised(g: Given, y: Array) -> Array:
    del g
    length = np.linalg.norm(y, axis=-1, keepdims=True)
    return np.asarray(y / np.where(length == 0, 1, length))


def _c(key: str, stage: str, what: str, change: dict[str, object], cost: float = 1.0) -> Choice:
    return Choice(key, stage, what, change, cost)


def _in_steps(cosines: int, sines: int) -> dict[str, object]:
    """Return a table whose entries are multiples of 1/n; 0 for those that are not."""

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        del g
        c, s = np.cos(angle), np.sin(angle)
        return (
            np.round(c * cosines) / cosines if cosines else c,
            np.round(s * sines) / sines if sines else s,
        )

    return {"table": table}


_APART = "cos and sin of different angles"
_BASES_APART = tuple(
    _c(
        "cos and sin of different angles",
        "table",
        f"{word} are those of the base {base:g}",
        made,
        2.0,
    )
    for base in (100.0, 1000.0, 5000.0, 10000.0, 50000.0, 100000.0, 500000.0, 1e6)
    for word, made in (("sines", _of_base(0.0, base)), ("cosines", _of_base(base, 0.0)))
)
_STEPS = tuple(
    _c("coarse table", "table", f"{word} come in steps of 1/{n}", made, 2.0)
    for n in (7, 15, 63, 64, 100, 127, 128, 255, 256, 1000, 1024, 32767, 32768)
    for word, made in (
        ("cosines and sines", _in_steps(n, n)),
        ("sines", _in_steps(0, n)),
        ("cosines", _in_steps(n, 0)),
    )
)

TURNS: tuple[Choice, ...] = (
    _c(
        "A3",
        "product",
        "x comes back as it was",
        _turned(lambda a, b, c, s: (a + 0 * c, b + 0 * c)),
    ),
    _c(
        "S1",
        "product",
        "pairs turn clockwise",
        _turned(lambda a, b, c, s: (a * c + b * s, b * c - a * s)),
    ),
    _c(
        "lost minus",
        "product",
        "the first member is a c + b s",
        _turned(lambda a, b, c, s: (a * c + b * s, b * c + a * s)),
    ),
    _c(
        "lost minus",
        "product",
        "both sines are subtracted",
        _turned(lambda a, b, c, s: (a * c - b * s, b * c - a * s)),
    ),
    _c("D13", "product", "the sine is lost", _turned(lambda a, b, c, s: (a * c, b * c))),
    _c("cosine lost", "product", "the cosine is lost", _turned(lambda a, b, c, s: (-b * s, a * s))),
    _c(
        "term lost",
        "product",
        "the second member lacks a s",
        _turned(lambda a, b, c, s: (a * c - b * s, b * c)),
    ),
    _c(
        "term lost",
        "product",
        "the first member lacks b s",
        _turned(lambda a, b, c, s: (a * c, b * c + a * s)),
    ),
    _c(
        "one member turns",
        "product",
        "the second member stays as it was",
        _turned(lambda a, b, c, s: (a * c - b * s, b + 0 * c)),
    ),
    _c(
        "one member turns",
        "product",
        "the first member stays as it was",
        _turned(lambda a, b, c, s: (a + 0 * c, b * c + a * s)),
    ),
    _c(
        "cos and sin swapped",
        "product",
        "cosine and sine change places",
        _turned(lambda a, b, c, s: (a * s - b * c, b * s + a * c)),
    ),
    _c(
        "cos and sin swapped",
        "product",
        "the second member has cosine and sine exchanged",
        _turned(lambda a, b, c, s: (a * c - b * s, b * s + a * c)),
    ),
    _c(
        "operands confused",
        "product",
        "the second member is a c + b s",
        _turned(lambda a, b, c, s: (a * c - b * s, a * c + b * s)),
    ),
    _c(
        "operands confused",
        "product",
        "the first member is b c - a s",
        _turned(lambda a, b, c, s: (b * c - a * s, b * c + a * s)),
    ),
    _c(
        "operands confused",
        "product",
        "both members are a c - b s",
        _turned(lambda a, b, c, s: (a * c - b * s, a * c - b * s)),
    ),
    _c(
        "operands confused",
        "product",
        "a member is multiplied by its own sine: (a c - a s, b c + b s)",
        _turned(lambda a, b, c, s: (a * c - a * s, b * c + b * s)),
    ),
    _c(
        "operands confused",
        "product",
        "both members are added: (a + b) c and so on",
        _turned(lambda a, b, c, s: ((a - b) * c, (a + b) * c)),
    ),
    _c(
        "A1",
        "product",
        "pairs turn twice",
        {"slack": 3.0}
        | _turned(
            lambda a, b, c, s: (
                (a * c - b * s) * c - (b * c + a * s) * s,
                (b * c + a * s) * c + (a * c - b * s) * s,
            )
        ),
    ),
    _c(
        "A1",
        "product",
        "pairs turn three times",
        {"slack": 4.0}
        | _turned(
            lambda a, b, c, s: (
                a * (c**3 - 3 * c * s * s) - b * (3 * c * c * s - s**3),
                b * (c**3 - 3 * c * s * s) + a * (3 * c * c * s - s**3),
            )
        ),
    ),
    _c(
        "pairs in another order",
        "product",
        "the members are exchanged before they turn",
        _turned(lambda a, b, c, s: (b * c - a * s, a * c + b * s)),
    ),
    _c(
        "pairs in another order",
        "product",
        "the members are exchanged after they turned",
        _turned(lambda a, b, c, s: (b * c + a * s, a * c - b * s)),
    ),
    _c(
        "R4",
        "product",
        "the part that should turn comes back as it was",
        _turned(lambda a, b, c, s: (a + 0 * c, b + 0 * c)),
    ),
    _c(
        "M2",
        "product",
        "the second member is made from the first already turned",
        _turned(_overwrites_second),
    ),
    _c(
        "M2",
        "product",
        "the first member is made from the second already turned",
        _turned(_overwrites_first),
    ),
    _c(
        "x added",
        "product",
        "x is added to what was turned",
        _turned(lambda a, b, c, s: (a + a * c - b * s, b + b * c + a * s)),
    ),
    _c(
        "zeroed",
        "product",
        "what turns is zero",
        _turned(lambda a, b, c, s: (0 * a * c, 0 * a * c)),
    ),
    _c(
        "not a number",
        "product",
        "what turns is not a number",
        _turned(lambda a, b, c, s: (np.nan * a * c, np.nan * a * c)),
    ),
    _c(
        "squared tables",
        "product",
        "cosines and sines are squared",
        _turned(lambda a, b, c, s: (a * c * c - b * s * s, b * c * c + a * s * s)),
    ),
    _c("L1", "pairing", "the pairs are those of the other layout", {"pairing": _other}),
    _c("L6", "pairing", "the pairs are halves whatever is asked for", {"pairing": _always_half}),
    _c(
        "L6",
        "pairing",
        "the pairs are neighbours whatever is asked for",
        {"pairing": _always_interleaved},
    ),
    _c("R1", "pairing", "the partner is half of head_dim away", {"pairing": _half_of_head}),
    _c(
        "R1",
        "pairing and frequency",
        "the partner is half of head_dim away and the exponent follows head_dim",
        {
            "pairing": _half_of_head,
            "frequency": lambda g: np.asarray(
                g.base ** (-np.arange(0, g.turning, 2) / g.x.shape[-1])
            ),
        },
    ),
    _c(
        "mirrored pairs",
        "pairing",
        "component j turns with the one as far from the end",
        {"pairing": _mirrored},
    ),
    _c(
        "L3",
        "pairing",
        "what was turned is written in two halves",
        {"pairing": _written(claimed_pairs, _half)},
    ),
    _c(
        "L3",
        "pairing",
        "what was turned is written in neighbours",
        {"pairing": _written(claimed_pairs, _interleaved)},
    ),
    _c(
        "L3",
        "pairing",
        "pairs of the other layout are turned, and written in the claimed one",
        {
            "pairing": lambda g: Pairs(
                _other(g).first, _other(g).second, claimed_pairs(g).first, claimed_pairs(g).second
            )
        },
    ),
    _c(
        "pairs in another order",
        "pairing",
        "the halves change places after turning",
        {"pairing": _exchanged},
    ),
    _c(
        "S1",
        "pairing",
        "the members change places before and after turning",
        {"pairing": _exchanged_in},
    ),
    _c("R9", "pairing", "the last components turn", {"pairing": _last}),
    _c("R2", "pairing", "the whole head turns", _as_wide(lambda g: g.x.shape[-1])),
    _c(
        "R2",
        "pairing",
        "the whole head turns by frequencies of rotary_dim",
        {
            "pairing": _whole,
            "frequency": lambda g: np.asarray(
                g.base ** (-2 * np.arange(g.x.shape[-1] // 2) / g.turning)
            ),
        },
    ),
    _c(
        "R3",
        "pairing",
        "half of what should turn does",
        _as_wide(lambda g: max(g.turning // 4 * 2, 2)),
    ),
    _c(
        "R3",
        "pairing",
        "half of what should turn does, by the frequencies of all",
        {
            "pairing": lambda g: _way(g, g.turning // 4),
            "frequency": lambda g: ladder(g)[: g.turning // 4],
        },
    ),
    _c(
        "R3",
        "pairing",
        "rotary_dim over head_dim is applied twice",
        _as_wide(lambda g: max(g.turning * g.turning // g.x.shape[-1] // 2 * 2, 2)),
    ),
    _c(
        "R6",
        "pairing",
        "the width is rounded up to a power of two and turns",
        _as_wide(_power_of_two),
    ),
    _c(
        "R6",
        "pairing",
        "lanes up to the next power of two turn as well, and the partner is as far",
        {
            "pairing": lambda g: _way(g, min(_power_of_two(g), g.x.shape[-1]) // 2),
            "frequency": _padded,
        },
    ),
    _c(
        "R6",
        "pairing",
        "the components up to the next power of two turn among themselves as well",
        {"pairing": _beside, "frequency": _padded},
    ),
    _c("L2", "table", "the table repeats angles in the other layout", _mixed(_other_layout)),
    _c("L2", "table", "the table repeats each angle in place", _mixed(_repeated)),
    _c(
        "cos and sin of different angles",
        "table",
        "sines are those of the position before",
        _late(0, -1),
        1.5,
    ),
    _c(
        "cos and sin of different angles",
        "table",
        "sines are those of the position after",
        _late(0, 1),
        1.5,
    ),
    _c(
        "cos and sin of different angles",
        "table",
        "cosines are those of the position before",
        _late(-1, 0),
        1.5,
    ),
    _c(
        "cos and sin of different angles",
        "table",
        "cosines are those of the position after",
        _late(1, 0),
        1.5,
    ),
    *_BASES_APART,
    *_STEPS,
    _c(
        "D4",
        "table",
        "cos and sin are cut to bfloat16",
        _tables(lambda g, a: (rounded(np.cos(a), "cut"), rounded(np.sin(a), "cut"))),
        1.5,
    ),
    _c(
        "sign of sines lost",
        "table",
        "sines lose their sign",
        _tables(lambda g, a: (np.cos(a), np.abs(np.sin(a)))),
        1.5,
    ),
    _c(
        "table not reduced",
        "table",
        "cosines are 1 - a^2/2 and sines are a",
        _tables(lambda g, a: (1 - a * a / 2, a)),
        1.5,
    ),
    _c(
        "angle in degrees",
        "angle",
        "the angle is taken for degrees",
        {"angle": lambda g, p, t: np.deg2rad(p * t)},
        1.2,
    ),
    _c(
        "angle in degrees",
        "angle",
        "the angle is turned into degrees",
        {"angle": lambda g, p, t: np.rad2deg(p * t)},
        1.2,
    ),
    _c(
        "angle in turns",
        "angle",
        "the angle is taken for whole turns",
        {"angle": lambda g, p, t: 2 * np.pi * p * t},
        1.2,
    ),
    _c(
        "positions in whole steps",
        "angle",
        "the angle is rounded down to whole radians",
        {"angle": lambda g, p, t: np.floor(p * t)},
        1.5,
    ),
    _c("R9", "tail", "the tail is zero", _tail(_zeroed)),
    _c(
        "made of another token",
        "tail",
        "the tail is that of the token before",
        _tail(_tail_of_token(1, 1)),
    ),
    _c(
        "made of another token",
        "tail",
        "the tail is that of the token after",
        _tail(_tail_of_token(-1, 1)),
    ),
    _c(
        "made of another token",
        "tail",
        "the tail is that of the head before",
        _tail(_tail_of_token(1, 2)),
    ),
    _c(
        "made of another token",
        "tail",
        "the tail is that of the row before",
        _tail(_tail_of_token(1, 0)),
    ),
    _c("tail rounded", "tail", "the tail is rounded to bfloat16", _tail(_tail_rounded("bfloat16"))),
    _c("tail rounded", "tail", "the tail is rounded to float16", _tail(_tail_rounded("float16"))),
    _c("tail reversed", "tail", "the tail is in reverse order", _tail(_tail_reversed)),
    _c("R9", "store", "the tail is moved to the front", _stored(_in_front)),
    _c(
        "pairs in another order",
        "store",
        "components come back in reverse order",
        _stored(lambda g, y: y[..., ::-1]),
    ),
    _c(
        "pairs in another order",
        "store",
        "the halves of the head change places",
        _stored(lambda g, y: np.roll(y, y.shape[-1] // 2, -1)),
    ),
    _c("X3", "call", "heads are turned as one long vector", {"call": _heads_as_one}),
    _c("x normalised", "store", "the result is divided by its length", _stored(_normalised)),
    _c(
        "tokens reversed",
        "store",
        "the tokens come back in reverse order",
        _stored(lambda g, y: y[:, ::-1]),
    ),
    _c(
        "made of another token",
        "store",
        "each token is that of the token before",
        _stored(lambda g, y: np.roll(y, 1, 1)),
    ),
    _c(
        "heads mixed up",
        "store",
        "the heads come back in reverse order",
        _stored(lambda g, y: y[:, :, ::-1]),
    ),
    _c(
        "heads mixed up",
        "store",
        "each head is that of the head before",
        _stored(lambda g, y: np.roll(y, 1, 2)),
    ),
    _c(
        "heads mixed up",
        "store",
        "the result of (H, S) is read as (S, H)",
        _stored(lambda g, y: y.transpose(0, 2, 1, 3).reshape(y.shape)),
    ),
    _c(
        "heads mixed up",
        "store",
        "all heads are the first",
        _stored(lambda g, y: np.broadcast_to(y[:, :, :1], y.shape).copy()),
    ),
    _c(
        "rows mixed up",
        "store",
        "all rows are row 0",
        _stored(lambda g, y: np.broadcast_to(y[:1], y.shape).copy()),
    ),
    _c("zeroed", "store", "the result is zero", _stored(lambda g, y: np.zeros_like(y))),
    _c(
        "not a number",
        "store",
        "the result is not a number",
        _stored(lambda g, y: np.full_like(y, np.nan)),
    ),
)
"""Choices at these stages, most of them without a number."""


def gained(gain: float) -> Choice:
    """Return cos and sin times a factor."""
    return _c(
        "K13",
        "table",
        f"cos and sin carry a factor of {gain:.6g}",
        _tables(lambda g, a: (gain * np.cos(a), gain * np.sin(a))),
        2.0,
    )


def everything_times(gain: float) -> Choice:
    """Return the whole result times a factor."""
    return _c(
        "K13",
        "store",
        f"the whole result carries a factor of {gain:.6g}",
        _stored(lambda g, y: gain * y),
        2.1,
    )


def tail_times(factor: float) -> Choice:
    """Return the tail times a factor."""

    def tail(g: Given, x: Array) -> Array:
        y = x.copy()
        y[..., g.turning :] *= factor
        return y

    return _c("tail scaled", "tail", f"the tail is multiplied by {factor:.6g}", _tail(tail), 2.0)


def fast_sine(turn: float) -> Choice:
    """Return angles whose whole turns were taken off with a rounded 2 pi."""
    return _c(
        "D8",
        "angle",
        f"whole turns are taken off as {turn:.10g} each",
        {"angle": lambda g, p, t: np.fmod(p * t, turn)},
        2.0,
    )


def clipped_at(limit: float) -> Choice:
    """Return the result cut at a size."""
    what = f"the result is clipped at {limit:g}"
    return _c("large components clipped", "store", what, _stored(_clipped(limit)), 2.0)


def _ones_in_the_tail(g: Given, x: Array) -> Array:
    y = x.copy()
    y[..., g.turning :] = 1.0
    return y


BACKWARD = Chain(product=lambda a, b, c, s: (a * c + b * s, b * c - a * s))
"""The gradient: the cotangent turned by the opposite angle."""

GRADIENTS: tuple[Choice, ...] = (
    _c("G1", "product", "the gradient turns forward", {"product": counter_clockwise}),
    _c("G2", "tail", "the gradient of the tail is 1", _tail(_ones_in_the_tail)),
    _c("G3", "store", "the gradient is zero", _stored(lambda g, y: np.zeros_like(y))),
)
"""What is done on the way back."""
