"""The rotation by scaled frequencies."""

from typing import Protocol

from ropespec.spec.api.arrays import ArrayT, Device, Positions
from ropespec.spec.scaling import Scaling

__all__ = ["ScalingAPI"]


class ScalingAPI(Protocol[ArrayT]):
    """The chapter `scaling`: functions of their own, so that the plain rotation stays as it is."""

    def inv_freq_scaled(
        self, dim: int, base: float = 10000.0, *, scaling: Scaling, device: Device = None
    ) -> ArrayT:
        """omega_i, the frequencies that a scheme makes of theta_i (SCAL-1).

        Parameters
        ----------
        dim, base, device
            As in `inv_freq`.
        scaling : Scaling
            A scheme of `ropespec.spec.scaling`.

        Returns
        -------
        array, shape (dim/2,)
            Radians per position, rounded once from the exact ones: float64; in JAX without x64
            float32.

        Raises
        ------
        ArgumentTypeError
            As `inv_freq` does, and if `scaling` is no scheme.
        ArgumentValueError
            As `inv_freq` does, and if the scheme has no frequencies for `dim`.
        """
        ...

    def cos_sin_scaled(
        self, positions: Positions[ArrayT], dim: int, base: float = 10000.0, *, scaling: Scaling
    ) -> tuple[ArrayT, ArrayT]:
        """A cos(m omega_i) and A sin(m omega_i) by exact phase (SCAL-1, SCAL-12).

        Parameters
        ----------
        positions, dim, base
            As in `cos_sin`.
        scaling : Scaling
            A scheme of `ropespec.spec.scaling`.

        Returns
        -------
        cos, sin : array, shape positions.shape + (dim/2,)
            As accurate as those of `cos_sin`; dtype and device as there.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            As `cos_sin` and `inv_freq_scaled` do.
        """
        ...

    def apply_rotary_scaled(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        *,
        interleaved: bool,
        scaling: Scaling,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        """A R_m x with the frequencies of a scheme (SCAL-1, SCAL-12, SCAL-13).

        Parameters
        ----------
        x, positions, interleaved, base, rotary_dim
            As in `apply_rotary`; what is not rotated has no gain either.
        scaling : Scaling
            A scheme of `ropespec.spec.scaling`.

        Returns
        -------
        array, shape, dtype and device of `x`
            Exact phase (FREQ-9), arithmetic and rounding as in `apply_rotary_cos_sin`.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            As `apply_rotary` and `inv_freq_scaled` do.
        """
        ...
