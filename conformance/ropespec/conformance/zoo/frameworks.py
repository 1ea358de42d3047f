"""Entries in torch, JAX and MLX, by name: this module imports none of them."""

from functools import partial
from typing import Any

from ropespec.conformance.frameworks import ARRAYS
from ropespec.conformance.zoo.entry import elsewhere

__all__: list[str] = []

FLOAT32 = {"float32": "float32-angles"}
GRADIENT = ("ROT-20.gradient",)
NEAR: dict[str, Any] = {"max_position": 4095}
TAIL: dict[str, Any] = {"rotary_dim": 8, "head_dims": (16, 32)}
HALVES = {"float32": "float32-angles", "bfloat16": "float32-angles", "float16": "float32-angles"}


def _array(name: str) -> str:
    first = name.partition("_")[0]
    return first if first in ARRAYS else "torch"


def _wrong(
    name: str,
    catalogue: str,
    sentence: str,
    *killed_by: str,
    module: str = "",
    **claims: Any,  # noqa: ANN401  # claims are checked by Profile
) -> None:
    array = _array(name)
    elsewhere(
        module or ("torch_wrong" if array == "torch" else f"{array}_subjects"),
        name,
        sentence,
        catalogue=catalogue,
        killed_by=killed_by,
        **{"array": array, **claims},
    )


def _right(
    name: str,
    sentence: str,
    measured: dict[str, str],
    module: str = "",
    **claims: Any,  # noqa: ANN401  # claims are checked by Profile
) -> None:
    array = _array(name)
    module = module or ("torch_right" if array == "torch" else f"{array}_subjects")
    elsewhere(module, name, sentence, measured=measured, **{"array": array, **claims})


_wrong("detached", "G3", "The result is detached: no gradient reaches x.", *GRADIENT)
_wrong("backward_not_conjugated", "G1", "The backward pass rotates forward.", *GRADIENT)
_wrong(
    "tail_gradient_of_one",
    "G2",
    "The gradient of the components that do not rotate is 1.",
    *GRADIENT,
    "ROT-20.tail",
    **TAIL,
)
_wrong("graph_in_the_cache", "G4", "The cached table keeps its graph.", *GRADIENT, **NEAR)
_wrong(
    "cotangent_read_as_contiguous",
    "strided cotangent misread",
    "The strides of the cotangent are ignored.",
    *GRADIENT,
)
_wrong(
    "autocast_angles",
    "D5",
    "Under autocast the angles are products in bfloat16.",
    "JDG-3.precision",
)
_wrong(
    "buffer_in_bfloat16", "D1", "A module-wide cast rounds inv_freq to bfloat16.", "FREQ-2.read-off"
)
_wrong("overwrites_x_in_torch", "M1", "x is overwritten.", "ROT-17.unwritten")
_wrong(
    "promoted_in_torch",
    "D10",
    "The result of half-precision x is float32.",
    "ROT-17.dtype",
    dtypes=("float16", "bfloat16"),
)
_wrong("jax_stopped_gradient", "G3", "The gradient is stopped.", *GRADIENT)
_wrong("jax_not_conjugated", "G1", "The backward pass rotates forward.", *GRADIENT)
_wrong(
    "jax_first_positions_baked",
    "C1",
    "The positions of the first trace are baked in.",
    "ROT-7.value",
)

_wrong(
    "mlx_fast_counts_on",
    "counted from the first position",
    "A row counts on from its first position, the offset of `mx.fast.rope`.",
    "ROT-7.value",
)

_right("mlx_half", "The usual rotation of halves in MLX.", HALVES)
_right(
    "torch_growing_cache",
    "A torch module with a buffer and a table that grows.",
    FLOAT32,
    head_dims=(64,),
    max_position=4095,
    negative_positions=False,
)
_right("torch_complex", "torch.polar and complex products.", FLOAT32, interleaved=True)
_right(
    "torch_rotate_half_in_dtype",
    "rotate_half with tables and products in the dtype of x.",
    {"float32": "float32-angles", "bfloat16": "bf16-arithmetic"},
)
_right("torch_addcmul", "A product contracted with the sum.", HALVES)
_right(
    "torch_float64_angles",
    "Angles and tables in float64.",
    {"float64": "float64-angles", "float32": "float64-angles", "bfloat16": "float64-angles"},
    precision="float64-angles",
)
_right(
    "torch_sbhd", "Axes sequence, batch, heads, head_dim.", HALVES, axes="sbhd", interleaved=True
)
_right("jax_jitted", "Compiled by JAX.", HALVES)
_right("jax_complex", "Complex products, compiled.", FLOAT32, interleaved=True)
_right("jax_mapped", "One token under two vmap.", FLOAT32)
_right(
    "jax_table_in_dtype",
    "Tables and products in bfloat16, compiled.",
    {"bfloat16": "bf16-arithmetic"},
)

