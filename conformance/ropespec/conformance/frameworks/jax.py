"""JAX, as it is known before it is imported."""

from collections.abc import Callable, Mapping

from ropespec.conformance.frameworks.base import INT32_MAX, Array, Framework, Library, Words

__all__ = ["FRAMEWORK"]


class _Jax(Framework):
    name = "jax"
    title = "JAX"
    rank = 2
    kinds = ("Array",)
    words = Words("jnp", "import jax.numpy as jnp")
    extra = "jax"
    is_backend = True
    compiles = True
    has_strides = False
    has_places = False
    is_writable = False
    has_float64 = False
    transforms = ("jvp", "second", "vmap", "compiled", "constants", "two_calls")
    has_gradients = True
    library = Library(flushes=True)  # XLA flushes subnormal numbers
    shown = "ArrayImpl"

    def imports(self, *, half: bool, wide: bool, device: str | None) -> list[str]:
        del half, device
        enabled = ['jax.config.update("jax_enable_x64", True)'] if wide else []
        return ["import jax, jax.numpy as jnp", *enabled]

    def environment(self, folder: str) -> Mapping[str, str]:
        return {
            "JAX_COMPILATION_CACHE_DIR": folder,
            # Programs of a check are small and soon compiled, but many.
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }

    def converted(self, source: str, array: Array, device: str | None) -> str:
        del device
        if array.dtype.kind in "iu" and array.size and abs(array).max() > INT32_MAX:
            return source
        half = array.dtype.name == "bfloat16"
        return f"jnp.asarray({source}{', dtype=jnp.bfloat16' if half else ''})"

    def gradient(self, call: Callable[[str], str], x: str, c: str) -> list[str]:
        return [f"y, pull = jax.vjp(lambda x: {call('x')}, {x})", f"(y,) = pull({c})"]


FRAMEWORK = _Jax()
