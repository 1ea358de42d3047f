"""Tensors of torch, and its transforms: torch.func, torch.compile, autograd twice."""

import contextlib
import functools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import BackwardCFunction, FunctionCtx

from ropespec.conformance.frameworks.torch import FRAMEWORK
from ropespec.conformance.subject.errors import NotDifferentiable, NotPossible
from ropespec.conformance.subject.frameworks.base import Array, Arrays, Function, Memory, Request

__all__ = ["ARRAYS"]

_NO_WAY = "autograd finds no way from the result back to x"

_TRACED = 4
"""Calls for which torch traces a function, with a gradient and without: beyond eight programs it
traces no more, and calls the function itself."""


class _Torch(Arrays):
    about = FRAMEWORK

    def __init__(self, device: str | None) -> None:
        self._device = None if device is None else torch.device(device)
        self.device = str(torch.empty(0, device=self._device).device)
        self._compiled: dict[object, Callable[..., Any]] = {}
        self._traced: set[object] = set()

    @staticmethod
    def host(array: Tensor) -> np.ndarray:
        host = array.detach().cpu().resolve_conj().resolve_neg()
        if host.dtype is torch.bfloat16:
            import ml_dtypes  # noqa: PLC0415  # only bfloat16 needs it

            bits: np.ndarray = host.view(torch.int16).numpy()
            return bits.view(ml_dtypes.bfloat16)
        try:
            found: np.ndarray = host.numpy()
        except TypeError:
            found = host.to(torch.float64).numpy()
        return found

    @staticmethod
    def unlike(array: Tensor) -> str:
        return "" if array.layout is torch.strided else f"it is not dense ({array.layout})"

    @staticmethod
    def where(array: Tensor) -> str:
        return str(array.device)

    @staticmethod
    def memory(array: Tensor) -> Memory | None:
        try:
            storage = array.untyped_storage()
            start, size = storage.data_ptr(), storage.nbytes()
        except (RuntimeError, NotImplementedError):
            return None
        return (str(array.device), start, start + size) if size and array.numel() else None

    @staticmethod
    def place(array: Tensor) -> tuple[Any, ...] | None:
        return (array.data_ptr(), tuple(array.shape), array.stride(), array.dtype)

    def array(self, values: np.ndarray) -> Tensor:
        if values.dtype.name == "bfloat16":
            made = torch.from_numpy(values.view(np.int16)).view(torch.bfloat16)
        else:
            made = torch.from_numpy(values)
        return made if self._device is None else made.to(self._device)

    def repeated(self, buffer: Tensor, shape: Sequence[int]) -> Tensor:
        return buffer.expand(*shape)

    def finish(self, result: Array) -> None:
        del result
        if self.device.startswith("cuda"):
            torch.cuda.synchronize()

    def gradient(self, function: Function, x: Tensor, cotangent: Tensor) -> Tensor:
        leaf = x.detach().requires_grad_()
        y = function(leaf)
        if not isinstance(y, Tensor):
            raise NotDifferentiable(f"the result is no tensor but {type(y).__name__}")
        if not y.requires_grad:
            raise NotDifferentiable(_NO_WAY)
        # All the way back, as in training: a graph that was kept from an earlier call raises.
        torch.autograd.backward(_seeded(y, cotangent))
        if leaf.grad is None:
            raise NotDifferentiable(_NO_WAY)
        return leaf.grad

    # Transforms

    def jvp(self, request: Request) -> Sequence[Tensor]:
        found: Sequence[Tensor] = torch.func.jvp(
            request.of_x, (request.given[0],), (request.extra[0],)
        )
        return found

    def second(self, request: Request) -> Sequence[Tensor]:
        x, c, u = (_leaf(item) for item in (request.given[0], *request.extra))
        y = _attached(request.of_x(x))
        (back,) = torch.autograd.grad(_seeded(y, c), x, create_graph=True)
        if not back.requires_grad:
            return torch.zeros_like(c), torch.zeros_like(x)
        # Through the whole graph: a backward that may be used once raises at its own node.
        torch.autograd.backward(_seeded(back, u.detach()))
        return _zeros_for((c.grad, x.grad), (c, x))

    def vmap(self, request: Request) -> Tensor:
        mapped: Tensor = torch.func.vmap(request.of, in_dims=request.axes)(*request.given)
        return mapped

    def compiled(self, request: Request) -> Sequence[Tensor]:
        like = (*((item.shape, item.dtype) for item in request.given), repr(request.named))
        if like not in self._traced and len(self._traced) == _TRACED:
            torch.compiler.reset()
            self._traced.clear()
        self._traced.add(like)
        if request.function not in self._compiled:
            # Nothing here is fast or slow: only that the traced function gives the same numbers.
            self._compiled[request.function] = torch.compile(
                request.function, backend="aot_eager_default_partitioner", dynamic=False
            )
        run = functools.partial(self._compiled[request.function], **request.named)
        x, rest = _leaf(request.given[0]), request.given[1:]
        try:
            y = run(*request.given)
            again = run(x, *rest) if request.extra else None
        finally:
            _tidy()
        if not (isinstance(again, Tensor) and again.requires_grad):
            return (y,)
        (back,) = torch.autograd.grad(_seeded(again, request.extra[0]), x)
        return y, back

    def constants(self, request: Request) -> Sequence[Tensor]:
        leaves = [_leaf(item) if item.is_floating_point() else item for item in request.given]
        y = _attached(request.of(*leaves))
        sought = [item for item in leaves[1:] if item.requires_grad]
        seeded = _seeded(y, request.extra[0])
        found = torch.autograd.grad(seeded, [leaves[0], *sought], allow_unused=True)
        return _zeros_for(found[1:], sought)

    def two_calls(self, request: Request) -> Sequence[Tensor]:
        c, d, n = request.extra
        x = _leaf(request.given[0])
        first = _attached(request.of_x(x))
        second = _attached(request.of(x, n, *request.given[2:]))
        torch.autograd.backward([_seeded(first, c), _seeded(second, d)])
        return _zeros_for([x.grad], [x])

    def taken_again(self, request: Request) -> Sequence[Tensor]:
        x = _leaf(request.given[0])
        y = _attached(request.of_x(x))
        seeded = [_seeded(y, item) for item in request.extra]
        found = [torch.autograd.grad(one, x, retain_graph=True)[0] for one in seeded]
        return _zeros_for(found, [x, x])

    def positions_reused(self, request: Request) -> Sequence[Tensor]:
        c, n = request.extra
        x, m = _leaf(request.given[0]), request.given[1].clone()
        y = _attached(request.of(x, m, *request.given[2:]))
        m.copy_(n)
        try:
            torch.autograd.backward(_seeded(y, c))
        except RuntimeError as error:
            if _WRITTEN_OVER not in str(error):
                raise
            return (x.new_zeros(0),)
        return _zeros_for([x.grad], [x])

    def unrecorded(self, request: Request) -> Tensor:
        with torch.inference_mode():
            y: Tensor = request.of(*request.given)
            return y

    def into(self, request: Request) -> Sequence[Tensor]:
        found = []
        for make in (lambda x: x * 1, torch.relu):
            x = _leaf(request.given[0])
            inner = make(x)
            y = request.function(inner, *request.given[1:], **request.named, out=inner)
            torch.autograd.backward(_seeded(_attached(y), request.extra[0]))
            found.append(x.grad if x.grad is not None else torch.zeros_like(x))
        return found


