"""One call of a smaller function, with its right result and known wrong ones."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Asked", "Float", "Forms", "drawn"]

Float = NDArray[Any]
Forms = Mapping[str, Callable[[], Any]]


@dataclass(frozen=True, slots=True)
class Asked:
    """One call and what may come of it.

    Attributes
    ----------
    arrays : tuple
        Positional arguments.
    keywords : dict
        Keywords, those a function does not take left out.
    forms : mapping
        Results by name, the right one first; each an array or a tuple of arrays.
    """

    arrays: tuple[Any, ...]
    keywords: dict[str, Any]
    forms: Forms


def drawn(*shape: int, draw: int, seed: int = 71) -> Float:
    """Return normal numbers in float32."""
    return np.random.default_rng([seed, draw]).standard_normal(shape).astype(np.float32)
