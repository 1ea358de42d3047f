"""Flax: a module of linen, applied without variables, or of nnx."""

from collections.abc import Mapping, Sequence

from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import Binds, Setting, Style, Way
from ropespec.conformance.styles.known.torchtune import by_instances
from ropespec.conformance.styles.made import makeable, maker
from ropespec.conformance.styles.signature import POSITIONS, XS, Callee, is_of


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    if not hasattr(callee.found, "apply"):
        return by_instances(callee, roles)
    made = maker(callee.found, callee.space) if callee.is_class else None
    assert not isinstance(made, str)

    def make(setting: Setting) -> Sequence[Way]:
        def rotate(x: Array, positions: Array, keywords: Mapping[str, bool]) -> Result:
            module = callee.found
            if made is not None:
                neighbours = keywords.get("interleaved", setting.profile.layouts[0])
                module = made.made(setting, x.shape[-1], x.dtype, interleaved=neighbours)
            return module.apply({}, **{roles["x"]: x, roles["positions"]: positions})

        return [rotate]

    told = [f"made as {made.told}"] if made else []
    keywords = ("interleaved",) if made is not None and made.switch else ()
    claims = {"array": "jax", **(made.claims if made else {})}
    return Binds(make, claims, (*told, "applied without variables"), keywords=keywords)


def _fits(callee: Callee) -> str:
    return makeable(callee) if is_of(callee.found, "flax") else "it is no module of Flax"


STYLE = Style(
    "flax",
    62,
    needs={"x": XS, "positions": sorted(POSITIONS)},
    binds=_binds,
    fits=_fits,
    eager=True,
)
