"""transformers: `apply_rotary_pos_emb(q, k, cos, sin)`, with tables by the module beside it."""

from collections.abc import Mapping

from ropespec.conformance.styles.base import SWITCHES, Binds, Style
from ropespec.conformance.styles.beside import table_module
from ropespec.conformance.styles.signature import COSINES, KEYS, SINES, XS, Callee
from ropespec.conformance.styles.tabled import BROADCAST, NARROW, ROWS, WIDE, tabled


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    maker = table_module(callee)
    own = f"tables by {maker.told}" if maker else "tables in the dtype of x, of float64 angles"
    forms = (ROWS,) if maker else (ROWS, BROADCAST, WIDE, NARROW)
    claims = {"axes": "bhsd", "layouts": ["interleave" in callee.name.lower()]}
    return tabled(callee, roles, forms, claims, (own,), maker)


STYLE = Style(
    "hf",
    10,
    needs={"x": XS, "k": KEYS, "cos": COSINES, "sin": SINES},
    binds=_binds,
    knows={"unsqueeze": ("unsqueeze_dim",), "switch": tuple(SWITCHES)},
)
