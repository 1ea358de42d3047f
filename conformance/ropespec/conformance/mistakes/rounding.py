"""Numbers rounded on the way: positions, frequencies, angles, tables, x, products, sums."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any

import ml_dtypes
import numpy as np

from ropespec.conformance.mistakes.chain import RIGHT, cos_sin, followed, ladder
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["KINDS", "MISTAKES", "PLACES", "beside_another", "rounded", "roundings", "several"]

MISTAKES = entries("""
D1 frequencies in half precision
    inv_freq is rounded to half precision; keep the buffer in float32 when the model is cast.
D3 angles or products in half precision
    The angle, or the products, are made in half precision; compute in float32 and cast at the
    end.
D5 angles in reduced matrix precision
    The outer product runs in TF32 or under autocast; multiply element by element in float32.
D12 float32 intermediate
    Float64 is asked for but an intermediate stays in float32; compute the frequencies and angles
    in float64.
exponent in half precision
    The exponent is rounded to half precision before the power; compute it in float32 at least.
x demoted
    x passes through fewer bits than it has; compute in its own dtype at least.
""")

KINDS = ("bfloat16", "float16", "tf32", "float32")
PLACES = ("position", "frequency", "exponent", "angle", "table", "sine", "x", "product", "sum")

_KEYS = {
    "position": "D2",
    "frequency": "D1",
    "exponent": "exponent in half precision",
    "angle": "D3",
    "table": "D4",
    "sine": "D4",
    "x": "x demoted",
    "product": "D3",
    "sum": "D3",
}
_WORDS = {
    "position": "positions",
    "frequency": "frequencies",
    "exponent": "exponents",
    "angle": "angles",
    "table": "cos and sin",
    "sine": "sines",
    "x": "components of x",
    "product": "products",
    "sum": "sums",
}


def rounded(values: Array, kind: str) -> Array:
    """Round to a dtype, to nearest, and return float64."""
    with np.errstate(all="ignore"):
        if kind == "tf32":
            bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
            up = (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
            return np.asarray(up.view(np.float32), dtype=np.float64)
        if kind == "cut":
            bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
            cut = bits & np.uint32(0xFFFF0000)
            return np.asarray(cut.view(np.float32), dtype=np.float64)
        target = ml_dtypes.bfloat16 if kind == "bfloat16" else np.dtype(kind)
        narrow = np.asarray(values, dtype=np.float32) if kind != "float32" else values
        return np.asarray(narrow).astype(target).astype(np.float64)


@dataclass(frozen=True, slots=True)
class _Rounds:
    """The stages of a chain that rounds at some places, all to one dtype.

    With a nudge what is rounded is moved before by the error of float arithmetic; with a flip of
    -1 cosines and sines the other way than angles. Stages that are not in `only` are left alone.
    """

    places: tuple[str, ...]
    kind: str
    nudge: float = 0.0
    flip: float = 1.0
    only: tuple[str, ...] = ("place", "frequency", "angle", "table", "product")

    def at(self, place: str, values: Array) -> Array:
        """Round at a place, if it is one of them."""
        return rounded(values, self.kind) if place in self.places else values

    def moved(self, g: Given, values: Array, units: Array | float, least: float = 0.0) -> Array:
        """Move values by so many units in the last place, and away from zero by `least` of 1."""
        unit = 2.0**-53 if g.dtype == "float64" else 2.0**-24
        away = np.copysign(least * unit, values)
        return np.asarray(values * (1 + self.nudge * units * unit) + self.nudge * away)

    def place(self, g: Given) -> Array:
        """Return the position of each token, or what each pair follows."""
        if g.axes:
            return followed(g, self.at("position", g.numbers)[..., None, :])
        return self.at("position", g.positions[..., None, None].astype(np.float64))

    def frequency(self, g: Given) -> Array:
        """Return the frequencies."""
        if "exponent" in self.places:
            exponent = np.arange(0, g.turning, 2) / g.turning
            return np.exp(-rounded(exponent * np.log(g.base), self.kind))
        theta = ladder(g)
        if "frequency" not in self.places:
            return theta
        return self.at("frequency", self.moved(g, theta, _units(theta)))

    def angle(self, g: Given, place: Array, theta: Array) -> Array:
        """Return the angles."""
        units: Array | float = 1.0
        if "frequency" not in self.places:
            units = _units(theta)
        exact = theta == 1.0  # the angle is the position, and halfway cases are decided
        return self.at("angle", self.moved(g, place * theta, np.where(exact, 0.0, units)))

    def table(self, g: Given, angle: Array) -> tuple[Array, Array]:
        """Return cosines and sines."""
        other = replace(self, nudge=self.nudge * self.flip)
        c, s = (self.at("table", other.moved(g, f, 3.0, 3.0)) for f in cos_sin(g, angle))
        return c, self.at("sine", s)

    def product(self, a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
        """Return the rotated pair."""
        a, b = self.at("x", a), self.at("x", b)
        ac, bs, bc, as_ = (self.at("product", part) for part in (a * c, b * s, b * c, a * s))
        return self.at("sum", ac - bs), self.at("sum", bc + as_)

    def change(self) -> dict[str, Any]:
        """Return the stages; the product only where it rounds, for it may be that of a way back."""
        rounds = {"x", "product", "sum"} & set(self.places)
        left = set() if rounds else {"product"}
        made = self._stages()
        return {stage: made[stage] for stage in made if stage in self.only and stage not in left}

    def _stages(self) -> dict[str, Any]:
        return {
            "place": self.place,
            "frequency": self.frequency,
            "angle": self.angle,
            "table": self.table,
            "product": self.product,
        }


def _units(theta: Array) -> Array:
    """Return by how many units in the last place float arithmetic may move frequencies."""
    return np.asarray(6 + 3 * np.abs(np.log(np.maximum(theta, 1e-30))))


_BESIDE = {
    "frequency": ("frequency",),
    "exponent": ("frequency",),
    "angle": ("angle",),
    "table": ("angle", "table"),
    "product": ("angle", "table", "product"),
    "x": ("product",),
}


def beside_another(dtype: str) -> Iterator[Choice]:
    """Return roundings at one place that leave the other stages to another mistake."""
    for place, stages in _BESIDE.items():
        for kind in _kinds(dtype):
            if kind != dtype or place != "x":
                yield several((place,), kind, stages)


@cache
def several(places: tuple[str, ...], kind: str, only: tuple[str, ...] | None = None) -> Choice:
    """Return a chain that rounds at some places, all to one dtype."""
    rounds = _Rounds(places, kind)
    rounds = rounds if only is None else replace(rounds, only=only)
    nudged = tuple(
        replace(RIGHT, **replace(rounds, nudge=way, flip=flip).change())
        for way in (-1.0, -0.5, 0.5, 1.0)
        for flip in (1.0, -1.0)
    )
    change = {**rounds.change(), "nudged": nudged}
    words = [_WORDS[place] for place in places]
    listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    what = f"{listed} are rounded to {kind}"
    return Choice(_key(places, kind), "precision", what, change, 0.9 + 0.3 * len(places))


def _key(places: tuple[str, ...], kind: str) -> str:
    if kind == "float32":
        return "x demoted" if "x" in places else "D12"
    if kind == "tf32" and set(places) <= {"position", "frequency", "angle"}:
        return "D5"
    if {"angle", "product", "sum"} & set(places):
        return "D3"
    return _KEYS[places[0]]


_SETS = tuple(
    places
    for count in (1, 2, 3, 4, 5)
    for places in combinations(
        ("position", "frequency", "angle", "table", "x", "product", "sum"), count
    )
)


def _kinds(dtype: str) -> tuple[str, ...]:
    return KINDS if dtype == "float64" else ("bfloat16", "float16", "tf32")


def roundings(dtype: str) -> Iterator[Choice]:
    """Return the ways to round x of a dtype that lose something, the simplest first."""
    for places in (*_SETS, ("exponent",), ("sine",)):
        for kind in _kinds(dtype):
            if kind == dtype and {"x", "sum"} & set(places):
                continue  # x is of that dtype, and so is the result
            yield several(places, kind)
            if set(places) == {"position", "frequency", "angle"} and kind == "bfloat16":
                # A product of matrices under autocast does this, and so does a careless cast.
                yield replace(several(places, kind), key="D5")
