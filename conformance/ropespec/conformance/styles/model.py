"""A model file as a function of its inputs, run by ONNX Runtime."""

import importlib
import inspect
from typing import Any

import numpy as np

__all__ = ["DTYPES", "SUFFIX", "Model"]

SUFFIX = ".onnx"
DTYPES = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(double)": "float64"}
"""Those of x, by the words of a model."""


class Model:
    """A function of the inputs of a model, by name; it returns the first output.

    Parameters
    ----------
    file : str
        The model.

    Attributes
    ----------
    inputs : dict of str to object
        Name, type and shape of each.

    Raises
    ------
    ModuleNotFoundError
        If ONNX Runtime is not installed.
    Exception
        Of its own, if the file is no model that it can run.
    """

    def __init__(self, file: str) -> None:
        self._session = importlib.import_module("onnxruntime").InferenceSession(file)
        self.inputs: dict[str, Any] = {one.name: one for one in self._session.get_inputs()}
        kind = inspect.Parameter.KEYWORD_ONLY
        given = [inspect.Parameter(name, kind) for name in self.inputs if name.isidentifier()]
        self.__signature__ = inspect.Signature(given)

    def __call__(self, **given: np.ndarray) -> np.ndarray:
        """Run the model."""
        found: np.ndarray = self._session.run(None, given)[0]
        return found
