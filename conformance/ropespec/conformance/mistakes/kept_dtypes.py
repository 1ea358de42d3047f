"""What is kept in the dtype of the call that needed it first: tables, pages, frequencies."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.chain import RIGHT, Table, ladder, own_position
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.kept_tables import Grown, asked_for
from ropespec.conformance.mistakes.keys import KEYS, Source, first, like, narrowest, run
from ropespec.conformance.mistakes.rounding import rounded

__all__ = ["KEPT_DTYPES", "MISTAKES"]

MISTAKES = entries("""
C4 stale dtype
    A table, or frequencies, made for a call of fewer digits serve later calls of more; put the
    dtype into the key.
""")


def _made_in(g: Given, grown: Grown) -> str:
    """Return the dtype of the call for which the table of this width was made or made larger."""
    rows, kept = 0.0, ""
    for one in asked_for(g, by_width=True):
        need = int(np.abs(one.positions).max(initial=0)) + 1
        if need > rows:
            rows, kept = grown(need, int(rows)), one.dtype
    return kept


def _kept_in_dtype(how: str, grown: Grown) -> Choice:
    what = f"cos and sin have the dtype of the call for which their table was {how}"
    return Choice("C4", "memory", what, _tables_in(lambda g: _made_in(g, grown)), 1.4)


def _by_key(word: str, source: Source) -> Choice:
    what = f"cos and sin have the dtype of the {word}"
    return Choice("C4", "memory", what, _tables_in(lambda g: source(g).dtype), 1.45)


def _by_blocks(size: int) -> Choice:
    """Return tables of so many positions, each in the dtype of the call that first needed it."""

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        blocks = np.floor_divide(g.positions, size)
        c, s = np.cos(angle), np.sin(angle)
        due = np.ones(blocks.shape, dtype=bool)
        for one in asked_for(g, by_width=True):
            here = due & np.isin(blocks, np.floor_divide(one.positions, size))
            due &= ~here
            if one.dtype != "float64" and here.any():
                at = here[..., None, None]
                c, s = (np.where(at, rounded(part, one.dtype), part) for part in (c, s))
        return c, s

    what = f"cos and sin have the dtype of the call that first needed their {size} positions"
    return Choice("C4", "memory", what, {"table": table}, 1.5)


def _by_added_rows(first: int, how: str, grown: Grown, *, of_positions: bool) -> Choice:
    """Return tables whose added rows are made in the dtype of the call that needs them."""

    def kept(g: Given, values: Array) -> Array:
        rows, far = first, np.abs(g.positions)[..., None, None]
        for one in asked_for(g, by_width=True):
            need = int(np.abs(one.positions).max(initial=0)) + 1
            if need > rows:
                more = int(grown(need, rows))
                if one.dtype not in ("float32", "float64"):
                    there = (far >= rows) & (far < more)
                    values = np.where(there, rounded(values, one.dtype), values)
                rows = more
        return values

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        return kept(g, np.cos(angle)), kept(g, np.sin(angle))

    what = "positions" if of_positions else "cos and sin"
    said = f"{what} have the dtype of the call that added their rows to a table of {first}, {how}"
    place = {"place": lambda g: kept(g, own_position(g))}
    return Choice("C4", "memory", said, place if of_positions else {"table": table}, 1.55)


def _frequencies_by(word: str, source: Source) -> Choice:
    """Return frequencies in the dtype of the call that left them."""

    def made(moved: float) -> Callable[[Given], Array]:
        def theta(g: Given) -> Array:
            dtype = source(g).dtype
            if dtype == "float64":
                return ladder(g)
            unit = 2.0**-52 if dtype == "float32" else 2.0**-23  # of the arithmetic before
            return rounded((1 + moved * unit) * ladder(g), dtype)

        return theta

    nudged = tuple(replace(RIGHT, frequency=made(moved)) for moved in (-1.0, 1.0))
    change = {"frequency": made(0.0), "nudged": nudged}
    return Choice("C4", "memory", f"frequencies have the dtype of the {word}", change, 1.45)


def _tables_in(dtype: Callable[[Given], str]) -> dict[str, object]:
    """Return tables rounded to a dtype, and what float arithmetic may make of a halfway case."""

    def made(moved: float) -> Table:
        def table(g: Given, angle: Array) -> tuple[Array, Array]:
            kept = dtype(g)
            if kept == "float64":
                return np.cos(angle), np.sin(angle)
            unit = 2.0**-50 if kept == "float32" else 2.0**-23  # of what is rounded
            angle = angle + moved * unit * (1 + np.abs(angle))
            return rounded(np.cos(angle), kept), rounded(np.sin(angle), kept)

        return table

    nudged = tuple(replace(RIGHT, table=made(moved)) for moved in (-1.0, 1.0))
    return {"table": made(0.0), "nudged": nudged}


def _always(kind: str) -> Callable[[Given], str]:
    return lambda _: kind


_POSITIONS = ("call with these positions", like(lambda p: p))
_OF_ANY_DTYPE = (_POSITIONS, *((word, key) for word, key in KEYS if "dtype" not in word))
_KEPT_LONG = tuple(one for one in KEYS if one[0] in ("call", "call of this head_dim"))

KEPT_DTYPES: tuple[Choice, ...] = (
    *(
        _kept_in_dtype(how, grown)
        for how, grown in (
            ("made", lambda *_: np.inf),
            ("made as long as it must be", lambda need, _: need),
            ("made, a power of two long", lambda need, _: 1 << (need - 1).bit_length()),
            ("made, at least doubled", lambda need, rows: max(need, 2 * rows)),
        )
    ),
    *(_by_blocks(2**power) for power in (0, *range(4, 14))),
    *(
        _by_added_rows(2**power, how, grown, of_positions=of_positions)
        for power in range(6, 14)
        for how, grown in (
            ("as long as it must be", lambda need, _: need),
            ("at least doubled", lambda need, rows: max(need, 2 * rows)),
            ("doubled", lambda need, rows: rows * 2 ** int(np.ceil(np.log2(need / rows)))),
        )
        for of_positions in (False, True)
    ),
    *(_frequencies_by(f"first {word}", first(key)) for word, key in _OF_ANY_DTYPE),
    *(_frequencies_by(f"narrowest {word} so far", narrowest(key)) for word, key in _KEPT_LONG),
    *(_by_key(f"first {word}", first(key)) for word, key in _OF_ANY_DTYPE),
    *(_by_key(f"first {word} since another", run(key)) for word, key in _OF_ANY_DTYPE),
    *(
        Choice("C4", "memory", f"cos and sin are rounded to {kind}", _tables_in(_always(kind)), 1.5)
        for kind in ("bfloat16", "float16", "float32")
    ),
)
"""In which dtype something may be that is kept."""
