"""A check that no function writes to what it is given, whichever check called it (ROT-17)."""

import contextlib
from dataclasses import replace

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.walked import listed, usual_case
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.judge.finding import Call, Finding, broken, held
from ropespec.conformance.registry import Check, all_checks, check, walks
from ropespec.conformance.subject.session import NotDifferentiable, NotPossible, SubjectRaised
from ropespec.conformance.trial import Trial, Unfit

__all__: list[str] = []


def _once(trial: Trial, seed: int, strength: int) -> Walk:
    del strength
    return listed([usual_case(trial, seed)])


@check(
    "ROT-17.arguments",
    "A function of the API writes to what it is given, or a rotation returns it.",
    needs=(),
    space=Space(values=("normal",), max_position=64),
)
@walks(_once)
def arguments(trial: Trial, case: Case) -> Finding:
    """What any check asked of any function left the arguments as they were.

    Of functions that were not asked yet all checks that need one are made, of one case each.
    """
    noted = trial.session.trespasses
    before = set(noted.asked)
    for item in all_checks():
        left = set(item.needs) - before
        if left and item.reason_to_skip(trial) is None:
            _make(item, trial, case)
    for name, trespass in sorted(noted.found.items()):
        call = Call(name, trespass.arrays, trespass.keywords)
        return broken(f"{name}: {trespass.what}", call=call)
    return held()


def _make(item: Check, trial: Trial, case: Case) -> None:
    """Make a check for the sake of its calls."""
    space = item.space
    layouts = [one for one in trial.profile.layouts if one in (space.layouts or (one,))]
    narrow = [dim for dim in trial.profile.head_dims if dim >= space.min_dim]
    width = min(case.head_dim, space.max_dim or case.head_dim)
    fit = replace(
        case,
        batch=max(case.batch, space.min_batch) if trial.profile.axes != "shd" else 1,
        seq=max(case.seq, space.min_seq),
        heads=max(case.heads, space.min_heads),
        head_dim=max([dim for dim in narrow if dim <= width], default=min(narrow)),
        values=space.values[0],
    )
    fit = fit.stating(interleaved=layouts[0]) if layouts else fit
    with contextlib.suppress(SubjectRaised, NotPossible, NotDifferentiable, Unfit):
        item.judge(trial, fit)
