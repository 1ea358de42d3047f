"""Meta: `apply_rotary_emb(xq, xk, freqs_cis)` with a complex table, one row for each token."""

from collections.abc import Mapping, Sequence
from typing import Any

from ropespec.conformance.styles import heads
from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import Binds, Setting, Style, Way
from ropespec.conformance.styles.beside import table_function
from ropespec.conformance.styles.signature import FREQS, KEYS, XS, Callee
from ropespec.conformance.styles.tables import Tables

_CLAIMS = {
    "axes": "bshd",
    "shared_positions": True,
    "layouts": [True],
    "strided": False,
    "empty": False,
}


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    maker = table_function(callee)
    own = f"rows of {maker.told}" if maker else "e^(i m theta) in complex64, of float64 angles"
    pair = "k" in roles

    def make(setting: Setting) -> Sequence[Way]:
        tables = Tables(setting)

        def table(x: Array, positions: Array, *, real: bool) -> Array:
            if real:
                both = tables.cos_sin(positions, x.shape[-1], setting.space.xp.float32)
                return setting.space.xp.stack(both, -1)
            if maker is None:
                return tables.complex(positions, x.shape[-1])
            return maker.made(setting, x.shape[-1], x.dtype, interleaved=True)[positions]

        def way(*, real: bool, equal: bool) -> Way:
            def rotate(x: Array, positions: Array, keywords: Mapping[str, Any]) -> Result:
                del keywords
                given = {roles["freqs"]: table(x, positions, real=real)}

                def both(q: Array, k: Array) -> Result:
                    return callee.call(callee.found, given | {roles["x"]: q, roles["k"]: k})

                if not pair:
                    return callee.call(callee.found, given | {roles["x"]: x})
                axis = setting.profile.axes.index("h")
                return heads.rotated(setting, both, x, axis, equal=equal)

            return rotate

        return [way(real=real, equal=equal) for real, equal in ways]

    reals = (False,) if maker else (False, True)
    ways = [(real, equal) for real in reals for equal in ((False, True) if pair else (False,))]
    told = (*([heads.TOLD] if pair else []), f"{roles['freqs']}: {own}")
    said = tuple(", ".join([_REAL] * real + [heads.EQUAL] * equal) for real, equal in ways)
    return Binds(make, {**_CLAIMS, **(maker.claims if maker else {})}, told, said)


_REAL = "cosines and sines in float32 for it, (S, pairs, 2)"

STYLE = Style("meta", 20, needs={"x": XS, "freqs": FREQS}, binds=_binds, knows={"k": KEYS})
