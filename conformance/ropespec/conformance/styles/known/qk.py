"""A function or module of a query, a key and one position per token."""

from collections.abc import Mapping
from dataclasses import replace

from ropespec.conformance.styles import heads
from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import SWITCHES, Binds, Setting, Style
from ropespec.conformance.styles.made import makeable
from ropespec.conformance.styles.signature import BASES, KEYS, POSITIONS, XS, Callee
from ropespec.conformance.styles.switched import Call, Turn, switched

_WAYS = {False: "", True: heads.EQUAL}


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    def way(*, equal: bool) -> Turn:
        def turn(setting: Setting, call: Call, x: Array, positions: Array) -> Result:
            def both(q: Array, k: Array) -> Result:
                return call({roles["x"]: q, roles["k"]: k, roles["positions"]: positions})

            return heads.rotated(setting, both, x, setting.profile.axes.index("h"), equal=equal)

        return turn

    turns, ways = [way(equal=equal) for equal in _WAYS], tuple(_WAYS.values())
    return replace(switched(callee, roles, turns, {}, (heads.TOLD,)), ways=ways)


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
