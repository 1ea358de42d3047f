"""What checks of the rotation share that walk their input space instead of drawing from it."""

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, pool, seed_of
from ropespec.conformance.checks.rotation.common import EVERYTHING
from ropespec.conformance.coverage.array import Level
from ropespec.conformance.coverage.levels import ALL, rotation_table
from ropespec.conformance.coverage.rows import Row, Walk, case_of, inputs, walk_of
from ropespec.conformance.judge.finding import Finding, held
from ropespec.conformance.judge.values import POSITIONS
from ropespec.conformance.profile import Profile
from ropespec.conformance.registry import Walker
from ropespec.conformance.subject.session import SubjectRaised
from ropespec.conformance.subject.views import GAPS, READ_ONLY
from ropespec.conformance.trial import Trial

__all__ = [
    "ask",
    "at_its_widest",
    "blamed_on_others",
    "every_item",
    "in_turn",
    "judged_at",
    "listed",
    "rotated",
    "usual_alone",
    "usual_case",
    "walked",
    "widened",
]


ALL_VALUES = (*EVERYTHING, "huge")


def walked(
    *,
    interleaved: bool | None = None,
    values: Sequence[str] = ALL_VALUES,
    tail: bool = False,
    back: bool = False,
) -> Walker:
    """Walk all pairs of levels of a rotation, in one layout or in the first that is claimed."""

    def walk(trial: Trial, seed: int, strength: int) -> Walk:
        claimed = trial.profile
        takes = trial.keywords("apply_rotary")
        table = rotation_table(claimed, takes, values=values, tail=tail, back=back)
        # To look for rows takes as long as to judge a hundred of them.
        like = rotation_table(claimed, takes, values=ALL_VALUES) if tail else None
        layout = claimed.layouts[0] if interleaved is None else interleaved
        return walk_of(table, claimed, interleaved=layout, seed=seed, strength=strength, like=like)

    return walk


LEAST = 28
"""Cases of a list that is walked in turn, however short it is."""


def in_turn(
    values: Sequence[str],
    *,
    least: tuple[int, int, int] = (1, 1, 1),
    positions: Sequence[str] = POSITIONS,
    max_position: int = sys.maxsize,
    every_dtype: bool = False,
) -> Walker:
    """Walk patterns of x in every dtype, and the levels of other dimensions in turn.

    Of views there are gaps or none. Where each shape is compiled it is one of the pool, in the
    first dtype alone if not said otherwise.

    Parameters
    ----------
    values : sequence of str
        Patterns of x.
    least : tuple of int
        The smallest numbers of rows, tokens and heads.
    positions : sequence of str
        Patterns of positions.
    max_position : int
        Their limit, where that of the profile is larger.
    every_dtype : bool
        Whether all dtypes are compiled.
    """

    def walk(trial: Trial, seed: int, strength: int) -> Walk:
        del strength
        most = min(trial.profile.max_position, max_position)
        claimed = replace(trial.profile, max_position=most)
        table = rotation_table(claimed, trial.keywords("apply_rotary"), values=values)
        levels = {name: some for name, some in table.dimensions if name not in _OTHERWISE}
        levels["positions"] = tuple(one for one in levels["positions"] if one in positions)
        levels["view of x"] = tuple(one for one in levels["view of x"] if one in ("", GAPS))
        if claimed.compiles and not every_dtype:
            levels["dtype"] = levels["dtype"][:1]
        return listed(_turns(claimed, levels, seed, least))

    return walk


def _turns(
    claimed: Profile,
    levels: Mapping[str, Sequence[Level]],
    seed: int,
    least: tuple[int, int, int],
) -> Iterator[Case]:
    """Make the cases of `in_turn`."""
    shapes = pool(claimed.head_dims, one_row=claimed.axes == "shd")
    pairs = list(itertools.product(levels["values"], levels["dtype"]))
    for number in range(max(LEAST, len(pairs))):
        x, dtype = pairs[number % len(pairs)]
        row = {name: some[number % len(some)] for name, some in levels.items()}
        row |= {"values": x, "dtype": dtype}
        if claimed.compiles:
            *sizes, dim = shapes[number % len(shapes) if dtype == claimed.dtypes[0] else -1]
            row |= {"rows, tokens, heads": " x ".join(map(str, sizes)), "head_dim": dim}
            row |= {"rotated": ALL}
        layout = claimed.layouts[number % len(claimed.layouts)]
        case = case_of(row, claimed, interleaved=layout, seed=seed_of(seed + number))
        rows, tokens, heads = map(max, case.shape[:3], least)
        yield replace(case, batch=rows, seq=tokens, heads=heads)


