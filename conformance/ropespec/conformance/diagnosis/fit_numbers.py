"""Which of several position numbers each pair follows, from calls in which they differ."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ropespec.conformance.diagnosis.seen import Seen, agree
from ropespec.conformance.mistakes.chain import Chain, run
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array
from ropespec.conformance.mistakes.numbers import (
    arrangements,
    following,
    measured,
    members_following,
    of_doubled,
    under_base,
)
from ropespec.conformance.profile import Profile

__all__ = ["fitted_numbers"]

_BASES = (10000.0, 500000.0, 1e6, 5e6, 1e7)
_CALLS = 6


def fitted_numbers(profile: Profile, wrong: Sequence[Seen], right: Chain) -> Iterator[Choice]:
    """Return what pairs follow in all of these calls: under the base that is claimed, or another.

    Parameters
    ----------
    profile : Profile
        The claims; nothing is returned where a token has one number.
    wrong : sequence of Seen
        Calls with wrong components.
    right : Chain
        What is claimed.
    """
    apart = [one for one in wrong if one.given.axes][:_CALLS]
    if profile.sections is None or not apart:
        return
    claimed, count = profile.convention.axes, len(profile.sections)
    for base in (None, *(other for other in _BASES if other != profile.base)):
        chain = right if base is None else replace(right, **under_base(base))
        members = np.array([_fits(apart, chain, number) for number in range(count)])
        if not members.any(axis=0).all():
            continue
        fits = np.asarray(members.all(axis=1))
        if not fits.any(axis=0).all():
            if base is None:
                yield _of_members(members, claimed, profile.sections)
            continue
        found = tuple(int(number) for number in fits.argmax(axis=0))
        for one in (*arrangements(profile.sections), measured(found)):
            if len(one[2]) == len(claimed) and fits[one[2], range(len(claimed))].all():
                if one[2] != claimed:
                    yield following(one, base)
                break


def _of_members(members: Array, claimed: Sequence[int], sections: tuple[int, ...]) -> Choice:
    """Return what first and second members follow: numbers that are usual, if these fit."""
    for numbers in (of_doubled(sections), (*claimed, *claimed)):
        usual = np.reshape(numbers, members.shape[1:])
        kept = np.take_along_axis(members, usual[None], axis=0)[0]
        found = np.where(kept, usual, members.argmax(axis=0))
        if kept.all():
            break
    first, second = (tuple(map(int, row)) for row in found)
    return members_following(first, second, sections)


def _fits(apart: Sequence[Seen], chain: Chain, number: int) -> Array:
    """Return which members of pairs come out as if they followed this number, (2, pairs)."""
    fits: Array = np.array(True)
    for seen in apart:
        alone = ("", "", (number,) * len(seen.given.axes))
        same = agree(seen.y, run(following(alone).chain(chain), seen.given))
        first, second, *_ = chain.pairing(seen.given)
        fits = fits & np.stack([same[..., first], same[..., second]]).all(axis=(1, 2, 3))
    return fits
