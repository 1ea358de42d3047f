"""The canonical order of axes (B, S, H, D) and the order a subject wants."""

from typing import Any

import numpy as np

from ropespec.conformance.profile import Profile

__all__ = ["from_subject", "positions_for_subject", "to_subject"]

_ORDER = {"bshd": (0, 1, 2, 3), "bhsd": (0, 2, 1, 3), "sbhd": (1, 0, 2, 3)}


def to_subject(x: np.ndarray, profile: Profile) -> np.ndarray:
    """Reorder x of shape (B, S, H, D) as the profile's `axes` say; `shd` drops the batch of one.

    Raises
    ------
    ValueError
        For `shd` and a batch that is not one.
    """
    if profile.axes != "shd":
        return np.asarray(x.transpose(_ORDER[profile.axes]), order="C")
    if x.shape[0] != 1:
        raise ValueError(f"axes shd have no batch; got {x.shape[0]} rows")
    row: np.ndarray = x[0]
    return row


def positions_for_subject(positions: np.ndarray, profile: Profile) -> np.ndarray:
    """Return positions (B, S) as they are, or one row (S,) where the batch shares it."""
    if profile.axes != "shd" and not profile.shared_positions:
        return positions
    # Without rows, any positions of the right number will do.
    return positions[0] if len(positions) else np.arange(positions.shape[1], dtype=np.int64)


def from_subject(y: np.ndarray, profile: Profile) -> np.ndarray:
    """Undo `to_subject`."""
    if profile.axes == "shd":
        return y[np.newaxis]
    order: Any = np.argsort(_ORDER[profile.axes])
    return y.transpose(order)