_TORCH, _JAX, _CALLS = "torch_transforms", "jax_transforms", "torch_calls"
_CLAIMED = "torch_claimed"
_seen = partial(_wrong, module=_TORCH)
_beside = partial(_wrong, module=_CALLS)
_in_jax = partial(_wrong, module=_JAX)
_seen(
    "torch_jvp_backwards",
    "tangent wrong",
    "In forward mode the tangent rotates by -m.",
    "ROT-24.jvp",
)
_seen(
    "torch_map_of_one_row",
    "batching rule wrong",
    "The batching rule forgets that positions are mapped.",
    "ROT-24.vmap",
)
_seen(
    "torch_backward_in_numbers",
    "gradient without a history",
    "The gradient is right and has no history.",
    "ROT-20.second",
)
_seen(
    "torch_compiled_path",
    "other numbers when compiled",
    "Where the compiler looks, tokens are counted from 0.",
    "ROT-24.compiled",
)
_seen(
    "torch_writes_behind_autograd",
    "written behind autograd",
    "out is written where autograd does not see it.",
    "ROT-23.gradient",
)
_seen(
    "torch_tables_learned",
    "gradient into the tables",
    "A gradient flows into the tables given.",
    "ROT-22.constant",
    constant_tables=True,
)
_sine = "The gradient of sin has the wrong sign."
_seen("torch_tables_learned_otherwise", "gradient of the tables", _sine, "ROT-22.tables")
_seen(
    "torch_tables_not_conjugated",
    "gradient by tables",
    "By tables given, the backward pass rotates forward.",
    "ROT-22.gradient",
)
_beside(
    "torch_in_place_without_gradient",
    "otherwise without a gradient",
    "x is overwritten where no gradient is recorded.",
    "ROT-17.unrecorded",
)
_beside(
    "torch_workspace_without_gradient",
    "otherwise without a gradient",
    "The result of a call is overwritten by the next where no gradient is recorded.",
    "ROT-17.unrecorded",
)
_beside(
    "torch_kept_without_gradient",
    "kept without a gradient",
    "Signs of rotate_half are made and kept in whatever mode the first call has.",
    "ROT-19.unrecorded",
)
_beside(
    "torch_tables_of_the_latest_call",
    "tables of another call",
    "The step back rotates by the positions of the latest call.",
    "ROT-20.two-calls",
)
_beside(
    "torch_positions_read_again",
    "positions read again",
    "The step back makes the tables again, of the caller's positions.",
    "ROT-20.reused",
)
_beside(
    "torch_second_half_of_the_storage",
    "offset of a view ignored",
    "The second half of each head is read as if x began where its storage does.",
    "ROT-19.strides",
    gradients=False,
)
_beside(
    "torch_turns_the_cotangent_itself",
    "cotangent overwritten",
    "The cotangent is rotated in place.",
    "ROT-17.arguments",
)
_beside(
    "torch_gradient_of_row_0",
    "gradient of one row",
    "The gradient of all rows is rotated by the positions of row 0.",
    *GRADIENT,
)
_negating = "The step back negates positions in place, and every second one turns forward."
_beside("torch_negates_what_it_kept", "gradient changes what it needs", _negating, "ROT-20.again")
_of_zeros = "Vectors of zeros are left alone, on the way back too."
_beside("torch_padding_of_zeros", "gradient of zeros", _of_zeros, *GRADIENT)
_in_jax(
    "jax_jvp_backwards",
    "G1",
    "The tangent rotates by -m, and so the cotangent by +m.",
    "ROT-24.jvp",
    *GRADIENT,
)
_in_jax(
    "jax_map_of_one_row",
    "batching rule wrong",
    "The batching rule of JAX forgets that positions are mapped.",
    "ROT-24.vmap",
)
_in_jax(
    "jax_back_in_few_bits",
    "positions of few bits",
    "The step back negates positions in their own dtype, which may have no sign.",
    "FREQ-6.integers",
)
_in_jax(
    "jax_backward_in_numbers",
    "gradient without a history",
    "The gradient stops at its cotangent.",
    "ROT-20.second",
)
_in_jax(
    "jax_traced_path",
    "other numbers when compiled",
    "Where positions are traced, tokens are counted from 0.",
    "ROT-24.compiled",
)
_short = "Where positions are traced, the table has 8192 rows, and the last is all that follow."
_in_jax("jax_table_of_what_is_traced", "other numbers when compiled", _short, "ROT-24.compiled")
_right("torch_function", "An autograd function with rules of its own.", FLOAT32, module=_TORCH)
_right("torch_writes_into_out", "Copies into out.", FLOAT32, module=_TORCH)
_right(
    "torch_tables",
    "Tables given, which are constants.",
    {},
    module=_TORCH,
    dtypes=("float32", "bfloat16"),
    constant_tables=True,
)
_right("jax_custom_gradient", "A gradient of its own, no forward mode.", FLOAT32, module=_JAX)
_right("torch_for_inference", "Nothing is recorded.", FLOAT32, module=_CLAIMED, gradients=False)
_right("torch_guarded", "What raises under vmap leaves it locked.", FLOAT32, module=_CLAIMED)
_right(
    "torch_tables_recorded",
    "Tables given, to which autograd gives a gradient.",
    {},
    module=_CLAIMED,
    dtypes=("float32", "bfloat16"),
)
_right(
    "torch_tail_through_float32",
    "The tail is converted to float32 and back.",
    {"bfloat16": "float32-angles"},
    module=_CLAIMED,
    **TAIL,
)
