"""A function of x, or of q and k, and of cosines and sines together, in many models."""

from collections.abc import Mapping

from ropespec.conformance.styles.base import SWITCHES, Binds, Style
from ropespec.conformance.styles.signature import KEYS, XS, Callee
from ropespec.conformance.styles.tabled import OF_X, tabled


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    told = (f"{roles['both']}: cos and sin, each (S, pairs) in the dtype of x",)
    return tabled(callee, roles, OF_X, {"axes": "bshd", "shared_positions": True}, told)


STYLE = Style(
    "cos-sin",
    35,
    needs={"x": XS, "both": ("cos_sin", "position_embeddings", "rotary_cos_sin", "cos_and_sin")},
    binds=_binds,
    knows={"k": KEYS, "switch": tuple(SWITCHES)},
)
