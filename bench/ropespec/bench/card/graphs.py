"""Every function of torch in a CUDA graph: captured once, run again on other numbers."""

from collections.abc import Callable
from typing import Any

from ropespec.bench.card.arrays import backend
from ropespec.spec.axes import Sections
from ropespec.spec.scaling import Linear

__all__ = ["rows"]


def rows(framework: str, device: str) -> list[dict[str, Any]]:
    """Return for each function whether its graph gives what the function gives.

    On a CPU, where there are no graphs, a second call stands for the second run.
    """
    import torch  # noqa: PLC0415  # one framework a process

    ours = backend(framework)
    x = torch.randn(2, 5, 3, 16, device=device)
    m = torch.arange(5, device=device)
    found = []
    for name, call in calls(ours, x, m).items():
        error, right = "", False
        try:
            again = _captured(call) if device == "cuda" else call
            x.copy_(torch.randn(x.shape, device=device))
            m.add_(7)
            kept = tuple(one.clone() for one in _flat(again()))
            pairs = zip(kept, _flat(call()), strict=True)
            right = all(torch.equal(one, other) for one, other in pairs)
        except RuntimeError as refused:
            error = str(refused)
        found.append({"function": name, "right": right, "error": error})
    return found


def calls(ours: Any, x: Any, m: Any) -> dict[str, Callable[[], Any]]:  # noqa: ANN401  # a backend and its arrays
    """Return a call of every function that takes positions on the device.

    Parameters
    ----------
    ours : module
        The backend for torch.
    x : torch.Tensor of float, shape (2, 5, 3, 16)
        What is rotated.
    m : torch.Tensor of int64, shape (5,)
        Positions.
    """
    cos, sin = (table.float() for table in ours.cos_sin(m, 16))
    out, q = x.clone(), x[0]
    tokens, weight = x[..., 0, :].contiguous(), x.new_ones(3, 16, 16)
    whole, half = {"interleaved": True}, {"interleaved": False}
    at = {"query_positions": m, "key_positions": m}
    rows, scaling, axes = m.expand(2, -1).contiguous(), Linear(2.0), Sections((4, 4))
    return {
        "cos_sin_scaled": lambda: ours.cos_sin_scaled(m, 16, scaling=scaling),
        "apply_rotary_scaled": lambda: ours.apply_rotary_scaled(x, m, **half, scaling=scaling),
        "cos_sin_axes": lambda: ours.cos_sin_axes(rows, 16, axes=axes),
        "apply_rotary_axes": lambda: ours.apply_rotary_axes(x, rows, **half, axes=axes),
        "apply_rotary": lambda: ours.apply_rotary(x, m, **half),
        "apply_rotary, out": lambda: ours.apply_rotary(x, m, **whole, out=out),
        "apply_rotary_cos_sin": lambda: ours.apply_rotary_cos_sin(x, cos, sin, **whole),
        "apply_rotary_dense": lambda: ours.apply_rotary_dense(x, m, **whole),
        "apply_rotary_complex": lambda: ours.apply_rotary_complex(x, m),
        "attention": lambda: ours.attention(x, x, x, **at, **half),
        "project_query": lambda: ours.project_query(tokens, m, weight, **half),
        "relative_score": lambda: ours.relative_score(q, q, m[:, None], **whole),
        "rotation_matrix": lambda: ours.rotation_matrix(m, 16, **whole),
        "cos_sin": lambda: ours.cos_sin(m, 16),
        "sinusoidal_embedding": lambda: ours.sinusoidal_embedding(m, 16),
        "decay_bound": lambda: ours.decay_bound(m, 16),
    }


def _captured(call: Callable[[], Any]) -> Callable[[], Any]:
    """Return what runs the graph of a call, which torch wants to be warm on another stream."""
    import torch  # noqa: PLC0415  # as above

    aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch's own
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call()

    def again() -> Any:  # noqa: ANN401  # what the call returns
        graph.replay()
        return result

    return again


def _flat(result: Any) -> tuple[Any, ...]:  # noqa: ANN401  # one tensor or some
    return result if isinstance(result, tuple) else (result,)