_WRITTEN_OVER = "modified by an inplace operation"
"""What torch says of an array that it saved for the way back and that is another by then."""


class _Seed(torch.autograd.Function):
    """A number whose gradient with respect to y is a cotangent, as it was given."""

    @staticmethod
    def forward(ctx: FunctionCtx, y: Tensor, cotangent: Tensor) -> Tensor:
        ctx.save_for_backward(cotangent)
        return torch.zeros((), device=y.device)

    @staticmethod
    def backward(ctx: BackwardCFunction, *_: Tensor) -> tuple[Tensor, None]:
        return ctx.saved_tensors[0], None


def _seeded(y: Tensor, cotangent: Tensor) -> Tensor:
    """Return a number from which the way back to y begins with a cotangent.

    To begin at y with it is the same, but for half a second of imports in each worker.
    """
    if y.shape != cotangent.shape:
        shapes = f"{tuple(y.shape)}, and the cotangent {tuple(cotangent.shape)}"
        raise RuntimeError(f"Mismatch in shape: the result has {shapes}")
    seed: Tensor = _Seed.apply(y, cotangent.to(y.dtype))  # type: ignore[no-untyped-call]
    return seed


def _tidy() -> None:
    """Remove the folder for code that torch makes even for a backend that generates none."""
    made = Path(os.environ.get("TORCHINDUCTOR_CACHE_DIR", ""))
    if made.name.startswith("torchinductor_"):
        with contextlib.suppress(OSError):  # something lies in it
            made.rmdir()


def _leaf(x: Tensor) -> Tensor:
    return x.detach().clone().requires_grad_()


def _attached(y: object) -> Tensor:
    if not isinstance(y, Tensor) or not y.requires_grad:
        raise NotPossible(_NO_WAY)
    return y


def _zeros_for(found: Sequence[Tensor | None], of: Sequence[Tensor]) -> Sequence[Tensor]:
    return [
        torch.zeros_like(one) if item is None else item for item, one in zip(found, of, strict=True)
    ]


ARRAYS = _Torch
