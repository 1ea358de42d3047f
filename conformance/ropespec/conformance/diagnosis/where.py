# ruff: noqa: ARG005  # words may need no value
"""Where a mistake applies: a condition on call, token or pair, learnt and then tried."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["EVERYWHERE", "FEATURES", "Atom", "Where", "conditions"]


def _call(value: Callable[[Given], float]) -> Callable[[Given], Array]:
    return lambda g: np.full((1, 1, 1, 1), float(value(g)))


def _token(values: Callable[[Given], Array]) -> Callable[[Given], Array]:
    return lambda g: np.asarray(values(g), dtype=np.float64)[..., None, None]


def _p(g: Given) -> Array:
    return g.positions


def _along(axis: int, *, back: bool = False) -> Callable[[Given], Array]:
    def values(g: Given) -> Array:
        index = g.index(axis).astype(np.float64)
        return g.x.shape[axis] - 1 - index if back else index

    return values


def _component(g: Given) -> Array:
    return np.arange(g.x.shape[-1], dtype=np.float64).reshape(1, 1, 1, -1)


def _pair(g: Given) -> Array:
    """Return the pair of each component, and -1 in the tail."""
    r, j = g.turning, np.arange(g.x.shape[-1])
    pair = j // 2 if g.interleaved else j % max(r // 2, 1)
    return np.where(j < r, pair, -1).astype(np.float64).reshape(1, 1, 1, -1)


def _pair_back(g: Given) -> Array:
    pair = _pair(g)
    return np.where(pair < 0, -1.0, g.turning // 2 - 1 - pair)


_DTYPES = ("float32", "float64", "float16", "bfloat16")


def _dtype(g: Given) -> float:
    return float(_DTYPES.index(g.dtype))


def _uneven_rows(g: Given) -> float:
    return float(len(g.positions) > 0 and bool(np.any(g.positions != g.positions[:1])))


def _runs(g: Given) -> float:
    p = g.positions
    return float(p.shape[1] < 2 or bool(np.all(np.diff(p, axis=1) == 1)))


def _ends_fit(g: Given) -> Array:
    p = g.positions
    fits = p[:, -1:] - p[:, :1] == p.shape[1] - 1 if p.size else np.zeros((len(p), 1))
    return np.broadcast_to(fits, p.shape)


def _rising(g: Given) -> Array:
    return np.asarray((np.diff(g.positions, axis=1) > 0).all(axis=1, keepdims=True))


def _power_of_two(n: int) -> float:
    return float(n > 0 and n & (n - 1) == 0)


@dataclass(frozen=True, slots=True)
class Feature:
    """A number that every component of a call has.

    Attributes
    ----------
    name : str
        In words, as a threshold is said of it.
    of : callable
        The number, of a shape that goes with (B, S, H, D).
    words : callable or None
        How one value is said.
    scope : str
        `call`, `token`, `component`.
    """

    name: str
    of: Callable[[Given], Array]
    words: Callable[[str, float], str] | None = None
    scope: str = "call"


def _calls_with(what: str) -> Callable[[str, float], str]:
    def words(op: str, value: float) -> str:
        n = f"{value:g}"
        said = {"==": n, ">=": f"{n} or more", "<=": f"{n} or fewer"}[op]
        one = value == 1 and op != ">="
        return f"calls with {said} {what}{'' if one else 's'}"

    return words


def _counted(what: str) -> Callable[[str, float], str]:
    def words(op: str, value: float) -> str:
        if what == "pair" and value < 0:
            return "every component" if op == ">=" else "the tail"
        said = {"==": f"{what} {value:g}", ">=": f"{what}s from {value:g} on"}
        return said.get(op, f"{what}s up to {value:g}")

    return words


def _from_the_end(what: str) -> Callable[[str, float], str]:
    def words(op: str, value: float) -> str:
        if value == 0 and op in ("==", "<="):
            return f"the last {what}"
        return f"{what}s {op} {value:g} from the end"

    return words


def _flag(yes: str, no: str) -> Callable[[str, float], str]:
    def words(op: str, value: float) -> str:
        return yes if (value >= 1) == (op != "<=") or (value >= 1 and op == "==") else no

    return words


def _dtype_words(op: str, value: float) -> str:
    if op == "==":
        return f"x of {_DTYPES[int(value)]}"
    kept = [d for k, d in enumerate(_DTYPES) if (k >= value if op == ">=" else k <= value)]
    return f"x of {' or '.join(kept)}"


def _positions(what: str) -> Callable[[str, float], str]:
    def words(op: str, value: float) -> str:
        said = {"==": f"{what} {value:g}", ">=": f"{what} from {value:.10g} on"}
        return said.get(op, f"{what} up to {value:.10g}")

    return words


FEATURES: dict[str, Feature] = {
    "tokens": Feature("tokens", _call(lambda g: g.x.shape[1]), _calls_with("token")),
    "rows": Feature("rows", _call(lambda g: g.x.shape[0]), _calls_with("row")),
    "heads": Feature("heads", _call(lambda g: g.x.shape[2]), _calls_with("head")),
    "dtype": Feature("dtype", _call(_dtype), _dtype_words),
    "dim": Feature("dim", _call(lambda g: g.x.shape[-1]), _counted("head_dim")),
    "token": Feature("token", _along(1), _counted("token"), "token"),
    "row": Feature("row", _along(0), _counted("row"), "token"),
    "head": Feature("head", _along(2), _counted("head"), "token"),
    "distance": Feature(
        "distance", _token(lambda g: np.abs(_p(g))), _positions("positions of size"), "token"
    ),
    "position": Feature("position", _token(_p), _positions("positions"), "token"),
    "pair": Feature("pair", _pair, _counted("pair"), "component"),
    "strided": Feature(
        "strided", _call(lambda g: g.strided), _flag("x with gaps", "x without gaps")
    ),
    "strided positions": Feature(
        "strided positions",
        _call(lambda g: g.strided_positions),
        _flag("positions with gaps", "positions without gaps"),
    ),
    "layout": Feature(
        "layout",
        _call(lambda g: g.interleaved),
        _flag("interleaved=True", "interleaved=False"),
    ),
    "base": Feature("base", _call(lambda g: g.base), _counted("base")),
    "part": Feature("part", _call(lambda g: g.turning), _counted("rotary_dim")),
    "last token": Feature("last token", _along(1, back=True), _from_the_end("token"), "token"),
    "last row": Feature("last row", _along(0, back=True), _from_the_end("row"), "token"),
    "last head": Feature("last head", _along(2, back=True), _from_the_end("head"), "token"),
    "last pair": Feature("last pair", _pair_back, _from_the_end("pair"), "component"),
    "farthest": Feature(
        "farthest",
        _call(lambda g: np.abs(g.positions).max(initial=0)),
        _positions("calls whose largest position is"),
    ),
    "lowest": Feature(
        "lowest",
        _call(lambda g: g.positions.min(initial=0)),
        _positions("calls whose smallest position is"),
    ),
    "rows differ": Feature(
        "rows differ",
        _call(_uneven_rows),
        _flag("rows of different positions", "rows of the same positions"),
    ),
    "runs": Feature(
        "runs",
        _call(_runs),
        _flag("positions that go on by one", "positions that do not go on by one"),
    ),
    "ends fit": Feature(
        "ends fit",
        _token(_ends_fit),
        _flag(
            "rows whose ends are as far apart as a run's",
            "rows whose ends are not as far apart as a run's",
        ),
        "token",
    ),
    "rising": Feature(
        "rising",
        _token(lambda g: np.broadcast_to(_rising(g), g.positions.shape)),
        _flag("rows whose positions rise", "rows whose positions do not rise throughout"),
        "token",
    ),
    "second half of heads": Feature(
        "second half of heads",
        lambda g: (g.index(2) >= (g.x.shape[2] + 1) // 2).astype(np.float64),
        _flag("the second half of the heads", "the first half of the heads"),
        "token",
    ),
    "second half of tokens": Feature(
        "second half of tokens",
        lambda g: (g.index(1) >= (g.x.shape[1] + 1) // 2).astype(np.float64),
        _flag("the second half of the tokens", "the first half of the tokens"),
        "token",
    ),
    "square": Feature(
        "square",
        _call(lambda g: g.x.shape[1] == g.x.shape[2]),
        _flag("as many tokens as heads", "another number of tokens than of heads"),
    ),
    "square rows": Feature(
        "square rows",
        _call(lambda g: g.x.shape[1] == g.x.shape[0]),
        _flag("as many tokens as rows", "another number of tokens than of rows"),
    ),
    "square heads": Feature(
        "square heads",
        _call(lambda g: g.x.shape[2] == g.x.shape[0]),
        _flag("as many rows as heads", "another number of rows than of heads"),
    ),
    "odd length": Feature(
        "odd length", _call(lambda g: g.x.shape[1] % 2), _flag("an odd length", "an even length")
    ),
    "odd rows": Feature(
        "odd rows", _call(lambda g: g.x.shape[0] % 2), _flag("odd batches", "even batches")
    ),
    "odd heads": Feature(
        "odd heads",
        _call(lambda g: g.x.shape[2] % 2),
        _flag("an odd number of heads", "an even number of heads"),
    ),
    "odd token": Feature(
        "odd token",
        lambda g: g.index(1) % 2,
        _flag("tokens at odd places", "tokens at even places"),
        "token",
    ),
    "odd head": Feature(
        "odd head", lambda g: g.index(2) % 2, _flag("heads 1, 3, ...", "heads 0, 2, ..."), "token"
    ),
    "odd row": Feature(
        "odd row", lambda g: g.index(0) % 2, _flag("rows 1, 3, ...", "rows 0, 2, ..."), "token"
    ),
    "odd position": Feature(
        "odd position",
        _token(lambda g: _p(g) % 2),
        _flag("odd positions", "even positions"),
        "token",
    ),
    "odd pair": Feature(
        "odd pair",
        lambda g: np.asarray(np.where(_pair(g) < 0, 0.0, _pair(g) % 2)),
        _flag("pairs 1, 3, ...", "pairs 0, 2, ..."),
        "component",
    ),
    "half width": Feature(
        "half width",
        lambda g: (_pair(g) >= g.turning // 4).astype(np.float64),
        _flag("the slower half of the pairs", "the faster half of the pairs and the tail"),
        "component",
    ),
    "power of two": Feature(
        "power of two",
        _call(lambda g: _power_of_two(g.x.shape[-1])),
        _flag("head_dim a power of two", "head_dim no power of two"),
    ),
    "multiple of 16": Feature(
        "multiple of 16",
        _call(lambda g: g.turning % 16 == 0),
        _flag("widths in whole sixteens", "widths not in whole sixteens"),
    ),
    "rest of 4 heads": Feature(
        "rest of 4 heads",
        lambda g: (g.index(2) >= g.x.shape[2] // 4 * 4).astype(np.float64),
        _flag("heads after the last whole pack of 4", "heads in whole packs of 4"),
        "token",
    ),
    "rest of 2 tokens": Feature(
        "rest of 2 tokens",
        lambda g: (g.index(1) >= g.x.shape[1] // 2 * 2).astype(np.float64),
        _flag("the token left over from pairs of tokens", "tokens in whole pairs"),
        "token",
    ),
    "rest of 8 tokens": Feature(
        "rest of 8 tokens",
        lambda g: (g.index(1) >= g.x.shape[1] // 8 * 8).astype(np.float64),
        _flag("tokens after the last whole block of 8", "tokens in whole blocks of 8"),
        "token",
    ),
    "rest of 4 tokens": Feature(
        "rest of 4 tokens",
        lambda g: (g.index(1) >= g.x.shape[1] // 4 * 4).astype(np.float64),
        _flag("tokens after the last whole block of 4", "tokens in whole blocks of 4"),
        "token",
    ),
    "starts at 0": Feature(
        "starts at 0",
        _token(lambda g: np.broadcast_to(_p(g)[:, :1] != 0, _p(g).shape)),
        _flag("rows that do not begin at position 0", "rows that begin at position 0"),
        "token",
    ),
    "all places": Feature(
        "all places",
        _call(lambda g: g.x.shape[0] * g.x.shape[1]),
        _calls_with("place"),
    ),
    "place": Feature(
        "place",
        lambda g: g.index(0) * g.x.shape[1] + g.index(1),
        _counted("place"),
        "token",
    ),
    "size": Feature(
        "size",
        _call(
            lambda g: 3 * np.log10(max(float(np.abs(g.x.astype(np.float64)).max(initial=0)), 1e-9))
        ),
        _positions("components of size (thirds of a decade)"),
    ),
}
"""What a condition may be about, the likeliest first."""


def _before(value: Callable[[Given], float]) -> Callable[[Given], Array]:
    """Return the largest value of the calls before; -1 if there are none."""
    return _call(lambda g: max((float(value(one)) for one in g.past), default=-1.0))


def _first_of_width(g: Given) -> float:
    """Return the dtype of the first call of this head_dim, this one's if there was none."""
    same = [one for one in g.past if one.x.shape[-1] == g.x.shape[-1]]
    return _dtype(same[0] if same else g)


