"""What is lost at position 0, where cosine is 1, sine 0, and every product is known bit for bit."""

from dataclasses import replace

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.confirm import Confirmed, Explanation
from ropespec.conformance.diagnosis.where import EVERYWHERE
from ropespec.conformance.mistakes.chain import Chain, run
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.three import THREE

__all__ = ["at_zero"]

_CALLS = 4
_APART = 12
"""Binary digits by which the members of a pair differ at most, so that a sum of both loses some."""


def at_zero(asker: Asker, maker: Maker, right: Chain) -> list[Confirmed]:
    """Return the products that make of x, bit for bit, what comes back at position 0.

    What is lost there may be less than a rotation may lose elsewhere, so no bound sees it. Where a
    factor on cosine and sine is claimed, nothing is known bit for bit.

    Parameters
    ----------
    asker : Asker
        The subject.
    maker : Maker
        Makes the calls.
    right : Chain
        What is claimed.
    """
    if float(maker.profile.convention.frequencies.gain) != 1.0:
        return []
    seen = list[tuple[Given, Array]]()
    for given in _calls(maker):
        answer = asker.ask(given)
        if answer is not None and answer.y is not None and answer.y.shape == given.x.shape:
            seen.append((given, answer.y))
    lost = any((y != given.x.astype(np.float64)).any() for given, y in seen)
    return [one for choice in THREE if (one := _reproduced(choice, right, seen))] if lost else []


def _calls(maker: Maker) -> list[Given]:
    """Make calls at position 0 with components of many sizes beside each other."""
    made = list[Given]()
    for k in range(_CALLS):
        given = maker.given((2, 5, 3), np.zeros((2, 5), np.int64), 80 + k)
        spread = np.random.default_rng([k, 47]).integers(-_APART, _APART, given.x.shape)
        made.append(replace(given, x=(given.x * 2.0 ** (spread / 2)).astype(given.x.dtype)))
    return made


def _reproduced(choice: Choice, right: Chain, seen: list[tuple[Given, Array]]) -> Confirmed | None:
    chain, count = choice.chain(right), 0
    for given, y in seen:
        made = run(chain, given).y.astype(given.x.dtype).astype(np.float64)
        if (made != y).any():
            return None
        count += y.size
    return Confirmed(Explanation(choice, EVERYWHERE), count, count, len(seen))
