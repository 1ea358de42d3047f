"""The terms on which two sides can be compared: what both can be called with."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ropespec.conformance.builtin import BUILTIN
from ropespec.conformance.compare.side import Side
from ropespec.conformance.compare.turn import Turn
from ropespec.conformance.identify import Pairing
from ropespec.conformance.subject.errors import TargetUnusable

__all__ = ["Setting", "Terms", "set_turn", "settle"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One way of calling both sides.

    Attributes
    ----------
    keywords : tuple of mapping
        What A and what B are given.
    turns : tuple of Turn or None
        What A and what B do then.
    """

    keywords: tuple[Mapping[str, Any], Mapping[str, Any]]
    turns: tuple[Turn | None, Turn | None]


@dataclass(frozen=True, slots=True)
class Terms:
    """What both sides take.

    Attributes
    ----------
    settings : tuple of Setting
        The usual ones first.
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
    """

    settings: tuple[Setting, ...]
    dtypes: tuple[str, ...]
    head_dims: tuple[int, ...]
    max_position: int
    negative: bool
    one_row: bool
    shared: bool


def settle(a: Side, b: Side) -> Terms:
    """Find the terms that both sides accept.

    A side that takes a keyword follows one that does not: its layout, and the base and rotary_dim
    that are claimed of it.

    Raises
    ------
    TargetUnusable
        If there are none; one line.
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
    )


def _head_dims(side: Side, other: Side) -> tuple[int, ...]:
    """Return the sizes a side takes; a backend of which none are claimed takes any."""
    anything = side.session.target in BUILTIN and "head_dims" not in side.claims
    return other.profile.head_dims if anything else side.profile.head_dims


def _nothing(name: str, a: Side, b: Side, ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> str:
    first, second = (", ".join(map(str, some)) for some in (ours, theirs))
    return f"no {name} in common: {a.session.target} takes {first}, {b.session.target} {second}"


def _settings(a: Side, b: Side) -> tuple[Setting, ...]:
    base_a, base_b = _followed(a, b, "base", 10000.0)
    dim_a, dim_b = _followed(a, b, "rotary_dim", None)
    found = []
    for layout_a, layout_b in _layouts(a, b):
        keywords = (
            {"interleaved": layout_a, "base": base_a, "rotary_dim": dim_a},
            {"interleaved": layout_b, "base": base_b, "rotary_dim": dim_b},
        )
        found.append(Setting(keywords, (set_turn(a, keywords[0]), set_turn(b, keywords[1]))))
    return tuple(found)


def _layouts(a: Side, b: Side) -> list[tuple[bool, bool]]:
    """Return values of `interleaved` for both; common ones if there are any."""
    ours, theirs = a.profile.layouts, b.profile.layouts
    common = [one for one in ours if one in theirs]
    return [(one, one) for one in common] or [(ours[0], theirs[0])]


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


def set_turn(side: Side, keywords: Mapping[str, Any]) -> Turn | None:
    """Return what a side does under keywords; those that it obeys change what was identified."""
    turn = side.turn
    if turn is None:
        return None
    if side.takes("interleaved"):
        turn = replace(turn, pairing=_with(turn.pairing, interleaved=keywords["interleaved"]))
    if side.takes("base"):
        turn = replace(turn, base=float(keywords["base"]))
    if side.takes("rotary_dim") and keywords["rotary_dim"] is not None:
        turn = replace(turn, fixed=keywords["rotary_dim"])
    return turn


def _with(pairing: Pairing, *, interleaved: bool) -> Pairing:
    if (pairing in (Pairing.INTERLEAVED, Pairing.DEINTERLEAVED)) == interleaved:
        return pairing
    return Pairing.INTERLEAVED if interleaved else Pairing.HALF
