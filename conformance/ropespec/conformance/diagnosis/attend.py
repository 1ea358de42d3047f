"""Attention as a product: rotation of q and of k, scale, mask, sums, heads, values."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ropespec.conformance.diagnosis.attended import (
    BARE,
    BLOCKS,
    DIM,
    FAR,
    GROUPED,
    HEADS,
    LARGE,
    MANY,
    OTHER_MASKS,
    SIZES,
    Attended,
    attended,
    rise,
)
from ropespec.conformance.diagnosis.candidates import AS_CLAIMED, made
from ropespec.conformance.diagnosis.scored import DRAWS, NEARBY, close
from ropespec.conformance.diagnosis.sides import (
    NEAR,
    Pairs,
    fitting,
    masked,
    padded_alike,
    padding,
    scale_of,
    scales_of,
    sums,
)
from ropespec.conformance.diagnosis.told import reproduced
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.results import Diagnosis
from ropespec.conformance.subject.session import Session

__all__ = ["attend"]

CAPS = (5.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0)
"""What models hold scores below."""


def attend(session: Session) -> list[Diagnosis]:
    """Name what attention does otherwise at each stage, if it does so in every fresh call.

    It is asked as `SIZES` say, one after another until something is found, and last twice with the
    same vectors at other positions.
    """
    found = next((found for size in SIZES if (found := _reproduced(session, size))), [])
    return found or _kept(session)


def _reproduced(session: Session, size: str) -> list[Diagnosis]:
    calls = [call for n in range(DRAWS) if (call := attended(session, n, size)) is not None]
    if len(calls) < DRAWS:
        return []
    keyed = HEADS if size == GROUPED else ("",)
    splits = (0, *BLOCKS[2:]) if size == MANY else (0,)
    others: list[dict[str, Any]] = [{"warm": True}] if size in ("", FAR) else []
    others += [{"cap": cap} for cap in CAPS] if size == LARGE else []
    tried = (
        _told([replace(call, **other) for call in calls], how, split)
        for other in ({}, *others)
        for how in keyed
        for split in splits
    )
    told = next((found for found in tried if found is not None), [])
    count = sum(call.weights.size + call.output.size for call in calls)
    evidence = f"reproduces {count} of {count} weights and outputs in {DRAWS} fresh calls"
    return [
        reproduced(one.key, one.said, f"{one.stage}{size}", evidence, one.equals) for one in told
    ]


def _kept(session: Session) -> list[Diagnosis]:
    """Name the side that is rotated as in an earlier call with the same vectors.

    Where positions end too soon for others to be far enough away, nothing is.
    """
    if session.profile.max_position < NEARBY + 2 * _MOVED:
        return []
    sides = {"queries", "keys"}
    for draw in range(DRAWS):
        session.refresh()
        first, second = (attended(session, draw, "", moved) for moved in (0, _MOVED))
        if first is None or second is None or _told([second], "", 0) == []:
            return []
        stale = {"queries": replace(second, q=first.q), "keys": replace(second, k=first.k)}
        sides &= {name for name, call in stale.items() if _told([call], "", 0) == []}
    evidence = f"reproduces the second of {DRAWS} pairs of calls by the positions of the first"
    said = "the rotation is that of the call before with the same vectors at other positions"
    return [
        reproduced("kept by content", f"of the {side}: {said}", f"{side} seen before", evidence)
        for side in sorted(sides)
    ]


_MOVED = 5
"""By how many positions the queries of the second call are further on."""


def _told(calls: Sequence[Attended], keyed: str, split: int) -> "list[_Told] | None":
    """Return what is done in all calls, where heads have these keys, by splits of so many of them.

    None if that fits nothing; 0 is no split.
    """
    pairs: Pairs | None = None
    plain = split > 0
    calls = [replace(call, keyed=keyed, split=split, plain=call.plain or plain) for call in calls]
    for call in calls:
        pairs = fitting(call, pairs)
    told = [list(_stages(call, pairs or [])) for call in calls]
    if [] in told and [_PADDED] in told and padded_alike(calls, pairs or []):
        told = [[_PADDED]]  # where blocks are full nothing fills them up
    if any(_LOST in stages or stages != told[0] for stages in told):
        return None
    of_heads = [_Told("keys", "heads mapped to other groups", keyed)] if keyed else []
    said = f"the weights of each {split} keys are relative to the largest score among these"
    of_splits = [_Told("softmax", "splits not rescaled", said)] if split else []
    return [*of_heads, *of_splits, *told[0]]


@dataclass(frozen=True, slots=True)
class _Told:
    """What is done at one stage."""

    stage: str
    key: str
    said: str
    equals: tuple[str, ...] = ()


_LOST = _Told("unexplained", "", "")


def _stages(call: Attended, pairs: Pairs) -> Iterator[_Told]:
    """Say what is done otherwise, stage by stage; `_LOST` if a stage fits nothing."""
    if not pairs or not np.isfinite(call.output).all():
        yield _LOST
        return
    mask = next(name for name, kept in call.masks.items() if (call.open == kept).all())
    if mask.startswith("blocks"):
        yield _Told("mask", "blocks skipped", f"{mask} are skipped where the first mask is closed")
    yield from [_MASKED[mask]] if mask in _MASKED else []
    yield from _summed(call, pairs[0])
    yield from _rotations(pairs)
    yield from _scaled(call, pairs[0])
    yield from _values(call, pairs[0])


_MASKED = {
    "ignored": _Told("mask", "T5", "every key has a weight"),
    "inverted": _Told("mask", "mask inverted", "the keys have weights that may have none"),
    **{said: _Told("mask", "masks of other heads", said) for said in OTHER_MASKS},
    BARE: _Told("mask", "masks of rows", "a mask (heads, S, T) is taken for one of rows"),
}


_SUMMED = {
    "over queries": _Told(
        "softmax", "softmax over another axis", "the weights of all queries for a key sum to 1"
    ),
    "over heads": _Told(
        "softmax", "softmax over another axis", "the weights of all heads sum to 1"
    ),
    "none": _Told("softmax", "weights not normalised", "the weights of a query do not sum to 1"),
}
_PADDED = _Told(
    "softmax", "padding has weights", "keys of zeros, which fill up a block, have weights too"
)
_RUNNING = _Told("softmax", "sum of a running softmax", "")


def _summed(call: Attended, pair: tuple[Choice, Choice]) -> Iterator[_Told]:
    """Say what the weights sum to, if that is not 1 for each query."""
    over = sums(call)
    if over == "none":
        scores = masked(call, pair)
        top = scores.max(axis=-1, keepdims=True)
        right = np.exp(scores - top).sum(axis=-1)
        for block in BLOCKS:
            padded = right + padding(scores, block)
            running = np.exp(scores - top + rise(scores, block)).sum(axis=-1)
            said = f"where a block of {block} keys raises the largest score, the sum stays"
            for total, told in ((padded, _PADDED), (running, replace(_RUNNING, said=said))):
                if np.allclose(call.weights.sum(-1), right / total, rtol=NEAR):
                    yield told
                    return
    yield from [_SUMMED[over]] if over in _SUMMED else []


def _rotations(pairs: Pairs) -> Iterator[_Told]:
    named = list(dict.fromkeys(_named(*pair) for pair in pairs))
    key, stage, said = named[0]
    equals = tuple(dict.fromkeys(one[0] for one in named[1:] if one[0] != key))
    yield from [_Told(stage, key, said, equals)] if key else []


def _named(first: Choice, second: Choice) -> tuple[str, str, str]:
    """Return the mistake, the side, and what is said of it; nothing where both are as claimed."""
    if first is second:
        return first.key, "queries and keys", first.what
    if AS_CLAIMED not in (first, second):
        said = f"of the queries: {first.what}; of the keys: {second.what}"
        return f"{first.key} + {second.key}", "queries and keys", said
    one, side = (first, "queries") if second is AS_CLAIMED else (second, "keys")
    key = {"A3": "query or key not rotated", "S1": "S2"}.get(one.key, one.key)
    return key, side, f"of the {side}: {one.what}"


def _scaled(call: Attended, pair: tuple[Choice, Choice]) -> Iterator[_Told]:
    if call.warm:
        yield _warmed(call, scales_of(call, pair))
        return
    if call.cap:
        yield _Told("scale", "scores capped", f"scores are held below {call.cap:g} by a tanh")
    scale = scale_of(call, pair)
    for key, wanted in _scales(call):
        if abs(scale - wanted) <= NEAR * wanted:
            said = f"scores are divided by {np.sqrt(DIM) / wanted:.4g}, and not by sqrt(head_dim)"
            yield from [_Told("scale", key, said)] if key else []
            return
    yield _LOST  # a number that changes from call to call is no scale


def _warmed(call: Attended, scales: Array) -> _Told:
    """Say how the scale of a query goes with its position."""
    steps = np.diff(scales.ravel()[np.argsort(call.q.positions, axis=None)])
    grows = "larger for later positions" if (steps > -NEAR).all() else "of its own"
    said = f"the scores of each query are multiplied by a number {grows}"
    return _Told("scale", "temperature by query", said)


def _scales(call: Attended) -> Iterator[tuple[str, float]]:
    yield "", 1.0
    yield "T2", float(np.sqrt(DIM))
    yield "T1", 1 / float(np.sqrt(call.q.x.shape[2]))
    if call.v.shape[-1] != DIM:
        yield "scaled by the width of the values", float(np.sqrt(DIM / call.v.shape[-1]))
    yield from (("score scaled", float(one)) for one in (0.25, 0.5, np.sqrt(0.5), np.sqrt(2), 2.0))


def _values(call: Attended, pair: tuple[Choice, Choice]) -> Iterator[_Told]:
    """Find what is summed with the weights that came."""
    v = call.of_heads(call.v.astype(np.float64))
    given = Given(call.of_heads(call.v), call.k.positions, call.k.convention).rotating(None)

    def out(values: Array) -> Array:
        return np.asarray(np.einsum("bhst,bthd->bshd", call.weights, values))

    if close(call.output, out(v)):
        return
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    forms: dict[tuple[str, str], Callable[[], Array]] = {
        ("values normalised", "the values are divided by their length"): lambda: out(v / length),
        ("T9", "heads and tokens are mixed up"): lambda: (
            out(v).transpose(0, 2, 1, 3).reshape(call.output.shape)
        ),
        ("A6", "the values are rotated"): lambda: out(next(y for _, y in made(given))),
    }

    def of_other_groups(how: str) -> Array:
        return out(call.of_heads(call.v.astype(np.float64), how))

    if call.v.shape[2] < call.q.shape[2]:
        for how in HEADS:
            forms["heads mapped to other groups", f"of the values: {how}"] = partial(
                of_other_groups, how
            )

    def not_rescaled(block: int) -> Array:
        weights = call.weights * np.exp(rise(masked(call, pair), block))
        return np.asarray(np.einsum("bhst,bthd->bshd", weights, v))

    for block in BLOCKS:
        said = f"where a block of {block} keys raises the largest score, sums of values stay"
        forms["sum of a running softmax", said] = partial(not_rescaled, block)
    for (key, said), form in forms.items():
        if close(call.output, form()):
            yield _Told("values", key, said)
            return
    yield _LOST
