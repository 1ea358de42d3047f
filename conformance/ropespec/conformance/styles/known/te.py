"""TransformerEngine, Megatron, lucidrains: (t, freqs), the angles themselves as wide as x."""

from collections.abc import Mapping

from ropespec.conformance.styles.base import SWITCHES, Binds, Style
from ropespec.conformance.styles.signature import KEYS, XS, Callee
from ropespec.conformance.styles.tabled import Form, tabled

_FORMS = (
    Form("", wide=True, shaped=lambda table, _: table[:, None, None]),
    Form("freqs as (S, D)", wide=True, shaped=lambda table, _: table),
    Form("freqs as (S, pairs)", wide=False, shaped=lambda table, _: table),
)


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    axes = "sbhd" if "format" in roles else "bhsd"
    told = (f"{roles['freqs']}: angles (S, 1, 1, D) in float32, each pair's twice",)
    return tabled(callee, roles, _FORMS, {"axes": axes, "shared_positions": True}, told)


STYLE = Style(
    "te",
    50,
    needs={"x": XS, "freqs": ("freqs", "angles", "rotary_pos_emb", "rotary_emb")},
    binds=_binds,
    knows={"k": KEYS, "format": ("tensor_format",), "switch": tuple(SWITCHES)},
)
