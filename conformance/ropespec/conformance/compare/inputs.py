"""What both sides can be given: the terms on which they meet, and arrays drawn from a seed."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.builtin import BUILTIN
from ropespec.conformance.case import Case
from ropespec.conformance.compare.sides import Keywords, Side
from ropespec.conformance.judge.values import make_values
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.spec.convention import Convention

__all__ = ["Setting", "Terms", "drawn_cases", "make_x", "settle", "usual"]

Setting = tuple[Keywords, Keywords]
"""What A and what B are given."""

# (batch, seq, heads), which of the head_dims, values, positions: few shapes, for compilers.
_PLAN = (
    (1, 1, 1, 0, "basis", "arange", "near"),
    (2, 3, 2, 1, "normal", "ragged", "near"),
    (2, 8, 4, 2, "normal", "arange", "zero"),
    (2, 8, 4, 2, "null", "spread", "near"),
    (2, 8, 4, 2, "normal", "negative", "near"),
    (2, 8, 4, 2, "heavy", "shuffled", "middle"),
    (2, 8, 4, 2, "null", "arange", "far"),
    (3, 1, 2, 1, "normal", "ragged", "middle"),
)


@dataclass(frozen=True, slots=True)
class Terms:
    """What both sides take.

    Attributes
    ----------
    settings : tuple of Setting
        Ways of calling both, the usual one first.
    dtypes : tuple of str
        dtypes of x.
    head_dims : tuple of int
        Sizes of the last axis.
    max_position : int
        The largest absolute position.
    negative : bool
        Whether positions below zero are taken.
    one_row, shared : bool
        Whether there is one row in the batch, and one vector of positions for all rows.
    axes : tuple of int
        Which position number each pair of A is said to follow; empty unless both take several.
    """

    settings: tuple[Setting, ...]
    dtypes: tuple[str, ...]
    head_dims: tuple[int, ...]
    max_position: int
    negative: bool
    one_row: bool
    shared: bool
    axes: tuple[int, ...] = ()


def settle(a: Side, b: Side) -> Terms:
    """Return what two sides have in common.

    Raises
    ------
    TargetUnusable
        If they share no dtype or no head_dim, or tokens have other counts of position numbers.
    """
    ours, theirs = a.profile, b.profile
    dtypes = tuple(name for name in ours.dtypes if name in theirs.dtypes)
    if not dtypes:
        raise TargetUnusable(_nothing("dtype", a, b, ours.dtypes, theirs.dtypes))
    turning = max(one.rotary_dim or 2 for one in (ours, theirs))
    first, second = _head_dims(a, b), _head_dims(b, a)
    dims = tuple(dim for dim in first if dim in second and dim >= turning)
    if not dims:
        raise TargetUnusable(_nothing("head_dim", a, b, ours.head_dims, theirs.head_dims))
    one_row = "shd" in (ours.axes, theirs.axes)
    return Terms(
        settings=_settings(a, b),
        dtypes=dtypes,
        head_dims=dims,
        max_position=min(ours.max_position, theirs.max_position),
        negative=ours.negative_positions and theirs.negative_positions,
        one_row=one_row,
        shared=one_row or ours.shared_positions or theirs.shared_positions,
        axes=_numbers(a, b),
    )


def _numbers(a: Side, b: Side) -> tuple[int, ...]:
    """Return what pairs of A follow; nothing where a side has one position, as text has it."""
    counts = [side.profile.numbers for side in (a, b)]
    if all(counts) and counts[0] != counts[1]:
        said = f"A takes {counts[0]}, B {counts[1]}"
        raise TargetUnusable(f"not the same count of position numbers: {said}")
    return a.profile.convention.axes if all(counts) else ()


def _head_dims(side: Side, other: Side) -> tuple[int, ...]:
    """Return the sizes a side takes; a backend of which none are claimed takes any."""
    anything = side.session.target in BUILTIN and "head_dims" not in side.claims
    return other.profile.head_dims if anything else side.profile.head_dims


def _nothing(name: str, a: Side, b: Side, ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> str:
    first, second = (", ".join(map(str, some)) for some in (ours, theirs))
    return f"no {name} in common: {a.session.target} takes {first}, {b.session.target} {second}"


def _settings(a: Side, b: Side) -> tuple[Setting, ...]:
    bases = _followed(a, b, "base", 10000.0)
    dims = _followed(a, b, "rotary_dim", None)
    ours, theirs = a.profile.layouts, b.profile.layouts
    common = [(one, one) for one in ours if one in theirs] or [(ours[0], theirs[0])]
    names = ("interleaved", "base", "rotary_dim")
    found = []
    for layouts in common:
        first, second = zip(layouts, bases, dims, strict=True)
        found.append((dict(zip(names, first, strict=True)), dict(zip(names, second, strict=True))))
    return tuple(found)


def _followed(a: Side, b: Side, name: str, default: Any) -> tuple[Any, Any]:  # noqa: ANN401  # a claim
    """Return the values of a claim, where a side that is free to follows the other."""
    ours, theirs = getattr(a.profile, name), getattr(b.profile, name)
    if _free(a, name) and theirs != default:
        ours = theirs
    if _free(b, name) and ours != default:
        theirs = ours
    return ours, theirs


def _free(side: Side, name: str) -> bool:
    is_default = side.session.target in BUILTIN or getattr(side.profile, name) in (None, 10000.0)
    return side.takes(name) and name not in side.claims and is_default


def drawn_cases(terms: Terms, keywords: Keywords, dtype: str, seed: int) -> Iterator[Case]:
    """Draw cases that both sides take: the same ones for the same seed; numbers equal, and not."""
    rng = np.random.default_rng([seed, 3])
    dims = [int(rng.choice(terms.head_dims)) for _ in range(2)] + [usual(terms)]
    limit = terms.max_position
    for batch, seq, heads, which, values, kind, where in _PLAN:
        case_seed, near, middle = (int(n) for n in rng.integers(0, (99, 16, 5000)))
        skipped = kind == "negative" and not terms.negative
        uneven = terms.shared and kind in ("ragged", "shuffled", "spread")
        start = {"near": near, "zero": 0, "middle": middle, "far": limit}[where]
        case = Case(
            batch=1 if terms.one_row else batch,
            seq=seq,
            heads=heads,
            head_dim=dims[which],
            convention=Convention.of(**keywords),
            dtype=dtype,
            positions="arange" if skipped or uneven else kind,
            start=max(min(start, limit - seq), 0),
            limit=limit,
            values=values,
            strided=False,
            seed=case_seed,
        )
        yield case
        if terms.axes:
            yield replace(case, convention=replace(case.convention, axes=terms.axes))


def make_x(
    terms: Terms,
    kind: str,
    heads: int,
    dtype: str,
    positions: NDArray[np.int64],
    seed: int,
) -> NDArray[Any]:
    """Make x of a kind for many positions (1, S), in the usual head_dim and setting."""
    return make_values(
        kind,
        (1, positions.shape[1], heads, usual(terms)),
        dtype,
        seed,
        positions=positions,
        by=Convention.of(**terms.settings[0][0]),
    )


def usual(terms: Terms) -> int:
    """Return the head_dim 64, or what comes nearest."""
    return min(terms.head_dims, key=lambda dim: (abs(dim - 64), dim))
