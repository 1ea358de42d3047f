"""Rotations on two streams at once, first calls and all, against those of one."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ropespec.bench.card.arrays import back, backend, put

__all__ = ["rows"]

CALLS = 50


def rows(framework: str, device: str) -> list[dict[str, Any]]:
    """Return for each layout how many of many results are wrong.

    Two threads, each with a stream of its own, turn different arrays by a base that nobody has
    asked for before, so that both need its table at once.
    """
    return [_row(framework, device, interleaved) for interleaved in (True, False)]


def _row(framework: str, device: str, interleaved: bool) -> dict[str, Any]:
    ours, rng = backend(framework), np.random.default_rng(1)
    values = [rng.standard_normal((2, 512, 8, 64)).astype(np.float32) for _ in range(2)]
    xs = [put(framework, device, value) for value in values]
    m = put(framework, device, np.arange(512))
    options = {"interleaved": interleaved, "base": 5000.0 + interleaved}
    kept: list[list[Any]] = [[], []]

    def work(which: int) -> None:
        context, wait = _stream(framework, device)
        with context:
            for _ in range(CALLS):
                kept[which].append(ours.apply_rotary(xs[which], m, **options))
            wait()

    threads = [threading.Thread(target=work, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wrong = 0
    for x, results in zip(xs, kept, strict=True):
        alone = back(framework, ours.apply_rotary(x, m, **options))
        wrong += sum(not np.array_equal(back(framework, one), alone) for one in results)
    made = sum(map(len, kept))
    return {
        "interleaved": interleaved,
        "calls": made,
        "wrong": wrong,
        "right": wrong == 0 and made == 2 * CALLS,
    }


def _stream(
    framework: str, device: str
) -> tuple[AbstractContextManager[Any], Callable[[], object]]:
    """Return a new stream as a context, and what waits for it; on a CPU a thread is enough."""
    if device == "cpu":
        return nullcontext(), lambda: None
    if framework == "torch":
        import torch  # noqa: PLC0415  # one framework a process

        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch's own
        return torch.cuda.stream(stream), stream.synchronize
    import cupy  # noqa: PLC0415  # as above

    own = cupy.cuda.Stream(non_blocking=True)
    return own, own.synchronize
