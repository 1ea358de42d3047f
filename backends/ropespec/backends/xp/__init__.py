"""What reads the same in NumPy and CuPy, written once over a namespace argument `xp`.

Every function takes `xp`, the module `numpy` or `cupy`, as its first argument and uses only names
that both have. Arguments are expected to be checked; nothing here is public API.
"""

from typing import Any

__all__ = ["Array", "Dtype", "Namespace"]

Array = Any  # numpy.ndarray or cupy.ndarray
Dtype = Any  # a NumPy dtype, which CuPy shares
Namespace = Any  # the module numpy or cupy
