"""What calls wrote to that was not theirs: noted of every plain call, whichever check made it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ropespec.conformance.subject.reply import Reply
from ropespec.conformance.subject.requests import Question

__all__ = ["Trespass", "Trespasses"]

_PLAIN = ("call", "vjp")
_NEW = "apply_rotary"  # how the functions begin that must return memory of their own


@dataclass(frozen=True, slots=True)
class Trespass:
    """The first of a function.

    Attributes
    ----------
    what : str
        What it did, in words.
    arrays : tuple
        The positional arguments of the call.
    keywords : mapping
        The others.
    """

    what: str
    arrays: tuple[Any, ...]
    keywords: Mapping[str, Any]


@dataclass(slots=True)
class Trespasses:
    """What was noted so far.

    Attributes
    ----------
    asked : set of str
        The functions that plain calls were made of.
    found : dict of str to Trespass
        The first of each function, by its name.
    """

    asked: set[str] = field(default_factory=set)
    found: dict[str, Trespass] = field(default_factory=dict)

    def add(self, others: "Trespasses") -> None:
        """Note what others have noted later."""
        self.asked |= others.asked
        self.found = others.found | self.found

    def note(self, asked: Question, packed: Mapping[str, Any], reply: Reply) -> None:
        """Note what a call did; who is given `out` may write there."""
        name = asked.function
        if asked.do not in _PLAIN or "out" in asked.keywords:
            return
        self.asked.add(name)
        what = _trespass(asked, packed, reply)
        if what and name not in self.found:
            self.found[name] = Trespass(what, asked.arguments, asked.keywords)


def _trespass(asked: Question, packed: Mapping[str, Any], reply: Reply) -> str:
    """Say what a call did to what is not its own; nothing if it did not."""
    back = " on the way back" if asked.do == "vjp" else ""
    if not any(reply.written):
        new = asked.function.startswith(_NEW)
        return f"its result shares memory with an argument{back}" * (new and any(reply.aliases))
    named = {f"argument {place}": item for place, item in enumerate(packed["arguments"], start=1)}
    named |= packed["keywords"] | dict(zip(("the cotangent",), packed["extra"], strict=False))
    place = {"array": reply.written.index(True)}
    name = next(name for name, item in named.items() if item == place)
    return f"{name} was overwritten{back}"
