"""Comparison of two subjects: as they are, and after the change that identification suggests."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from ropespec.conformance.compare.both import Both
from ropespec.conformance.compare.change import Change, change_between, channel_list
from ropespec.conformance.compare.outcome import outcome
from ropespec.conformance.compare.result import (
    Comparison,
    Outcome,
    Permutation,
    Relation,
    SideReport,
)
from ropespec.conformance.compare.side import Side
from ropespec.conformance.compare.terms import Terms, settle
from ropespec.conformance.compare.words import convention_line, permutation_words
from ropespec.conformance.diagnosis import diagnose

if TYPE_CHECKING:
    from ropespec.conformance.compare.measure import Held

__all__ = ["compare"]


def compare(a: Side, b: Side, seed: int = 0) -> Comparison:
    """Find out whether one subject can stand for another.

    They are interchangeable if, on the same inputs, no component differs by more than the sum of
    both error budgets, each taken under the better one of the two precision classes; a class that
    is worse shows as the position from which on they part.

    Parameters
    ----------
    a, b : Side
        Open.
    seed : int
        The same seed gives the same inputs.

    Raises
    ------
    TargetUnusable
        If they have no dtype or head_dim in common, or one of them gives no result at all.
    """
    began = time.perf_counter()
    found = _compare(a, b, seed)
    if not found.interchangeable and any([a.look(), b.look()]):
        found = _compare(a, b, seed)
    return replace(
        found,
        a=_left(a, found.a),
        b=_left(b, found.b),
        seconds=time.perf_counter() - began,
    )


def _compare(a: Side, b: Side, seed: int) -> Comparison:
    terms = settle(a, b)
    change = _change(b, terms)
    if change is not None:
        terms = replace(terms, max_position=max(terms.max_position - abs(change.offset), 1))
    held: dict[str, tuple[Held, Held]] = {}
    direct = outcome(Both((a, b), terms), seed, held)
    changed = None
    if change is not None and change.needed and not direct.agrees:
        one_setting = replace(terms, settings=terms.settings[:1])
        changed = outcome(Both((a, b), one_setting, change), seed, held)
    relation = _relation(direct, changed)
    mended = relation is Relation.AFTER_CHANGE
    return Comparison(
        a=_report(a, terms, 0),
        b=_report(b, terms, 1),
        relation=relation,
        direct=direct,
        change=change if mended else None,
        permutation=_permutation(terms, change) if mended else None,
        changed=changed if mended else None,
        seed=seed,
        seconds=0.0,
    )


def _change(b: Side, terms: Terms) -> Change | None:
    """Return what would make B do what A does, as far as conventions are known."""
    first, second = terms.settings[0].turns
    if first is None or second is None:
        return None
    found = [
        change_between(first, second, dim, b_takes_rotary_dim=b.takes("rotary_dim"))
        for dim in terms.head_dims
    ]
    return found[0] if all(one == found[0] for one in found) else None


def _relation(direct: Outcome, changed: Outcome | None) -> Relation:
    if direct.agrees:
        return Relation.INTERCHANGEABLE
    if changed is not None and changed.near:
        return Relation.AFTER_CHANGE
    return Relation.PART if direct.near else Relation.DIFFER


def _permutation(terms: Terms, change: Change | None) -> Permutation | None:
    first, second = terms.settings[0].turns
    if change is None or not change.permutes or first is None or second is None:
        return None
    if change.rotary_dim is not None:
        second = replace(second, fixed=change.rotary_dim)
    dim = min(terms.head_dims, key=lambda one: (abs(one - 64), one))
    order, result = channel_list(first, second, dim)
    return Permutation(dim, order, result, permutation_words(first, second, order))


def _report(side: Side, terms: Terms, index: int) -> SideReport:
    turn = terms.settings[0].turns[index]
    profile = side.profile
    return SideReport(
        target=side.session.target,
        profile=profile.as_dict(),
        convention=convention_line(turn, side.found),
        environment=dict(side.session.environment),
        remarks=tuple(
            f"{one.id} {one.name}: {one.sentence}".strip()
            for one in diagnose(side.session.under(side.claimed, side.session.timeout))
        ),
        lacks=side.session.lacks,
    )


def _left(side: Side, report: SideReport) -> SideReport:
    """Add what outlived a side, which is known when its process has ended."""
    side.session.refresh()
    return replace(report, stragglers=dict(side.session.stragglers))
