"""A query and a key made of one x: both are judged where a function takes both."""

from collections.abc import Callable, Mapping
from typing import Any

from ropespec.conformance.grouped import OtherShapeError, queries
from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import Setting

__all__ = ["EQUAL", "TOLD", "rotated", "ways"]

TOLD = "q and k: the first of the heads and the rest, as many, half as many or one"
EQUAL = "as many heads of k as of q, for fewer were refused"


def ways(roles: Mapping[str, str]) -> dict[bool, str]:
    """Return whether q and k have as many heads, and the clause of it: both where there is a k."""
    return {False: "", True: EQUAL} if "k" in roles else {False: ""}


Both = Callable[[Array, Array], Any]


def rotated(setting: Setting, both: Both, x: Array, axis: int, *, equal: bool = False) -> Result:
    """Return x rotated by a function of q and k.

    Parameters
    ----------
    setting : Setting
        Keeps what was returned.
    both : callable
        Of q and k.
    x : array
        Cut along `axis`: q has the first of its heads, k the rest (`queries`). Of one head both
        have it, and of what comes back q.
    axis : int
        That of the heads.
    equal : bool
        Whether q and k have all the heads, k beginning with its own, so that none is in the same
        place; of what comes back each has its own.
    """
    heads = x.shape[axis]
    most = queries(heads)
    first, rest = _cut(x, axis, 0, most), _cut(x, axis, most, heads)
    q, k = (x, x) if equal or heads == 1 else map(setting.handed, (first, rest))
    if equal and heads > 1:
        k, kept = (setting.space.cat((rest, first), axis) for _ in range(2))
        setting.copies.append((k, kept))
    y = both(q, k)
    if not isinstance(y, (tuple, list)) or len(y) < 2:
        return y
    setting.keep(*y[:2])
    for name, sent, got in (("q", q, y[0]), ("k", k, y[1])):
        if tuple(got.shape) != tuple(sent.shape):
            what = f"{name} of shape {tuple(sent.shape)} came back as {tuple(got.shape)}"
            raise OtherShapeError(what)
    if heads == 1:
        return y[0]
    if equal:
        y = _cut(y[0], axis, 0, most), _cut(y[1], axis, 0, heads - most)
    return setting.space.cat(y[:2], axis)


def _cut(x: Array, axis: int, start: int, stop: int) -> Array:
    return x[(*(slice(None),) * axis, slice(start, stop))]
