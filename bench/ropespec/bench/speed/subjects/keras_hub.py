"""keras-hub's RotaryEmbedding layer on JAX, under jit, as a model of Keras runs it."""

import importlib
import os
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.jax_base import JaxSubject

__all__ = ["KerasHub"]

LAYER = "keras_hub.src.layers.modeling.rotary_embedding"


class KerasHub(JaxSubject):
    """The layer in the dtype of x, half-split, with `positions`."""

    layouts: ClassVar[tuple[bool, ...]] = (False,)

    def __init__(self, device: str) -> None:
        os.environ["KERAS_BACKEND"] = "jax"
        super().__init__(device)

    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:  # noqa: ARG002  # as JaxSubject
        """Positions (1, S)."""
        return (positions.astype(np.int32)[None],)

    def function(self, case: Case) -> Callable[..., Any]:
        """Return the call of the layer."""
        layer = importlib.import_module(LAYER).RotaryEmbedding(dtype=case.dtype)
        return lambda x, positions: layer(x, positions=positions)
