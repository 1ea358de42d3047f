"""Any function or module with an offset: called once for each run of consecutive positions."""

from collections.abc import Mapping
from dataclasses import replace

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
from ropespec.conformance.styles.switched import Call, switched

CLAIMS = {"negative_positions": False, "empty": False}
"""What follows of any offset."""

TOLD = (
    "one call for each run of consecutive positions, of all rows where they are the same",
    "of many runs, those of one start and size are the rows of one call",
)
"""How positions are taken apart."""


def by_offset(callee: Callee, roles: Mapping[str, str]) -> Binds:
    """Bind what takes x and the position of its first token."""

    def turn(setting: Setting, call: Call, x: Array, positions: Array) -> Result:
        def part(piece: Array, start: int) -> Array:
            y = call({roles["x"]: piece, roles["offset"]: start})
            setting.keep(y)
            return y

        return by_runs(part, x, setting.space.row(positions), setting.profile.axes, setting.space)

    return replace(switched(callee, roles, [turn], CLAIMS, TOLD), by_runs=True)


STYLE = Style(
    "offset",
    90,
    needs={"x": XS, "offset": OFFSETS},
    binds=by_offset,
    knows={"switch": tuple(SWITCHES), "base": BASES},
    refuses=(*KEYS, *sorted(POSITIONS)),
    fits=makeable,
)
