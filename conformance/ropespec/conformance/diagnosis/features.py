"""What a condition may be about: sizes, dtype, views, token, position, pair."""

import numpy as np

from ropespec.conformance.diagnosis.feature import (
    Feature,
    along,
    calls_with,
    counted,
    dtype_of,
    flag,
    from_the_end,
    of_dtypes,
    of_positions,
    pair_of,
    per_call,
    per_token,
)
from ropespec.conformance.diagnosis.heads import HEADS
from ropespec.conformance.diagnosis.rests import RESTS
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["FEATURES"]


def _p(g: Given) -> Array:
    return g.positions


def _component(g: Given) -> Array:
    return np.arange(g.x.shape[-1], dtype=np.float64).reshape(1, 1, 1, -1)


def _pair_back(g: Given) -> Array:
    pair = pair_of(g)
    return np.where(pair < 0, -1.0, g.turning // 2 - 1 - pair)


def _uneven_rows(g: Given) -> float:
    return float(len(g.positions) > 0 and bool(np.any(g.positions != g.positions[:1])))


def _runs(g: Given) -> float:
    p = g.positions
    return float(p.shape[1] < 2 or bool(np.all(np.diff(p, axis=1) == 1)))


def _ends_fit(g: Given) -> Array:
    p = g.positions
    fits = p[:, -1:] - p[:, :1] == p.shape[1] - 1 if p.size else np.zeros((len(p), 1))
    return np.broadcast_to(fits, p.shape)


def _far(p: Array) -> Array:
    """Return positions far out, and 0 for all others: what is near has sources of its own."""
    return np.where(p >= _FAR, p, 0)


_FAR = 1024
"""Where rows of usual prompts do not begin."""


def _rising(g: Given) -> Array:
    return np.asarray((np.diff(g.positions, axis=1) > 0).all(axis=1, keepdims=True))


def _alike(g: Given) -> Array:
    """Whether the position numbers of each token are equal."""
    return np.ptp(g.numbers, axis=-1) == 0 if g.axes else np.ones(g.positions.shape)


def _has_gaps(g: Given) -> float:
    """Whether x is a view that is no run of memory: one that begins later is."""
    return float(bool(g.strided) and g.strided != "offset")


def _power_of_two(n: int) -> float:
    return float(n > 0 and n & (n - 1) == 0)


FEATURES: dict[str, Feature] = {
    "tokens": Feature("tokens", per_call(lambda g: g.x.shape[1]), calls_with("token")),
    "rows": Feature("rows", per_call(lambda g: g.x.shape[0]), calls_with("row")),
    "heads": Feature("heads", per_call(lambda g: g.x.shape[2]), calls_with("head")),
    "elements": Feature("elements", per_call(lambda g: g.x.size), calls_with("element")),
    "dtype": Feature("dtype", per_call(dtype_of), of_dtypes),
    "dim": Feature("dim", per_call(lambda g: g.x.shape[-1]), counted("head_dim")),
    "token": Feature("token", along(1), counted("token"), "token"),
    "row": Feature("row", along(0), counted("row"), "token"),
    "head": Feature("head", along(2), counted("head"), "token"),
    "distance": Feature(
        "distance", per_token(lambda g: np.abs(_p(g))), of_positions("positions of size"), "token"
    ),
    "position": Feature("position", per_token(_p), of_positions("positions"), "token"),
    "pair": Feature("pair", pair_of, counted("pair"), "component"),
    "gaps": Feature("gaps", per_call(_has_gaps), flag("x with gaps", "x without gaps")),
    "strided": Feature(
        "strided", per_call(lambda g: bool(g.strided)), flag("views of x", "x that is no view")
    ),
    "strided positions": Feature(
        "strided positions",
        per_call(lambda g: bool(g.strided_positions)),
        flag("positions with gaps", "positions without gaps"),
    ),
    "layout": Feature(
        "layout",
        per_call(lambda g: g.interleaved),
        flag("interleaved=True", "interleaved=False"),
    ),
    "base": Feature("base", per_call(lambda g: g.base), counted("base")),
    "part": Feature("part", per_call(lambda g: g.turning), counted("rotary_dim")),
    "last token": Feature("last token", along(1, back=True), from_the_end("token"), "token"),
    "last row": Feature("last row", along(0, back=True), from_the_end("row"), "token"),
    "last head": Feature("last head", along(2, back=True), from_the_end("head"), "token"),
    "last pair": Feature("last pair", _pair_back, from_the_end("pair"), "component"),
    "farthest": Feature(
        "farthest",
        per_call(lambda g: np.abs(g.positions).max(initial=0)),
        of_positions("calls whose largest position is"),
    ),
    "highest": Feature(
        "highest",
        per_call(lambda g: g.positions.max() if g.positions.size else 0),
        of_positions("calls whose highest position is"),
    ),
    "lowest": Feature(
        "lowest",
        per_call(lambda g: g.positions.min() if g.positions.size else 0),
        of_positions("calls whose smallest position is"),
    ),
    "rows differ": Feature(
        "rows differ",
        per_call(_uneven_rows),
        flag("rows of different positions", "rows of the same positions"),
    ),
    "numbers alike": Feature(
        "numbers alike",
        per_token(_alike),
        flag(
            "tokens whose position numbers are equal",
            "tokens whose position numbers are not all equal",
        ),
        "token",
    ),
    "only": Feature(
        "only",
        per_call(lambda g: -1 if g.only is None or not g.axes else g.only),
        counted("number that is not 0 alone"),
    ),
    "runs": Feature(
        "runs",
        per_call(_runs),
        flag("positions that go on by one", "positions that do not go on by one"),
    ),
    "ends fit": Feature(
        "ends fit",
        per_token(_ends_fit),
        flag(
            "rows whose ends are as far apart as a run's",
            "rows whose ends are not as far apart as a run's",
        ),
        "token",
    ),
    "rising": Feature(
        "rising",
        per_token(lambda g: np.broadcast_to(_rising(g), g.positions.shape)),
        flag("rows whose positions rise", "rows whose positions do not rise throughout"),
        "token",
    ),
    **HEADS,
    "second half of tokens": Feature(
        "second half of tokens",
        lambda g: (g.index(1) >= (g.x.shape[1] + 1) // 2).astype(np.float64),
        flag("the second half of the tokens", "the first half of the tokens"),
        "token",
    ),
    "square": Feature(
        "square",
        per_call(lambda g: g.x.shape[1] == g.x.shape[2]),
        flag("as many tokens as heads", "another number of tokens than of heads"),
    ),
    "square rows": Feature(
        "square rows",
        per_call(lambda g: g.x.shape[1] == g.x.shape[0]),
        flag("as many tokens as rows", "another number of tokens than of rows"),
    ),
    "square heads": Feature(
        "square heads",
        per_call(lambda g: g.x.shape[2] == g.x.shape[0]),
        flag("as many rows as heads", "another number of rows than of heads"),
    ),
    "odd length": Feature(
        "odd length", per_call(lambda g: g.x.shape[1] % 2), flag("an odd length", "an even length")
    ),
    "odd rows": Feature(
        "odd rows", per_call(lambda g: g.x.shape[0] % 2), flag("odd batches", "even batches")
    ),
    "odd heads": Feature(
        "odd heads",
        per_call(lambda g: g.x.shape[2] % 2),
        flag("an odd number of heads", "an even number of heads"),
    ),
    "odd token": Feature(
        "odd token",
        lambda g: g.index(1) % 2,
        flag("tokens at odd places", "tokens at even places"),
        "token",
    ),
    "odd head": Feature(
        "odd head", lambda g: g.index(2) % 2, flag("heads 1, 3, ...", "heads 0, 2, ..."), "token"
    ),
    "odd row": Feature(
        "odd row", lambda g: g.index(0) % 2, flag("rows 1, 3, ...", "rows 0, 2, ..."), "token"
    ),
    "odd position": Feature(
        "odd position",
        per_token(lambda g: _p(g) % 2),
        flag("odd positions", "even positions"),
        "token",
    ),
    "odd pair": Feature(
        "odd pair",
        lambda g: np.asarray(np.where(pair_of(g) < 0, 0.0, pair_of(g) % 2)),
        flag("pairs 1, 3, ...", "pairs 0, 2, ..."),
        "component",
    ),
    "half width": Feature(
        "half width",
        lambda g: (pair_of(g) >= g.turning // 4).astype(np.float64),
        flag("the slower half of the pairs", "the faster half of the pairs and the tail"),
        "component",
    ),
    "power of two": Feature(
        "power of two",
        per_call(lambda g: _power_of_two(g.x.shape[-1])),
        flag("head_dim a power of two", "head_dim no power of two"),
    ),
    "multiple of 16": Feature(
        "multiple of 16",
        per_call(lambda g: g.turning % 16 == 0),
        flag("widths in whole sixteens", "widths not in whole sixteens"),
    ),
    "place in the tail": Feature(
        "place in the tail",
        lambda g: np.maximum(_component(g) - g.turning, -1.0) + np.zeros(g.x.shape),
        counted("tail component"),
        "component",
    ),
    **RESTS,
    "starts at 0": Feature(
        "starts at 0",
        per_token(lambda g: np.broadcast_to(_p(g)[:, :1] != 0, _p(g).shape)),
        flag("rows that do not begin at position 0", "rows that begin at position 0"),
        "token",
    ),
    "start": Feature(
        "start",
        per_token(lambda g: np.broadcast_to(_far(_p(g)[:, :1]), _p(g).shape)),
        of_positions("rows that begin at positions"),
        "token",
    ),
    "all places": Feature(
        "all places",
        per_call(lambda g: g.x.shape[0] * g.x.shape[1]),
        calls_with("place"),
    ),
    "place": Feature(
        "place",
        lambda g: g.index(0) * g.x.shape[1] + g.index(1),
        counted("place"),
        "token",
    ),
    "size": Feature(
        "size",
        per_call(
            lambda g: 3 * np.log10(max(float(np.abs(g.x.astype(np.float64)).max(initial=0)), 1e-9))
        ),
        of_positions("components of size (thirds of a decade)"),
    ),
}
"""What a condition may be about, the likeliest first."""
