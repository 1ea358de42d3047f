"""Frequencies, tables and the rotation itself, in each of its forms."""

from typing import Protocol

from ropespec.spec.api.arrays import ArrayT, Device, Positions

__all__ = ["RotatingAPI"]


class RotatingAPI(Protocol[ArrayT]):
    """The chapters `frequencies`, `sinusoidal`, `complex_plane` and `rotation`."""

    def inv_freq(self, dim: int, base: float = 10000.0, *, device: Device = None) -> ArrayT:
        """theta_i = base^(-2i/dim), i = 0..dim/2-1 (FREQ-2; F-001).

        Parameters
        ----------
        dim : int
            Even, at least 2.
        base : float
            Above 1.
        device : device, optional
            Where the result lies, as the framework says it (API-2); its default device by default.

        Returns
        -------
        array, shape (dim/2,)
            Radians per position: float64; in JAX without x64 float32.

        Raises
        ------
        ArgumentTypeError
            If `dim` is not an integer, `base` not a real number, or `device` no device.
        ArgumentValueError
            If `dim` is odd or below 2, `base` not finite or not above 1, or `device` unknown.
        """
        ...

    def angles(self, positions: Positions[ArrayT], inv_freq: ArrayT) -> ArrayT:
        """Angles m * theta_i for every position m and frequency theta_i (FREQ-7; F-017).

        Parameters
        ----------
        positions : array or array_like of int
            Any shape; either sign.
        inv_freq : array of float, shape (dim/2,)
            Radians per position.

        Returns
        -------
        array, shape positions.shape + (dim/2,)
            Radians, not reduced to one turn: float64; in JAX without x64 float32. On the device of
            an array of positions, else on that of `inv_freq`.

        Raises
        ------
        ArgumentTypeError
            If `positions` are not integers, or `inv_freq` is no float array of the framework.
        ArgumentValueError
            If `inv_freq` does not have exactly one axis.
        """
        ...

    def cos_sin(
        self, positions: Positions[ArrayT], dim: int, base: float = 10000.0
    ) -> tuple[ArrayT, ArrayT]:
        """cos(m theta_i) and sin(m theta_i) by exact phase (FREQ-9).

        Parameters
        ----------
        positions : array or array_like of int
            Any shape; either sign. Integers of the host above 2^31 are exact in JAX without x64,
            too.
        dim, base
            As in `inv_freq`.

        Returns
        -------
        cos, sin : array, shape positions.shape + (dim/2,)
            As accurate at position 2^31 as at 3, but for the rounding of T_i: |m| * 2^-65 turns.
            float64; in JAX without x64 float32. On the device of an array of positions, else on
            the default device.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            As `angles` and `inv_freq` do.
        """
        ...

    def sinusoidal_embedding(
        self, positions: Positions[ArrayT], dim: int, base: float = 10000.0
    ) -> ArrayT:
        """sin(m theta_i) at component 2i, cos(m theta_i) at 2i+1 (SIN-1; F-025, F-026).

        Parameters
        ----------
        positions, dim, base
            As in `cos_sin`.

        Returns
        -------
        array, shape positions.shape + (dim,)
            By exact phase (FREQ-9); dtype and device as in `cos_sin`.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            As `cos_sin` does.
        """
        ...

    def to_complex(self, x: ArrayT) -> ArrayT:
        """x_2i + i x_2i+1 for every pair (CPLX-8; F-060).

        Parameters
        ----------
        x : array of float, shape (..., d)
            d even, at least 2.

        Returns
        -------
        array, shape (..., d/2)
            complex128 for float64, complex64 for anything narrower.

        Raises
        ------
        ArgumentTypeError
            If `x` is no float array of the framework.
        ArgumentValueError
            If `x` has no axis, or an odd or zero number of components.
        """
        ...

    def from_complex(self, z: ArrayT) -> ArrayT:
        """Undo `to_complex` (CPLX-8; F-060).

        Parameters
        ----------
        z : array of complex, shape (..., d/2)
            complex64 or complex128.

        Returns
        -------
        array, shape (..., d)
            float64 for complex128, float32 for complex64.

        Raises
        ------
        ArgumentTypeError
            If `z` is no complex array of the framework.
        ArgumentValueError
            If `z` has no axis.
        """
        ...

    def rotation_matrix(
        self,
        positions: Positions[ArrayT],
        dim: int,
        *,
        interleaved: bool,
        base: float = 10000.0,
    ) -> ArrayT:
        """R_m for every position m, as a dense matrix (ROT-3, ROT-4; F-126, F-137).

        Parameters
        ----------
        positions, dim, base
            As in `cos_sin`.
        interleaved : bool
            Pairs (2i, 2i+1) if True, (i, i + dim/2) if False.

        Returns
        -------
        array, shape positions.shape + (dim, dim)
            To be applied to columns; dtype and device as in `cos_sin`.

        Raises
        ------
        ArgumentTypeError
            As `cos_sin` does, and if `interleaved` is no bool.
        ArgumentValueError
            As `cos_sin` does.
        """
        ...

    def apply_rotary_dense(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        """R_m x by the dense matrix (ROT-3, ROT-4; F-126, F-137).

        For finite x: a NaN or an infinity may reach every rotated component of its token and head,
        and nothing else (ROT-16).
        Parameters, result and errors as in `apply_rotary`.
        """
        ...

    def apply_rotary(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        """Each pair (x1, x2) becomes (x1 cos - x2 sin, x2 cos + x1 sin) (ROT-6, ROT-7).

        This is the operation itself. Gradients, where the framework has them, are the rotation by
        the opposite angle (ROT-20).

        Parameters
        ----------
        x : array of float, shape (..., S, H, D)
            Queries or keys: float16, bfloat16, float32 or float64; any strides; read only.
        positions : array or array_like of int, shape (S,) or (..., S)
            Position of every token; either sign; leading axes broadcast.
        interleaved : bool
            Pairs (2i, 2i+1) if True, (i, i + rotary_dim/2) if False.
        base : float
            Above 1.
        rotary_dim : int, optional
            The first `rotary_dim` components rotate, the rest passes through bit for bit (ROT-14);
            D by default.

        Returns
        -------
        array, shape, dtype and device of `x`
            Exact phase (FREQ-9), float64 arithmetic for float64 and float32 for the other dtypes,
            rounded once at the end.

        Raises
        ------
        ArgumentTypeError
            If `x` is no float array of the framework, positions are no integers, `interleaved` is
            no bool, or `base` or `rotary_dim` is no number.
        ArgumentValueError
            If `x` has fewer than 3 axes, `base` is not finite or not above 1, `rotary_dim` is odd,
            below 2 or above D, or the positions do not fit `x`.
        """
        ...

    def apply_rotary_cos_sin(
        self, x: ArrayT, cos: ArrayT, sin: ArrayT, *, interleaved: bool
    ) -> ArrayT:
        """R_m x with cos(m theta_i) and sin(m theta_i) given as tables (ROT-22).

        The tables are taken as they are: scaled ones scale the result (a common attention factor).
        They are constants: no gradient flows into them.

        Parameters
        ----------
        x : array of float, shape (..., S, H, D)
            As in `apply_rotary`.
        cos, sin : array of float, shape (S, r/2) or (..., S, r/2)
            One row a token, one column a pair; one dtype; leading axes broadcast.
        interleaved : bool
            Pairs (2i, 2i+1) if True, (i, i + r/2) if False.

        Returns
        -------
        array, shape, dtype and device of `x`
            As in `apply_rotary`, with r for `rotary_dim`; the tables are read in the dtype of the
            arithmetic.

        Raises
        ------
        ArgumentTypeError
            If `x` or a table is no float array of the framework, the dtypes of the tables differ,
            or `interleaved` is no bool.
        ArgumentValueError
            If `x` has fewer than 3 axes, the shapes of the tables differ, they do not fit `x`, or
            r is below 2 or above D.
        """
        ...

    def apply_rotary_complex(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        *,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        """Each pair (x_2i, x_2i+1), read as a complex number, times e^{i m theta_i} (ROT-8; F-064).

        This is the interleaved layout.
        Parameters, result and errors as in `apply_rotary`.
        """
        ...

    def interleaved_to_half(self, x: ArrayT) -> ArrayT:
        """P x: components (0, 2, ..., d-2, 1, 3, ..., d-1) of the last axis (ROT-5; F-138).

        Parameters
        ----------
        x : array of float, shape (..., d)
            d even, at least 2.

        Returns
        -------
        array, shape, dtype and device of `x`
            A new array; every component bit for bit.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            As `to_complex` does.
        """
        ...

    def half_to_interleaved(self, x: ArrayT) -> ArrayT:
        """P^T x, which undoes `interleaved_to_half` (ROT-5; F-138).

        Parameters, result and errors as in `interleaved_to_half`.
        """
        ...