def _beyond(axis: int) -> Callable[[Given], Array]:
    """Return the index along an axis, counted from where the first call ended."""

    def values(g: Given) -> Array:
        first = g.past[0] if g.past else g
        return np.asarray(g.index(axis) - first.x.shape[axis], dtype=np.float64)

    return values


def _every(n: int) -> Callable[[Given], Array]:
    return _call(lambda g: (len(g.past) + 1) % n == 0)


def _after(what: str) -> Callable[[str, float], str]:
    def words(op: str, value: float) -> str:
        said = f"{value:.10g}" if op != ">=" else f"{value:.10g} or more"
        return f"calls after one with {what} {said}"

    return words


HISTORY: dict[str, Feature] = {
    "call": Feature("call", _call(lambda g: len(g.past) + 1), _counted("call")),
    **{
        f"every {n}": Feature(
            f"every {n}", _every(n), _flag(f"every call number {n}, {2 * n}, ...", "other calls")
        )
        for n in (2, 3, 4, 5, 6, 7, 8, 10, 16)
    },
    "farthest before": Feature(
        "farthest before",
        _before(lambda g: np.abs(g.positions).max(initial=0)),
        _after("a position of"),
    ),
    "longest before": Feature(
        "longest before", _before(lambda g: g.x.shape[1]), _after("a number of tokens of")
    ),
    "widest before": Feature(
        "widest before", _before(lambda g: g.x.shape[-1]), _after("a head_dim of")
    ),
    "token beyond": Feature(
        "token beyond",
        _beyond(1),
        lambda op, value: "tokens beyond the number of those in the first call",
        "token",
    ),
    "row beyond": Feature(
        "row beyond",
        _beyond(0),
        lambda op, value: "rows beyond the number of those in the first call",
        "token",
    ),
    "head beyond": Feature(
        "head beyond",
        _beyond(2),
        lambda op, value: "heads beyond the number of those in the first call",
        "token",
    ),
    "first dtype": Feature(
        "first dtype",
        _call(_first_of_width),
        lambda op, value: f"head_dims first called with {_dtype_words(op, value)}",
    ),
    "seen before": Feature(
        "seen before",
        _call(lambda g: any(one.x.shape == g.x.shape for one in g.past)),
        _flag("shapes that were called before", "shapes that were not called before"),
    ),
    "token before": Feature(
        "token before",
        _call(lambda g: bool(g.past) and g.past[-1].x.shape[1] == 1),
        _flag("calls after a call with one token", "calls after a call with more tokens"),
    ),
    "any before": Feature(
        "any before",
        _call(lambda g: bool(g.past)),
        _flag("calls after the first", "the first call"),
    ),
}
"""What a condition on earlier calls may be about."""

