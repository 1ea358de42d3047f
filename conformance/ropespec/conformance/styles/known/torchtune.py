"""torchtune: a class made of sizes, whose instances take x and positions by a name; or one such."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import Binds, Setting, Style, Way
from ropespec.conformance.styles.growing import Growing
from ropespec.conformance.styles.made import Maker, makeable, maker
from ropespec.conformance.styles.signature import KEYS, POSITIONS, XS, Callee

_INPUT_POS = "input_pos"


def by_instances(callee: Callee, roles: Mapping[str, str]) -> Binds:
    """Bind a class by its instances, one for what is given to it; an instance as it is."""
    layouts = {"layouts": [True]} if roles["positions"] == _INPUT_POS else {}
    if not callee.is_class:

        def call(x: Array, positions: Array, _: Mapping[str, Any]) -> Result:
            return callee.call(callee.found, {roles["x"]: x, roles["positions"]: positions})

        return Binds(lambda _: [call], {**layouts, "empty": False}, ("called as it was made",))
    made = maker(callee.found, callee.space)
    assert isinstance(made, Maker)
    growing = Growing(made)

    def make(setting: Setting) -> Sequence[Way]:
        def rotate(x: Array, positions: Array, keywords: Mapping[str, Any]) -> Result:
            neighbours = keywords.get("interleaved", setting.profile.layouts[0])

            def use(module: Result) -> Result:
                return callee.call(module, {roles["x"]: x, roles["positions"]: positions})

            return growing.call(setting, x, positions, use, interleaved=neighbours)

        return [rotate]

    keywords = ("interleaved",) if made.switch else ()
    return Binds(
        make, {**layouts, "empty": False, **made.claims}, (growing.told,), keywords=keywords
    )


def _fits(callee: Callee) -> str:
    if inspect.isroutine(callee.found):
        return "it binds classes and their instances; leave --style out for f(x, positions)"
    return makeable(callee) if callee.is_class else ""


STYLE = Style(
    "torchtune",
    60,
    needs={"x": XS, "positions": sorted(POSITIONS)},
    binds=by_instances,
    refuses=KEYS,
    fits=_fits,
)
