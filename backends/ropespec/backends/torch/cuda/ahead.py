"""Compiling the kernels ahead of time, for a GPU that need not be there."""

from typing import Any

import torch

from ropespec.backends.torch.cuda.launch import OPTIONS
from ropespec.backends.torch.cuda.plan import Shapes, plan

__all__ = ["compile_ahead"]

TRITON_NAMES = {
    torch.float16: "fp16",
    torch.bfloat16: "bf16",
    torch.float32: "fp32",
    torch.float64: "fp64",
}

ALIGNED = [["tt.divisibility", 16]]
"""What Triton notes of an address that is a multiple of 16 bytes."""


def compile_ahead(
    dtype: torch.dtype,
    *,
    interleaved: bool,
    tables: bool,
    head_dim: int = 128,
    rotary_dim: int = 128,
    capability: int = 90,
) -> Any:  # noqa: ANN401  # Triton is not typed
    """Compile one kernel for contiguous x and out on addresses that are multiples of 16 bytes.

    Parameters
    ----------
    dtype : torch.dtype
        Of x.
    interleaved : bool
        The layout.
    tables : bool
        Read cos and sin, in the dtype of the arithmetic, instead of making them.
    head_dim, rotary_dim : int
        D and r.
    capability : int
        90 for sm_90.

    Returns
    -------
    triton.compiler.CompiledKernel
        Its `asm` holds `ptx` and `cubin` among others.
    """
    import triton  # noqa: PLC0415  # only who asks for it loads Triton
    from triton.backends.compiler import GPUTarget  # noqa: PLC0415  # as above
    from triton.compiler import ASTSource  # noqa: PLC0415  # as above

    from ropespec.backends.torch.cuda import kernels  # noqa: PLC0415  # as above

    kernel = kernels.rotate_tables_kernel if tables else kernels.rotate_positions_kernel
    names: list[str] = kernel.arg_names
    x, pairs = torch.empty(2, 64, 32, head_dim, dtype=dtype, device="meta"), rotary_dim // 2
    angles = torch.empty((64, pairs) if tables else (64,), device="meta")
    cut = plan(
        Shapes(
            x.shape, x.stride(), x.stride(), x.element_size(), angles.shape, angles.stride(),
            tables, pairs, interleaved, in_place=False,
        )
    )  # fmt: skip  # in the order of the fields
    assert cut is not None, "contiguous axes are as good as one"
    unit_strides = {"x_component": 1, "out_component": 1} | ({"a_pair": 1} if tables else {})
    constants = cut.constants | unit_strides | {"INVERSE": False}
    work = "fp64" if dtype == torch.float64 else "fp32"
    pointers = dict.fromkeys(names[:2], f"*{TRITON_NAMES[dtype]}")
    pointers |= dict.fromkeys(names[2:4], f"*{work}" if tables else "*i64")
    kinds = dict.fromkeys(names, "i32") | pointers | dict.fromkeys(constants, "constexpr")
    aligned = [(at,) for at in range(4) if names[at] not in kernels.SINGLE]
    source = ASTSource(
        kernel,
        kinds,
        constexprs={(names.index(name),): value for name, value in constants.items()},
        attrs=dict.fromkeys(aligned, ALIGNED),
    )
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=OPTIONS)