ALL = FEATURES | HISTORY


@dataclass(frozen=True, slots=True)
class Atom:
    """A feature compared with a value."""

    feature: str
    op: str
    value: float

    def mask(self, given: Given) -> Array:
        """Return where it holds."""
        return self.holds(ALL[self.feature].of(given))

    def holds(self, values: Array) -> Array:
        """Compare values with it."""
        if self.op == "==":
            return np.asarray(values == self.value)
        return np.asarray(values >= self.value if self.op == ">=" else values <= self.value)

    def __str__(self) -> str:
        words = ALL[self.feature].words
        return words(self.op, self.value) if words else f"{self.feature} {self.op} {self.value:g}"


@dataclass(frozen=True, slots=True)
class Where:
    """All of some atoms; everywhere if there are none."""

    atoms: tuple[Atom, ...] = ()

    def mask(self, given: Given) -> Array:
        """Return where it holds, of the shape of x."""
        held = np.ones((1, 1, 1, 1), dtype=bool)
        for atom in self.atoms:
            held = held & atom.mask(given)
        return np.broadcast_to(held, given.x.shape)

    @property
    def of_components(self) -> bool:
        """Whether it picks components of a token."""
        return any(ALL[atom.feature].scope == "component" for atom in self.atoms)

    def __str__(self) -> str:
        return ", ".join(str(atom) for atom in self.atoms) or "every call"


