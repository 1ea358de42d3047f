"""flash-attn: `apply_rotary_emb(x, cos, sin, interleaved=False)`, with a column for each pair."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import SWITCHES, Binds, Setting, Style, Way
from ropespec.conformance.styles.signature import KEYS, XS, Callee
from ropespec.conformance.styles.tables import Tables

_SHAPES: Mapping[str, tuple[bool, Callable[[Array], Array]]] = {
    "": (False, lambda table: table),
    "tables with an axis of rows, (1, S, pairs)": (False, lambda table: table[None]),
    "tables as wide as x, (S, D)": (True, lambda table: table),
    "tables as wide as x, (1, S, D)": (True, lambda table: table[None]),
}
"""The forms of a table (S, pairs), the usual one first."""


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    switch = roles.get("switch", "")

    def make(setting: Setting) -> Sequence[Way]:
        tables = Tables(setting)

        def way(*, wide: bool, shaped: Callable[[Array], Array]) -> Way:
            def rotate(x: Array, positions: Array, keywords: Mapping[str, Any]) -> Result:
                both = tables.cos_sin(positions, x.shape[-1], x.dtype)
                cos, sin = (shaped(tables.widened(one) if wide else one) for one in both)
                given = {roles["x"]: x, roles["cos"]: cos, roles["sin"]: sin}
                if switch and "interleaved" in keywords:
                    given[switch] = keywords["interleaved"] == SWITCHES[switch]
                return callee.call(callee.found, given)

            return rotate

        return [way(wide=wide, shaped=shaped) for wide, shaped in _SHAPES.values()]

    layouts = {"layouts": [True, False]} if switch else {}
    told = ("cos and sin: (S, pairs) in the dtype of x, of float64 angles",)
    claims = {"axes": "bshd", "shared_positions": True, **layouts}
    keywords = ("interleaved",) if switch else ()
    return Binds(make, claims, told, tuple(_SHAPES), keywords)


STYLE = Style(
    "flash-attn",
    30,
    needs={"x": XS, "cos": ("cos",), "sin": ("sin",)},
    binds=_binds,
    knows={"switch": tuple(SWITCHES)},
    refuses=KEYS,
)
