"""Rules about gain, frequencies and positions."""

from collections.abc import Iterator

import numpy as np

from ropespec.conformance.identify.blocks import APART
from ropespec.conformance.identify.facts import Block, Diagnosis, Name, Pairing
from ropespec.conformance.identify.ladder import EQUAL_STEPS, PERMUTED, REPEATED, USUAL
from ropespec.conformance.identify.structure import proportional
from ropespec.conformance.identify.view import NEITHER, Rule, View, named

__all__ = ["RULES"]

_EXPONENTS = {
    "2i/head_dim": "R1",
    "reversed": "frequencies reversed",
    "0": "one scalar theta",
    "-2i/rotary_dim": "F2",
    "2i/(heads head_dim)": "X3",
}
_FACTORS = (2, 4, 8, 16, 32, 40, 64)


def gain(view: View) -> Iterator[Diagnosis]:
    """A factor on cos and sin."""
    found = view.value(Name.GAIN)
    if found is None or view.value(Name.LINEAR) not in (None, "yes", "rounded"):
        return
    if view.value(Name.BLOCK) is not Block.ROTATION:
        return
    if found == "power of the position":
        yield named("K21", 0.8)
    elif found == APART:
        yield named("cos and sin of different angles", 0.9)
    elif found == "varies":
        yield named("gain varies", 0.5)
    elif abs(found - 1.0) > 0.015:
        known = [f for f in _FACTORS if abs(0.1 * np.log(f) + 1 - found) < 1e-3]
        detail = f"factor {found:g}" + (f", that of YaRN by {known[0]}" if known else "")
        yield named("K13", 0.7, detail)
        yield named("K14", 0.2, detail)


def frequencies(view: View) -> Iterator[Diagnosis]:
    """A ladder other than base^(-2i/rotary_dim)."""
    exponent, scheme = view.value(Name.EXPONENT), view.value(Name.SCHEME)
    if view.value(Name.GAIN) == "varies":
        return  # angles are not to be read off such blocks
    if exponent is None or view.value(Name.PAIRING) in (
        Pairing.CROSSING_HEADS,
        Pairing.OTHER,
        Pairing.PERMUTED,
    ):
        return
    if proportional(view):
        yield from _scaled(view, "proportional: some frequencies are zero")
        return
    if scheme != "unscaled":
        yield from _no_ladder(view, scheme)
    elif exponent == USUAL:
        yield from _base_and_scale(view)
    elif exponent in _EXPONENTS:
        yield named(_EXPONENTS[exponent], 0.9, f"the exponent is {exponent}")
    else:
        yield from _exponent(view, exponent)


def _no_ladder(view: View, scheme: str) -> Iterator[Diagnosis]:
    """Frequencies that no formula gives at every head_dim."""
    if _base_ignored(view):
        # Kept from calls with another base, at one head_dim and not at the next.
        yield named("F1", 0.9, "the keyword base is ignored")
    elif scheme in (EQUAL_STEPS, PERMUTED, REPEATED):
        yield named(scheme, 0.9)
    else:
        yield from _scaled(view, scheme)


def _base_ignored(view: View) -> bool:
    return any(name == "base" for name, _ in view.value(Name.FLAGS) or ())


def _exponent(view: View, exponent: str) -> Iterator[Diagnosis]:
    """Name an exponent that has no name of its own, unless it is that of the first head_dim."""
    kept = _first_width(view)
    base = view.value(Name.BASE)
    if kept is None:
        yield named("F3", 0.95 if base is None else 0.8, f"the exponent is {exponent}")
        if base is not None:
            yield named("F1", 0.2, f"or the base is {base:g}")
    elif kept <= NEITHER:
        yield named("F3", NEITHER, f"the exponent is {exponent}")


def _first_width(view: View) -> float | None:
    """Return how sure it is that the frequencies are those of the first head_dim, if it may be."""
    fact = view.found.fact(Name.HISTORY)
    return fact.certainty if fact is not None and fact.value == "first width" else None


def _of_another_width(view: View) -> bool:
    """Whether the base looks wrong only because more or fewer components turn than are claimed.

    Frequencies base^(-2i/r) on r' components look like those of the base base^(r'/r).
    """
    turning, claimed = view.value(Name.ROTARY_DIM), view.claimed.rotary_dim
    if not turning or claimed is None or turning == claimed:
        return False
    seen = view.claimed.base ** (turning / claimed)
    return bool(abs(view.value(Name.BASE) / seen - 1) < 1e-2)


def _base_and_scale(view: View) -> Iterator[Diagnosis]:
    base, scale = view.value(Name.BASE), view.value(Name.POSITION_SCALE)
    claimed = view.claimed.base
    if base is not None and abs(base / claimed - 1) > 1.5e-4 and not _of_another_width(view):
        yield named("F1", 0.95, f"found {base:.6g}, claimed {claimed:.6g}")
    elif _base_ignored(view):
        yield named("F1", 0.9, "the keyword base is ignored")
    if scale == 2.0:
        yield from _doubled(view)
    elif scale is not None and abs(scale - 1) > 1e-3:
        yield named("K1", 0.8, f"factor {scale:g}")


def _doubled(view: View) -> Iterator[Diagnosis]:
    """Tell a rotation applied twice from doubled positions by the roundings of its result."""
    match view.value(Name.STORES):
        case "two":
            yield named("A1", 0.9, "all angles are doubled, and results are rounded twice")
        case "one":
            yield named("K6", 0.5, "all angles are doubled, and results are rounded once")
            yield named("M6", 0.3, "all angles are doubled")
            yield named("A1", 0.2, "all angles are doubled")
        case _:
            yield named("A1", 0.4, "all angles are doubled")
            yield named("K6", 0.35, "all angles are doubled")
            yield named("M6", 0.25, "all angles are doubled")


def _scaled(view: View, scheme: str) -> Iterator[Diagnosis]:
    speed = view.value(Name.FREQUENCIES) or (1.0,)
    wild = min(speed) < 1e-12 or abs(speed[0] - 1) > 0.6
    if wild and ("table" in scheme or "zero" in scheme):
        yield named("I1", 0.5, f"they begin with {speed[0]:.3g}")
    yield named("scaled frequencies", 0.5, f"unknown, nearest is {scheme}")


def offset(view: View) -> Iterator[Diagnosis]:
    """A constant added to positions."""
    found = view.value(Name.POSITION_OFFSET)
    if found is None or abs(found) < 1e-3:
        return
    if found in (1.0, -1.0):
        yield named("P3", 0.95, f"{found:+g}")
    else:
        yield named("offset", 0.8, f"{found:+g}")


RULES: tuple[Rule, ...] = (gain, frequencies, offset)
