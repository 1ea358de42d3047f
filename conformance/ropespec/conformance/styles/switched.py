"""What may be a class of sizes, and may take a base and a switch between the layouts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ropespec.conformance.styles import heads
from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import SWITCHES, Binds, Setting, Way
from ropespec.conformance.styles.growing import Growing
from ropespec.conformance.styles.made import maker
from ropespec.conformance.styles.signature import Callee

__all__ = ["Call", "Turn", "parted", "switched"]

Call = Callable[[Mapping[str, Any]], Any]
"""Calls the subject with parameters by name, and adds the base and the switch."""

Turn = Callable[[Setting, Call, Array, Array], Any]
"""x and positions to what is returned, by such calls."""


def parted(
    setting: Setting, call: Call, roles: Mapping[str, str], *, equal: bool
) -> Callable[[Array, Mapping[str, Any]], Array]:
    """Return what rotates a piece of x by one call, of q and k where it takes both.

    Parameters
    ----------
    setting, call, roles
        As in `switched`.
    equal : bool
        As in `heads.rotated`.
    """

    def rotated(piece: Array, given: Mapping[str, Any]) -> Array:
        if "k" in roles:
            axis = setting.profile.axes.index("h")
            return heads.rotated(setting, both_with(given), piece, axis, equal=equal)
        y = call({**given, roles["x"]: piece})
        setting.keep(y)
        return y

    def both_with(given: Mapping[str, Any]) -> Callable[[Array, Array], Result]:
        return lambda q, k: call({**given, roles["x"]: q, roles["k"]: k})

    return rotated


@dataclass(frozen=True, slots=True)
class _Caller:
    """What is called, by its parameters; its switch has a name, or there is none."""

    callee: Callee
    roles: Mapping[str, str]
    switch: str
    growing: Growing | None

    def way(self, setting: Setting, turn: Turn) -> Way:
        def rotate(x: Array, positions: Array, keywords: Mapping[str, Any]) -> Result:
            neighbours = keywords.get("interleaved", setting.profile.layouts[0])
            options: dict[str, Any] = {}
            if "switch" in self.roles:
                options[self.switch] = neighbours == SWITCHES[self.switch]
            if "base" in self.roles:
                options[self.roles["base"]] = setting.profile.base

            def use(function: Result) -> Result:
                def call(given: Mapping[str, Any]) -> Result:
                    return self.callee.call(function, {**options, **given})

                return turn(setting, call, x, positions)

            if self.growing is None:
                return use(self.callee.found)
            return self.growing.call(setting, x, positions, use, interleaved=neighbours)

        return rotate


def switched(
    callee: Callee,
    roles: Mapping[str, str],
    turns: Sequence[Turn],
    claims: Mapping[str, Any],
    told: Sequence[str],
) -> Binds:
    """Bind a function, or a class by instances for what is given to them.

    Parameters
    ----------
    callee, roles
        What is bound, and its parameters by what each takes; `switch` and `base` are known here.
    turns : sequence of callable
        The ways to call it, as in `Binds.make`.
    claims, told
        What follows, and what is converted, whatever it is.
    """
    made = maker(callee.found, callee.space) if callee.is_class else None
    assert not isinstance(made, str)
    growing = None if made is None else Growing(made)
    switch = roles.get("switch", "") or (made.switch if made else "")
    caller = _Caller(callee, roles, switch, growing)

    def make(setting: Setting) -> Sequence[Way]:
        return [caller.way(setting, turn) for turn in turns]

    layouts = {"layouts": [True, False]} if switch else {}
    follows = {**claims, **(made.claims if made else {}), **layouts}
    said = (*told, *([growing.told] if growing else []))
    return Binds(make, follows, said, keywords=("interleaved",) if switch else ())