EVERYWHERE = Where()


def conditions(
    givens: Sequence[Given],
    yes: Sequence[Array],
    no: Sequence[Array],
    most: int = 6,
    *,
    history: bool = False,
) -> list[Where]:
    """Find conditions that hold wherever something is seen and nowhere where it is refuted.

    Parameters
    ----------
    givens : sequence of Given
        The calls.
    yes, no : sequence of ndarray
        For each, where it is seen and where it is refuted, of the shape of x.
    most : int
        How many are returned at most.
    history : bool
        Whether earlier calls may be to blame.

    Returns
    -------
    list of Where
        The simplest and likeliest first; empty if no condition of up to three atoms is found.
    """
    if not any(part.any() for part in no):
        return [EVERYWHERE]
    features = HISTORY | FEATURES if history else FEATURES
    rng = np.random.default_rng(17)
    chosen = [(_some(y, rng), _some(n, rng)) for y, n in zip(yes, no, strict=True)]
    atoms, excluded = list[Atom](), list[Array]()
    for name, feature in features.items():
        for atom, out in _atoms(name, feature, givens, chosen):
            if out.any():
                atoms.append(atom)
                excluded.append(out)
    found = [Where((atom,)) for atom, out in zip(atoms, excluded, strict=True) if out.all()]
    for count in (2, 3):
        if not found:
            found = _joined(atoms, excluded, count)
    return found[:most]


