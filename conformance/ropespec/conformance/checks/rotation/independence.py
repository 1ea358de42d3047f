"""Checks that rows, tokens, heads and calls do not see each other (ROT-19)."""

import dataclasses

import numpy as np

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.common import alike, elsewhere, is_writable
from ropespec.conformance.checks.rotation.walked import in_turn, judged_at, listed, usual_case
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.judge.finding import Finding, worst
from ropespec.conformance.judge.values import ALIKE
from ropespec.conformance.registry import check, walks
from ropespec.conformance.subject.session import NotPossible, SubjectRaised
from ropespec.conformance.trial import Trial

__all__: list[str] = []


@check(
    "ROT-19.rows",
    "All rows of the batch are rotated by the positions of one row.",
    space=Space(values=("normal", "ones"), positions=("ragged", "spread"), min_batch=2),
    applies=lambda trial: (
        "shared positions claimed"
        if trial.profile.shared_positions or trial.profile.axes == "shd"
        else None
    ),
)
def rows(trial: Trial, case: Case) -> Finding:
    """Row b of a batch is rotated as if it were alone: f(x, p)[b] = f(x[b], p[b])."""
    positions = case.make_positions()
    x = case.make_x(positions)
    y = trial.rotate(case, x, positions)
    alone = [
        trial.rotate(case, np.ascontiguousarray(x[b : b + 1]), positions[b : b + 1])
        for b in range(case.batch)
    ]
    message = "a row of the batch is not rotated by its own positions"
    finding = alike(trial, case, x, positions, y, np.concatenate(alone), message)
    if finding.passed or y.shape != x.shape:
        return finding
    for row in range(case.batch):
        shared = np.broadcast_to(positions[row], positions.shape)
        if trial.resembles(case, x, shared, y):
            message = f"every row is rotated by the positions of row {row}"
            return dataclasses.replace(finding, message=message)
    return finding


_TOKENS = 6
_FAMILIES = 4
_BETWEEN = 3
"""The family in which the first row and the last are the same, and the one between is not."""


def _every_shortcut(trial: Trial, seed: int, strength: int) -> Walk:
    del seed, strength
    usual, shortcuts = usual_case(trial, 0), list[Case]()
    for number in range(_FAMILIES * len(ALIKE)):
        between = number // len(ALIKE) == _BETWEEN and usual.batch > 1
        batch = 3 if between else usual.batch
        seq = min(_TOKENS, trial.most_tokens(batch))
        if seq > 1:
            shortcuts.append(dataclasses.replace(usual, batch=batch, seq=seq, seed=number))
    return listed(shortcuts)


