"""Which of several position numbers each pair follows, from calls in which they differ."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ropespec.conformance.diagnosis.seen import Seen, agree
from ropespec.conformance.mistakes.chain import Chain, run
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array
from ropespec.conformance.mistakes.numbers import arrangements, following, measured, under_base
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
        fits = np.array([_fits(apart, chain, number) for number in range(count)])
        if not fits.any(axis=0).all():
            continue
        found = tuple(int(number) for number in fits.argmax(axis=0))
        for one in (*arrangements(profile.sections), measured(found)):
            if len(one[2]) == len(claimed) and fits[one[2], range(len(claimed))].all():
                if one[2] != claimed:
                    yield following(one, base)
                break


def _fits(apart: Sequence[Seen], chain: Chain, number: int) -> Array:
    """Return which pairs come out as if they followed this number."""
    fits = np.array(True)
    for seen in apart:
        alone = ("", "", (number,) * len(seen.given.axes))
        same = agree(seen.y, run(following(alone).chain(chain), seen.given))
        first, second, *_ = chain.pairing(seen.given)
        fits = fits & (same[..., first] & same[..., second]).all(axis=(0, 1, 2))
    return fits
