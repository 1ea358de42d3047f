"""What holds for all tests."""

import os

# Bits are compared with those of XLA for CPUs. On a GPU JAX would take that, most of its memory
# too; what it does there `python -m ropespec.bench.card` finds out.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
