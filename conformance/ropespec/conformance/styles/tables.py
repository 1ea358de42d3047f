"""Tables that a style makes itself: as good as those of the field, rounded once."""

from decimal import localcontext

import numpy as np

from ropespec.conformance.styles.arrays import Array, DType
from ropespec.conformance.styles.base import Setting

__all__ = ["Tables"]


class Tables:
    """Angles, cosines and sines under the claims of a setting.

    The angles are float64 where the framework has it.

    Parameters
    ----------
    setting : Setting
        The claims and the framework.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        by = setting.profile.rotation
        self._axes, self._frequencies = by.axes, by.frequencies
        self._theta: dict[int, np.ndarray] = {}
        self._gain = float(by.frequencies.gain)

    def theta(self, width: int) -> np.ndarray:
        """Return the frequencies of a head of this size, each rounded once."""
        dim = self.setting.profile.rotation.dim(width)
        if dim not in self._theta:
            with localcontext(prec=50):
                self._theta[dim] = np.array([float(one) for one in self._frequencies.theta(dim)])
        return self._theta[dim]

    def angles(self, positions: Array, width: int) -> Array:
        """Return positions.shape + (pairs,); of several numbers the pair follows one."""
        space = self.setting.space
        if self._axes:
            positions = space.xp.stack([positions[axis] for axis in self._axes], -1)
        else:
            positions = positions[..., None]
        return positions * space.like(self.theta(width), positions)

    def cos_sin(self, positions: Array, width: int, dtype: DType) -> tuple[Array, Array]:
        """Return cosines and sines of the angles, as wide as there are pairs."""
        space, angle = self.setting.space, self.angles(positions, width)
        cos, sin = space.xp.cos(angle), space.xp.sin(angle)
        if self._gain != 1:
            cos, sin = cos * self._gain, sin * self._gain
        return space.cast(cos, dtype), space.cast(sin, dtype)

    def complex(self, positions: Array, width: int) -> Array:
        """Return e^{i m theta} in complex64, as users have it."""
        space = self.setting.space
        turned = space.xp.exp(1j * self.angles(positions, width)) * self._gain
        return space.cast(turned, space.xp.complex64)

    def widened(self, table: Array, *, neighbours: bool | None = None) -> Array:
        """Return a table as wide as x: by halves, or each column twice for neighbours."""
        space = self.setting.space
        if not (self.setting.profile.layouts[0] if neighbours is None else neighbours):
            return space.cat([table, table], -1)
        twice = space.xp.stack([table, table], -1)
        return twice.reshape(*table.shape[:-1], 2 * table.shape[-1])
