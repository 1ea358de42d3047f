"""transformers: `apply_rotary_pos_emb(q, k, cos, sin)`, with tables by the module beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

from ropespec.conformance.styles import heads
from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import Binds, Setting, Style, Way
from ropespec.conformance.styles.beside import table_module
from ropespec.conformance.styles.signature import KEYS, XS, Callee
from ropespec.conformance.styles.tables import Tables


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    maker = table_module(callee)
    own = f"tables by {maker.told}" if maker else "tables in the dtype of x, of float64 angles"

    def make(setting: Setting) -> Sequence[Way]:
        tables = Tables(setting)
        heads_at = setting.profile.axes.index("h")

        def cos_sin(x: Array, positions: Array) -> Result:
            width = x.shape[-1]
            if maker is not None:
                neighbours = setting.profile.layouts[0]
                module = maker.made(setting, width, x.dtype, interleaved=neighbours)
                return module(x, positions if positions.ndim > 1 else positions[None])
            cos, sin = tables.cos_sin(positions, width, x.dtype)
            wide = tables.widened(cos), tables.widened(sin)
            return wide if positions.ndim > 1 else tuple(one[None] for one in wide)

        def way(*, equal: bool, cut: bool) -> Way:
            def rotate(x: Array, positions: Array, keywords: Mapping[str, Any]) -> Result:
                del keywords
                cos, sin = cos_sin(x, positions)
                dim = setting.profile.rotation.dim(x.shape[-1])
                turned = x[..., :dim] if cut else x

                def both(q: Array, k: Array) -> Result:
                    given = {roles["q"]: q, roles["k"]: k, roles["cos"]: cos, roles["sin"]: sin}
                    if "unsqueeze" in roles and heads_at != 1:
                        given[roles["unsqueeze"]] = heads_at
                    return callee.call(callee.found, given)

                y = heads.rotated(setting, both, turned, heads_at, equal=equal)
                return setting.space.cat([y, x[..., dim:]], -1) if cut else y

            return rotate

        return [way(equal=equal, cut=cut) for equal, cut in _WAYS]

    claims = {"axes": "bhsd", "layouts": ["interleave" in callee.name.lower()]}
    return Binds(make, claims, (heads.TOLD, own), tuple(_WAYS.values()))


_WAYS = {
    (False, False): "",
    (False, True): "only the components that rotate are handed over",
    (True, False): heads.EQUAL,
    (True, True): f"{heads.EQUAL}, and only the components that rotate",
}

STYLE = Style(
    "hf",
    10,
    needs={"q": XS, "k": KEYS, "cos": ("cos",), "sin": ("sin",)},
    binds=_binds,
    knows={"unsqueeze": ("unsqueeze_dim",)},
)
