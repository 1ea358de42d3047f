"""The rotation by several position numbers a token."""

from typing import Protocol

from ropespec.spec.api.arrays import ArrayT, Positions
from ropespec.spec.axes import Axes
from ropespec.spec.scaling import Scaling

__all__ = ["AxesAPI"]


class AxesAPI(Protocol[ArrayT]):
    """The chapter `axes`."""

    def cos_sin_axes(
        self,
        positions: Positions[ArrayT],
        dim: int,
        base: float = 10000.0,
        *,
        axes: Axes,
        scaling: Scaling | None = None,
    ) -> tuple[ArrayT, ArrayT]:
        """cos and sin of the angles that several position numbers give, by exact phase (AXES-1).

        Parameters
        ----------
        positions : array or array_like of int, shape (n, ...)
            A row for each position number; either sign.
        dim, base
            As in `cos_sin`.
        axes : Axes
            A value of `ropespec.spec.axes`.
        scaling : Scaling, optional
            A scheme of `ropespec.spec.scaling`.

        Returns
        -------
        cos, sin : array, shape positions.shape[1:] + (dim/2,)
            As accurate as those of `cos_sin`; dtype and device as there.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            As `cos_sin_scaled` does, and if `axes` is no such value, has not dim/2 pairs, or
            `positions` not a row for each number.
        """
        ...

    def apply_rotary_axes(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        *,
        interleaved: bool,
        axes: Axes,
        base: float = 10000.0,
        rotary_dim: int | None = None,
        scaling: Scaling | None = None,
    ) -> ArrayT:
        """Rotate by the angles that several position numbers give (AXES-1).

        Parameters
        ----------
        x, interleaved, base, rotary_dim
            As in `apply_rotary`.
        positions : array or array_like of int, shape (n, S) or (n, ..., S)
            A row for each position number, each as in `apply_rotary`.
        axes, scaling
            As in `cos_sin_axes`.

        Returns
        -------
        array, shape, dtype and device of `x`
            Exact phase (FREQ-9), arithmetic and rounding as in `apply_rotary_cos_sin`.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            As `apply_rotary` and `cos_sin_axes` do.
        """
        ...
