"""MLX: `nn.RoPE` and `mx.fast.rope`, whose heads come before tokens, with an offset."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import Binds, Setting, Style, Way
from ropespec.conformance.styles.known.offset import CLAIMS, TOLD, by_offset
from ropespec.conformance.styles.made import makeable
from ropespec.conformance.styles.runs import by_runs
from ropespec.conformance.styles.signature import Callee, is_of

_CLAIMS = {**CLAIMS, "array": "mlx", "axes": "bhsd", "layouts": [True, False]}


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    if "x" in roles:
        binds = by_offset(callee, roles)
        return replace(binds, claims={**binds.claims, "axes": _CLAIMS["axes"]})

    def make(setting: Setting) -> Sequence[Way]:
        profile = setting.profile

        def rotate(x: Array, positions: Array, keywords: Mapping[str, bool]) -> Result:
            traditional = keywords.get("interleaved", profile.layouts[0])
            words = {"traditional": traditional, "base": profile.base, "scale": 1.0}
            dims = profile.rotation.dim(x.shape[-1])

            def part(piece: Array, start: int) -> Array:
                return callee.found(piece, dims, **words, offset=start)

            return by_runs(part, x, setting.space.row(positions), profile.axes, setting.space)

        return [rotate]

    return Binds(make, _CLAIMS, TOLD, keywords=("interleaved",), by_runs=True)


def _fits(callee: Callee) -> str:
    home = str(getattr(callee.found, "__module__", ""))
    if is_of(callee.found, "mlx") and callee.first(("offset",)):
        return makeable(callee)
    is_it = home.startswith("mlx") and callee.name.endswith("rope")
    return "" if is_it else "it is not mx.fast.rope, nor a layer of MLX"


_GIVEN = ("x", "a", "dims", "traditional", "base", "scale", "offset")

STYLE = Style(
    "mlx",
    70,
    needs={},
    binds=_binds,
    knows={name: (name,) for name in _GIVEN},  # it has no signature that says so
    fits=_fits,
    eager=True,
)
