"""The rotation behind custom operators, which tracing and compilers take as they are.

`rotate_positions` and `rotate_tables` are what the torch backend calls for tensors on CUDA and on
a CPU for which there is a kernel. Importing this package defines the operators
`torch.ops.ropespec.*`.
"""

from ropespec.backends.torch.operators import define, rules
from ropespec.backends.torch.operators.rotate import rotate_positions, rotate_tables

__all__ = ["rotate_positions", "rotate_tables"]

define.define()
rules.register()
