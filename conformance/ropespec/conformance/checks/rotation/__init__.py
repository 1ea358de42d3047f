"""Checks of the chapter `rotation`: the operation itself."""

from ropespec.conformance.checks.rotation import (
    contract,
    forms,
    given,
    history,
    independence,
    into,
    laws,
    printed,
    sizes,
    transforms,
)

__all__ = [
    "contract",
    "forms",
    "given",
    "history",
    "independence",
    "into",
    "laws",
    "printed",
    "sizes",
    "transforms",
]
