"""The process of one contender: is asked for a case, measures it, answers with a row.

Questions and answers are JSON, one value a line, on standard input and standard output. What
frameworks print goes to standard error.
"""

import gc
import json
import os
import random
import sys
from collections.abc import Callable
from typing import Any, TextIO

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ropespec.bench.speed.case import POSITION, Case, Row
from ropespec.bench.speed.exact import around, error, sample
from ropespec.bench.speed.subjects import find
from ropespec.bench.speed.subjects.base import Subject, UnavailableError
from ropespec.bench.speed.timing import measure

__all__ = ["main", "measured", "numbers"]

BLOCK = 2**20
"""Random numbers that are drawn; a larger x repeats them."""

Report = Callable[[dict[str, Any]], None]


def numbers(case: Case, seed: int = 0) -> NDArray[Any]:
    """Return x for a case: standard normal, rounded to its dtype."""
    size = min(case.elements, BLOCK)
    drawn = np.random.default_rng(seed).standard_normal(size, dtype=np.float32)
    kind = np.dtype(ml_dtypes.bfloat16 if case.dtype == "bfloat16" else case.dtype)
    return np.resize(drawn.astype(kind), case.shape)


def measured(
    name: str,
    subject: Subject,
    case: Case,
    *,
    repetitions: int,
    limit: float,
    with_error: bool = True,
    seed: int = 0,
) -> Row:
    """Measure one case: time, copy and error, or the reason why not.

    Parameters
    ----------
    name : str
        The contender's name.
    subject : Subject
        Its adapter.
    case : Case
        What to measure.
    repetitions : int
        How many.
    limit : float
        Seconds after which fewer are enough.
    with_error : bool
        Whether to take the error too.
    seed : int
        Of the numbers and of the order.
    """
    try:
        x = numbers(case, seed)
        subject.begin(case)
        found = _error(subject, case, x) if with_error and subject.rotates else None
        operation = subject.operation(case, x, np.arange(case.shape[1], dtype=np.int64))
        copy_name, copy = subject.copy(case, x)
        order = random.Random(seed)  # noqa: S311  # an order, no secret
        gc.collect()
        timing = measure(
            operation, copy, subject.clock(), repetitions=repetitions, limit=limit, order=order
        )
    except UnavailableError as lack:
        return Row(name, *case, device=subject.device, reason=f"not available: {lack}")
    except Exception as failure:  # noqa: BLE001  # whatever it was, the other rows are still wanted
        first = (str(failure).strip().splitlines() or [""])[0]
        reason = f"{type(failure).__name__}: {first}"[:200]
        return Row(name, *case, device=subject.device, reason=reason)
    return Row(
        name,
        *case,
        device=subject.device,
        seconds=timing.seconds,
        copy_seconds=timing.copy_seconds,
        error=found,
        copy=copy_name,
        repetitions=timing.repetitions,
    )


def _error(subject: Subject, case: Case, x: NDArray[Any]) -> float:
    """Error of the timed function at far positions."""
    positions = around(POSITION, case.shape[1])
    operation = subject.operation(case, x, positions)
    result = operation.call()
    operation.wait(result)
    tokens = sample(case.shape[1])
    found = subject.read(result, tokens)
    value = error(case, x[:, tokens].astype(np.float64), positions[tokens], found)
    if not np.isfinite(value):
        raise UnavailableError("the result is no number")
    return value


def main() -> None:
    """Serve until nothing more is asked."""
    lines = sys.stdin
    with _own_output() as output:
        _serve(lines, lambda value: print(json.dumps(value), file=output, flush=True))


def _serve(lines: TextIO, answer: Report) -> None:
    who = json.loads(lines.readline())
    try:
        subject = find(who["subject"]).load(who["device"])
    except UnavailableError as reason:
        answer({"absent": str(reason)})
        return
    except Exception as failure:  # noqa: BLE001  # a peer that cannot be imported is no error of ours
        answer({"absent": f"cannot be loaded: {type(failure).__name__}: {failure}"[:200]})
        return
    answer(
        {
            "device": subject.device,
            "device_name": subject.device_name,
            "layouts": subject.layouts,
            "ways": sorted(subject.ways),
        }
    )
    gc.disable()
    gc.freeze()  # or every collection would look at all that the framework has loaded
    for line in lines:
        asked = json.loads(line)
        dtype, interleaved, direction, into, shape = asked.pop("case")
        case = Case(dtype, interleaved, direction, into, tuple(shape))
        row = measured(who["subject"], subject, case, **asked)
        gc.collect()
        subject.release()
        answer(row.to_json())


def _own_output() -> TextIO:
    """Keep standard output for answers; who prints to it from now on prints to standard error."""
    sys.stdout.flush()
    kept = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return kept


if __name__ == "__main__":
    main()
