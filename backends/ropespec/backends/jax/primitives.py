"""The shared API for JAX: the primitives, and what follows from them."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import ArrayLike, NDArray

from ropespec.backends.derived import Primitives
from ropespec.backends.glance import is_plain_turn
from ropespec.backends.jax.arrays import (
    EXACT,
    Array,
    Limbs,
    Positions,
    arithmetic,
    beside,
    check_array,
    check_device,
    default_dtype,
    limbs_of,
    positions_of,
    split_limbs,
)
from ropespec.backends.jax.frequencies import (
    Circle,
    cos_sin,
    turns_of,
    unit_circle,
)
from ropespec.backends.jax.rotation import rotate
from ropespec.backends.jax.tables import row
from ropespec.backends.phase import Steps

__all__ = ["JaxPrimitives"]

R = TypeVar("R")

FLOATS = frozenset(map(np.dtype, ("float16", jnp.bfloat16, "float32", "float64")))
INTEGERS = frozenset(map(np.dtype, ("int32", "int64")))


class Unmade(NamedTuple):
    """What `unit_circle` takes."""

    positions: Limbs | Array
    turns: Limbs


class JaxPrimitives(Primitives[Array]):
    """Every body is one program; the tables of an x are another, for all heads and layouts."""

    xp = jnp

    def run(self, body: Callable[..., R], *arrays: Any, **options: Any) -> R:  # noqa: ANN401  # handed on
        """Compute in one program."""
        result: R = _compiled(body)(self, *arrays, **options)
        return result

    def check_array(self, name: str, value: object) -> None:
        """Require a `jax.Array`."""
        check_array(name, value)

    def positions_of(self, value: object, name: str = "positions") -> Positions:
        """Require integers."""
        return positions_of(value, name)

    def read_rotation(
        self,
        x: Array,
        positions: ArrayLike,
        interleaved: bool,
        base: float,
        rotary_dim: int | None,
    ) -> tuple[Positions, bool, float, int]:
        """Require the arguments of `apply_rotary`, of which the commonest are soon read."""
        if rotary_dim is None and type(interleaved) is bool and _clearly_turns(x, positions, base):
            return cast("Array", positions), interleaved, base, x.shape[-1]
        return super().read_rotation(x, positions, interleaved, base, rotary_dim)

    def work(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return float64 for float64, else float32."""
        return arithmetic(dtype)

    def wide(self) -> np.dtype[Any]:
        """Return float64 where JAX has it switched on, else float32."""
        return default_dtype()

    def cast(self, x: Array, dtype: np.dtype[Any]) -> Array:
        """Convert to a dtype."""
        return lax.convert_element_type(x, dtype)

    def beside(self, array: Array, other: Array) -> Array:
        """Move to the device of another array."""
        return beside(array, other)

    def placed(self, positions: Positions, other: Array) -> Array:  # noqa: ARG002  # JAX brings them together
        """Convert to floats what lies on the host: an int64 may be none in JAX."""
        if isinstance(positions, jax.Array):
            return positions  # the program that uses them converts them
        return jnp.asarray(positions.astype(self.wide()))

    def inv_freq(self, dim: int, base: float, device: jax.Device | None) -> Array:
        """theta_i in the default dtype of floats."""
        return self.constants(base ** (-2.0 * np.arange(dim // 2) / dim), device)

    def constants(self, values: NDArray[np.float64], device: jax.Device | None) -> Array:
        """Round them to the default dtype of floats, on the device."""
        check_device(device)
        return cast("Array", jax.device_put(values.astype(self.wide()), device))

    def counted(self, length: int, device: jax.Device | None) -> Array:
        """0..length-1."""
        check_device(device)
        numbers = np.arange(length, dtype=np.int32)
        return cast("Array", jax.device_put(numbers, device))  # which compiles nothing

    def places(self, x: Array, length: int) -> Positions:  # noqa: ARG002  # as above
        """0..length-1."""
        return np.arange(length)

    def turning(
        self, positions: Positions, dim: int, base: float, x: Array | None = None
    ) -> Array | Unmade:
        """Return cos and sin by exact phase: made here where x has many heads to share them."""
        if x is None:
            return Unmade(limbs_of(positions), turns_of(dim, base))
        return unit_circle(limbs_of(beside(positions, x)), turns_of(dim, base), arithmetic(x.dtype))

    def circle(self, turning: Array | Unmade) -> Circle:
        """Make what `turning` has left to the program that uses it."""
        if isinstance(turning, Unmade):
            return cos_sin(*turning, self.wide())
        return row(turning, 0), row(turning, 1)

    def circle_by(
        self, positions: Positions, steps: Steps, x: Array | None
    ) -> Circle | tuple[Array]:
        """Return A cos and A sin by exact phase, in one array where x is about to be rotated."""
        turns, gain = split_limbs(steps.turns), None if steps.gain == 1 else steps.gain
        if x is None:
            return cos_sin(limbs_of(positions), turns, self.wide(), gain)
        return (unit_circle(limbs_of(beside(positions, x)), turns, arithmetic(x.dtype), gain),)

    def rotate_by(self, x: Array, *tables: Array, interleaved: bool) -> Array:
        """Rotate in one loop over x."""
        return rotate(x, *tables, interleaved=interleaved)

    def rotate(self, x: Array, turning: Array, *, interleaved: bool) -> Array:
        """Rotate in one loop over x."""
        return rotate(x, turning, interleaved=interleaved)

    def split_pairs(self, x: Array, *, interleaved: bool) -> tuple[Array, Array]:
        """Return the components of each pair."""
        half = x.shape[-1] // 2
        if not interleaved:
            return x[..., :half], x[..., half:]
        pairs = x.reshape(*x.shape[:-1], half, 2)
        return pairs[..., 0], pairs[..., 1]

    def join_pairs(self, first: Array, second: Array, *, interleaved: bool) -> Array:
        """Undo `split_pairs`."""
        if not interleaved:
            return jnp.concatenate((first, second), axis=-1)
        *lead, half = first.shape
        return jnp.stack((first, second), axis=-1).reshape(*lead, 2 * half)

    def with_diagonals(self, dim: int, blocks: Sequence[tuple[slice, slice, Array]]) -> Array:
        """Choose the diagonals where they are: one loop, where to write them is one for each."""
        *_, (_, _, values) = blocks
        out, i = jnp.zeros((*values.shape[:-1], dim, dim), values.dtype), np.arange(dim)
        down, across = (lax.broadcasted_iota(np.int32, (dim, dim), axis) for axis in range(2))
        for rows, columns, diagonal in blocks:
            step, end = rows.step or 1, i[rows][-1] + 1
            edges = [(0, 0, 0)] * (diagonal.ndim - 1) + [(rows.start, int(dim - end), step - 1)]
            placed = lax.pad(diagonal, np.zeros((), diagonal.dtype), edges)[..., None]
            meets = (across - down == columns.start - rows.start) & np.isin(i, i[rows])[:, None]
            out = jnp.where(meets, placed, out)
        return out

    def with_tail(self, head: Array, x: Array) -> Array:
        """Put what follows the head behind it."""
        dim, head = head.shape[-1], head.astype(x.dtype)
        return head if dim == x.shape[-1] else jnp.concatenate((head, x[..., dim:]), axis=-1)

    def contiguous(self, x: Array) -> Array:
        """Leave the order of the axes to JAX."""
        return x

    def complex(self, real: Array, imag: Array) -> Array:
        """Return real + i imag."""
        return lax.complex(real, imag)

    def matmul(self, a: Array, b: Array) -> Array:
        """Multiply matrices, on accelerators too in the full precision of their dtype."""
        return jnp.matmul(a, b, precision=EXACT)

    def softmax(self, scores: Array, mask: Array | None) -> Array:
        """Softmax over the last axis among the allowed keys."""
        if scores.shape[-1] == 0:
            return scores
        if mask is None:
            return jax.nn.softmax(scores, axis=-1)
        allowed = jnp.where(mask, scores, -jnp.inf)
        top = lax.stop_gradient(allowed.max(axis=-1, keepdims=True))
        # In an empty row all is -inf; 0 in its place keeps NaN out of values and gradients.
        raised = jnp.exp(allowed - jnp.where(top == -jnp.inf, 0, top))
        total = raised.sum(axis=-1, keepdims=True)
        return jnp.where(mask, raised / jnp.where(total == 0, 1, total), 0)


@functools.cache
def _compiled(body: Callable[..., R]) -> Callable[..., R]:
    """Compile a body, with the primitives and its options static."""
    parameters = inspect.signature(body).parameters.values()
    static = [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    return jax.jit(body, static_argnums=0, static_argnames=static)


def _clearly_turns(x: object, positions: object, base: object) -> bool:
    """Whether the commonest call is plainly right; when in doubt, the checks take their time."""
    return (
        isinstance(x, jax.Array)
        and isinstance(positions, jax.Array)
        and type(base) is float
        and x.dtype in FLOATS
        and positions.dtype in INTEGERS
        and is_plain_turn(x.shape, positions.shape, base)
    )
