"""What stands beside a function in its module and makes the tables that it takes."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

from ropespec.conformance.styles.made import Maker, maker
from ropespec.conformance.styles.signature import POSITIONS, XS, Callee, parameters_of, required_of

__all__ = ["ROTARY", "table_function", "table_module"]

ROTARY = re.compile("rot|rope", re.IGNORECASE)
"""What the name of a thing has that is about rotary position embedding."""

_TABLE = re.compile("precompute|freqs|cos_sin|rope|rotary|sinus", re.IGNORECASE)


def _named(callee: Callee, pattern: re.Pattern[str]) -> Iterator[Any]:
    for name, one in callee.space.items():
        if pattern.search(name) and one is not callee.found and callable(one):
            yield one


def table_module(callee: Callee) -> Maker | None:
    """Return the class beside a function whose instances make tables of x and positions.

    It is one with a name of rotary embedding that can be made of sizes, or of a configuration; the
    first in the module, where it has several.
    """
    for one in _named(callee, ROTARY):
        if not inspect.isclass(one):
            continue
        taken = parameters_of(one) or {}
        told = [name for name in taken if name in POSITIONS]
        others = [name for name in required_of(taken) if name not in told]
        found = maker(one, callee.space)
        if told and len(others) == 1 and others[0] in XS and isinstance(found, Maker):
            return found
    return None


def table_function(callee: Callee) -> Maker | None:
    """Return the function beside another that makes a table of sizes; the first in the module."""
    for one in _named(callee, _TABLE):
        if not inspect.isfunction(one):
            continue
        found = maker(one, callee.space)
        if isinstance(found, Maker) and found.is_table:
            return found
    return None
