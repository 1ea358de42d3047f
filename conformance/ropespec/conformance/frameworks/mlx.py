"""MLX, as it is known before it is imported."""

from collections.abc import Callable

from ropespec.conformance.frameworks.base import Array, Framework, Words

__all__ = ["FRAMEWORK"]


class _Mlx(Framework):
    name = "mlx"
    title = "MLX"
    rank = 4
    module = "mlx.core"
    kinds = ("array",)
    words = Words("mx", "import mlx.core as mx", copy="astype(x.dtype)")
    extra = "mlx"
    has_places = False
    has_float64 = False  # it makes float32 of them unless it is told not to
    transforms = ("jvp", "second", "vmap", "compiled", "constants", "two_calls")
    has_gradients = True
    shown = "array"

    def converted(self, source: str, array: Array, device: str | None) -> str:
        del device
        told = array.dtype.name in ("bfloat16", "float64")
        return f"mx.array({source}{f', dtype=mx.{array.dtype.name}' if told else ''})"

    def imports(self, *, half: bool, wide: bool, device: str | None) -> list[str]:
        placed = [f"mx.set_default_device(mx.{device.partition(':')[0]})"] if device else []
        return [*super().imports(half=half, wide=wide, device=device), *placed]

    def as_float64(self, source: str) -> str:
        return f"np.asarray({source}.astype(mx.float64, stream=mx.cpu))"

    def gradient(self, call: Callable[[str], str], x: str, c: str) -> list[str]:
        return [f"_, (y,) = mx.vjp(lambda x: {call('x')}, [{x}], [{c}])"]


FRAMEWORK = _Mlx()
