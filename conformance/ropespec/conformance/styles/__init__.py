"""Styles: signatures that are bound as f(x, positions), and this is the list of them.

Each is a file in `known`. They run in the process of the subject, beside it.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from ropespec.conformance.styles import known
from ropespec.conformance.styles.base import Style

__all__ = ["STYLES", "Style"]


def _rooms() -> Mapping[str, Style]:
    """Look into every file of this folder."""
    names = (item.name for item in pkgutil.iter_modules(known.__path__))
    rooms = [importlib.import_module(f"{known.__name__}.{name}") for name in names]
    found: list[Style] = [room.STYLE for room in rooms]
    return MappingProxyType({one.name: one for one in sorted(found, key=lambda one: one.rank)})


STYLES = _rooms()
"""Each style by the value of `--style`, in the order in which they are tried."""
