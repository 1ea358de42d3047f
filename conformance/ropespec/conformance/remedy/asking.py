"""Asking a subject for the sizes that it takes, by plain calls that are judged."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ropespec.conformance.case import Case
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.session import SubjectRaised
from ropespec.conformance.trial import Trial, Unfit

__all__ = ["MANY", "head_dims", "most_tokens"]

MANY = 65537
"""No check asks for more tokens in one call."""

TELLING = 16
"""A head from which on no usual mistake goes unseen; with one pair most of them do."""

LAST = 8
"""Tokens of a long call that are judged."""


def head_dims(trial: Trial) -> Mapping[str, Any]:
    """Return the claim of those head sizes that come out right; empty if all do, or none does.

    Parameters
    ----------
    trial : Trial
        The subject; every size that is claimed is asked for once.
    """
    asked = trial.profile.head_dims
    good = [size for size in asked if _is_right(trial, _case(trial.profile, size))]
    bad = [size for size in asked if size not in good]
    if not bad or max(good, default=0) < TELLING:
        return {}
    if max(bad) < min(good):
        return {"min_head_dim": min(good)}
    return {"head_dims": tuple(good)}


def most_tokens(trial: Trial) -> Mapping[str, Any]:
    """Return the claim of the most tokens that come out right; empty if `MANY` do, or not one.

    Parameters
    ----------
    trial : Trial
        The subject. Up to some number of tokens it is thought to be right, and from there on not.
    """
    limits = list(_limits(trial))
    return {"max_tokens": min(limits)} if limits else {}


def _limits(trial: Trial) -> Iterator[int]:
    """Find the most tokens of one row, and the most rows of one token, where they have a limit."""
    size = min(trial.profile.head_dims, key=lambda one: abs(one - 8))
    for in_rows in (False,) if trial.profile.axes == "shd" else (False, True):
        right, wrong = 1, MANY
        if not _takes(trial, size, right, in_rows) or _takes(trial, size, wrong, in_rows):
            continue
        while wrong - right > 1:
            middle = (right + wrong) // 2
            if _takes(trial, size, middle, in_rows):
                right = middle
            else:
                wrong = middle
        yield right


def _takes(trial: Trial, size: int, tokens: int, in_rows: bool) -> bool:
    batch, seq = (tokens, 1) if in_rows else (1, tokens)
    return _is_right(trial, _case(trial.profile, size, batch=batch, seq=seq))


def _case(profile: Profile, head_dim: int, *, batch: int = 1, seq: int = 2) -> Case:
    """Return a plain call: all at one position, which any table has."""
    return Case(
        batch=batch,
        seq=seq,
        heads=1,
        head_dim=head_dim,
        convention=profile.rotation.text,
        dtype=profile.dtypes[0],
        positions="repeated",
        start=1,
        limit=profile.max_position,
        values="normal",
        strided=False,
        seed=0,
    )


def _is_right(trial: Trial, case: Case) -> bool:
    """Whether the last tokens come out right.

    Raises
    ------
    SubjectError
        If it crashes or does not answer, which says nothing of a size.
    """
    positions = case.make_positions()
    x = case.make_x(positions)
    last = np.s_[-LAST:] if case.batch > 1 else np.s_[:, -LAST:]
    try:
        y = trial.rotate(case, x, positions)
    except (SubjectRaised, Unfit):
        return False
    return trial.judge(case, x[last], positions[last], y[last]).passed
