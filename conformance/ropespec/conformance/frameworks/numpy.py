"""NumPy, as it is known before it is imported."""

from ropespec.conformance.frameworks.base import Array, Framework, Words, in_order

__all__ = ["FRAMEWORK"]


class _NumPy(Framework):
    name = "numpy"
    title = "NumPy"
    rank = 0
    kinds = ("ndarray", "generic")
    words = Words("np", "import numpy as np")
    is_backend = True
    on_host = True
    steps_back = True

    def imports(self, *, half: bool, wide: bool, device: str | None) -> list[str]:
        del wide, device
        return ["import ml_dtypes"] if half else []

    def converted(self, source: str, array: Array, device: str | None) -> str:
        del device
        if array.dtype.name == "bfloat16":
            return f"{in_order(source)}.astype(ml_dtypes.bfloat16)"
        return f"{source}.copy()"


FRAMEWORK = _NumPy()