def at_its_widest(*, also_from: tuple[int, ...] = ()) -> Walker:
    """Walk all numbers of rows, tokens and heads, of the widest heads, in every dtype.

    Layouts, and views with gaps or none, come in turn. Each call has as many components as tell
    what is done to all. Positions are small, where angles are exact enough to say how a result was
    stored. Where each shape is compiled it is one of the pool.

    Parameters
    ----------
    also_from : tuple of int
        Where positions begin as well.
    """

    def walk(trial: Trial, seed: int, strength: int) -> Walk:
        del strength
        claimed = trial.profile
        table = rotation_table(claimed, trial.keywords("apply_rotary"), values=("normal",))
        levels = {name: some for name, some in table.dimensions if name not in _OTHERWISE}
        small = tuple(start for start in levels["from"] if int(str(start)) <= _EXACT_ENOUGH)
        levels |= {"head_dim": levels["head_dim"][-1:], "rotated": (ALL,)}
        levels["positions"] = levels["positions"][:1]
        levels["view of x"] = tuple(one for one in levels["view of x"] if one in ("", GAPS))
        if claimed.compiles:
            *sizes, dim = pool(claimed.head_dims, one_row=claimed.axes == "shd")[-1]
            levels |= {"rows, tokens, heads": (" x ".join(map(str, sizes)),), "head_dim": (dim,)}
        kinds = [*itertools.product(levels["dtype"], (*small[-1:], *also_from))]
        rows = []
        for place, shape in enumerate(levels["rows, tokens, heads"]):
            for kind, (dtype, start) in enumerate(kinds):
                number = place * len(kinds) + kind
                row = {name: some[number % len(some)] for name, some in levels.items()}
                row |= {"rows, tokens, heads": shape, "dtype": dtype, "from": start}
                layout = claimed.layouts[(place + kind) % len(claimed.layouts)]
                rows.append(case_of(row, claimed, interleaved=layout, seed=seed_of(seed + number)))
        return listed(rows)

    return walk


_EXACT_ENOUGH = 255
"""Where the error of an angle in float32 is some hundredths of a step of float16 below 1."""

_OTHERWISE = ("integers", "view of positions", "numbers")
"""What not every call of a check can be: a law knows of one position."""


def listed(cases: Iterable[Case], positions: tuple[int, ...] = ()) -> Walk:
    """Walk a list, of which no levels are counted."""
    return Walk([Row({}, case) for case in cases], positions=positions)


def every_item(count: int) -> Walker:
    """Walk all items of a list, which a check tells apart by the seed of a case."""

    def walk(trial: Trial, seed: int, strength: int) -> Walk:
        del seed, strength
        usual = usual_case(trial, 0)
        few = trial.profile.dtypes[:1] if trial.profile.compiles else trial.profile.dtypes
        return listed(
            replace(usual, dtype=dtype, seed=item) for item in range(count) for dtype in few
        )

    return walk


_SOME_PAIRS = 16


def usual_case(trial: Trial, seed: int) -> Case:
    """Return a small case of what is claimed, from which others are made.

    Where each shape is compiled it is one of the pool.
    """
    claimed = trial.profile
    one_row = claimed.axes == "shd"
    shared = claimed.shared_positions or one_row
    batch, seq, heads, narrow = pool(claimed.head_dims, one_row=one_row)[1]
    wide = max(claimed.rotary_dim or 2, narrow if claimed.compiles else _SOME_PAIRS)
    return Case(
        batch=batch,
        seq=min(seq, trial.most_tokens(batch)) or 1,
        heads=heads,
        head_dim=next((dim for dim in claimed.head_dims if dim >= wide), max(claimed.head_dims)),
        convention=claimed.rotation.text,
        dtype=claimed.dtypes[0],
        positions="arange" if shared else "ragged",
        start=0,
        limit=claimed.max_position,
        values="normal",
        strided=False,
        seed=seed,
    )


def widened(claimed: Profile, case: Case) -> Case:
    """Return a case with the widest head; where each shape is compiled, the largest of the pool."""
    if not claimed.compiles:
        return replace(case, head_dim=max(claimed.head_dims))
    rows, tokens, heads, dim = pool(claimed.head_dims, one_row=claimed.axes == "shd")[-1]
    return replace(case, batch=rows, seq=tokens, heads=heads, head_dim=dim)


def usual_alone(trial: Trial, seed: int, strength: int) -> Walk:
    """Walk the usual case alone."""
    del seed, strength
    return listed([usual_case(trial, 0)])


def judged_at(trial: Trial, case: Case, positions: NDArray[np.int64]) -> Finding:
    """Rotate x at positions, and judge it."""
    x = case.make_x(positions)
    return trial.judge(case, x, positions, trial.rotate(case, x, positions))


def blamed_on_others(
    trial: Trial, found: Finding, again: Callable[[], Finding], message: str
) -> Finding:
    """Return that calls before it are to blame for one, if it passes on a fresh instance.

    What is wrong on a fresh instance too is the business of other checks.
    """
    trial.session.refresh()
    if not again().passed:
        return held()
    return replace(found, message=message, general=False)


def rotated(trial: Trial, case: Case) -> Finding:
    """Rotate x of a row, and judge it."""
    x, positions = inputs(trial.profile, case)
    y = ask(trial, case, x, positions)
    return trial.judge(case, x, positions, y)


def ask(
    trial: Trial, case: Case, x: NDArray[np.floating], positions: NDArray[np.int64]
) -> NDArray[np.floating]:
    """Rotate; what no clause promises may be refused: integers of all kinds, locked memory."""
    sent = positions.astype(case.integers)
    try:
        return trial.rotate(
            case, x, sent, strided=case.strided, strided_positions=case.positions_view
        )
    except SubjectRaised:
        locked = case.strided == READ_ONLY
        if not (locked or case.positions_view or case.integers != "int64"):
            raise
    return trial.rotate(case, x, positions, strided=False if locked else case.strided)
