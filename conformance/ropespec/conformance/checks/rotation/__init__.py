"""Checks of the chapter `rotation`: the operation itself."""

from ropespec.conformance.checks.rotation import (
    contract,
    dtypes,
    every,
    forms,
    generation,
    given,
    history,
    independence,
    into,
    kept,
    laws,
    many,
    printed,
    sizes,
    transforms,
    unfit,
)

__all__ = [
    "contract",
    "dtypes",
    "every",
    "forms",
    "generation",
    "given",
    "history",
    "independence",
    "into",
    "kept",
    "laws",
    "many",
    "printed",
    "sizes",
    "transforms",
    "unfit",
]
