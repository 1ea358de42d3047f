"""The Triton kernels of the rotation; Triton is loaded by the first launch."""

from ropespec.backends.torch.cuda.status import Status, status

__all__ = ["Status", "status"]
