"""The rotation on CUDA: Triton kernels behind custom operators.

`rotate_positions` and `rotate_tables` are what the torch backend calls for CUDA tensors. Importing
this package defines the operators `torch.ops.ropespec.*`; Triton is loaded by the first launch.
"""

from ropespec.backends.torch.cuda import operators, rules
from ropespec.backends.torch.cuda.rotate import rotate_positions, rotate_tables
from ropespec.backends.torch.cuda.status import Status, status

__all__ = ["Status", "rotate_positions", "rotate_tables", "status"]

operators.define()
rules.register()
