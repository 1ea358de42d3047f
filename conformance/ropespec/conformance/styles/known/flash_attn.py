"""flash-attn: `apply_rotary_emb(x, cos, sin, interleaved=False)`, with a column for each pair."""

from collections.abc import Mapping

from ropespec.conformance.styles.base import SWITCHES, Binds, Style
from ropespec.conformance.styles.signature import COSINES, KEYS, SINES, XS, Callee
from ropespec.conformance.styles.tabled import OF_X, tabled


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    told = ("cos and sin: (S, pairs) in the dtype of x, of float64 angles",)
    return tabled(callee, roles, OF_X, {"axes": "bshd", "shared_positions": True}, told)


STYLE = Style(
    "flash-attn",
    30,
    needs={"x": XS, "cos": COSINES, "sin": SINES},
    binds=_binds,
    knows={"switch": tuple(SWITCHES)},
    refuses=KEYS,
)
