"""Checks that what is kept for one scheme serves no other (SCAL-1, SCAL-8)."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial

from ropespec.conformance.case import Case
from ropespec.conformance.checks.literal import FEW
from ropespec.conformance.checks.rotation.walked import blamed_on_others, listed, usual_case
from ropespec.conformance.checks.scaling.drawn import DRAWN, any_scheme, exact_tables
from ropespec.conformance.checks.scaling.frequencies import NEEDS, WIDE, exact_and_printed
from ropespec.conformance.checks.scaling.rotations import TABLES, judged_tables
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.judge.finding import Finding, held
from ropespec.conformance.registry import check, walks
from ropespec.conformance.trial import Trial
from ropespec.spec.scaling import Scaling

__all__: list[str] = []

Judged = Callable[[Scaling], Finding]
_ALL, _WITH_GAINS = tuple(DRAWN), ("SCAL-7", "SCAL-9")


def _each(clauses: Sequence[str], trial: Trial, seed: int, strength: int) -> Walk:
    """Return a case for each scheme; its seed is the number of the scheme."""
    del seed, strength
    dims = [dim for dim in trial.profile.head_dims if dim >= WIDE.min_dim]
    usual = replace(usual_case(trial, 0), head_dim=(dims or trial.profile.head_dims)[0])
    return listed(replace(usual, seed=number) for number in range(len(clauses)))


@check(
    "SCAL-1.apart",
    "Frequencies are kept for schemes of which all numbers but one are the same.",
    needs=NEEDS,
    space=WIDE,
    share=FEW,
)
@walks(partial(_each, _ALL))
def frequencies_apart(trial: Trial, case: Case) -> Finding:
    """A scheme has its own frequencies after one that differs in one number, and the other way."""
    scheme = any_scheme(case, _ALL[case.seed % len(_ALL)], dim=case.head_dim)
    return _apart(trial, scheme, partial(exact_and_printed, trial, case), "frequencies")


@check(
    "SCAL-8.apart",
    "A gain, or tables, are kept for schemes of which all numbers but one are the same.",
    needs=(TABLES,),
    space=WIDE,
    share=FEW,
)
@walks(partial(_each, _WITH_GAINS))
def gains_apart(trial: Trial, case: Case) -> Finding:
    """A scheme has its own gain after one that differs in one number, and the other way."""
    scheme = any_scheme(case, _WITH_GAINS[case.seed % len(_WITH_GAINS)])
    m = case.make_positions()[:1, :2]

    def judged(one: Scaling) -> Finding:
        return judged_tables(trial, case, m, one, exact_tables(case, one, m))

    return _apart(trial, scheme, judged, "cos and sin")


def _apart(trial: Trial, scheme: Scaling, judged: Judged, what: str) -> Finding:
    """Ask for a scheme and for those beside it in turn.

    What is wrong on a fresh instance too is the business of other checks.
    """
    made = ((field.name, _with_another(scheme, field.name)) for field in fields(scheme))
    others = {name: other for name, other in made if other is not None}
    judged(scheme)
    for name, other in others.items():
        for one, before in ((other, {name: scheme}), (scheme, others)):
            found = judged(one)
            if not found.passed:
                again = partial(judged, one)
                of = _kept_of(trial, before, judged, again)
                message = f"{what} are wrong after those of {of}, and right on a fresh instance"
                return blamed_on_others(trial, found, again, message)
    return held()


def _kept_of(
    trial: Trial, before: Mapping[str, Scaling], judged: Judged, again: Callable[[], Finding]
) -> str:
    """Say after which one alone, of schemes that differ in a number, a scheme is wrong."""
    for name, other in before.items():
        trial.session.refresh()
        judged(other)
        if not again().passed:
            return f"a scheme that differs in {name}"
    return "other schemes"


_GIVEN = {"mscale": 0.7, "mscale_all_dim": 0.7, "attention_factor": 1.37}
"""Numbers that need not be given."""


def _with_another(scheme: Scaling, name: str) -> Scaling | None:
    """Return a scheme with another number of a name; None if there is none, or no such scheme."""
    value = getattr(scheme, name)
    if isinstance(value, bool):
        other: object = not value
    elif isinstance(value, tuple):
        other = tuple(1.25 * one for one in value)
    elif isinstance(value, int):
        other = 2 * value
    elif isinstance(value, float):
        other = 1.25 * value
    elif name in _GIVEN:
        other = _GIVEN[name]
    else:
        return None
    with contextlib.suppress(ValueError):
        return replace(scheme, **{name: other})  # type: ignore[arg-type]  # of the type of its field
    return None
