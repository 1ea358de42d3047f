"""What all subjects in JAX share: jit or none, the gradient, donation, the copy."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.base import Subject, UnavailableError
from ropespec.bench.speed.timing import LEAST_CALLS, Clock, Operation, WallClock

__all__ = ["JaxSubject"]

Function = Callable[..., Any]


class JaxSubject(Subject):
    """A rotation of JAX arrays, under jit unless it is eager; into x itself is into a donated x.

    Parameters
    ----------
    device : str
        `cpu`, `cuda`, or `auto` for what JAX takes by default.
    eager : bool
        Call the function as it is, without jit.
    """

    def __init__(self, device: str, *, eager: bool = False) -> None:
        found = jax.devices()[0]
        on_gpu = found.platform in {"gpu", "cuda"}
        if device == "cuda" and not on_gpu:
            raise UnavailableError("JAX sees no GPU")
        self._device = jax.devices("cpu")[0] if device == "cpu" else found
        self.device = "cuda" if on_gpu and device != "cpu" else "cpu"
        self.device_name = found.device_kind if self.device == "cuda" else ""
        self._eager = eager
        self._kept: tuple[Case, Function] | None = None

    @abstractmethod
    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """Return what is made once and passed with every call."""

    @abstractmethod
    def function(self, case: Case) -> Function:
        """Return what rotates: x and the tables to y."""

    def clock(self) -> Clock:
        """Wall time; on a GPU over many calls in flight, as JAX has no events to offer."""
        return WallClock(LEAST_CALLS) if self.device == "cuda" else WallClock()

    def operation(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Operation:
        """Return the call of the function on arrays of its own."""
        own = self._put(x)
        tables = tuple(self._put(table) for table in self.tables(case, positions))
        function = self._callable(case)
        if case.direction == "both":
            given = self._put(x)
            return Operation(lambda: function(own, given, *tables), jax.block_until_ready, 2)
        if case.into == "new":
            return Operation(lambda: function(own, *tables), jax.block_until_ready)
        return _onto_itself(lambda current: function(current, *tables), own)

    def copy(self, case: Case, x: NDArray[Any]) -> tuple[str, Operation]:
        """`jnp.copy` under jit, into new memory or into a donated array."""
        source = self._put(x)
        if case.into == "new":
            fresh = jax.jit(jnp.copy)
            return "jax copy", Operation(lambda: fresh(source), jax.block_until_ready)
        over = jax.jit(lambda _, given: jnp.copy(given), donate_argnums=0, keep_unused=True)
        target = self._put(np.zeros_like(x))
        return "jax copy, donated", _onto_itself(lambda current: over(current, source), target)

    def read(self, result: Any, tokens: NDArray[np.intp]) -> NDArray[np.float64]:  # noqa: ANN401  # as Subject
        """Return tokens as float64."""
        last = result[-1] if isinstance(result, tuple) else result
        values: NDArray[np.float64] = np.asarray(last[:, tokens]).astype(np.float64)
        return values

    def _put(self, value: Any) -> Any:  # noqa: ANN401  # NumPy array or JAX array
        """Copy to the device: JAX on a CPU may otherwise use the memory of NumPy."""
        return jax.device_put(jnp.array(value, copy=True), self._device)

    def _callable(self, case: Case) -> Function:
        if self._kept is None or self._kept[0] != case:
            plain = self.function(case)
            if case.direction == "both":
                plain = _both(plain)
            donated = (0,) if case.into == "self" else ()
            self._kept = (case, plain if self._eager else jax.jit(plain, donate_argnums=donated))
        return self._kept[1]


def _both(function: Function) -> Function:
    """Return what gives the rotation, and the gradient of x from that of the result."""

    def both(x: Any, gradient: Any, *tables: Any) -> tuple[Any, Any]:  # noqa: ANN401  # JAX arrays
        result, pull = jax.vjp(lambda given: function(given, *tables), x)
        return result, pull(gradient)[0]

    return both


def _onto_itself(step: Callable[[Any], Any], first: Any) -> Operation:  # noqa: ANN401  # a JAX array
    """Return the operation whose every call gives up what the one before gave."""
    current = [first]

    def call() -> Any:  # noqa: ANN401  # a JAX array
        current[0] = step(current[0])
        return current[0]

    return Operation(call, jax.block_until_ready)
