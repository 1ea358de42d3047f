"""Whether a GPU can run the kernels here, and what is known of them where none can."""

import torch

from ropespec.backends.status import Status
from ropespec.backends.torch.cuda.ahead import compile_ahead
from ropespec.backends.torch.cuda.launch import has_triton

__all__ = ["Status", "status"]


def status() -> Status:
    """Look for a GPU; without one, compile a kernel for one.

    Returns
    -------
    Status
        Nothing that did not run is called available.
    """
    if not has_triton():
        return Status(available=False, reason="Triton is not installed: NOT RUN on a GPU")
    if torch.cuda.is_available():
        return Status(available=True, reason=f"runs on {torch.cuda.get_device_name()}")
    try:
        compile_ahead(torch.bfloat16, interleaved=True, tables=False)
    except Exception as error:  # noqa: BLE001  # a compiler fails in many ways
        done = f"not compiled ({type(error).__name__})"
    else:
        done = "compiled for sm_90, run under the Triton interpreter by this project's tests"
    return Status(available=False, reason=f"no GPU: {done}, NOT RUN on a GPU")
