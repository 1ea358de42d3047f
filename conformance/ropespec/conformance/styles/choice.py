"""Which style binds a target, and what of a module is bound."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from ropespec.conformance.frameworks import FRAMEWORKS
from ropespec.conformance.styles import STYLES
from ropespec.conformance.styles.base import Binds, Style
from ropespec.conformance.styles.beside import ROTARY
from ropespec.conformance.styles.signature import Callee

__all__ = ["EAGER", "Bound", "NoStyleError", "bound", "searched"]

EAGER = "eager"
"""For the name of a style: those alone that bind what could be called as f(x, positions)."""


class NoStyleError(Exception):
    """No style binds a target, or not the one that was named; one line for the user."""


@dataclass(frozen=True)
class Bound:
    """A target that a style binds.

    Attributes
    ----------
    style : str
        Its name.
    callee : str
        What is bound, as it is called in its module.
    binds : Binds
        How.
    others : tuple of str
        What else in the module could be bound, and by which style.
    """

    style: str
    callee: str
    binds: Binds
    others: tuple[str, ...] = ()

    def unmade(self, *_: object, **__: object) -> None:
        """Stand for the rotation before the claims are known."""
        raise NoStyleError(f"{self.callee} is not bound yet")

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for a frame."""
        return {
            "style": self.style,
            "callee": self.callee,
            "claims": dict(self.binds.claims),
            "told": list(self.binds.told),
            "ways": list(self.binds.ways),
            "by_runs": self.binds.by_runs,
            "others": list(self.others),
        }


def bound(callee: Callee, name: str = "") -> Bound | None:
    """Return how a function, class or instance is bound, by the style of a name or the first.

    Raises
    ------
    NoStyleError
        If the style of that name does not fit, or there is none.
    """
    if name == EAGER:
        return _first([one for one in STYLES.values() if one.eager], callee)
    if name:
        style = _named(name)
        if why := style.lacks(callee):
            taken = ", ".join(callee.parameters) or "not known"
            raise NoStyleError(f"style {name} does not fit: {why}; its parameters are {taken}")
        return _bound(style, callee)
    return _first(list(STYLES.values()), callee)


def _first(styles: list[Style], callee: Callee) -> Bound | None:
    fitting = [style for style in styles if not style.lacks(callee)]
    return _bound(fitting[0], callee) if fitting else None


def searched(module: ModuleType, name: str = "") -> Bound | None:
    """Return what of a module is bound.

    Functions come before classes, what is defined there before what is imported, and a public name
    about rotary embedding before any other; then styles go by their order, and names by theirs in
    the module.

    Raises
    ------
    NoStyleError
        If there is no style of that name.
    """
    styles = [_named(name)] if name else list(STYLES.values())
    found = [
        (callee, style)
        for callee in _candidates(module)
        for style in [one for one in styles if not one.lacks(callee)][:1]
    ]
    if not found:
        return None
    found.sort(key=lambda pair: (*_order(pair[0], module), pair[1].rank))
    (callee, style), *rest = found
    others = tuple(f"{one.name} ({of.name})" for one, of in rest if one.is_class <= callee.is_class)
    return _bound(style, callee, others)


def _named(name: str) -> Style:
    if name not in STYLES:
        raise NoStyleError(f"no style is called {name!r}; there are {', '.join(STYLES)}")
    return STYLES[name]


def _bound(style: Style, callee: Callee, others: tuple[str, ...] = ()) -> Bound:
    binds = style.binds(callee, style.roles(callee))
    binds = replace(binds, claims={**_array(callee), **binds.claims})
    return Bound(style.name, callee.name, binds, others)


def _array(callee: Callee) -> dict[str, str]:
    """Claim the framework whose functions the module has; NumPy where it has no other."""
    for name, room in reversed([*FRAMEWORKS.items()]):
        if getattr(callee.space.get(room.words.name), "__name__", "") == room.words.module:
            return {"array": name}
    return {}


def _candidates(module: ModuleType) -> Iterator[Callee]:
    for name, one in vars(module).items():
        if (inspect.isfunction(one) or inspect.isclass(one)) and ROTARY.search(name):
            callee = Callee.of(one, name, module)
            yield callee


def _order(callee: Callee, module: ModuleType) -> tuple[bool, bool, bool]:
    own = getattr(callee.found, "__module__", "") == module.__name__
    return callee.is_class, not own, callee.name.startswith("_")
