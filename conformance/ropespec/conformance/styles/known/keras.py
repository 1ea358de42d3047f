"""Keras: a layer with positions, made for each dtype, for it casts x to its own."""

import sys
from collections.abc import Mapping
from dataclasses import replace

from ropespec.conformance.frameworks import ARRAYS
from ropespec.conformance.styles.base import Binds, Style
from ropespec.conformance.styles.known.torchtune import by_instances
from ropespec.conformance.styles.made import makeable
from ropespec.conformance.styles.signature import POSITIONS, XS, Callee, is_of


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    binds = by_instances(callee, roles)
    backend = sys.modules["keras"].backend.backend()
    own = {"array": backend} if backend in ARRAYS else {}
    return replace(binds, claims={**binds.claims, **own})


def _fits(callee: Callee) -> str:
    layer = callee.is_class and is_of(callee.found, "keras")
    return makeable(callee) if layer else "it is no layer of Keras"


STYLE = Style(
    "keras",
    61,
    needs={"x": XS, "positions": sorted(POSITIONS)},
    binds=_binds,
    fits=_fits,
    eager=True,
)
