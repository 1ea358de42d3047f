"""Any function or module with an offset: called once for each run of consecutive positions."""

from collections.abc import Mapping, Sequence
from typing import Any

from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import SWITCHES, Binds, Setting, Style, Way
from ropespec.conformance.styles.growing import Growing
from ropespec.conformance.styles.made import makeable, maker
from ropespec.conformance.styles.runs import by_runs
from ropespec.conformance.styles.signature import (
    BASES,
    KEYS,
    OFFSETS,
    POSITIONS,
    XS,
    Callee,
)

CLAIMS = {"negative_positions": False, "empty": False}
"""What follows of any offset."""

TOLD = (
    "one call for each run of consecutive positions, of all rows where they are the same",
    "of many runs, those of one start and size are the rows of one call",
)
"""How positions are taken apart."""


def by_offset(callee: Callee, roles: Mapping[str, str]) -> Binds:
    """Bind what takes x and the position of its first token."""
    made = maker(callee.found, callee.space) if callee.is_class else None
    assert not isinstance(made, str)
    growing = None if made is None else Growing(made)
    switch = roles.get("switch", "") or (made.switch if made else "")

    def make(setting: Setting) -> Sequence[Way]:
        axes, space = setting.profile.axes, setting.space

        def rotate(x: Array, positions: Array, keywords: Mapping[str, Any]) -> Result:
            neighbours = keywords.get("interleaved", setting.profile.layouts[0])
            given: dict[str, Any] = {}
            if "switch" in roles:
                given[switch] = neighbours == SWITCHES[switch]
            if "base" in roles:
                given[roles["base"]] = setting.profile.base

            def use(function: Result) -> Result:
                def part(piece: Array, start: int) -> Array:
                    y = callee.call(function, given | {roles["x"]: piece, roles["offset"]: start})
                    setting.keep(y)
                    return y

                return by_runs(part, x, space.row(positions), axes, space)

            if growing is None:
                return use(callee.found)
            return growing.call(setting, x, positions, use, interleaved=neighbours)

        return [rotate]

    layouts = {"layouts": [True, False]} if switch else {}
    told = [*TOLD, *([growing.told] if growing else [])]
    claims = {**CLAIMS, **(made.claims if made else {}), **layouts}
    keywords = ("interleaved",) if switch else ()
    return Binds(make, claims, tuple(told), keywords=keywords, by_runs=True)


STYLE = Style(
    "offset",
    90,
    needs={"x": XS, "offset": OFFSETS},
    binds=by_offset,
    knows={"switch": tuple(SWITCHES), "base": BASES},
    refuses=(*KEYS, *sorted(POSITIONS)),
    fits=makeable,
)
