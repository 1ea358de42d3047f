"""What the numbers were measured on, without which they mean nothing."""

import datetime as dt
import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

__all__ = ["NO_GPU", "allocator", "environment"]

NO_GPU = "none: nothing in this file ran on a GPU"

DISTRIBUTIONS = (
    "ropespec",
    "numpy",
    "ml_dtypes",
    "numba",
    "llvmlite",
    "torch",
    "triton",
    "jax",
    "jaxlib",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "transformers",
    "torchtune",
    "flash-attn",
    "rotary-embedding-torch",
    "x-transformers",
    "onnx",
    "onnxruntime",
    "mlx",
    "pywhispercpp",
    "keras",
    "keras-hub",
)

SETTINGS = (
    "LD_PRELOAD",
    "MALLOC_CONF",
    "MALLOC_ARENA_MAX",
    "GLIBC_TUNABLES",
    "THP_MEM_ALLOC_ENABLE",
    "OMP_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMBA_THREADING_LAYER",
    "MKL_NUM_THREADS",
    "XLA_FLAGS",
)
"""Variables that change how memory is given out or how many threads work."""


def environment(gpu: str) -> dict[str, Any]:
    """Return the machine, the memory, the versions and the day.

    Parameters
    ----------
    gpu : str
        The name of the GPU that something was measured on, or nothing.

    Returns
    -------
    dict
        Text and numbers, as the schema describes them.
    """
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "cpu": _cpu(),
        "threads": _threads(),
        "gpu": gpu or NO_GPU,
        "allocator": allocator(),
        "transparent_huge_pages": _huge_pages(),
        "settings": {name: os.environ[name] for name in SETTINGS if name in os.environ},
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": _versions(),
    }


def allocator() -> str:
    """Name what gives out memory on the CPU: what is preloaded, or the C library's malloc."""
    preloaded = os.environ.get("LD_PRELOAD", "").replace(":", " ").split()
    if preloaded:
        return ", ".join(Path(path).name for path in preloaded)
    return " ".join(part for part in (*platform.libc_ver(), "malloc") if part)


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()


def _threads() -> int:
    """Return how many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _huge_pages() -> str:
    """Return the setting that is in brackets: always, madvise or never."""
    try:
        path = Path("/sys/kernel/mm/transparent_hugepage/enabled")
        text = path.read_text(encoding="utf-8")
    except OSError:
        return "unknown"
    return text.partition("[")[2].partition("]")[0] or "unknown"


def _versions() -> dict[str, str]:
    found = {}
    for name in DISTRIBUTIONS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
