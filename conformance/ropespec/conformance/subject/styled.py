"""How a style binds a subject, as its worker says it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ropespec.conformance.profile import Profile
from ropespec.conformance.subject import checked

__all__ = ["Styled"]


@dataclass(frozen=True, slots=True)
class Styled:
    """A style, and what it binds.

    Attributes
    ----------
    name : str
        That of the style.
    callee : str
        What of the subject is called.
    claims : mapping
        What follows from it, as arguments of `Profile`.
    told : tuple of str
        What is converted.
    others : tuple of str
        What else of a module could be bound.
    ways : tuple of str
        How each of several ways to call it differs from the usual.
    asked : bool
        Whether it was named, and not told by the parameters.
    way : int or None
        Which of the ways answered; None where that is open.
    by_runs : bool
        Whether a call is one for each run of consecutive positions.
    """

    name: str
    callee: str
    claims: Mapping[str, Any]
    told: tuple[str, ...]
    others: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()
    asked: bool = False
    way: int | None = None
    by_runs: bool = False

    def by(self, way: int | None, profile: Profile) -> "Styled":
        """Return the same, with what is special to how it is called under a profile."""
        special = [] if way is None or way >= len(self.ways) else [self.ways[way]]
        order = ", ".join(profile.axes.upper())
        shared = ["positions as (S,)"] if profile.shared_positions else []
        handed = f"x handed over as ({order})"
        told = (*self.told, *filter(None, special), handed, *shared)
        return replace(self, told=told, way=way)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        names = ("name", "asked", "callee", "claims", "told", "others")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def of(cls, found: object, *, asked: bool) -> "Styled | None":
        """Read what a worker says; nothing where no style binds.

        Raises
        ------
        FrameError
            If it is anything else.
        """
        if found is None:
            return None
        values = checked.mapping(found, "style")
        name, callee = (checked.text(values.get(one), "style") for one in ("style", "callee"))
        told, others, ways = (
            checked.texts(values.get(one), "style") for one in ("told", "others", "ways")
        )
        claims = checked.plain(checked.mapping(values.get("claims"), "style"), "style")
        (by_runs,) = checked.flags([values.get("by_runs")], "style")
        return cls(name, callee, claims, told, others, ways, asked, by_runs=by_runs)
