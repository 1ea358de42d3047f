"""What can be measured: a name, where it comes from, and where its adapter is.

The adapters import frameworks, so they are loaded by the process of a subject alone.
"""

import dataclasses
import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, cast

from ropespec.bench.speed.subjects.base import Subject

__all__ = ["ENTRIES", "Entry", "called", "compiled", "find"]

Kind = Literal["ropespec", "naive", "peer", "product"]


@dataclass(frozen=True)
class Entry:
    """One subject.

    Attributes
    ----------
    name : str
        In tables and files.
    kind : str
        `ropespec`, a `naive` form for comparison, a `peer`, or a `product`: each number is
        multiplied once by the framework itself, another yardstick beside the copy.
    needs : tuple of str
        Modules that must be installed; the first is its framework, or the backend.
    factory : str
        `module:class` of its adapter.
    options : mapping
        Keywords of the adapter.
    """

    name: str
    kind: Kind
    needs: tuple[str, ...]
    factory: str
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def backend(self) -> str:
        """The framework that it works in."""
        return self.needs[0]

    @property
    def is_compiled(self) -> bool:
        """Whether it goes through `torch.compile`."""
        return bool(self.options.get("compiled", False))

    @property
    def has_tables(self) -> bool:
        """Whether it is one of ours with cos and sin at hand."""
        return bool(self.options.get("tables", False))

    def missing(self) -> str | None:
        """Return which module is not installed, if one is not."""
        for name in self.needs:
            if importlib.util.find_spec(name) is None:
                return name
        return None

    def load(self, device: str) -> Subject:
        """Import the adapter and its framework.

        Parameters
        ----------
        device : str
            `cpu`, `cuda`, or `auto` for the GPU where there is one.
        """
        module, _, name = self.factory.partition(":")
        factory = getattr(importlib.import_module(module), name)
        return cast("Subject", factory(device=device, **self.options))


def compiled(entry: Entry) -> Entry:
    """Return the same subject through `torch.compile`."""
    options = dict(entry.options) | {"compiled": True}
    return dataclasses.replace(entry, name=f"{entry.name} compiled", options=options)


def eager(entry: Entry) -> Entry:
    """Return the same subject without `jax.jit`."""
    options = dict(entry.options) | {"eager": True}
    return dataclasses.replace(entry, name=f"{entry.name} eager", options=options)


_HERE = "ropespec.bench.speed.subjects"
_TABLES = MappingProxyType({"tables": True})
_POSITIONS = MappingProxyType({"positions": True})


def _ours(backend: str, factory: str) -> tuple[Entry, Entry]:
    name, where = f"ropespec {backend}", f"{_HERE}.{factory}"
    return (
        Entry(name, "ropespec", (backend,), where),
        Entry(f"{name} tables", "ropespec", (backend,), where, _TABLES),
    )


def _peer(name: str, factory: str, *needs: str) -> Entry:
    return Entry(name, "peer", needs, f"{_HERE}.{factory}")


_TORCH = _ours("torch", "ours_torch:OursTorch")
_JAX = _ours("jax", "ours_jax:OursJax")
_NAIVE = (
    Entry("naive jax", "naive", ("jax",), f"{_HERE}.naive_jax:NaiveJax"),
    Entry("naive jax positions", "naive", ("jax",), f"{_HERE}.naive_jax:NaiveJax", _POSITIONS),
)
_PRODUCTS = (
    Entry("torch product", "product", ("torch",), f"{_HERE}.product_torch:ProductTorch"),
    Entry("jax product", "product", ("jax",), f"{_HERE}.product_jax:ProductJax"),
)

ENTRIES: tuple[Entry, ...] = (
    *_ours("numpy", "ours_numpy:OursNumpy"),
    Entry("naive numpy", "naive", ("numpy",), f"{_HERE}.naive_numpy:NaiveNumpy"),
    *_TORCH,
    *map(compiled, _TORCH),
    *_JAX,
    *map(eager, _JAX),
    *_NAIVE,
    *_PRODUCTS,
    compiled(_PRODUCTS[0]),
    eager(_PRODUCTS[1]),
    *_ours("cupy", "ours_cupy:OursCupy"),
    _peer("transformers llama", "hugging_face:Llama", "torch", "transformers"),
    _peer("transformers llama4", "hugging_face:Llama4", "torch", "transformers"),
    _peer("transformers gptj", "hugging_face:GPTJ", "torch", "transformers"),
    _peer("torchtune", "torchtune:TorchTune", "torch", "torchtune"),
    _peer("flash-attn torch", "flash_attention:FlashTorch", "torch", "flash_attn", "einops"),
    _peer("flash-attn triton", "flash_attention:FlashTriton", "torch", "flash_attn", "triton"),
    _peer("rotary-embedding-torch", "lucidrains:RotaryTorch", "torch", "rotary_embedding_torch"),
    _peer("x-transformers", "lucidrains:XTransformers", "torch", "x_transformers"),
    _peer("ggml", "ggml:Ggml", "pywhispercpp"),
    _peer("onnxruntime", "onnxruntime:OnnxRuntime", "onnxruntime", "onnx"),
    _peer("mlx", "mlx:MLX", "mlx"),
    _peer("keras-hub", "keras_hub:KerasHub", "jax", "keras_hub"),
)
"""All of them, the compiled peers left out."""


def called(name: str) -> str:
    """Return how a contender is called where people read."""
    return name.replace("ropespec ", "our ")


def find(name: str) -> Entry:
    """Return a subject by name, also a compiled one.

    Raises
    ------
    KeyError
        If there is none.
    """
    every = {entry.name: entry for entry in ENTRIES}
    every |= {compiled(entry).name: compiled(entry) for entry in ENTRIES}
    return every[name]
