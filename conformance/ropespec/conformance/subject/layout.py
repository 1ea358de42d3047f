"""The canonical order of axes (B, S, H, D) and the order a subject wants.

In ours the components that rotate come first, and a result has the order of x.
"""

import numpy as np

from ropespec.conformance.profile import Profile

__all__ = [
    "components",
    "from_subject",
    "positions_for_subject",
    "result_from_subject",
    "result_to_subject",
    "rows_for_subject",
    "to_subject",
]

_ORDER = {"bshd": (0, 1, 2, 3), "bhsd": (0, 2, 1, 3), "sbhd": (1, 0, 2, 3)}
_BACK = {axes: tuple(map(order.index, range(4))) for axes, order in _ORDER.items()}


def components(width: int, profile: Profile, *, result: bool = False) -> tuple[slice, ...]:
    """Return which of our components the subject has one after the other, in x or in a result.

    Parameters
    ----------
    width : int
        Size of the last axis.
    profile : Profile
        The claims.
    result : bool
        Whether it is what comes out.
    """
    dim = profile.rotation.dim(width)
    turned: tuple[slice, ...] = (slice(0, dim),)
    if result and profile.pairs_apart:
        turned = (slice(0, dim, 2), slice(1, dim, 2))
    rest = slice(dim, width)
    return (rest, *turned) if profile.trailing else (*turned, rest)


def _order(width: int, profile: Profile, *, result: bool) -> np.ndarray | None:
    if not (profile.trailing or (result and profile.pairs_apart)):
        return None
    parts = (np.arange(width)[part] for part in components(width, profile, result=result))
    return np.concatenate(list(parts))


def to_subject(x: np.ndarray, profile: Profile) -> np.ndarray:
    """Reorder x of shape (B, S, H, D) as the profile says; axes `shd` drop the batch of one.

    Raises
    ------
    ValueError
        For `shd` and a batch that is not one.
    """
    return _sent(x, profile, result=False)


def result_to_subject(c: np.ndarray, profile: Profile) -> np.ndarray:
    """Reorder what is of the shape and order of a result, as a cotangent is."""
    return _sent(c, profile, result=True)


def _sent(x: np.ndarray, profile: Profile, *, result: bool) -> np.ndarray:
    order = _order(x.shape[-1], profile, result=result)
    x = x if order is None else x[..., order]
    if profile.axes != "shd":
        return np.asarray(x.transpose(_ORDER[profile.axes]), order="C")
    if x.shape[0] != 1:
        raise ValueError(f"axes shd have no batch; got {x.shape[0]} rows")
    row: np.ndarray = x[0]
    return row


def positions_for_subject(positions: np.ndarray, profile: Profile) -> np.ndarray:
    """Return positions as they are claimed to be taken.

    Parameters
    ----------
    positions : ndarray
        (B, S), or (B, S, n) where a token has n position numbers.
    profile : Profile
        The claims. Where n numbers are claimed, positions (B, S) stand for n equal ones, as text
        has them.

    Returns
    -------
    ndarray
        (B, S), or (n, B, S) of several numbers; without B where the batch shares one row.
    """
    if not profile.numbers:
        return rows_for_subject(positions, profile)
    equal = [positions] * profile.numbers
    numbers = np.moveaxis(positions, -1, 0) if positions.ndim == 3 else equal
    return np.stack([rows_for_subject(one, profile) for one in numbers])


def rows_for_subject(positions: np.ndarray, profile: Profile) -> np.ndarray:
    """Return positions (B, S) as they are, or one row (S,) where the batch shares it."""
    if profile.axes != "shd" and not profile.shared_positions:
        return positions
    # Without rows, any positions of the right number will do.
    return positions[0] if len(positions) else np.arange(positions.shape[1], dtype=np.int64)


def from_subject(y: np.ndarray, profile: Profile) -> np.ndarray:
    """Undo `to_subject`."""
    return _received(y, profile, result=False)


def result_from_subject(y: np.ndarray, profile: Profile) -> np.ndarray:
    """Undo `result_to_subject`."""
    return _received(y, profile, result=True)


def _received(y: np.ndarray, profile: Profile, *, result: bool) -> np.ndarray:
    order = _order(y.shape[-1], profile, result=result)
    y = y if order is None else y[..., np.argsort(order)]
    if profile.axes == "shd":
        return y[np.newaxis]
    return y.transpose(_BACK[profile.axes])
