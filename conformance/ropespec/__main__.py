"""`python -m ropespec`, what the command `ropespec` runs, and how a process of it begins."""

import importlib
import os
import sys
from types import ModuleType

__all__ = ["main", "with_one_thread"]

INTERRUPTED = 130
_THREADS = "OPENBLAS_NUM_THREADS"


def main() -> int:
    """Run the command, and end on Ctrl-C with one line from the first moment on."""
    try:
        # Click, rich and the rest take a moment, in which somebody may change their mind.
        return int(with_one_thread("ropespec.conformance.cli").main())
    except KeyboardInterrupt:
        sys.stderr.write("ropespec: interrupted\n")
        return INTERRUPTED


def with_one_thread(name: str) -> ModuleType:
    """Import a module; NumPy, if that imports it, has one thread for products of matrices.

    Others would wait for work by asking for it without end, from the import on, for products that
    are too small for two. Whoever sets the variable has it as they set it, and a subject never
    sees it.
    """
    if _THREADS in os.environ:
        return importlib.import_module(name)
    os.environ[_THREADS] = "1"
    try:
        return importlib.import_module(name)
    finally:
        del os.environ[_THREADS]


if __name__ == "__main__":
    sys.exit(main())
