"""TransformerEngine, Megatron, lucidrains: (t, freqs), the angles themselves as wide as x."""

from collections.abc import Callable, Mapping, Sequence

from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import SWITCHES, Binds, Setting, Style, Way
from ropespec.conformance.styles.signature import KEYS, XS, Callee
from ropespec.conformance.styles.tables import Tables

_SHAPES: Mapping[str, Callable[[Array], Array]] = {
    "": lambda table: table[:, None, None],
    "freqs as (S, D)": lambda table: table,
}
"""The forms of angles (S, D), the usual one first."""


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    switch = roles.get("switch", "")

    def make(setting: Setting) -> Sequence[Way]:
        tables, space = Tables(setting), setting.space

        def way(shaped: Callable[[Array], Array]) -> Way:
            def rotate(x: Array, positions: Array, keywords: Mapping[str, bool]) -> Result:
                neighbours = keywords.get("interleaved", setting.profile.layouts[0])
                angle = space.cast(tables.angles(positions, x.shape[-1]), space.xp.float32)
                freqs = shaped(tables.widened(angle, neighbours=neighbours))
                given = {roles["x"]: x, roles["freqs"]: freqs}
                given |= {roles["format"]: setting.profile.axes} if "format" in roles else {}
                given |= {switch: neighbours == SWITCHES[switch]} if switch else {}
                return callee.call(callee.found, given)

            return rotate

        return [way(shaped) for shaped in _SHAPES.values()]

    axes, both = "sbhd" if "format" in roles else "bhsd", {"layouts": [True, False]}
    claims = {"axes": axes, "shared_positions": True, **(both if switch else {})}
    told = (f"{roles['freqs']}: angles (S, 1, 1, D) in float32, each pair's twice",)
    keywords = ("interleaved",) if switch else ()
    return Binds(make, claims, told, tuple(_SHAPES), keywords)


STYLE = Style(
    "te",
    50,
    needs={"x": XS, "freqs": ("freqs", "angles")},
    binds=_binds,
    knows={"format": ("tensor_format",), "switch": tuple(SWITCHES)},
    refuses=KEYS,
)