def _atoms(
    name: str, feature: Feature, givens: Sequence[Given], chosen: Sequence[tuple[Array, Array]]
) -> Iterator[tuple[Atom, Array]]:
    """Return comparisons that hold wherever it is seen, and what each of them excludes."""
    inside, outside = [np.zeros(0)], [np.zeros(0)]
    for given, (kept, left) in zip(givens, chosen, strict=True):
        if len(kept) or len(left):
            values = np.broadcast_to(feature.of(given), given.x.shape).ravel()
            inside.append(values[kept])
            outside.append(values[left])
    seen, refuted = np.concatenate(inside), np.concatenate(outside)
    if not len(seen):
        return
    low, high = float(seen.min()), float(seen.max())
    tried = [Atom(name, "==", low)] if low == high else []
    for atom in (*tried, Atom(name, ">=", low), Atom(name, "<=", high)):
        yield atom, ~atom.holds(refuted)


def _joined(atoms: Sequence[Atom], excluded: Sequence[Array], count: int) -> list[Where]:
    """Return conditions of several atoms that exclude all that is refuted together."""
    order = sorted(range(len(atoms)), key=lambda k: -int(excluded[k].sum()))[: 40 // count]
    return [
        Where(tuple(atoms[k] for k in group))
        for group in combinations(sorted(order), count)
        if np.logical_or.reduce([excluded[k] for k in group]).all()
    ]


_MOST = 3000


def _some(mask: Array, rng: np.random.Generator) -> Array:
    """Return the places where a mask holds, a few hundred of them at most."""
    places = np.flatnonzero(mask)
    return places if len(places) <= _MOST else rng.choice(places, _MOST, replace=False)
