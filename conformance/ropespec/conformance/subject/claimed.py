"""Nothing outside a profile is ever asked, whoever asks (CON-10).

Checks, identification and comparison choose what they ask; this sees to it that a claim is kept
where one of them has sizes of its own.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.errors import NotClaimed
from ropespec.conformance.subject.requests import Question

__all__ = ["require_claimed"]

_ROTATIONS = ("apply_rotary", "apply_rotary_dense", "apply_rotary_cos_sin", "apply_rotary_complex")
_DIFFERENTIATES = (
    *("jvp", "second", "constants", "two_calls", "taken_again", "positions_reused", "into"),
)
_WITH_GAPS = ("strided", "folded")
_NO_SIZES: Mapping[str, int] = MappingProxyType({})


def require_claimed(
    profile: Profile, asked: Question, arrays: Sequence[np.ndarray]
) -> Mapping[str, int]:
    """Refuse to ask what a profile leaves out.

    Parameters
    ----------
    profile : Profile
        The claims.
    asked : Question
        What is to be asked.
    arrays : sequence of ndarray
        The arrays that go with it.

    Returns
    -------
    mapping of str to int
        The sizes of the x that is to be rotated, by the letter of the axis; none for another.

    Raises
    ------
    NotClaimed
        Saying what is not claimed.
    """
    views = (asked.strided, asked.strided_positions, asked.strided_cotangent)
    if (any(views) or asked.kind in _WITH_GAPS) and not profile.strided:
        raise NotClaimed("no strided arrays claimed")
    slope = asked.do == "vjp" or asked.kind in _DIFFERENTIATES
    if slope and not profile.gradients:
        raise NotClaimed("no gradients claimed")
    sizes, most = _sizes(profile, asked, arrays), profile.max_tokens
    if most is not None and sizes.get("b", 1) * sizes.get("s", 0) > most:
        raise NotClaimed(f"more than {most} tokens a call not claimed")
    if 0 in sizes.values() and not profile.empty:
        raise NotClaimed("no empty axes claimed")
    if sizes.get("d", profile.min_head_dim) < profile.min_head_dim:
        raise NotClaimed(f"head_dim below {profile.min_head_dim} not claimed")
    return sizes


def _sizes(profile: Profile, asked: Question, arrays: Sequence[np.ndarray]) -> Mapping[str, int]:
    if asked.function not in _ROTATIONS or not arrays:
        return _NO_SIZES
    axis = next(iter(asked.axes), None)  # vmap takes it away before the function sees x
    shape = arrays[0].shape
    shape = shape if axis is None else shape[:axis] + shape[axis + 1 :]
    fits = len(shape) == len(profile.axes)
    return dict(zip(profile.axes, shape, strict=True)) if fits else _NO_SIZES
