"""The process of one subject: reads a request, measures, and reports row by row.

Request and reports are JSON, one value a line, on standard input and standard output. What
frameworks print goes to standard error.
"""

import functools
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

from ropespec.backends.benchmark.case import POSITIONS, Case, Row, Shape, cases
from ropespec.backends.benchmark.exact import around, error, sample
from ropespec.backends.benchmark.subjects import find
from ropespec.backends.benchmark.subjects.base import Subject, UnavailableError
from ropespec.backends.benchmark.timing import measure

__all__ = ["main", "measured", "numbers"]

BLOCK = 2**20
"""Random numbers that are drawn; a larger x repeats them."""

Report = Callable[[dict[str, Any]], None]


def numbers(case: Case, seed: int = 0) -> NDArray[Any]:
    """Return x for a case: standard normal, rounded to its dtype; to be read only."""
    return _numbers(case.dtype, case.shape, seed)


@functools.lru_cache(maxsize=1)
def _numbers(dtype: str, shape: Shape, seed: int) -> NDArray[Any]:
    size = int(np.prod(shape))
    drawn = np.random.default_rng(seed).standard_normal(min(size, BLOCK), dtype=np.float32)
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    return np.resize(drawn.astype(kind), shape)


def measured(
    name: str, subject: Subject, case: Case, *, repetitions: int, limit: float, seed: int = 0
) -> Row:
    """Measure one case: time, copy and errors, or the reason why not.

    Parameters
    ----------
    name : str
        The subject's name.
    subject : Subject
        Its adapter.
    case : Case
        What to measure.
    repetitions : int
        How many.
    limit : float
        Seconds after which fewer are enough.
    seed : int
        Of the numbers and of the order.
    """
    try:
        return _measured(name, subject, case, repetitions, limit, seed)
    except UnavailableError as lack:
        return Row(name, *case, device=subject.device, reason=f"not available: {lack}")
    except Exception as failure:  # noqa: BLE001  # whatever it was, the other rows are still wanted
        first = (str(failure).strip().splitlines() or [""])[0]
        reason = f"{type(failure).__name__}: {first}"[:200]
        return Row(name, *case, device=subject.device, reason=reason)


def _measured(
    name: str, subject: Subject, case: Case, repetitions: int, limit: float, seed: int
) -> Row:
    x = numbers(case, seed)
    subject.begin(case)
    errors = {str(position): _error(subject, case, x, position) for position in POSITIONS}
    operation = subject.operation(case, x, np.arange(case.shape[1], dtype=np.int64))
    copy_name, copy = subject.copy(case, x)
    gc.collect()
    timing = measure(
        operation,
        copy,
        subject.clock(),
        repetitions=repetitions,
        limit=limit,
        order=random.Random(seed),  # noqa: S311  # an order, no secret
    )
    return Row(
        name,
        *case,
        device=subject.device,
        seconds=timing.seconds,
        copy_seconds=timing.copy_seconds,
        ratio=timing.ratio,
        bytes_per_second=2 * x.nbytes / timing.seconds,
        error=errors,
        copy=copy_name,
        repetitions=timing.repetitions,
    )


def _error(subject: Subject, case: Case, x: NDArray[Any], position: int) -> float:
    """Error of the timed function at other positions, in what it returns for the same x."""
    positions = around(position, case.shape[1])
    operation = subject.operation(case, x, positions)
    result = operation.call(operation.prepare())
    operation.wait(result)
    tokens = sample(case.shape[1])
    found = subject.read(result, tokens)
    return error(case, x[:, tokens].astype(np.float64), positions[tokens], found)


def main() -> None:
    """Serve one request."""
    request = json.loads(sys.stdin.readline())
    with _own_output() as output:
        _serve(request, lambda value: print(json.dumps(value), file=output, flush=True))


def _serve(request: dict[str, Any], report: Report) -> None:
    try:
        subject = find(request["subject"]).load(request["device"])
    except UnavailableError as reason:
        report({"absent": str(reason)})
        return
    except Exception as failure:  # noqa: BLE001  # a peer that cannot be imported is no error of ours
        report({"absent": f"cannot be loaded: {type(failure).__name__}: {failure}"[:200]})
        return
    shapes = tuple(tuple(shape) for shape in request["shapes"])
    offered = [one for one in cases(tuple(request["dtypes"]), shapes) if subject.offers(one)]
    wanted = [one for one in offered if [one.direction, one.into] in request["ways"]]
    report({"device": subject.device, "device_name": subject.device_name, "cases": len(wanted)})
    gc.disable()
    gc.freeze()  # or every collection would look at all that the framework has loaded
    for case in wanted[request["skip"] :]:
        report({"start": list(case)})
        row = measured(
            request["subject"],
            subject,
            case,
            repetitions=request["repetitions"],
            limit=request["limit"],
        )
        gc.collect()
        report({"row": row.to_json()})


def _own_output() -> TextIO:
    """Keep standard output for reports; who prints to it from now on prints to standard error."""
    sys.stdout.flush()
    kept = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return kept


if __name__ == "__main__":
    main()
