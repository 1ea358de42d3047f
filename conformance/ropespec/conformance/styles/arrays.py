"""What a style does with the arrays of a framework, in functions of its own."""

import importlib
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ropespec.conformance.frameworks import Framework

__all__ = ["Array", "DType", "Result", "Space"]

Array = Any
"""An array of any framework."""


Result = Any
"""Whatever a subject returns."""

DType = Any
"""A dtype of any framework."""


class Space:
    """The functions of one framework; a worker has imported it.

    Parameters
    ----------
    framework : Framework
        What is known of it.
    """

    def __init__(self, framework: Framework) -> None:
        self._words = framework.words
        self.xp = importlib.import_module(framework.words.module)

    def making(self) -> AbstractContextManager[None]:
        """Return where to make what is kept: gradients can be recorded of it, whatever call asks.

        A model is made before it is called; what a style makes at the first call is made as then.
        """
        recording = getattr(self.xp, "is_inference_mode_enabled", None)
        return self.xp.inference_mode(False) if recording and recording() else nullcontext()

    def cat(self, arrays: Sequence[Array], axis: int) -> Array:
        """Join arrays along an axis."""
        return getattr(self.xp, self._words.cat)(list(arrays), axis)

    def cast(self, array: Array, dtype: DType) -> Array:
        """Return an array in another dtype."""
        return getattr(array, self._words.cast)(dtype)

    def permute(self, array: Array, order: Sequence[int]) -> Array:
        """Return an array with its axes in another order."""
        return getattr(array, self._words.permute)(*order)

    def copy(self, array: Array) -> Array:
        """Return another array with these values."""
        method = self._words.copy.partition("(")[0]
        return getattr(array, method)(*([array.dtype] if method == "astype" else []))

    def like(self, values: np.ndarray, array: Array) -> Array:
        """Return an array of NumPy as one that lies where another does; wide where it can be."""
        made = (self.xp.asarray if hasattr(self.xp, "asarray") else self.xp.array)(values)
        return made.to(array.device) if hasattr(made, "to") and hasattr(array, "device") else made

    def row(self, positions: Array) -> np.ndarray:
        """Return positions as NumPy has them; what is traced has none, and raises."""
        host = positions.detach().cpu() if hasattr(positions, "detach") else positions
        return np.asarray(host)
