"""Where a mistake applies: a condition on call, token or pair, learnt and then tried."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ropespec.conformance.diagnosis.before import HISTORY
from ropespec.conformance.diagnosis.feature import Feature
from ropespec.conformance.diagnosis.features import FEATURES
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["ALL", "EVERYWHERE", "Atom", "Where", "conditions"]

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

_Places = tuple[Array, ...]


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
    chosen = _chosen(givens, yes, no)
    known = [
        (atom, out)
        for name, feature in (HISTORY | FEATURES if history else FEATURES).items()
        for atom, out in _atoms(name, feature, chosen)
        if out.any()
    ]
    found = [Where((atom,)) for atom, out in known if out.all()]
    atoms, excluded = [atom for atom, _ in known], [out for _, out in known]
    found = found or _pairs(atoms, excluded, most) or _triples(atoms, excluded)
    return (found or _of_dense(atoms, excluded, most))[:most]


class _Chosen(NamedTuple):
    """Places of a call: so many where it is seen, then those where it is refuted."""

    given: Given
    places: _Places
    seen: int


def _chosen(givens: Sequence[Given], yes: Sequence[Array], no: Sequence[Array]) -> list[_Chosen]:
    """Return some places of each call, and how many of them come first."""
    rng = np.random.default_rng(17)
    chosen = list[_Chosen]()
    for given, here, there in zip(givens, yes, no, strict=True):
        kept, left = _some(here, rng), _some(there, rng)
        if len(kept) + len(left):
            both = np.unravel_index(np.concatenate([kept, left]), here.shape)
            chosen.append(_Chosen(given, both, len(kept)))
    return chosen


def _atoms(name: str, feature: Feature, chosen: Sequence[_Chosen]) -> Iterator[tuple[Atom, Array]]:
    """Return comparisons that hold wherever it is seen, and what each of them excludes."""
    seen, refuted = _values(feature, chosen)
    if not len(seen):
        return
    low, high = float(seen.min()), float(seen.max())
    if not np.isfinite((low, high)).all():  # of values that no call can be made around
        return
    tried = [Atom(name, "==", low)] if low == high else []
    if not (tried and np.isin(refuted, (0.0, 1.0)).all()):  # of a flag that says it all
        tried += [Atom(name, ">=", low), Atom(name, "<=", high)]
    for atom in tried:
        yield atom, ~atom.holds(refuted)


def _values(feature: Feature, chosen: Sequence[_Chosen]) -> tuple[Array, Array]:
    """Return the values of a feature where it is seen, and where it is refuted."""
    each = [feature.of(call.given) for call in chosen]
    counts = [(call.seen, len(call.places[0]) - call.seen) for call in chosen]
    if all(values.size == 1 for values in each):  # of whole calls
        of_calls, sizes = np.array([values.item() for values in each]), np.array(counts).T
        return np.repeat(of_calls, sizes[0]), np.repeat(of_calls, sizes[1])
    known = [_at(values, call.places) for values, call in zip(each, chosen, strict=True)]
    halves = [
        (values[:count], values[count:]) for values, (count, _) in zip(known, counts, strict=True)
    ]
    seen, refuted = zip(*halves, strict=True)
    return np.concatenate(seen), np.concatenate(refuted)


def _at(values: Array, places: _Places) -> Array:
    """Return values, spread over the shape of x, at places of it."""
    if values.size == 1:
        return np.full(len(places[0]), values.item())
    own = zip(places[-values.ndim :], values.shape, strict=True)
    return np.asarray(values[tuple(along if size > 1 else 0 for along, size in own)])


def _pairs(atoms: Sequence[Atom], excluded: Sequence[Array], most: int) -> list[Where]:
    """Return conditions of two atoms that exclude all that is refuted, the likeliest first."""
    if not atoms:
        return []
    few = np.random.default_rng(19).permutation(len(excluded[0]))[:_MOST]
    screen, found = np.stack([out[few] for out in excluded]), list[Where]()
    for i, out in enumerate(screen):
        for j in map(int, np.flatnonzero(screen[i + 1 :, ~out].all(axis=1)) + i + 1):
            if len(found) < most and (excluded[i] | excluded[j]).all():
                found.append(Where((atoms[i], atoms[j])))
    return found


def _triples(atoms: Sequence[Atom], excluded: Sequence[Array]) -> list[Where]:
    """Return conditions of three of the atoms that exclude most."""
    order = sorted(range(len(atoms)), key=lambda k: -int(excluded[k].sum()))[:13]
    return [
        Where(tuple(atoms[k] for k in group))
        for group in combinations(sorted(order), 3)
        if np.logical_or.reduce([excluded[k] for k in group]).all()
    ]


def _of_dense(atoms: Sequence[Atom], excluded: Sequence[Array], most: int) -> list[Where]:
    """Return conditions of two atoms on what has no gaps, where nothing else is concerned."""
    if _DENSE not in atoms:
        return []
    left = ~excluded[atoms.index(_DENSE)]
    found = _pairs(atoms, [out[left] for out in excluded], most)
    return [Where((*one.atoms, _DENSE)) for one in found]


_DENSE = Atom("gaps", "==", 0.0)
_MOST = 3000


def _some(mask: Array, rng: np.random.Generator) -> Array:
    """Return the places where a mask holds, some thousands of them at most."""
    places = np.flatnonzero(mask)
    return places if len(places) <= _MOST else rng.choice(places, _MOST, replace=False)
