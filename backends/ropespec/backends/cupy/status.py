"""Whether a GPU can run the CuPy backend here, and what is known of it where none can."""

import cupy

from ropespec.backends.cupy.kernels import compile_for
from ropespec.backends.status import Status

__all__ = ["Status", "status"]


def status() -> Status:
    """Look for a GPU; without one, compile the kernels for one.

    Returns
    -------
    Status
        Nothing that did not run is called available.
    """
    if cupy.cuda.is_available():
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        return Status(available=True, reason=f"runs on {properties['name'].decode()}")
    try:
        compile_for("sm_90")
    except Exception as error:  # noqa: BLE001  # a missing or broken NVRTC fails in many ways
        done = f"not compiled ({type(error).__name__})"
    else:
        done = "compiled for sm_90, its kernels checked on the host by this project's tests"
    return Status(available=False, reason=f"no GPU: {done}, NOT RUN on a GPU")
