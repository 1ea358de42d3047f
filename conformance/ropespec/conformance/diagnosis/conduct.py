"""What a call does beside its numbers: it raises, writes, shares memory, returns another thing."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ropespec.conformance.diagnosis.ask import Answer, Asker
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.seen import Seen, agree
from ropespec.conformance.diagnosis.told import Told, fact
from ropespec.conformance.diagnosis.where import conditions
from ropespec.conformance.judge.values import numpy_dtype
from ropespec.conformance.mistakes.chain import Chain, run

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


def conduct(answers: Sequence[Answer], *, backward: bool = False) -> Iterator[Told]:
    """Say what calls did beside their numbers.

    Parameters
    ----------
    answers : sequence of Answer
        All calls that were made.
    backward : bool
        Whether the gradient was asked for.
    """
    for fault, key, sentence in _FAULTS:
        yield from _of(answers, key, sentence, _at_fault(fault))
    yield from _of(
        answers, "D10", "The result has another dtype than x", lambda one: one.fault == "dtype"
    )
    x = "cotangent overwritten" if backward else "M1"
    yield from _of(answers, x, "An argument is written to: x", lambda one: "x" in one.written)
    yield from _of(
        answers,
        "positions overwritten",
        "An argument is written to: positions",
        lambda one: "positions" in one.written,
    )
    if not backward:
        yield from _of(
            answers,
            "result shares memory with x",
            "The result lies in the memory of an argument",
            lambda one: one.aliased and not one.written,
        )
        yield from _of(
            answers,
            "result overwritten by the next",
            "The result lies in the memory of an earlier result",
            lambda one: one.reused,
        )


def _at_fault(fault: str) -> Test:
    return lambda one: one.fault == fault


def _of(answers: Sequence[Answer], key: str, sentence: str, test: Test) -> Iterator[Told]:
    hit = [one for one in answers if test(one)]
    if not hit:
        return
    where = _where(answers, test)
    evidence = f"seen in {len(hit)} of {len(answers)} calls"
    detail = next((one.detail for one in hit if one.detail), "")
    yield fact(key, f"{sentence}{': ' + detail[:160] if detail else ''}.", where, evidence)


def _where(answers: Sequence[Answer], test: Test) -> str:
    givens = [one.given for one in answers]
    flags = [bool(test(one)) for one in answers]
    if all(flags):
        return "every call"

    def spread(values: list[bool]) -> list[np.ndarray]:
        return [np.full(g.x.shape, v) for g, v in zip(givens, values, strict=True)]

    small = [k for k, g in enumerate(givens) if 0 < g.x.size < 30000]
    yes, no = spread(flags), spread([not flag for flag in flags])
    found = conditions([givens[k] for k in small], [yes[k] for k in small], [no[k] for k in small])
    return str(found[0]) if found else f"{sum(flags)} of {len(flags)} calls"


def special(asker: Asker, maker: Maker, right: Chain, *, sound: bool) -> Iterator[Told]:
    """Ask for empty axes and, where all numbers were right, for NaN, infinity and subnormals."""
    yield from _empty(asker, maker)
    if not sound:
        return
    yield from _not_finite(asker, maker, right)
    yield from _subnormal(asker, maker, right)


def _empty(asker: Asker, maker: Maker) -> Iterator[Told]:
    if not maker.profile.empty:
        return
    base = maker.given((2, 3, 2), "arange", 5)
    for axis, word in ((0, "rows"), (1, "tokens"), (2, "heads")):
        x = np.take(base.x, [], axis=axis)
        positions = np.take(base.positions, [], axis=axis) if axis < 2 else base.positions
        answer = asker.ask(replace(base, x=x, positions=positions))
        if answer is not None and answer.fault == "raises":
            said = f"Without {word} it raises: {answer.detail[:160]}."
            yield fact("empty input refused", said, f"calls without {word}", "seen in 1 call")
            return


def _not_finite(asker: Asker, maker: Maker, right: Chain) -> Iterator[Told]:
    """Put NaN or infinity into one component, and look at the others."""
    told: dict[str, Told] = {}
    for k, value in enumerate((np.nan, np.inf)):
        given = maker.given((2, 4, 2), "from", 31 + k)
        x = given.x.copy()
        x[0, 1, 0, 0] = value
        answer = asker.ask(replace(given, x=x))
        if answer is None or answer.y is None:
            continue
        made = run(right, answer.given)
        lost = ~np.isfinite(made.y)
        spread = ~np.isfinite(answer.y) & ~lost
        kind = "NaN" if k == 0 else "infinity"
        count = f"{int(spread.sum())} components beside its pair"
        if spread.any():
            said = f"{kind} in one component reaches {count}."
            told.setdefault("NaN spreads", fact("NaN spreads", said, f"x with {kind}", "1 call"))
        if (np.isfinite(answer.y) & lost).any():
            said = f"{kind} in one component comes back finite."
            told.setdefault(
                "infinity lost", fact("infinity lost", said, f"x with {kind}", "1 call")
            )
    yield from told.values()


def _subnormal(asker: Asker, maker: Maker, right: Chain) -> Iterator[Told]:
    if not maker.profile.subnormals or maker.profile.array == "jax":
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
