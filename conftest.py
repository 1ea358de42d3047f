"""What holds for all tests."""

import os
import signal

# Bits are compared with those of XLA for CPUs. On a GPU JAX would take that, most of its memory
# too; what it does there `python -m ropespec.bench.card` finds out.
os.environ.setdefault("JAX_PLATFORMS", "cpu")

# Who is started in the background of a script is told to ignore Ctrl-C, and tells all it starts;
# what commands do on Ctrl-C is tested there as well.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
