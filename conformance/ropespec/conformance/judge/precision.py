"""Precision classes: what an implementation may lose, stage by stage (clause JDG-3).

A class is a product of four choices: how the angle is made, the dtype the table of cos and sin is
stored in, the dtype of the products, and the dtype of the result, which is always that of x.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = [
    "DEFECTS",
    "EXPLICIT_TABLES",
    "NORMAL",
    "PRECISIONS",
    "SMALLEST",
    "STAGES",
    "UNIT_ROUNDOFF",
    "Precision",
    "arithmetic_dtype",
    "keeps",
    "ladder",
    "legitimate",
    "loosest",
]

UNIT_ROUNDOFF = {
    "float64": 2.0**-53,
    "float32": 2.0**-24,
    "tf32": 2.0**-11,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
}
"""Largest relative error of rounding to a dtype: 2^-p for p significant bits."""

SMALLEST = {
    "float64": 2.0**-1074,
    "float32": 2.0**-149,
    "float16": 2.0**-24,
    "bfloat16": 2.0**-133,
}
"""The smallest number of a dtype above 0."""

NORMAL = {"float64": 2.0**-1022, "float32": 2.0**-126, "float16": 2.0**-14, "bfloat16": 2.0**-126}
"""The smallest normal number of a dtype."""


@dataclass(frozen=True, slots=True)
class Precision:
    """One precision class.

    Attributes
    ----------
    name : str
        As given to `--precision`.
    angle : str
        How the angle is made: `float64`, `float32`, `recurrence`, `fast`, `any` of these, or a
        defect.
    table : str or None
        dtype the table is rounded to; None for the arithmetic dtype.
    arithmetic : str or None
        dtype of products and sum; None for float32 at least, float64 for float64 x.
    sentence : str
        What it means.
    """

    name: str
    angle: str
    table: str | None
    arithmetic: str | None
    sentence: str


def _by_name(*classes: Precision) -> dict[str, Precision]:
    return {item.name: item for item in classes}


PRECISIONS = _by_name(
    Precision(
        "float64-angles",
        "float64",
        None,
        None,
        "angles in float64 or by exact phase, at any position",
    ),
    Precision(
        "float32-angles", "float32", "float32", "float32", "float32(position) * float32(inv_freq)"
    ),
    Precision(
        "float32-recurrence",
        "recurrence",
        "float32",
        "float32",
        "each frequency from the one before, in float32",
    ),
    Precision(
        "fast-sincos", "fast", "float32", "float32", "the fast sine and cosine of a GPU, in float32"
    ),
    Precision("float16-table", "float32", "float16", "float32", "cos and sin stored in float16"),
    Precision("bf16-table", "float32", "bfloat16", "float32", "cos and sin stored in bfloat16"),
    Precision(
        "float16-arithmetic", "float32", "float16", "float16", "table and products in float16"
    ),
    Precision(
        "bf16-arithmetic", "float32", "bfloat16", "bfloat16", "table and products in bfloat16"
    ),
)
"""The classes an implementation may claim, from best to worst."""

DEFECTS = _by_name(
    Precision(
        "tf32-angles", "tf32", "float32", "float32", "the angles are products in TF32 (11 bits)"
    ),
    Precision(
        "float16-inv_freq",
        "float16-inv_freq",
        "float16",
        "float16",
        "inv_freq was rounded to float16",
    ),
    Precision(
        "bf16-inv_freq", "bf16-inv_freq", "bfloat16", "bfloat16", "inv_freq was rounded to bfloat16"
    ),
    Precision(
        "float16-angles",
        "float16-angles",
        "float16",
        "float16",
        "positions or angles were rounded to float16",
    ),
    Precision(
        "bf16-angles",
        "bf16-angles",
        "bfloat16",
        "bfloat16",
        "positions or angles were rounded to bfloat16",
    ),
)
"""Classes that always fail, by name: position, frequency or angle has fewer bits than float32."""

EXPLICIT_TABLES = Precision(
    "explicit-tables", "exact", "exact", None, "cos and sin are given, in their final dtype"
)
"""For an operation that is handed its tables: only arithmetic and store may lose anything."""

STAGES = ("angle", "table", "arithmetic")
"""The choices of a class beside the dtype of x, in the order in which they happen."""

_FLOAT32 = ("float64-angles", "float32-angles", "float32-recurrence", "fast-sincos")
_LEGITIMATE = {
    "float64": ("float64-angles",),
    "float32": _FLOAT32,
    "float16": (*_FLOAT32, "float16-table", "float16-arithmetic"),
    "bfloat16": (*_FLOAT32, "bf16-table", "bf16-arithmetic"),
}


def arithmetic_dtype(dtype: str) -> str:
    """Return the dtype of the arithmetic when no class says otherwise (JDG-3)."""
    return "float64" if dtype == "float64" else "float32"


def keeps(precision: Precision, dtype: str) -> bool:
    """Whether every number of `dtype` is one of the arithmetic too, so that 1 * x is x."""
    arithmetic = precision.arithmetic or arithmetic_dtype(dtype)
    return arithmetic in (dtype, "float64") or (arithmetic == "float32" and dtype != "float64")


def legitimate(dtype: str, declared: str | None = None) -> tuple[Precision, ...]:
    """Classes under which x of `dtype` passes: the declared one, or those not below its own dtype.

    Parameters
    ----------
    dtype : str
        dtype of x.
    declared : str or None
        The class the implementation claims.

    Returns
    -------
    tuple of Precision
        From best to worst; an error is a failure when it exceeds the budgets of all of them.
    """
    names = (declared,) if declared is not None else _LEGITIMATE[dtype]
    return tuple(PRECISIONS[name] for name in names)


def loosest(classes: Sequence[Precision]) -> Precision:
    """Return what allows as much as any of some classes, at every stage.

    Of tables and products the last class allows the most; of angles none does everywhere, for the
    error of a recurrence grows with the pair, and that of a fast sine does not.

    Parameters
    ----------
    classes : sequence of Precision
        From best to worst.
    """
    return classes[-1] if len(classes) == 1 else replace(classes[-1], angle="any")


def ladder(dtype: str) -> tuple[Precision, ...]:
    """Classes to be measured for x of `dtype`, from best to worst, legitimate or not."""
    halves = {"float16": "bf16", "bfloat16": "float16"}.get(dtype, "-")
    return tuple(item for item in PRECISIONS.values() if not item.name.startswith(halves))
