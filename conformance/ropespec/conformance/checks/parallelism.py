"""Checks of the chapter `parallelism`: what is divided, reordered or packed keeps its positions."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.attention.common import (
    Inputs,
    attend,
    by_reference,
    call_attention,
    inputs,
)
from ropespec.conformance.checks.literal import FEW
from ropespec.conformance.checks.rotation.common import alike
from ropespec.conformance.checks.shared import NEAR
from ropespec.conformance.judge.bounds import Bounded
from ropespec.conformance.judge.finding import Finding, compare, worst
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial

__all__: list[str] = []

Float = NDArray[np.floating]
Positions = NDArray[np.int64]

SHARDS = 2


def _in_parts(
    trial: Trial, case: Case, x: Float, positions: Positions, parts: list[Positions]
) -> Float:
    """Rotate some tokens at a time, each with its own position, and put all of them back."""
    rotated = [trial.rotate(case, np.take(x, i, axis=1), positions[:, i]) for i in parts]
    whole = np.concatenate(rotated, axis=1)
    order = np.concatenate(parts)
    return np.take(whole, np.argsort(order), axis=1)


def _zigzag(tokens: int) -> list[Positions]:
    """Cut into two chunks a shard; shard i gets chunk i from the front and from the back."""
    chunks = np.array_split(np.arange(tokens), 2 * SHARDS)
    return [np.concatenate([chunks[i], chunks[-1 - i]]) for i in range(SHARDS)]


def _striped(tokens: int) -> list[Positions]:
    """Deal the tokens out one by one."""
    return [np.arange(i, tokens, SHARDS) for i in range(SHARDS)]


@check(
    "PAR-1.shards",
    "A shard of the sequence is rotated by positions counted within the shard.",
    names=("F-019",),
    space=Space(values=("normal",), min_seq=2, positions=("arange", "shuffled", "negative")),
)
def shards(trial: Trial, case: Case) -> Finding:
    """Two shards with the positions of their tokens, the first one longer, are the whole."""
    positions = case.make_positions()
    x = case.make_x(positions)
    y = trial.rotate(case, x, positions)
    parts = np.array_split(np.arange(case.seq), SHARDS)
    apart = _in_parts(trial, case, x, positions, parts)
    message = "two shards of the sequence, with the positions of their tokens, are not the whole"
    return alike(trial, case, x, positions, y, apart, message)


@check(
    "PAR-2.order",
    "Tokens are dealt out to shards in another order, and their positions are not.",
    space=Space(values=("normal",), min_seq=5, positions=("arange", "spread")),
)
def order(trial: Trial, case: Case) -> Finding:
    """Tokens in zigzag or striped order, with their positions in that order, come out in it."""
    positions = case.make_positions()
    x = case.make_x(positions)
    y = trial.rotate(case, x, positions)
    deal = (_zigzag, _striped)[case.seed % 2]
    dealt = np.concatenate(deal(case.seq))
    there, where = np.take(x, dealt, axis=1), positions[:, dealt]
    got = trial.rotate(case, there, where)
    message = "tokens dealt out in another order, with their positions, are rotated otherwise"
    return alike(trial, case, there, where, got, np.take(y, dealt, axis=1), message)


@check(
    "PAR-3.heads",
    "A part of the heads is rotated otherwise than the same heads among all.",
    space=Space(values=("normal",), min_heads=2),
)
def heads(trial: Trial, case: Case) -> Finding:
    """Two groups of heads, rotated apart, are all of them rotated together."""
    positions = case.make_positions()
    x = case.make_x(positions)
    y = trial.rotate(case, x, positions)
    groups = np.array_split(np.arange(case.heads), SHARDS)
    rotated = [trial.rotate(case, np.take(x, group, axis=2), positions) for group in groups]
    apart = np.concatenate(rotated, axis=2)
    message = "two groups of heads, rotated apart, are not the heads rotated together"
    return alike(trial, case, x, positions, y, apart, message)


@check(
    "PAR-4.documents",
    "Positions go on counting where a packed document begins.",
    space=Space(values=("normal",), min_seq=5, positions=("arange",)),
)
def documents(trial: Trial, case: Case) -> Finding:
    """Documents packed in one row, each counted from 0, are rotated as they are alone."""
    first, rest = np.array_split(np.arange(case.seq), SHARDS)
    row = np.concatenate([np.arange(len(first)), np.arange(len(rest))])
    row = np.minimum(row, case.limit)
    positions = np.broadcast_to(row, (case.batch, case.seq)).astype(np.int64)
    x = case.make_x(positions)
    y = trial.rotate(case, x, positions)
    alone = _in_parts(trial, case, x, positions, [first, rest])
    message = "documents packed in one row are not rotated as each is alone"
    return alike(trial, case, x, positions, y, alone, message)


@check(
    "PAR-4.attention",
    "Packed documents see each other, or their scores depend on where in the row they lie.",
    needs=("attention",),
    names=("P-12",),
    space=Space(positions=("arange",), min_seq=5, max_position=NEAR, max_dim=64),
    applies=lambda trial: None if trial.profile.max_position >= 32 else "position 32 not claimed",
    share=FEW,
)
def packed_attention(trial: Trial, case: Case) -> Finding:
    """With a mask that keeps documents apart, each is what the reference gives for it alone.

    Whether its positions begin at 0 or go on from the document before makes no difference.
    """
    document = np.repeat([0, 1], [case.seq // 2, case.seq - case.seq // 2])
    goes_on = np.arange(case.seq, dtype=np.int64)
    restarts = goes_on - np.where(document == 1, case.seq // 2, 0)
    given = inputs(case, keys=case.seq)
    mask = document[:, None] == document[None, :]
    findings = []
    for row in (restarts, goes_on):
        where = np.broadcast_to(row, (case.batch, case.seq)).copy()
        packed = dataclasses.replace(given, m=where, n=where, mask=mask)
        asked = call_attention(trial, case, packed)
        if asked.problem:
            return asked.problem
        alone = [_alone(trial, case, packed, np.flatnonzero(document == one)) for one in (0, 1)]
        output = Bounded(*(np.concatenate(parts, axis=1) for parts in zip(*alone, strict=True)))
        message = "packed documents with a mask between them do not attend as each does alone"
        found = compare(asked.output, output.value, output.allowed, name="output", message=message)
        findings.append(found.after(asked.call))
    return worst(*findings)


def _alone(trial: Trial, case: Case, packed: Inputs, tokens: Positions) -> Bounded:
    """Return the output of one document by the reference, counted from 0."""
    where = np.broadcast_to(np.arange(len(tokens)), (case.batch, len(tokens))).astype(np.int64)
    one = Inputs(packed.q[:, tokens], packed.k[:, tokens], packed.v[:, tokens], where, where)
    alone = by_reference(trial, case, one).output
    far = attend(trial, case, packed).output.allowed[:, tokens]
    return Bounded(alone.value, alone.allowed + far)


@check(
    "PAR-6.tree",
    "Tokens that share a position are counted on, as if each followed the other.",
    space=Space(values=("normal",), min_seq=3, positions=("arange",)),
)
def tree(trial: Trial, case: Case) -> Finding:
    """The same vector at siblings of a tree, which share a position, comes out the same."""
    depth = (np.sqrt(8 * np.arange(case.seq) + 1).astype(np.int64) - 1) // 2  # 0, 1, 1, 2, 2, 2 ...
    start = max(min(case.start, case.limit - case.seq), 0)
    row = np.minimum(start + depth, case.limit)
    positions = np.broadcast_to(row, (case.batch, case.seq)).astype(np.int64)
    x = case.make_x(positions)
    x = np.ascontiguousarray(np.broadcast_to(x[:, :1], x.shape))
    y = trial.rotate(case, x, positions)
    first = np.searchsorted(row, row)  # the first token of each position
    message = "tokens that share a position are rotated differently"
    return alike(trial, case, x, positions, y, np.take(y, first, axis=1), message)
