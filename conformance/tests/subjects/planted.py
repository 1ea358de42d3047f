"""Subjects for a small zoo: one that is right and one that is wrong."""

import numpy as np


class Right:
    """A right function."""

    def to_complex(self, x):
        """Take pairs (2i, 2i+1)."""
        z = np.empty((*x.shape[:-1], x.shape[-1] // 2), np.result_type(x.dtype, np.complex64))
        z.real, z.imag = x[..., 0::2], x[..., 1::2]
        return z


class Wrong:
    """A wrong one."""

    def to_complex(self, x):
        """Take the conjugate."""
        return Right().to_complex(x).conj()
