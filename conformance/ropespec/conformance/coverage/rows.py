"""From a row of levels to a case, and from a case to the arrays of a call."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, pool
from ropespec.conformance.coverage.array import PAIRS, Level, Levels, Table
from ropespec.conformance.coverage.levels import ALL, part_of
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.layout import from_subject, positions_for_subject, to_subject
from ropespec.conformance.subject.views import same_along

__all__ = ["Row", "Walk", "case_of", "inputs", "walk_of"]


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its levels, and the case that is made of them."""

    levels: Levels
    case: Case


@dataclass(frozen=True, slots=True)
class Walk:
    """What is walked whole.

    Attributes
    ----------
    rows : sequence of Row
        In the order in which they are judged.
    combinations : int
        How many combinations of levels there are.
    strength : int
        Of how many levels each.
    positions : tuple of int
        The first and the last of those that it visits all.
    """

    rows: Sequence[Row]
    combinations: int = 0
    strength: int = PAIRS
    positions: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)


def walk_of(
    table: Table,
    profile: Profile,
    *,
    interleaved: bool,
    seed: int,
    strength: int = PAIRS,
    like: Table | None = None,
) -> Walk:
    """Return the rows of a table as cases; where each program is compiled, of few programs."""
    compiles = profile.compiles
    levels = _of_few_programs(table, profile, strength) if compiles else table.rows(strength, like)
    rows = [
        Row(one, case_of(one, profile, interleaved=interleaved, seed=seed + number))
        for number, one in enumerate(levels)
    ]
    return Walk(rows, table.count(strength), strength)


_PROGRAM = ("dtype", "rows, tokens, heads", "head_dim", "rotated")
"""The dimensions for whose levels a compiler makes a program."""


def _of_few_programs(table: Table, profile: Profile, strength: int) -> list[Levels]:
    """Return rows of three shapes in the first dtype, and of one in the others."""
    shapes = pool(profile.head_dims, one_row=profile.axes == "shd")
    first, *others = profile.dtypes
    made = [(first, shape) for shape in shapes] + [(dtype, shapes[-1]) for dtype in others]
    programs: list[tuple[Level, ...]] = [
        (dtype, " x ".join(map(str, shape[:3])), shape[3], ALL) for dtype, shape in made
    ]
    rest = tuple(one for one in table.dimensions if one[0] not in _PROGRAM)
    few = Table((("program", tuple(range(len(programs)))), *rest)).rows(strength)
    return [
        dict(zip(_PROGRAM, programs[int(str(row["program"]))], strict=True))
        | {name: level for name, level in row.items() if name != "program"}
        for row in few
    ]


def case_of(levels: Levels, profile: Profile, *, interleaved: bool, seed: int) -> Case:
    """Make a case of a row of `levels.rotation_table`."""
    named: dict[str, Any] = dict(levels)
    batch, seq, heads = map(int, named["rows, tokens, heads"].split(" x "))
    head_dim, part = named["head_dim"], named["rotated"]
    by = profile.rotation.stating(interleaved=interleaved, base=named["base"])
    by = by if named.get("numbers") == "apart" else by.text
    by = by if part == ALL else by.stating(rotary_dim=part_of(head_dim, part))
    return Case(
        batch=batch,
        seq=seq,
        heads=heads,
        head_dim=head_dim,
        convention=by,
        dtype=named["dtype"],
        positions=named["positions"],
        start=named["from"],
        limit=profile.max_position,
        values=named["values"],
        strided=named["view of x"],
        seed=seed,
        positions_view=named.get("view of positions", ""),
        integers=named.get("integers", "int64"),
        cotangent_view=named.get("view of the cotangent", ""),
    )


def inputs(profile: Profile, case: Case, seed: int = 0) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return x and positions with values that their views can have."""
    positions = case.make_positions()
    if case.positions_view:
        one = same_along(positions_for_subject(positions, profile), case.positions_view)
        if profile.numbers:
            one = np.moveaxis(one, 0, -1) if positions.ndim == 3 else one[0]
        positions = np.broadcast_to(one, positions.shape).copy()
    x = case.make_x(positions, seed)
    if isinstance(case.strided, str) and case.strided:
        x = from_subject(same_along(to_subject(x, profile), case.strided), profile)
    return np.ascontiguousarray(x), positions
