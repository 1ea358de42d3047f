"""Rotations as they are called: where the caller compiles nothing, one program does what it can."""

from typing import cast

import jax
from numpy.typing import ArrayLike

from ropespec.backends.derived import Derived, Primitives
from ropespec.backends.jax.arrays import Array, Limbs, beside, limbs_of, traced
from ropespec.backends.jax.frequencies import turns_kept, turns_of
from ropespec.backends.jax.primitives import JaxPrimitives
from ropespec.backends.jax.rotation import rotate, rotate_at
from ropespec.spec.arguments import check_flag, check_tables

__all__ = ["functions"]


def _steps(x: Array, dim: int, base: float) -> Limbs:
    """T_i beside `x`; where it is traced or on several devices, JAX is to bring them there."""
    if isinstance(x, jax.core.Tracer):
        return turns_of(dim, base)
    if not x.committed:
        return turns_kept(dim, base, None)
    devices = x.devices()
    return turns_kept(dim, base, *devices) if len(devices) == 1 else turns_of(dim, base)


_MOST_BASES = 4
"""So many bases get programs of their own; a base that grows with the length has a new one at each
token, and is handed to a program that is there."""

_bases = set[float]()


def _concrete(value: object) -> bool:
    """Whether this is an array with values, not one of a trace."""
    return isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer)


def _apart(x: Array, other: Array) -> bool:
    """Whether both are committed, and to different devices: then one has to be moved first."""
    return x.committed and other.committed and x.device != other.device


def _on_cpu(x: Array) -> bool:
    """Whether all of it lies on CPUs."""
    return all(device.platform == "cpu" for device in x.devices())


def _at_once(x: Array, positions: object, interleaved: object, base: float, dim: object) -> bool:
    """Whether one program may do it all: for one token, and on a GPU for any number of them.

    There a program takes longer to start than to run, and none is the vector code of a CPU that
    takes so much longer to compile with its tables. What is static has to be hashed, and what
    cannot be is to be refused in our words.
    """
    return (
        _concrete(x)
        and _concrete(positions)
        and (x.shape[-3:-2] == (1,) or not _on_cpu(x))
        and type(interleaved) is bool
        and type(base) is float
        and (base in _bases or len(_bases) < _MOST_BASES)
        and (dim is None or type(dim) is int)
        and not _apart(x, cast("Array", positions))
    )


class Functions(Derived[Array]):
    """The shared API for JAX."""

    def apply_rotary(
        self,
        x: Array,
        positions: ArrayLike,
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> Array:
        if _at_once(x, positions, interleaved, base, rotary_dim):
            turned = _rotated(self._of, x, positions, interleaved, base, rotary_dim)
            _bases.add(base)
            return turned
        return _rotary(self._of, x, positions, interleaved, base, rotary_dim)

    def apply_rotary_cos_sin(self, x: Array, cos: Array, sin: Array, *, interleaved: bool) -> Array:
        plain = _concrete(x) and _concrete(cos) and _concrete(sin)
        if plain and type(interleaved) is bool and not (_apart(x, cos) or _apart(x, sin)):
            return _by_tables_at_once(self._of, x, cos, sin, interleaved)
        return _by_tables(self._of, x, cos, sin, interleaved)


def _rotary(
    of: Primitives[Array],
    x: Array,
    positions: ArrayLike,
    interleaved: bool,
    base: float,
    rotary_dim: int | None,
) -> Array:
    m, paired, base, dim = of.read_rotation(x, positions, interleaved, base, rotary_dim)
    if x.shape[-3] != 1:  # a token that was generated is rotated sooner than a program starts
        turned: Array = of.rotate(x, of.turning(m, dim, base, x), interleaved=paired)
        return turned
    return rotate_at(x, limbs_of(beside(m, x)), _steps(x, dim, base), interleaved=paired)


def _by_tables(of: Primitives[Array], x: Array, cos: Array, sin: Array, interleaved: bool) -> Array:
    found = of.check_floats("x", x, ndim=3)
    of.check_floats("cos", cos, ndim=1)
    of.check_floats("sin", sin, ndim=1)
    interleaved = check_flag("interleaved", interleaved)
    check_tables(cos, sin, found)
    return rotate(x, beside(cos, x), beside(sin, x), interleaved=interleaved)


_rotated = traced("of", "interleaved", "base", "rotary_dim")(_rotary)
_by_tables_at_once = traced("of", "interleaved")(_by_tables)
"""With all that is read and checked: shapes and dtypes are looked at once for each."""

functions = Functions(JaxPrimitives())