@check(
    "ROT-19.shortcuts",
    "Positions are taken for a run, or for those of another row, by some of their numbers.",
    space=Space(values=("normal",), min_seq=3),
)
@walks(_every_shortcut)
def takes_no_shortcut(trial: Trial, case: Case) -> Finding:
    """Each row follows its own positions, though some of them are those of a run or of a row.

    All rows are like runs, or a row is like the one before it, which is a run or is none, or like
    those on both sides of it, which are the same.
    """
    which, what = divmod(case.seed % (_FAMILIES * len(ALIKE)), len(ALIKE))
    rows = np.arange(case.batch)[:, None] * (not trial.profile.shared_positions)
    further = (rows, rows // 2, rows // 2, 0 * rows)[which]
    run = (2 + np.arange(case.seq) + 9 * further).astype(np.int64)
    like = [*ALIKE.values()][what](run)
    positions = np.where((rows + which) % 2, like, run) if which else like
    shared = trial.profile.shared_positions and (positions != positions[:1]).any()
    if shared or np.abs(positions).max(initial=0) > case.limit:
        raise NotPossible("no such positions are claimed")
    return judged_at(trial, case, positions)


@check(
    "ROT-19.heads",
    "Heads are rotated differently, or the head axis is taken for the sequence.",
    space=Space(values=("normal", "ones"), min_heads=2),
)
def heads(trial: Trial, case: Case) -> Finding:
    """The same vector in every head gives the same result in every head."""
    positions = case.make_positions()
    x = case.make_x(positions)
    x = np.ascontiguousarray(np.broadcast_to(x[:, :, :1], x.shape))
    y = trial.rotate(case, x, positions)
    first = np.broadcast_to(y[:, :, :1], y.shape)
    return alike(trial, case, x, positions, y, first, "equal heads are not rotated equally")


@check(
    "ROT-19.tokens",
    "A token alone is rotated differently than in a sequence: offsets or table slices are wrong.",
    space=Space(values=("normal",), min_seq=2, positions=("arange", "shuffled", "negative")),
)
@walks(in_turn(("normal",), least=(1, 2, 1)))
def tokens(trial: Trial, case: Case) -> Finding:
    """f(x, p)[j] = f(x[j], p[j]): a cache filled step by step equals one filled at once."""
    positions = case.make_positions()
    x = case.make_x(positions)
    whole = trial.rotate(case, x, positions)
    findings = []
    message = "a token alone is rotated differently than within its sequence"
    for cut in (slice(0, 1), slice(1, None)):
        part, where = np.ascontiguousarray(x[:, cut]), positions[:, cut]
        y = trial.rotate(case, part, where)
        findings.append(alike(trial, case, part, where, y, whole[:, cut], message))
    return worst(*findings)


@check(
    "ROT-19.history",
    "A call changes later calls: a table is kept for another length, dtype or position.",
    space=Space(values=("normal",), positions=("arange", "ragged", "spread")),
)
def history(trial: Trial, case: Case) -> Finding:
    """The result is the same before and after calls of other lengths, dtypes and positions.

    So it is when the call is made twice, with nothing in between.
    """
    positions = case.make_positions()
    x = case.make_x(positions)
    before = trial.rotate(case, x, positions)
    length = min(case.seq + 1, trial.most_tokens(case.batch))
    longer = dataclasses.replace(case, seq=length, start=case.start // 2)
    shorter = dataclasses.replace(case, seq=1, start=0, positions="arange")
    for other in trial.profile.dtypes:
        between = dataclasses.replace(longer if other == case.dtype else shorter, dtype=other)
        where = between.make_positions()
        trial.rotate(between, between.make_x(where), where)
    after, again = (trial.rotate(case, x, positions) for _ in range(2))
    message = "the same call gives another result after calls of other lengths and dtypes"
    found = alike(trial, case, x, positions, after, before, message)
    if not found.passed:
        return found
    message = "the same call gives another result when it is made again"
    return alike(trial, case, x, positions, again, after, message)


def _has_strides(trial: Trial) -> str | None:
    """Need arrays that may have gaps."""
    room = trial.profile.framework
    if not room.has_strides:
        return f"{room.title} arrays have no strides"
    return None if trial.profile.strided else "no strided arrays claimed"


@check(
    "ROT-19.strides",
    "A view that is not contiguous is read as if it were.",
    space=Space(values=("normal",)),
    applies=_has_strides,
)
def strides(trial: Trial, case: Case) -> Finding:
    """A view of x, strided or begun later, gives what x gives, and strided positions, if taken."""
    positions = case.make_positions()
    x = case.make_x(positions)
    plain = trial.rotate(case, x, positions)
    y = trial.rotate(case, x, positions, strided=True)
    of_x = alike(trial, case, x, positions, y, plain, "a strided view of x is read wrongly")
    y = trial.rotate(case, x, positions, strided="offset")
    message = "x that begins within a buffer is read wrongly"
    of_x = worst(of_x, alike(trial, case, x, positions, y, plain, message))
    try:
        y = trial.rotate(case, x, positions, strided_positions=True)
    except SubjectRaised:
        return of_x  # no wrong number, and no clause that positions of all strides are taken
    message = "a strided view of the positions is read wrongly"
    return worst(of_x, alike(trial, case, x, positions, y, plain, message))


@check(
    "ROT-19.refilled",
    "What the arguments hold now is not looked at: a table or a result is kept by their memory.",
    space=Space(values=("normal",), positions=("arange", "ragged", "spread")),
    applies=is_writable,
    share=0.3,
)
def refilled(trial: Trial, case: Case) -> Finding:
    """x and positions whose memory was filled anew, as by a loop of generation, count anew."""
    positions = case.make_positions()
    x = case.make_x(positions)
    now = elsewhere(positions)
    later = case.make_x(now, seed=1)
    y = trial.rotate_refilled(case, (x, positions), (later, now))
    message = "a second call in the same memory is not rotated by what the memory holds by then"
    # A call by itself may get the same memory, and then is no more right than this one.
    kept = not trial.resembles(case, later, now, y) and (
        trial.resembles(case, later, positions, y) or trial.resembles(case, x, positions, y)
    )
    other = trial.expect(case, later, now).y if kept else trial.rotate(case, later, now)
    return alike(trial, case, later, now, y, other, message)
