"""What all subjects in JAX share: jit, the vector-Jacobian product, donation, the copy."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from ropespec.backends.benchmark.case import Case
from ropespec.backends.benchmark.subjects.base import Subject, UnavailableError
from ropespec.backends.benchmark.timing import Clock, Operation, WallClock

__all__ = ["JaxSubject"]

Function = Callable[..., Any]


class JaxSubject(Subject):
    """A rotation of JAX arrays, under jit; into x itself is into a donated x.

    Parameters
    ----------
    device : str
        `cpu`, `cuda`, or `auto` for what JAX takes by default.
    """

    def __init__(self, device: str) -> None:
        found = jax.devices()[0]
        on_gpu = found.platform in {"gpu", "cuda"}
        if device == "cuda" and not on_gpu:
            raise UnavailableError("JAX sees no GPU")
        self._device = jax.devices("cpu")[0] if device == "cpu" else found
        self.device = "cuda" if on_gpu and device != "cpu" else "cpu"
        self.device_name = found.device_kind if self.device == "cuda" else ""
        self._kept: tuple[Case, Function] | None = None

    @abstractmethod
    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """Return what is made once and passed with every call."""

    @abstractmethod
    def function(self, case: Case) -> Function:
        """Return what rotates: x and the tables to y."""

    def clock(self) -> Clock:
        """Wall time; on a GPU over many calls in flight, as JAX has no events to offer."""
        return WallClock(0.01) if self.device == "cuda" else WallClock()

    def operation(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Operation:
        """Return the call of the compiled function on an array of its own."""
        own = self._put(x)
        tables = tuple(self._put(table) for table in self.tables(case, positions))
        function = self._compiled(case)
        if case.into != "self":
            return Operation(
                lambda _: function(own, *tables), wait=jax.block_until_ready, size=x.nbytes
            )
        current = [own]

        def call(state: object) -> Any:  # noqa: ANN401, ARG001  # a JAX array; nothing is prepared
            current[0] = function(current[0], *tables)
            return current[0]

        return Operation(call, wait=jax.block_until_ready, size=x.nbytes)

    def copy(self, case: Case, x: NDArray[Any]) -> tuple[str, Operation]:
        """`jnp.copy` under jit, into new memory or into a donated array."""
        source = self._put(x)
        if case.into == "new":
            fresh = jax.jit(jnp.copy)
            return "jax copy", Operation(
                lambda _: fresh(source), wait=jax.block_until_ready, size=x.nbytes
            )
        over = jax.jit(lambda _, given: jnp.copy(given), donate_argnums=0, keep_unused=True)
        target = [self._put(np.zeros_like(x))]

        def call(state: object) -> Any:  # noqa: ANN401, ARG001  # a JAX array; nothing is prepared
            target[0] = over(target[0], source)
            return target[0]

        return "jax copy, donated", Operation(call, wait=jax.block_until_ready, size=x.nbytes)

    def read(self, result: Any, tokens: NDArray[np.intp]) -> NDArray[np.float64]:  # noqa: ANN401  # as Subject
        """Return tokens as float64."""
        values: NDArray[np.float64] = np.asarray(result[:, tokens]).astype(np.float64)
        return values

    def _put(self, value: Any) -> Any:  # noqa: ANN401  # NumPy array or JAX array
        """Copy to the device: JAX on a CPU may otherwise use the memory of NumPy."""
        return jax.device_put(jnp.array(value, copy=True), self._device)

    def _compiled(self, case: Case) -> Function:
        if self._kept is None or self._kept[0] != case:
            plain = self.function(case)
            if case.direction == "backward":
                compiled = jax.jit(lambda g, *tables: _vjp(plain, g, tables))
            else:
                donated = (0,) if case.into == "self" else ()
                compiled = jax.jit(plain, donate_argnums=donated)
            self._kept = (case, compiled)
        return self._kept[1]


def _vjp(function: Function, gradient: Any, tables: tuple[Any, ...]) -> Any:  # noqa: ANN401  # JAX arrays
    """Gradient of x; as the function is linear, where the gradient is taken does not matter."""
    _, pull = jax.vjp(lambda x: function(x, *tables), jnp.zeros_like(gradient))
    return pull(gradient)[0]
