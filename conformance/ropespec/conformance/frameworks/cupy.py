"""CuPy, as it is known before it is imported."""

from ropespec.conformance.frameworks.base import CARD, Array, Framework, Words, in_order

__all__ = ["FRAMEWORK"]


class _CuPy(Framework):
    name = "cupy"
    title = "CuPy"
    rank = 3
    kinds = ("ndarray",)
    words = Words("cp", "import cupy as cp")
    extra = "cupy13"
    is_backend = True
    library = CARD
    overlap = "{}.data.mem.ptr == {}.data.mem.ptr"

    def unavailable(self) -> str | None:
        if missing := super().unavailable():
            return missing
        from ropespec.backends.cupy.status import status  # noqa: PLC0415  # loads cupy

        found = status()
        return None if found.available else found.reason

    def imports(self, *, half: bool, wide: bool, device: str | None) -> list[str]:
        del wide, device
        return [*(["import ml_dtypes"] if half else []), self.words.imported]

    def converted(self, source: str, array: Array, device: str | None) -> str:
        del device
        kind = ".astype(ml_dtypes.bfloat16)" if array.dtype.name == "bfloat16" else ""
        return f"cp.asarray({in_order(source)}{kind})"

    def host(self, source: str) -> str:
        return f"cp.asnumpy({source})"


FRAMEWORK = _CuPy()
