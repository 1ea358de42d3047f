"""Scaled frequencies as values: each scheme of the chapter `scaling`, with its numbers.

A scheme is frozen and hashable, and gives its frequencies and its gain as exact decimals. What a
scheme makes of the length of a sequence it takes as `length`, so a scheme is one set of
frequencies.
"""

from typing import TypeAlias

from ropespec.spec.arguments import check_dim
from ropespec.spec.errors import ArgumentError, ArgumentTypeError
from ropespec.spec.scaling.bases import (
    DynamicNtk,
    Linear,
    NtkAware,
    PaperDynamicNtk,
    check_stretched,
)
from ropespec.spec.scaling.blends import Llama3, NtkByParts, Yarn
from ropespec.spec.scaling.factors import LongRope, Proportional

__all__ = [
    "DynamicNtk",
    "Linear",
    "Llama3",
    "LongRope",
    "NtkAware",
    "NtkByParts",
    "PaperDynamicNtk",
    "Proportional",
    "Scaling",
    "Yarn",
    "check_scaled_dim",
    "check_scaling",
    "has_frequencies",
]

Scaling: TypeAlias = (
    Linear
    | NtkAware
    | PaperDynamicNtk
    | DynamicNtk
    | NtkByParts
    | Yarn
    | LongRope
    | Llama3
    | Proportional
)
"""Any scheme: each fits `ropespec.spec.convention.Scheme`."""


def check_scaling(scaling: object) -> Scaling:
    """Require a scheme of this module (SCAL-1).

    Raises
    ------
    ArgumentTypeError
        If it is anything else, a name or a mapping included.
    """
    if not isinstance(scaling, Scaling):
        must = "a scheme of ropespec.spec.scaling, such as Linear(factor=2.0)"
        raise ArgumentTypeError("scaling", must, scaling)
    return scaling


def check_scaled_dim(scaling: Scaling, dim: object) -> int:
    """Require a dimension that the scheme has frequencies for.

    Raises
    ------
    ArgumentTypeError
        If it is not an integer.
    ArgumentValueError
        If it is odd or below 2, or below 4 where a base is scaled, or the factors of the scheme are
        not one for each pair.
    """
    found = check_dim(dim)
    if isinstance(scaling, NtkAware | PaperDynamicNtk | DynamicNtk):
        check_stretched(found)
    elif isinstance(scaling, LongRope):
        scaling.check_pairs(found)
    return found


def has_frequencies(scaling: Scaling, dim: int) -> bool:
    """Whether the scheme has frequencies for so many components."""
    try:
        check_scaled_dim(scaling, dim)
    except ArgumentError:
        return False
    return True
