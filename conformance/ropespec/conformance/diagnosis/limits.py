"""The exact limit of a condition, by bisection."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.confirm import Explanation
from ropespec.conformance.diagnosis.seen import Seen, agree
from ropespec.conformance.diagnosis.wanted import with_feature
from ropespec.conformance.diagnosis.where import ALL, Atom, Where
from ropespec.conformance.mistakes.chain import Chain, run
from ropespec.conformance.mistakes.given import Array

__all__ = ["refined"]


def refined(
    asker: Asker, maker: Maker, right: Chain, explanation: Explanation, seen: Sequence[Seen]
) -> Explanation:
    """Bisect each limit of a condition between the last call without and the first call with."""
    where = explanation.where
    for atom in where.atoms:
        if atom.op == "==" or atom.feature not in _BISECTED:
            continue
        limit = _limit(asker, maker, right, Explanation(explanation.choice, where), atom, seen)
        atoms = tuple(replace(one, value=limit) if one is atom else one for one in where.atoms)
        where = Where(atoms)
    return Explanation(explanation.choice, where)


_BISECTED = (
    "tokens",
    "rows",
    "heads",
    "elements",
    "distance",
    "position",
    "farthest",
    "start",
    "highest",
    "all places",
    "token",
    "row",
    "head",
    "place",
)


def _limit(
    asker: Asker,
    maker: Maker,
    right: Chain,
    explanation: Explanation,
    atom: Atom,
    seen: Sequence[Seen],
) -> float:
    """Return the exact limit of an atom."""
    inside, outside = atom.value, _outside(right, explanation, atom, seen)
    for step in range(20):
        if outside is None or abs(inside - outside) <= 1:
            break
        middle = float(np.floor((inside + outside) / 2))
        made = with_feature(maker, atom.feature, middle, explanation.where, 7000 + step)
        answer = asker.ask(made[0]) if made else None
        if answer is None or answer.y is None:
            break
        one = Seen(answer, right)
        values = _values(atom, one)
        middle = float(values.flat[np.abs(values - middle).argmin()])  # as near as a call comes
        if middle in (inside, outside):
            break
        if (one.wrong & (values == middle)).any():
            inside = middle
        else:
            outside = middle
    return float(inside)


def _values(atom: Atom, seen: Seen) -> Array:
    return np.broadcast_to(ALL[atom.feature].of(seen.given), seen.y.shape)


def _outside(
    right: Chain, explanation: Explanation, atom: Atom, seen: Sequence[Seen]
) -> float | None:
    """Return the nearest value beyond the limit at which only the right chain explains."""
    rest = Where(tuple(one for one in explanation.where.atoms if one is not atom))
    sign, found = 1 if atom.op == ">=" else -1, list[float]()
    for one in seen:
        other = run(explanation.choice.chain(right), one.given)
        values = _values(atom, one)
        refuted = rest.mask(one.given) & ~one.wrong & ~agree(one.y, other)
        refuted &= sign * (values - atom.value) < 0
        found += [sign * float((sign * values[refuted]).max())] if refuted.any() else []
    return max(found, key=lambda value: sign * value, default=None)
