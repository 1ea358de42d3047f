"""What subjects on NumPy arrays share: the copy, and looking at results."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.base import Subject, UnavailableError
from ropespec.bench.speed.timing import Operation

__all__ = ["NumpySubject"]


class NumpySubject(Subject):
    """A rotation whose arrays are NumPy's."""

    def __init__(self, device: str) -> None:
        if device == "cuda":
            raise UnavailableError("NumPy knows no GPU")

    def copy(self, case: Case, x: NDArray[Any]) -> tuple[str, Operation]:
        """`copy` into new memory, else `copyto`."""
        if case.into == "new":
            return "numpy copy", Operation(x.copy)
        target = np.zeros_like(x)
        return "numpy copyto", Operation(lambda: np.copyto(target, x))

    def read(self, result: Any, tokens: NDArray[np.intp]) -> NDArray[np.float64]:  # noqa: ANN401  # as Subject
        """Return tokens as float64."""
        values: NDArray[np.float64] = result[:, tokens].astype(np.float64)
        return values
