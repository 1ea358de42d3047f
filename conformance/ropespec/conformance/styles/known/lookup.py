"""Older models and kernels: (q, k, cos, sin, position_ids), with tables of all positions."""

from collections.abc import Mapping

from ropespec.conformance.styles.base import SWITCHES, Binds, Style
from ropespec.conformance.styles.signature import COSINES, KEYS, POSITIONS, SINES, XS, Callee
from ropespec.conformance.styles.tabled import NARROW, WIDE, Form, tabled

_FORMS = (
    WIDE,
    NARROW,
    Form("tables as wide as x, (1, 1, N, D)", wide=True, shaped=lambda table, _: table[None, None]),
)


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    told = ("tables of all positions that are claimed, N rows in the dtype of x",)
    return tabled(callee, roles, _FORMS, {"axes": "bhsd" if "unsqueeze" in roles else "bshd"}, told)


STYLE = Style(
    "lookup",
    15,
    needs={"x": XS, "cos": COSINES, "sin": SINES, "positions": sorted(POSITIONS)},
    binds=_binds,
    knows={"k": KEYS, "unsqueeze": ("unsqueeze_dim",), "switch": tuple(SWITCHES)},
)
