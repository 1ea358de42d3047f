"""Complex numbers, Euler's formula and the series behind it (chapter `complex_plane`).

Functions take numbers or arrays, element by element; angles are in radians.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import Floats, check_floats
from ropespec.spec.arguments import check_array_type, check_complex, check_dim, check_size

__all__ = [
    "argument",
    "conjugate",
    "cos_from_exp",
    "cos_series",
    "euler",
    "euler_reduced",
    "euler_series",
    "euler_substituted",
    "exp_series",
    "from_complex",
    "modulus",
    "phase_difference",
    "product",
    "sin_from_exp",
    "sin_series",
    "squared_modulus",
    "times_i",
    "to_complex",
]


def modulus(z: ArrayLike) -> NDArray[np.float64]:
    """|z| = sqrt(a^2 + b^2) for z = a + ib (CPLX-1; F-035).

    Returns
    -------
    ndarray of float64
        The shape of `z`.
    """
    w = _complex(z)
    return np.asarray(np.sqrt(w.real**2 + w.imag**2))


def argument(z: ArrayLike) -> NDArray[np.float64]:
    """Angle from the positive real axis to z, counter-clockwise (CPLX-1; F-036).

    Returns
    -------
    ndarray of float64
        Radians in (-pi, pi]; the argument itself is only given up to whole turns.
    """
    w = _complex(z)
    angle = np.asarray(np.arctan2(w.imag, w.real))
    return np.where(angle == -np.pi, np.pi, angle)  # -pi comes of an imaginary part of -0.0


def conjugate(z: ArrayLike) -> NDArray[np.complex128]:
    """z^* = a - ib for z = a + ib (CPLX-2; F-037).

    So (e^{ix})^* = e^{-ix} (F-056) and (zw)^* = z^* w^* (F-057; E-30).

    Returns
    -------
    ndarray of complex128
        The shape of `z`.
    """
    w = _complex(z)
    return _from_parts(w.real, -w.imag)


def squared_modulus(z: ArrayLike) -> NDArray[np.complex128]:
    """z z^* = a^2 + b^2 = |z|^2, with the imaginary part 0 (CPLX-2; F-038, F-039).

    Returns
    -------
    ndarray of complex128
        The shape of `z`.
    """
    return product(z, conjugate(z))


def times_i(z: ArrayLike) -> NDArray[np.complex128]:
    """Rotate by a quarter of a turn: iz = -b + ia for z = a + ib (CPLX-3; F-040, F-041; E-67).

    Returns
    -------
    ndarray of complex128
        The shape of `z`.
    """
    w = _complex(z)
    return _from_parts(-w.imag, w.real)


def product(z: ArrayLike, w: ArrayLike) -> NDArray[np.complex128]:
    """Multiply by components: (a + ib)(c + id) = (ac - bd) + i(bc + ad) (CPLX-7; F-059).

    Returns
    -------
    ndarray of complex128
        `z` and `w` broadcast.
    """
    left, right = _complex(z), _complex(w)
    a, b, c, d = left.real, left.imag, right.real, right.imag
    return _from_parts(a * c - b * d, b * c + a * d)


def euler(x: ArrayLike) -> NDArray[np.complex128]:
    """e^{ix} = cos x + i sin x for real x (CPLX-4; F-042, F-048).

    cos x is its real part and sin x its imaginary part (F-043). x may be -omega t (F-054), pi
    (F-052), or m theta, n theta and (m-n) theta (F-055); document 000 adds e^{-ix} to the left side
    (F-053; E-07). It is the last step of the derivation (F-047).

    Parameters
    ----------
    x : array_like of float
        Radians.

    Returns
    -------
    ndarray of complex128
        Points of the unit circle, the shape of `x`.
    """
    angle = np.asarray(x, dtype=np.float64)
    return _from_parts(np.cos(angle), np.sin(angle))


def phase_difference(m: int, n: int, *, theta: float) -> NDArray[np.complex128]:
    """e^{im theta} e^{-in theta}, which is e^{i(m-n) theta} (CPLX-4; F-058).

    Parameters
    ----------
    m, n : int
        Positions of either sign.
    theta : float
        Radians per position.

    Returns
    -------
    ndarray of complex128
        One number.
    """
    return product(euler(m * theta), euler(-n * theta))


def exp_series(x: ArrayLike, degree: int) -> NDArray[np.complex128]:
    """Sum 1 + x + x^2/2! + ... + x^N/N!, x real or complex (CPLX-5; F-044).

    Parameters
    ----------
    x : array_like of complex
        Any shape.
    degree : int
        N, the last power kept; at least 0.

    Returns
    -------
    ndarray of complex128
        Within |x|^(N+1)/(N+1)! of e^x where x is imaginary.

    Raises
    ------
    ArgumentTypeError
        If `degree` is not an integer.
    ArgumentValueError
        If `degree` is negative.
    """
    z = _complex(x)
    term = np.ones_like(z)
    total = np.ones_like(z)
    for k in range(1, check_size("degree", degree) + 1):
        term = term * z / k
        total = total + term
    return total


def sin_series(x: ArrayLike, degree: int) -> NDArray[np.float64]:
    """Sum x - x^3/3! + x^5/5! - ... through degree N (CPLX-5; F-045).

    Parameters
    ----------
    x : array_like of float
        Radians.
    degree : int
        N, the last power kept; at least 0.

    Returns
    -------
    ndarray of float64
        Within |x|^(N+1)/(N+1)! of sin x.

    Raises
    ------
    ArgumentTypeError
        If `degree` is not an integer.
    ArgumentValueError
        If `degree` is negative.
    """
    return _alternating_series(np.asarray(x, dtype=np.float64), degree, parity=1)


def cos_series(x: ArrayLike, degree: int) -> NDArray[np.float64]:
    """Sum 1 - x^2/2! + x^4/4! - ... through degree N (CPLX-5; F-046).

    Parameters
    ----------
    x : array_like of float
        Radians.
    degree : int
        N, the last power kept; at least 0.

    Returns
    -------
    ndarray of float64
        Within |x|^(N+1)/(N+1)! of cos x.

    Raises
    ------
    ArgumentTypeError
        If `degree` is not an integer.
    ArgumentValueError
        If `degree` is negative.
    """
    return _alternating_series(np.asarray(x, dtype=np.float64), degree, parity=0)


def euler_substituted(theta: ArrayLike, degree: int) -> NDArray[np.complex128]:
    """Put x = i theta into the series of e^x (CPLX-4; F-047, step 1).

    1 + i theta + (i theta)^2/2! + (i theta)^3/3! + ..., all terms through degree N.
    Parameters, result and errors as in `euler_series`.
    """
    return exp_series(_from_parts(0.0, theta), degree)


def euler_reduced(theta: ArrayLike, degree: int) -> NDArray[np.complex128]:
    """Reduce the powers of i to 1, i, -1, -i (CPLX-4; F-047, step 2).

    1 + i theta - theta^2/2! - i theta^3/3! + ..., all terms through degree N.
    Parameters, result and errors as in `euler_series`.
    """
    angle = np.asarray(theta, dtype=np.float64)
    total = np.zeros(angle.shape, dtype=np.complex128)
    for k in range(check_size("degree", degree) + 1):
        total = total + (1, 1j, -1, -1j)[k % 4] * angle**k / math.factorial(k)
    return total


def euler_series(theta: ArrayLike, degree: int) -> NDArray[np.complex128]:
    """Group the series of e^{i theta} by real and imaginary terms (CPLX-4; F-047, step 3).

    (1 - theta^2/2! + ...) + i (theta - theta^3/3! + ...), all terms through degree N.

    Parameters
    ----------
    theta : array_like of float
        Radians.
    degree : int
        N, the last power kept; at least 0.

    Returns
    -------
    ndarray of complex128
        Within |theta|^(N+1)/(N+1)! of e^{i theta}.

    Raises
    ------
    ArgumentTypeError
        If `degree` is not an integer.
    ArgumentValueError
        If `degree` is negative.
    """
    return _from_parts(cos_series(theta, degree), sin_series(theta, degree))


def sin_from_exp(theta: ArrayLike) -> NDArray[np.float64]:
    """Sine by exponentials: (e^{i theta} - e^{-i theta}) / 2i (CPLX-6; F-049).

    Returns
    -------
    ndarray of float64
        The shape of `theta`, which is in radians.
    """
    angle = np.asarray(theta, dtype=np.float64)
    return np.asarray(((np.exp(1j * angle) - np.exp(-1j * angle)) / 2j).real)


def cos_from_exp(theta: ArrayLike) -> NDArray[np.float64]:
    """Cosine by exponentials: (e^{i theta} + e^{-i theta}) / 2 (CPLX-6; F-050).

    Returns
    -------
    ndarray of float64
        The shape of `theta`, which is in radians.
    """
    angle = np.asarray(theta, dtype=np.float64)
    return np.asarray(((np.exp(1j * angle) + np.exp(-1j * angle)) / 2).real)


def to_complex(x: Floats) -> NDArray[np.complexfloating]:
    """Read pairs (x_2i, x_2i+1) of the last axis as x_2i + i x_2i+1 (CPLX-8; F-060, F-061).

    A row of two real numbers and one complex number are not equal; this is what takes the one for
    the other (E-70). Vectors add as their numbers do (F-051).

    Parameters
    ----------
    x : ndarray of float, shape (..., d)
        d even, at least 2.

    Returns
    -------
    ndarray, shape (..., d/2)
        complex128 for float64, complex64 for the other dtypes: nothing is rounded.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float array of NumPy.
    ArgumentValueError
        If `x` has no axis, or an odd or zero number of components.
    """
    check_floats("x", x, ndim=1)
    check_dim(x.shape[-1], "head_dim")
    z = np.empty((*x.shape[:-1], x.shape[-1] // 2), np.result_type(x.dtype.type(0), np.complex64))
    z.real = x[..., 0::2]
    z.imag = x[..., 1::2]
    return z


def from_complex(z: NDArray[np.complexfloating]) -> Floats:
    """Write complex numbers as pairs: x_2i = Re z_i, x_2i+1 = Im z_i (CPLX-8; F-060).

    Parameters
    ----------
    z : ndarray of complex, shape (..., d/2)
        complex64 or complex128.

    Returns
    -------
    ndarray, shape (..., d)
        float32 for complex64, float64 for complex128.

    Raises
    ------
    ArgumentTypeError
        If `z` is no complex array of NumPy.
    ArgumentValueError
        If `z` has no axis.
    """
    check_array_type("z", z, np.ndarray, "numpy.ndarray")
    check_complex("z", z, ndim=1)
    x = np.empty((*z.shape[:-1], 2 * z.shape[-1]), dtype=z.real.dtype)
    x[..., 0::2] = z.real
    x[..., 1::2] = z.imag
    return x


def _complex(z: ArrayLike) -> NDArray[np.complex128]:
    return np.asarray(z, dtype=np.complex128)


def _from_parts(real: ArrayLike, imag: ArrayLike) -> NDArray[np.complex128]:
    # a + 1j * b would turn an infinite b into NaN + i inf
    z = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), dtype=np.complex128)
    z.real = real
    z.imag = imag
    return z


def _alternating_series(x: NDArray[np.float64], degree: int, *, parity: int) -> NDArray[np.float64]:
    power = np.ones_like(x)  # x^k / k!
    total = np.zeros_like(x)
    for k in range(check_size("degree", degree) + 1):
        if k:
            power = power * x / k
        if k % 2 == parity:
            total = total + (-power if k % 4 >= 2 else power)
    return total
