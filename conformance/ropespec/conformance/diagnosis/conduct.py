"""What a call does beside its numbers: it raises, writes, shares memory, returns another thing."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from ropespec.conformance.diagnosis.ask import Answer, Asker
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.seen import Seen, agree
from ropespec.conformance.diagnosis.told import fact
from ropespec.conformance.diagnosis.where import EVERYWHERE, Where, conditions
from ropespec.conformance.judge.values import numpy_dtype
from ropespec.conformance.mistakes.chain import Chain, claimed_pairs, run
from ropespec.conformance.results import Diagnosis

__all__ = ["conduct", "special"]

Test = Callable[[Answer], bool]

_FAULTS = (
    ("crash", "it crashes", "It ends its process"),
    ("timeout", "it hangs", "It does not answer within the deadline"),
    ("no array", "no array", "The result is no array like x"),
    ("complex", "complex result", "The result is complex"),
    ("axes", "X4", "The result has its axes in another order"),
    ("shape", "other result", "The result has another shape than x"),
    ("no gradient", "G3", "No gradient reaches x"),
    ("raises", "it raises", "It raises"),
)


def conduct(asker: Asker, answers: Sequence[Answer]) -> Iterator[Diagnosis]:
    """Say what calls did beside their numbers.

    Parameters
    ----------
    asker : Asker
        The subject, for calls that find a limit.
    answers : sequence of Answer
        All calls that were made.
    """
    for fault, key, sentence in _FAULTS:
        if fault != "raises":
            yield from _of(answers, key, sentence, _at_fault(fault))
    yield from _raises(asker, answers)
    for key, wider in (("D10", True), ("result demoted", False)):
        yield from _of(answers, key, "The result has another dtype than x", _of_dtype(wider=wider))
    x = "cotangent overwritten" if asker.backward else "M1"
    yield from _of(answers, x, "An argument is written to: x", lambda one: "x" in one.written)
    yield from _of(
        answers,
        "positions overwritten",
        "An argument is written to: positions",
        lambda one: "positions" in one.written,
    )
    yield from _of(
        answers,
        "memory never written",
        "Components of the result hold what lay there before",
        lambda one: one.littered,
    )
    if not asker.backward:
        yield from _shared(answers)


def _shared(answers: Sequence[Answer]) -> Iterator[Diagnosis]:
    yield from _of(
        answers,
        "result shares memory with x",
        "The result lies in the memory of an argument",
        lambda one: one.aliased and "x" not in one.written,
    )
    yield from _of(
        answers,
        "result overwritten by the next",
        "The result lies in the memory of an earlier result",
        lambda one: one.reused,
    )


_BITS = {"float64": 64, "float32": 32, "float16": 16, "bfloat16": 16}


def _of_dtype(*, wider: bool) -> Test:
    def test(one: Answer) -> bool:
        if one.fault != "dtype":
            return False
        got = next((bits for name, bits in _BITS.items() if f"dtype {name}" in one.detail), 0)
        return (got > _BITS[one.given.dtype]) == wider

    return test


def _at_fault(fault: str) -> Test:
    return lambda one: one.fault == fault


def _raises(asker: Asker, answers: Sequence[Answer]) -> Iterator[Diagnosis]:
    """Say where it raises; a limit of positions is found to the position."""
    test = _at_fault("raises")
    # Positions that are no run of memory may be refused (CON-10).
    answers = [one for one in answers if not one.given.strided_positions]
    hit = [one for one in answers if test(one)]
    if not hit:
        return
    where = _condition(answers, test)
    features = {atom.feature: atom for atom in where.atoms} if where is not None else {}
    said = f"It raises: {hit[0].detail[:160]}"
    evidence = f"seen in {len(hit)} of {len(answers)} calls"
    told = str(where) if where is not None else _share(hit, answers)
    if features.keys() == {"lowest"} and features["lowest"].value < 0:
        yield fact("negative positions refused", f"{said}.", told, evidence)
    elif features.keys() == {"farthest"} and features["farthest"].op == ">=":
        limit = _limit(asker, answers, test)
        yield fact("positions refused", f"{said} (beyond {limit}).", told, evidence)
    elif features and features.keys() <= {"strided", "gaps"}:
        yield fact("strided x refused", f"{said}.", told, evidence)
    else:
        yield fact("it raises", f"{said}.", told, evidence)


def _limit(asker: Asker, answers: Sequence[Answer], test: Test) -> int:
    """Return the largest position that is taken."""

    def most(one: Answer) -> int:
        return int(np.abs(one.given.positions).max(initial=0))

    refused = min((one for one in answers if test(one)), key=most)
    low, high = max((most(one) for one in answers if not test(one)), default=-1), most(refused)
    while high - low > 1:
        middle = (low + high) // 2
        positions = np.full_like(refused.given.positions, middle)
        answer = asker.ask(replace(refused.given, positions=positions))
        if answer is not None and answer.y is not None:
            low = middle
        else:
            high = middle
    return low


def _of(answers: Sequence[Answer], key: str, sentence: str, test: Test) -> Iterator[Diagnosis]:
    hit = [one for one in answers if test(one)]
    if not hit:
        return
    where = _condition(answers, test)
    told = str(where) if where is not None else _share(hit, answers)
    evidence = f"seen in {len(hit)} of {len(answers)} calls"
    detail = next((one.detail for one in hit if one.detail), "")
    yield fact(key, f"{sentence}{': ' + detail[:160] if detail else ''}.", told, evidence)


def _share(hit: Sequence[Answer], answers: Sequence[Answer]) -> str:
    return f"{len(hit)} of {len(answers)} calls"


def _condition(answers: Sequence[Answer], test: Test) -> Where | None:
    """Return the condition under which calls do something, if one is found."""
    small = [one for one in answers if 0 < one.given.x.size < _LARGE]
    flags = [bool(test(one)) for one in small]
    if all(flags):
        return EVERYWHERE if all(test(one) for one in answers) else None
    found = conditions(
        [one.given for one in small],
        [np.full(one.given.x.shape, flag) for one, flag in zip(small, flags, strict=True)],
        [np.full(one.given.x.shape, not flag) for one, flag in zip(small, flags, strict=True)],
    )
    return found[0] if found else None


_LARGE = 30_000


def special(asker: Asker, maker: Maker, right: Chain, *, sound: bool) -> Iterator[Diagnosis]:
    """Ask for empty axes and, where all numbers were right, for NaN, infinity and subnormals."""
    yield from _empty(asker, maker)
    if not sound:
        return
    yield from _not_finite(asker, maker, right)
    yield from _subnormal(asker, maker, right)


def _empty(asker: Asker, maker: Maker) -> Iterator[Diagnosis]:
    if not maker.profile.empty:
        return
    base = maker.given((2, 3, 2), "arange", 5)
    for axis, word in ((0, "rows"), (1, "tokens"), (2, "heads")):
        if axis == 0 and maker.profile.axes == "shd":
            continue
        x = np.take(base.x, [], axis=axis)
        positions = np.take(base.positions, [], axis=axis) if axis < 2 else base.positions
        answer = asker.ask(replace(base, x=x, positions=positions))
        if answer is not None and answer.fault == "raises":
            said = f"Without {word} it raises: {answer.detail[:160]}."
            yield fact("empty input refused", said, f"calls without {word}", "seen in 1 call")
            return


def _not_finite(asker: Asker, maker: Maker, right: Chain) -> Iterator[Diagnosis]:
    """Put NaN or infinity into one component, that turns or does not, and look at the others."""
    told: dict[str, Diagnosis] = {}
    values = product(enumerate(((np.nan, "NaN"), (np.inf, "infinity"))), maker.profile.dtypes)
    for (k, (value, kind)), dtype in values:
        given = maker.given((2, 4, 2), "from", 31 + k, dim=max(maker.dims), dtype=dtype)
        still = sorted({*range(given.x.shape[-1])} - {*np.ravel(claimed_pairs(given)[:2])})
        for at, key in ((int(claimed_pairs(given).first[0]), "NaN spreads"), *_last(still)):
            x = given.x.copy()
            x[0, 1, 0, at] = value
            answer = asker.ask(replace(given, x=x))
            if answer is None or answer.y is None:
                continue
            where = (
                f"x of {dtype} with {kind}" if len(maker.profile.dtypes) > 1 else f"x with {kind}"
            )
            lost = ~np.isfinite(run(right, answer.given).y)
            spread = ~np.isfinite(answer.y) & ~lost
            if spread.any():
                count = f"{int(spread.sum())} components beside "
                own = "its pair" if key == "NaN spreads" else "itself, in the tail"
                said = f"{kind} in one component reaches {count}{own}."
                told.setdefault(key, fact(key, said, where, "1 call"))
            if (np.isfinite(answer.y) & lost).any():
                said = f"{kind} in one component comes back finite."
                told.setdefault("infinity lost", fact("infinity lost", said, where, "1 call"))
    yield from told.values()


def _last(still: list[int]) -> list[tuple[int, str]]:
    return [(still[-1], "tail computed")] if still else []


def _subnormal(asker: Asker, maker: Maker, right: Chain) -> Iterator[Diagnosis]:
    if not maker.profile.subnormals or maker.profile.framework.library.flushes:
        return
    for dtype in maker.profile.dtypes:
        given = maker.given((2, 3, 2), "from", 37, dtype=dtype)
        scale = {"float64": 2.0**-1030, "float16": 2.0**-18}.get(dtype, 2.0**-132)
        small = (given.x.astype(np.float64) * scale).astype(numpy_dtype(dtype))
        answer = asker.ask(replace(given, x=small))
        if answer is None or answer.y is None:
            continue
        seen = Seen(answer, right)
        flushed = (answer.y == 0) & ~agree(answer.y, seen.made)
        if flushed.mean() > 0.5:
            said = f"{int(flushed.sum())} of {flushed.size} subnormal numbers come back as zero."
            yield fact("subnormals flushed", said, f"x of {dtype} below its normal range", "1 call")
            return
