"""A function or module of a query, a key and one position per token."""

from collections.abc import Mapping
from dataclasses import replace

from ropespec.conformance.styles import heads
from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import SWITCHES, Binds, Setting, Style
from ropespec.conformance.styles.made import makeable
from ropespec.conformance.styles.signature import BASES, KEYS, POSITIONS, XS, Callee
from ropespec.conformance.styles.switched import Call, Turn, parted, switched


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    def way(*, equal: bool) -> Turn:
        def turn(setting: Setting, call: Call, x: Array, positions: Array) -> Result:
            return parted(setting, call, roles, equal=equal)(x, {roles["positions"]: positions})

        return turn

    ways = heads.ways(roles)
    binds = switched(callee, roles, [way(equal=equal) for equal in ways], {}, (heads.TOLD,))
    return replace(binds, ways=tuple(ways.values()))


def _fits(callee: Callee) -> str:
    names = list(callee.parameters)
    if names.index(callee.first(POSITIONS)) < names.index(callee.first(KEYS)):
        return "positions come before k, as in style vllm"
    return makeable(callee)


STYLE = Style(
    "qk",
    30,
    needs={"x": XS, "k": KEYS, "positions": sorted(POSITIONS)},
    binds=_binds,
    knows={"switch": tuple(SWITCHES), "base": BASES},
    fits=_fits,
)
