"""ONNX: a model of x and position_ids, and of tables where it takes them."""

from collections.abc import Mapping, Sequence

import numpy as np

from ropespec.conformance.frameworks import DEFAULT
from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import FINITE, LENGTH, Binds, Setting, Style, Way
from ropespec.conformance.styles.model import DTYPES, Model
from ropespec.conformance.styles.signature import POSITIONS, XS, Callee
from ropespec.conformance.styles.tables import Tables


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    x_input = callee.found.inputs[roles["x"]]
    has_tables = "cos" in roles

    def make(setting: Setting) -> Sequence[Way]:
        tables, kept = Tables(setting), {}

        def cos_sin(x: Array, positions: Array) -> tuple[Array, Array]:
            if "positions" not in roles:
                return tables.cos_sin(positions, x.shape[-1], x.dtype)
            key = (x.shape[-1], x.dtype)
            if key not in kept:
                rows = np.arange(setting.profile.max_position + 1)
                kept[key] = tables.cos_sin(rows, *key)
            return kept[key]

        def rotate(x: Array, positions: Array, keywords: Mapping[str, bool]) -> Result:
            del keywords
            given = {roles["x"]: x}
            if "positions" in roles:
                given[roles["positions"]] = positions.astype(np.int64)
            if has_tables:
                given |= dict(zip((roles["cos"], roles["sin"]), cos_sin(x, positions), strict=True))
            return callee.found(**given)

        return [rotate]

    dtypes = [DTYPES[x_input.type]] if x_input.type in DTYPES else []
    sizes = [one for one in x_input.shape[-1:] if isinstance(one, int)]
    claims = {"array": DEFAULT, "axes": "bhsd", "dtypes": dtypes, "empty": False}
    claims |= {"head_dims": sizes} if sizes else {}
    if has_tables and "positions" in roles:
        claims |= {**FINITE, "max_tokens": LENGTH}  # no sequence is longer than the tables
    told = ["run by ONNX Runtime"]
    told += [f"{roles['positions']} as int64"] if "positions" in roles else []
    told += ["tables in the dtype of x, of float64 angles"] if has_tables else []
    return Binds(make, claims, tuple(told))


def _fits(callee: Callee) -> str:
    return "" if isinstance(callee.found, Model) else "it is no model file"


STYLE = Style(
    "onnx",
    80,
    needs={"x": ("X", *XS)},
    binds=_binds,
    knows={
        "positions": sorted(POSITIONS),
        "cos": ("cos_cache", "cos"),
        "sin": ("sin_cache", "sin"),
    },
    fits=_fits,
    eager=True,
)
