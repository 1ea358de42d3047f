"""vLLM: (positions, query, key), tokens in one line, heads beside each other, mostly in place."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ropespec.conformance.grouped import queries
from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import FINITE, SWITCHES, Binds, Setting, Style, Way
from ropespec.conformance.styles.heads import TOLD
from ropespec.conformance.styles.made import Maker, makeable, maker
from ropespec.conformance.styles.signature import KEYS, POSITIONS, XS, Callee
from ropespec.conformance.styles.tables import Tables

_CLAIMS = {"axes": "bshd", "gradients": False, "strided": False, "empty": False}
_TOLD = (
    f"{TOLD}, each a copy (tokens, heads * D)",
    "what is written to them is read where nothing is returned",
    "positions in one line",
)


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    made = maker(callee.found, callee.space) if callee.is_class else None
    assert not isinstance(made, str)
    switch = roles.get("switch", "") or (made.switch if made else "")
    cached = "cache" in roles

    def make(setting: Setting) -> Sequence[Way]:
        caches: dict[object, Array] = {}

        def cache(x: Array) -> Array:
            key = (x.shape[-1], x.dtype)
            if key not in caches:
                where = setting.space.like(np.arange(setting.profile.max_position + 1), x)
                tables = Tables(setting).cos_sin(where, x.shape[-1], x.dtype)
                caches[key] = setting.space.cat(tables, -1)
            return caches[key]

        def rotate(x: Array, positions: Array, keywords: Mapping[str, Any]) -> Result:
            flat, heads = positions.reshape(-1), x.shape[2]
            most = queries(heads)
            parts = (x[:, :, :most], x[:, :, most if heads > 1 else 0 :])
            q, k = (_flat(setting, one) for one in parts)
            neighbours = keywords.get("interleaved", setting.profile.layouts[0])
            given = {roles["positions"]: flat, roles["x"]: q, roles["k"]: k}
            given |= {roles["size"]: x.shape[-1]} if "size" in roles else {}
            given |= {roles["cache"]: cache(x)} if cached else {}
            if "switch" in roles:
                given[switch] = neighbours == SWITCHES[switch]
            y = callee.call(_function(callee, made, setting, x, neighbours=neighbours), given)
            first, rest = (q, k) if y is None else y
            got = (first.reshape(parts[0].shape), rest.reshape(parts[1].shape))
            return setting.space.cat(got, 2) if heads > 1 else got[0]

        return [rotate]

    claims = {**_CLAIMS, **(made.claims if made else {}), **(FINITE if cached else {})}
    claims |= {"layouts": [True, False]} if switch else {}
    told = [*_TOLD, *([made.told] if made else [])]
    told += ["cos_sin_cache: cosines beside sines, in the dtype of x"] if cached else []
    return Binds(make, claims, tuple(told), keywords=("interleaved",) if switch else ())


def _flat(setting: Setting, part: Array) -> Array:
    """Return a copy (tokens, heads * D)."""
    return setting.space.copy(part).reshape(-1, part.shape[-2] * part.shape[-1])


def _function(
    callee: Callee, made: Maker | None, setting: Setting, x: Array, *, neighbours: bool
) -> Result:
    if made is None:
        return callee.found
    return made.made(setting, x.shape[-1], x.dtype, interleaved=neighbours)


STYLE = Style(
    "vllm",
    40,
    needs={"positions": sorted(POSITIONS), "x": XS, "k": KEYS},
    binds=_binds,
    knows={
        "size": ("head_size", "head_dim"),
        "cache": ("cos_sin_cache",),
        "switch": tuple(SWITCHES),
    },
    fits=makeable,
)
