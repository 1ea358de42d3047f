"""What each component is made of, measured: the operator that turns x, read off many x at once."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.read import snapped
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.mistakes.chain import Chain, cos_sin, ladder, own_position
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.members import Member, Product, made_of, members_claimed

__all__ = ["fitted_members"]

_WIDTHS = 3
_CALLS = 40
_FARTHEST = 20_000
_NEAR = 3e-3
"""How far an entry of the operator may be off, in what is measured of float32."""
_FIRM = 0.3
"""From which size on a cosine tells the factor that it carries."""


def fitted_members(asker: Asker, wrong: Sequence[Seen], chain: Chain) -> Iterator[Choice]:
    """Measure of which components each is made, times which cosine or sine.

    Parameters
    ----------
    asker : Asker
        The subject.
    wrong : sequence of Seen
        Calls with wrong components.
    chain : Chain
        What is claimed.
    """
    if asker.backward:
        return
    widths: dict[_Key, list[Seen]] = {}
    for seen in wrong:
        given = seen.given
        if given.dtype in ("float32", "float64") and given.turning >= 4 and not given.axes:
            widths.setdefault(_key(given), []).append(seen)
    found: dict[_Key, list[Member]] = {}
    told: tuple[str, str] | None = None
    for key, calls in sorted(widths.items(), key=lambda one: -len(one[1]))[:_WIDTHS]:
        members = _members(asker, calls, chain)
        if members is None:
            return
        claimed = members_claimed(calls[0].given, chain.pairing(calls[0].given))
        told = told or _told(members, claimed)
        found[key] = members
    if told is not None:
        made = made_of(lambda given: found.get(_key(given)))
        yield Choice(told[0], "product", told[1], made, 6.0, free=True)


_Key = tuple[int, int, bool]


def _key(given: Given) -> _Key:
    return given.turning, given.x.shape[-1], given.interleaved


def _members(asker: Asker, calls: Sequence[Seen], chain: Chain) -> list[Member] | None:
    """Return what each component is made of; None where it is none of these."""
    template = max(calls[:12], key=lambda one: min(one.y.size, 4096)).given
    places = _places(calls)
    if len(places) < 2:
        return None
    operators = [_operator(asker, template, place) for place in places]
    if any(one is None for one in operators):
        return None
    entries = np.stack([one for one in operators if one is not None], axis=-1)
    circles = _circles(template, places)
    pairs, members = chain.pairing(template), list[Member]()
    own = np.zeros(template.x.shape[-1], np.int64)
    own[pairs.first] = own[pairs.second] = np.arange(len(pairs.first))
    usual = _usual(entries, circles, own)
    for j, row in enumerate(entries):
        inputs = np.flatnonzero((np.abs(row) > circles.near.max(axis=0)).any(axis=-1))
        made = [_product(int(k), row[k], circles, usual, (own[k], own[j])) for k in inputs]
        if len(made) > 2 or None in made:
            return None
        members.append(tuple(one for one in made if one is not None))
    return members


def _usual(entries: Array, circles: "_Circles", own: Array) -> tuple[float, float]:
    """Return the factor that most cosines carry, and that of most sines."""
    found = list[float]()
    for kind in range(2):
        values = circles.values[kind, own]
        with np.errstate(all="ignore"):
            ratios = np.abs(entries / values[:, None])
        firm = (np.abs(values) > _FIRM).all(axis=-1)
        level = (np.ptp(ratios, axis=-1) < _NEAR) & (ratios.mean(axis=-1) > _FIRM)
        ratios = ratios[firm][level[firm]]
        found.append(snapped(float(np.median(ratios)), 1e-3) if ratios.size else 1.0)
    return found[0], found[1]


class _Circles(NamedTuple):
    """Cosines and sines of each pair at all positions, (2, n, places), and how near is the same."""

    values: Array
    near: Array


def _circles(template: Given, places: Sequence[int]) -> _Circles:
    values, room = list[Array](), list[Array]()
    for place in places:
        given = replace(template, positions=np.full((1, 1), place))
        theta = ladder(given)
        cos, sin = cos_sin(given, own_position(given) * theta)
        values.append(np.stack([cos.ravel(), sin.ravel()]))
        room.append(_NEAR + 4e-7 * abs(place) * np.abs(theta))
    return _Circles(np.stack(values, axis=-1), np.stack(room, axis=-1))


def _places(calls: Sequence[Seen]) -> list[int]:
    """Return two positions where it fails, far ones, for which slow pairs turn as well."""
    all_ = [one.given.positions[one.wrong.any(axis=(2, 3))] for one in calls]
    found = np.unique(np.abs(np.concatenate(all_)))
    found = found[(found > 0) & (found <= _FARTHEST)]
    if not len(found):
        return []
    second = found[found <= 0.7 * found[-1]]
    return [int(found[-1]), *map(int, second[-1:])]


def _operator(asker: Asker, template: Given, place: int) -> Array | None:
    """Return the matrix by which x is multiplied at a position; None if there is none."""
    dim, rng = template.x.shape[-1], np.random.default_rng(place)
    count = template.x.size // dim
    calls = -(-2 * dim // count)
    if calls > _CALLS:
        return None
    positions = np.full_like(template.positions, place)
    some, others = list[Array](), list[Array]()
    for _ in range(calls):
        x = rng.standard_normal(template.x.shape).astype(template.x.dtype)
        answer = asker.ask(replace(template, x=x, positions=positions))
        if answer is None or answer.y is None or answer.y.shape != x.shape:
            return None
        some.append(x.reshape(-1, dim).astype(np.float64))
        others.append(answer.y.reshape(-1, dim))
    x, y = np.concatenate(some), np.concatenate(others)
    if not np.isfinite(y).all():
        return None
    solved = np.linalg.lstsq(x, y, rcond=None)[0]
    off = np.abs(x @ solved - y).max(initial=0.0)
    return np.asarray(solved.T) if off <= 1e-4 * np.abs(y).max(initial=1.0) else None


def _product(
    component: int,
    entry: Array,
    circles: _Circles,
    usual: tuple[float, float],
    likely: tuple[int, int],
) -> Product | None:
    """Return what an entry of the operator is at all positions: of the likely pairs, or of any."""
    order = [*dict.fromkeys(map(int, likely)), *range(circles.values.shape[1])]
    for free, tried in ((False, order), (True, order[:2])):
        for i in tried:
            for kind, value, size in zip(("cos", "sin"), circles.values[:, i], usual, strict=True):
                ratio = float(entry @ value / (value @ value))
                for factor in [ratio] if free else [np.sign(ratio) * size, np.sign(ratio)]:
                    off = np.abs(factor * value - entry)
                    if factor and (off <= circles.near[i] * max(abs(factor), 1)).all():
                        return Product(component, kind, i, snapped(float(factor), 1e-3))
    if np.ptp(entry) <= _NEAR:
        return Product(component, "one", 0, snapped(float(entry.mean()), 1e-3))
    return None


def _told(members: list[Member], claimed: list[Member]) -> tuple[str, str] | None:
    """Return the mistake and its words; None if it is none."""
    if all(set(one) == set(other) for one, other in zip(members, claimed, strict=True)):
        return None
    rows = {frozenset(row): j for j, row in enumerate(claimed)}
    moved = [rows.get(frozenset(row)) for row in members]
    if len({*moved}) == len(moved) and None not in moved:
        return "pairs in another order", f"what comes back is in the order {_list(moved)}"
    if sent := _sent(members, claimed):
        return "pairs in another order", f"what is rotated is x in the order {_list(sent)}"
    partners = _partners(members)
    if partners.items() - _partners(claimed).items():
        words = ", ".join(f"{j} with {k}" for j, k in list(partners.items())[:4])
        return "other pairs", f"components rotate in other pairs: {words}, ..."
    wrong = [j for j, row in enumerate(members) if set(row) != set(claimed[j])]
    words = "; ".join(f"y{j} = {_sum(members[j])}" for j in wrong[:2])
    return "operands confused", f"components are made of other products: {words}; ..."


def _sent(members: list[Member], claimed: list[Member]) -> list[int]:
    """Return which component stands in place of each, if that is all; else nothing."""
    sent = dict[int, int]()
    for row, right in zip(members, claimed, strict=True):
        found = {(one.kind, one.pair, one.factor): one.component for one in row}
        for one in right:
            component = found.pop((one.kind, one.pair, one.factor), None)
            if component is None or sent.setdefault(one.component, component) != component:
                return []
        if found:
            return []
    order = [sent[j] for j in sorted(sent)]
    return order if sorted(order) == sorted(sent) else []


def _list(values: Sequence[object]) -> str:
    return ", ".join(map(str, values[:8])) + (", ..." if len(values) > 8 else "")


def _partners(members: list[Member]) -> dict[int, int]:
    """Return with which component each rotates; empty if they do not rotate in pairs."""
    partners = dict[int, int]()
    for j, row in enumerate(members):
        parts = {one.kind: one for one in row}
        if set(parts) == {"one"} and parts["one"] == Product(j, "one", 0, 1.0):
            continue
        if set(parts) != {"cos", "sin"} or parts["cos"].component != j:
            return {}
        if abs(parts["cos"].factor) != 1 or abs(parts["sin"].factor) != 1:
            return {}
        partners[j] = parts["sin"].component
    return partners if all(partners.get(k) == j for j, k in partners.items()) else {}


def _sum(row: Member) -> str:
    """Write a member as a sum of products."""
    said = list[str]()
    for one in row:
        size = "" if abs(one.factor) == 1 else f"{abs(one.factor):g} "
        turned = "" if one.kind == "one" else f" {one.kind}(m theta_{one.pair})"
        said += ["-" if one.factor < 0 else "+", f"{size}x{one.component}{turned}"]
    return " ".join(said).removeprefix("+ ") or "0"
