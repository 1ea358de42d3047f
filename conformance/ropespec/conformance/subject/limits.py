"""What a worker does to itself before it loads a subject: limits, and an end with its keeper.

Each of them is there where the system has it; `WorkerProcess.lacks` says in words where not.
"""

import contextlib
import ctypes
import os
import signal
from pathlib import Path

__all__ = ["allowance", "die_with_parent", "go_first", "has_device", "limit_memory"]

_SET_PDEATHSIG = 1  # prctl(2)
_STACK = 2**26  # bytes per processor: frameworks start threads for each, whose stacks are counted
_HELD = 2**28  # what an interpreter with NumPy holds, and more


def allowance(limit: int | None) -> int:
    """Return the bytes at which a worker with all it has started is killed; 0 for never.

    It is above what `limit_memory` sets, so that taking too much raises where that can be.
    """
    return 0 if limit is None else limit + (os.cpu_count() or 1) * _STACK + _HELD


def has_device() -> bool:
    """Whether there is a graphics processor, whose driver takes address space without limit."""
    return any(Path(f"/dev/{name}").exists() for name in ("nvidiactl", "kfd"))


def limit_memory(limit: int) -> None:
    """Allow so many bytes of data beyond what the process has now, for good (RLIMIT_DATA)."""
    try:
        import resource  # noqa: PLC0415  # Windows lacks it

        status = Path("/proc/self/status").read_text(encoding="ascii")
        (held,) = (
            int(line.split()[1]) for line in status.splitlines() if line.startswith("VmData:")
        )
    except (ImportError, OSError, ValueError):
        return
    wanted = held * 1024 + limit + (os.cpu_count() or 1) * _STACK
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def go_first() -> None:
    """Offer this process to the system when memory runs out, and leave no core file."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    with contextlib.suppress(ImportError):
        import resource  # noqa: PLC0415  # Windows lacks it

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def die_with_parent() -> None:
    """Have the system kill this process when its parent ends, even if it hangs."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
