"""Which cosine and sine stand for each quarter of a turn, read off what failed."""

from collections.abc import Iterator, Sequence

import numpy as np

from ropespec.conformance.diagnosis.read import multipliers
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.mistakes.chain import Chain
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array
from ropespec.conformance.mistakes.quarters import FORMS, QUARTERS, mixed_quarters, quarter_of

__all__ = ["fitted_quarters"]

_CALLS = 12
_MOST = 0.98
"""The share of pairs in a quarter that must be alike: at its ends rounding may decide."""
_NEAR = 0.05


def fitted_quarters(wrong: Sequence[Seen], chain: Chain) -> Iterator[Choice]:
    """Return tables that are right in some quarters of a turn, and of another form in the rest.

    Parameters
    ----------
    wrong : sequence of Seen
        Calls with wrong components.
    chain : Chain
        What is claimed.
    """
    parts = [part for part in (_read(seen, chain) for seen in wrong[:_CALLS]) if part is not None]
    angle = np.concatenate([np.zeros(0), *(angles for angles, _ in parts)])
    if not angle.size:
        return
    same = np.concatenate([alike for _, alike in parts], axis=1)
    for how in QUARTERS:
        quarter = quarter_of(angle, how)
        share = np.array([same[:, quarter == n].mean(axis=1) for n in np.unique(quarter)])
        form = np.argmax(share >= _MOST, axis=1)
        if (share.max(axis=1) >= _MOST).all() and form.any() and not form.all():
            words = list(FORMS)
            chosen = dict(zip(np.unique(quarter).tolist(), form.tolist(), strict=True))
            yield mixed_quarters(how, [words[chosen.get(n, 0)] for n in range(8)])


def _read(seen: Seen, chain: Chain) -> tuple[Array, Array] | None:
    """Return the angles of pairs, (N,), and which forms explain each, (forms, N)."""
    given = seen.given
    angle = chain.angle(given, chain.place(given), chain.frequency(given))
    c, s = chain.table(given, angle)
    factor = multipliers(seen, chain)
    if c.shape != angle.shape or angle.shape[-1] != factor.shape[-1]:
        return None
    angle, c, s = (np.broadcast_to(one, factor.shape) for one in (angle, c, s))
    made = np.array([cos + 1j * sin for cos, sin in (form(c, s) for form in FORMS.values())])
    known = np.isfinite(factor)
    same = np.abs(factor - made) <= _NEAR * np.hypot(c, s)
    return angle[known], same[:, known]
