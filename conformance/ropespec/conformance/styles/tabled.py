"""Functions of x, or of q and k, and of cosines and sines in any of the usual forms."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ropespec.conformance.styles import heads
from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import FINITE, SWITCHES, Binds, Setting, Way
from ropespec.conformance.styles.made import Maker
from ropespec.conformance.styles.signature import Callee
from ropespec.conformance.styles.tables import Tables

__all__ = ["BROADCAST", "NARROW", "OF_X", "ROWS", "WIDE", "Form", "tabled"]


class Form(NamedTuple):
    """A form of tables.

    Attributes
    ----------
    told : str
        What it is, as a clause; nothing of the usual one.
    wide : bool
        Whether it has a column for each component, and not for each pair.
    shaped : callable
        Of a table (S, columns), or (B, S, columns) if there are `rows`, and the axis of the heads.
    rows : bool
        Whether tokens of different rows may have different positions.
    """

    told: str
    wide: bool
    shaped: Callable[[Array, int], Array]
    rows: bool = False


ROWS = Form("", wide=True, shaped=lambda table, _: table, rows=True)
WIDE = Form("tables as wide as x, (S, D)", wide=True, shaped=lambda table, _: table)
NARROW = Form("tables (S, pairs)", wide=False, shaped=lambda table, _: table)
BROADCAST = Form(
    "tables with an axis of heads, of size 1",
    wide=True,
    shaped=lambda table, heads: table[(*(slice(None),) * heads, None)],
    rows=True,
)
OF_X = (
    NARROW._replace(told=""),
    Form("tables with an axis of rows, (1, S, pairs)", wide=False, shaped=lambda one, _: one[None]),
    WIDE,
    Form("tables as wide as x, (1, S, D)", wide=True, shaped=lambda table, _: table[None]),
)
"""The forms of tables of one row of positions, the usual one first."""


@dataclass(frozen=True)
class _Tabled:
    """One way to call a function of tables."""

    callee: Callee
    roles: Mapping[str, str]
    setting: Setting
    form: Form
    equal: bool
    cut: bool
    maker: Maker | None
    tables: Tables
    kept: dict[object, Sequence[Array]] = field(default_factory=dict)

    def __call__(self, x: Array, positions: Array, keywords: Mapping[str, Any]) -> Result:
        neighbours = keywords.get("interleaved", self.setting.profile.layouts[0])
        dim = self.setting.profile.rotation.dim(x.shape[-1])
        turned = x[..., :dim] if self.cut else x

        def of(part: Array, places: Array) -> Result:
            given = {**self._tables(x, places, neighbours=neighbours), **self._told(neighbours)}
            if "positions" in self.roles:
                given[self.roles["positions"]] = places if places.ndim > 1 else places[None]
            return self._call(given, part)

        rows = self.form.rows or "positions" in self.roles or self.setting.profile.axes == "shd"
        y = of(turned, positions) if rows else self._by_rows(of, turned, positions)
        return self.setting.space.cat([y, x[..., dim:]], -1) if self.cut else y

    def _call(self, given: Mapping[str, Any], x: Array) -> Result:
        if "k" not in self.roles:
            return self.callee.call(self.callee.found, {**given, self.roles["x"]: x})

        def both(q: Array, k: Array) -> Result:
            named = {**given, self.roles["x"]: q, self.roles["k"]: k}
            return self.callee.call(self.callee.found, named)

        axis = self.setting.profile.axes.index("h")
        return heads.rotated(self.setting, both, x, axis, equal=self.equal)

    def _told(self, neighbours: bool) -> dict[str, Any]:
        """Return what says how components pair and axes are ordered."""
        axes = self.setting.profile.axes
        said: dict[str, Any] = {}
        if "switch" in self.roles:
            said[self.roles["switch"]] = neighbours == SWITCHES[self.roles["switch"]]
        if "format" in self.roles:
            said[self.roles["format"]] = axes
        if "unsqueeze" in self.roles and axes.index("h") != 1:
            said[self.roles["unsqueeze"]] = axes.index("h")
        return said

    def _tables(self, x: Array, places: Array, *, neighbours: bool) -> dict[str, Any]:
        """Return the tables of some positions, or of all where they are looked up."""
        setting, space = self.setting, self.setting.space
        if self.form.rows and places.ndim == 1:
            places = places[None]
        if self.maker is not None:
            module = self.maker.made(setting, x.shape[-1], x.dtype, interleaved=neighbours)
            return dict(zip((self.roles["cos"], self.roles["sin"]), module(x, places), strict=True))
        if "positions" not in self.roles:
            made = self._made(x, places, neighbours=neighbours)
        else:
            key = (x.shape[-1], x.dtype, neighbours)
            if key not in self.kept:
                with space.making():
                    places = space.like(np.arange(setting.profile.max_position + 1), x)
                    self.kept[key] = self._made(x, places, neighbours=neighbours)
            made = self.kept[key]
        names = [self.roles[one] for one in ("freqs", "cos", "sin") if one in self.roles]
        return dict(zip(names, made, strict=True)) if names else {self.roles["both"]: tuple(made)}

    def _made(self, x: Array, places: Array, *, neighbours: bool) -> Sequence[Array]:
        space, width, made = self.setting.space, x.shape[-1], list[Array]()
        if "freqs" in self.roles:
            made += [space.cast(self.tables.angles(places, width), space.xp.float32)]
        else:
            made += self.tables.cos_sin(places, width, x.dtype)
        if self.form.wide:
            made = [self.tables.widened(one, neighbours=neighbours) for one in made]
        return [self.form.shaped(one, self.setting.profile.axes.index("h")) for one in made]

    def _by_rows(self, of: Callable[[Array, Array], Result], x: Array, positions: Array) -> Result:
        """Call once if all rows are alike, and else once for each."""
        if positions.ndim == 1 or not len(positions):
            return of(x, positions if positions.ndim == 1 else positions.sum(0))
        space, axis = self.setting.space, self.setting.profile.axes.index("b")
        with contextlib.suppress(Exception):  # what is traced has no values
            rows = space.row(positions)
            if (rows == rows[:1]).all():
                return of(x, positions[0])
        at = [(*(slice(None),) * axis, slice(n, n + 1)) for n in range(len(positions))]
        return space.cat([of(x[one], positions[n]) for n, one in enumerate(at)], axis)


def tabled(
    callee: Callee,
    roles: Mapping[str, str],
    forms: Sequence[Form],
    claims: Mapping[str, Any],
    told: Sequence[str],
    maker: Maker | None = None,
) -> Binds:
    """Bind a function of tables by the form that it takes.

    Parameters
    ----------
    callee, roles
        What is bound, and its parameters by what each takes: `x` or that and `k`; `cos` and `sin`,
        `both` or `freqs`; `positions` by which it looks rows up; `switch`, `format`, `unsqueeze`.
    forms : sequence of Form
        In which tables may be, the usual one first.
    claims, told
        What follows, and what is converted, whatever it is.
    maker : Maker or None
        Makes the tables, of x and positions.
    """
    cuts = (False, True)
    ways = [(form, equal, cut) for form in forms for equal in heads.ways(roles) for cut in cuts]

    def make(setting: Setting) -> Sequence[Way]:
        tables = Tables(setting)
        return [_Tabled(callee, roles, setting, *way, maker, tables) for way in ways]

    layouts = {"layouts": [True, False]} if "switch" in roles else {}
    finite = FINITE if "positions" in roles else {}
    return Binds(
        make,
        {**claims, **layouts, **finite},
        (*([heads.TOLD] if "k" in roles else []), *told),
        tuple(_clause(*way) for way in ways),
        ("interleaved",) if "switch" in roles else (),
    )


def _clause(form: Form, equal: bool, cut: bool) -> str:
    parts = (form.told, heads.EQUAL if equal else "", _CUT if cut else "")
    return ", ".join(part for part in parts if part)


_CUT = "only the components that rotate are handed over"
