"""Any function or module with an offset: called once for each run of consecutive positions."""

from collections.abc import Mapping
from dataclasses import replace

from ropespec.conformance.styles import heads
from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import SWITCHES, Binds, Setting, Style
from ropespec.conformance.styles.made import makeable
from ropespec.conformance.styles.runs import by_runs
from ropespec.conformance.styles.signature import (
    BASES,
    KEYS,
    OFFSETS,
    POSITIONS,
    XS,
    Callee,
)
from ropespec.conformance.styles.switched import Call, Turn, parted, switched

CLAIMS = {"negative_positions": False, "empty": False}
"""What follows of any offset."""

TOLD = (
    "one call for each run of consecutive positions, of all rows where they are the same",
    "of many runs, those of one start and size are the rows of one call",
)
"""How positions are taken apart."""


def by_offset(callee: Callee, roles: Mapping[str, str]) -> Binds:
    """Bind what takes x, or q and k, and the position of its first token."""

    def way(*, equal: bool) -> Turn:
        def turn(setting: Setting, call: Call, x: Array, positions: Array) -> Result:
            rotated = parted(setting, call, roles, equal=equal)

            def part(piece: Array, start: int) -> Array:
                return rotated(piece, {roles["offset"]: start})

            row = setting.space.row(positions)
            return by_runs(part, x, row, setting.profile.axes, setting.space)

        return turn

    ways = heads.ways(roles)
    told = (*([heads.TOLD] if "k" in roles else []), *TOLD)
    binds = switched(callee, roles, [way(equal=equal) for equal in ways], CLAIMS, told)
    return replace(binds, ways=tuple(ways.values()), by_runs=True)


STYLE = Style(
    "offset",
    90,
    needs={"x": XS, "offset": OFFSETS},
    binds=by_offset,
    knows={"k": KEYS, "switch": tuple(SWITCHES), "base": BASES},
    refuses=tuple(sorted(POSITIONS)),
    fits=makeable,
)
