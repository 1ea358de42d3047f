"""A style: the names of the parameters of a signature, and how a rotation is made of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ropespec.conformance.profile import Profile
from ropespec.conformance.styles.arrays import Array, Result, Space
from ropespec.conformance.styles.signature import Callee, required_of

__all__ = ["SWITCHES", "Binds", "Rotation", "Setting", "Style", "Way"]

Rotation = Callable[..., Any]
"""f(x, positions), with keywords."""

SWITCHES: Mapping[str, bool] = {
    **dict.fromkeys(("interleaved", "interleave", "traditional", "rotary_interleaved"), True),
    **dict.fromkeys(("is_neox_style", "is_neox", "neox"), False),
}
"""Names of a parameter that says how components pair, and what it is for neighbours."""

MOST_RETURNED = 8
"""Results of one call that are looked at, where there are many."""

LENGTH = 32768
"""Tokens of a table that a subject makes in advance, where no position is claimed."""

FINITE: Mapping[str, Any] = {"max_position": LENGTH - 1, "negative_positions": False}
"""What may be claimed of a function that looks positions up."""


@dataclass
class Setting:
    """What a rotation is made under, and what became of it.

    Attributes
    ----------
    profile : Profile
        The claims.
    space : Space
        The functions of the framework.
    returned : list
        What the subject returned in the call that runs, before it was joined.
    way : int or None
        Which of several ways to call it answered first; None before.
    copies : list of pairs
        Copies of parts of x that were handed over, and what each is a copy of.
    """

    profile: Profile
    space: Space
    returned: list[Array] = field(default_factory=list)
    way: int | None = None
    copies: list[tuple[Array, Array]] = field(default_factory=list)

    def keep(self, *arrays: Array) -> None:
        """Remember what the subject returned."""
        self.returned.extend(arrays[: MOST_RETURNED - len(self.returned)])

    def forget(self) -> None:
        """Forget what an earlier call left."""
        self.returned.clear()
        self.copies.clear()

    def handed(self, part: Array) -> Array:
        """Return a part of x as it is handed over: a view, or a copy of who wants no views."""
        if self.profile.strided:
            return part
        self.copies.append((self.space.copy(part), part))
        return self.copies[-1][0]


Way = Callable[[Array, Array, Mapping[str, Any]], Any]
"""x, positions and keywords to what is returned."""


@dataclass(frozen=True)
class Binds:
    """What a style makes of a function.

    Attributes
    ----------
    make : callable
        Of a setting the ways to call it, the most usual first: each is tried until one answers
        with an array like x, and kept.
    claims : mapping
        What follows from how it is called, as arguments of `Profile`.
    told : tuple of str
        What is converted, one clause each.
    ways : tuple of str
        How each way differs from the usual one, as a clause; that of the usual is empty.
    keywords : tuple of str
        Those of the API that it takes.
    by_runs : bool
        Whether it is called once for each run of consecutive positions.
    """

    make: Callable[[Setting], Sequence[Way]]
    claims: Mapping[str, Any]
    told: tuple[str, ...]
    ways: tuple[str, ...] = ("",)
    keywords: tuple[str, ...] = ()
    by_runs: bool = False

    def rotation(self, setting: Setting) -> Rotation:
        """Return f(x, positions) under a setting."""
        ways = self.make(setting)
        if len(ways) == 1:
            setting.way = 0

        def rotate(x: Array, positions: Array, **keywords: object) -> Result:
            if setting.way is not None:
                return ways[setting.way](x, positions, keywords)
            raised = None
            for number, way in enumerate(ways):
                try:
                    y = way(x, positions, keywords)
                except Exception as error:  # noqa: BLE001  # of the subject
                    raised = raised or error
                    continue
                if getattr(y, "shape", None) == x.shape:
                    setting.way = number
                    return y
            if raised is not None:
                raise raised
            return ways[0](x, positions, keywords)

        return rotate


def _called(callee: Callee) -> str:
    return "it is a class: name an instance of it" if callee.is_class else ""


@dataclass(frozen=True)
class Style:
    """One signature.

    Attributes
    ----------
    name : str
        The value of `--style`.
    rank : int
        Its place in the order in which styles are tried.
    needs : mapping of str to tuple of str
        The parameters that tell it, by what each takes: the names that each may have.
    knows : mapping of str to tuple of str
        Others that it can give.
    binds : callable
        Of a function, and its parameters by what each takes, what is made of it.
    refuses : tuple of str
        Parameters that it must not have.
    fits : callable
        Says why it does not, whatever its parameters are.
    eager : bool
        Whether it is tried on what could be called as f(x, positions), too.
    """

    name: str
    rank: int
    needs: Mapping[str, Sequence[str]]
    binds: Callable[[Callee, Mapping[str, str]], Binds]
    knows: Mapping[str, Sequence[str]] = field(default_factory=dict)
    refuses: tuple[str, ...] = ()
    fits: Callable[[Callee], str] = _called
    eager: bool = False

    def roles(self, callee: Callee) -> dict[str, str]:
        """Return the parameters it gives, by what each takes."""
        wanted = {**self.needs, **self.knows}
        found = {role: callee.first(names) for role, names in wanted.items()}
        return {role: name for role, name in found.items() if name}

    def lacks(self, callee: Callee) -> str:
        """Say why it does not fit; nothing where it does."""
        roles = self.roles(callee)
        for role, names in self.needs.items():
            if role not in roles:
                return f"no parameter takes {role} ({_named(names)})"
        if odd := callee.first(self.refuses):
            return f"its parameter {odd} is of another style"
        known = set(roles.values())
        if open_ := [one for one in required_of(callee.parameters) if one not in known]:
            return f"what {_named(open_)} takes is not known"
        return self.fits(callee)


def _named(names: Iterable[str]) -> str:
    return " or ".join(sorted(names, key=len)[:4])
