"""PyTorch, as it is known before it is imported."""

from collections.abc import Callable

from ropespec.conformance.frameworks.base import TRANSFORMS, Array, Framework, Words, in_order

__all__ = ["FRAMEWORK"]


class _Torch(Framework):
    name = title = "torch"
    rank = 1
    kinds = ("Tensor",)
    words = Words("torch", "import torch", "cat", "to", "clone()", "permute")
    extra = "torch"
    is_backend = True
    on_host = True
    transforms = tuple(TRANSFORMS)
    has_gradients = True
    unrecorded = "torch.inference_mode"
    shown = "Tensor"
    overlap = "{}.untyped_storage().data_ptr() == {}.untyped_storage().data_ptr()"

    def converted(self, source: str, array: Array, device: str | None) -> str:
        kind = ".to(torch.bfloat16)" if array.dtype.name == "bfloat16" else ".clone()"
        moved = f".to({device!r})" if device else ""
        return f"torch.from_numpy({in_order(source)}){kind}{moved}"

    def as_float64(self, source: str) -> str:
        return f"{source}.detach().cpu().to(torch.float64).numpy()"

    def host(self, source: str) -> str:
        return f"{source}.detach().cpu().resolve_conj().numpy()"

    def gradient(self, call: Callable[[str], str], x: str, c: str) -> list[str]:
        leaf = f"leaf = {x}.requires_grad_()"
        return [leaf, f"{call('leaf')}.backward({c})", "y = leaf.grad"]


FRAMEWORK = _Torch()
