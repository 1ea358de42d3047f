"""Far and negative positions: up to where the convention that was found holds."""

from dataclasses import replace

import numpy as np

from ropespec.conformance.diagnosis.ask import Answer
from ropespec.conformance.diagnosis.seen import Seen, agree
from ropespec.conformance.identify.probe import Probe
from ropespec.conformance.mistakes.chain import Chain, run
from ropespec.conformance.mistakes.ends import LIMITED, limited

__all__ = ["largest", "limit_of", "negative"]

_FAR = (
    *(0, 127, 128, 129, 200, 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025, 1500),
    *(2047, 2048, 2049, 3000, 4095, 4096, 4097, 6001, 8191, 8192, 8193, 12345, 16383, 16384),
    *(16385, 20001, 32767, 32768, 32769, 40001, 50003, 65535, 65536, 65537, 100003, 131071),
)


_LEAST = 16
"""The shortest table that is taken for one."""


def _asked(probe: Probe, dim: int, places: list[int]) -> Answer | None:
    x = np.random.default_rng(59).standard_normal((1, len(places), 2, dim))
    dtypes = probe.profile.dtypes
    dtype = probe.dtype if probe.dtype in dtypes else dtypes[0]
    return probe.ask(probe.given(x, np.array([places]), dtype=dtype))


def largest(probe: Probe, dim: int, chain: Chain) -> tuple[str, int] | None:
    """Return up to where positions are right, or from where on they are what instead.

    `right` and `raises` come with the last position that is right; `filled` with no number or
    zero, one of `LIMITED` and `wrong` with the first that is not.
    """
    most = probe.profile.max_position
    places = [p for p in (*_FAR, most) if p <= min(most, _FAR[-1])]
    # Not as a run: what counts tokens is no matter of far positions.
    order = np.random.default_rng(61).permutation(len(places))
    answer = _asked(probe, dim, [places[k] for k in order])
    if answer is None:
        return None
    if answer.y is None:
        last = _edge(probe, dim, 0, places[-1] + 1)
        beyond = answer.fault == "raises" and last < places[-1]
        return ("raises", last) if beyond else None  # or it raises for something else
    seen = Seen(answer, chain)
    back = np.argsort(order)
    wrong = np.asarray(seen.off.any(axis=(0, 2, 3)))[back]
    if not wrong.any():
        return "right", places[-1]
    at = int(np.argmax(wrong))
    first = _edge(probe, dim, places[max(at - 1, 0)], places[at], chain) + 1 if at else 0
    rest = answer.y[0, back[at:]]
    if not np.isfinite(rest).any() or not rest.any():
        return "filled", first
    still = np.where(answer.given.positions < first, answer.given.positions, 0)
    made = {kind: run(limited(kind, first).chain(chain), answer.given) for kind in LIMITED}
    made["identity"] = run(chain, replace(answer.given, positions=still))
    kinds = [kind for kind, one in made.items() if agree(answer.y, one).all()]
    return (kinds[0] if kinds and first >= _LEAST else "wrong"), first


def _edge(probe: Probe, dim: int, low: int, high: int, chain: Chain | None = None) -> int:
    """Return the last position that comes back, right under a chain if one is given."""
    while high - low > 1:
        middle = (low + high) // 2
        answer = _asked(probe, dim, [middle])
        taken = answer is not None and answer.y is not None
        if taken and chain is not None and answer is not None:
            taken = not Seen(answer, chain).off.any()
        low, high = (middle, high) if taken else (low, middle)
    return low


def limit_of(found: tuple[str, int] | None) -> int | None:
    """Return the largest position that is right, where what is beyond it is another thing.

    Parameters
    ----------
    found : tuple or None
        As `largest` returns it.
    """
    policy, limit = found or ("right", 0)
    if policy in ("right", "wrong"):
        return None
    return limit if policy == "raises" else limit - 1


def negative(probe: Probe, dim: int, chain: Chain) -> str | None:
    """Return `right`, `clamped`, `absolute`, `zeroed`, `raises` or `other`; None if unknown."""
    answer = _asked(probe, dim, [-1, -2, -17, -100])
    if answer is None or answer.y is None:
        return "raises" if answer is not None and answer.fault == "raises" else None
    if not answer.y.any(axis=(0, 2, 3)).all():
        return "zeroed"
    where = answer.given.positions
    above = _asked(probe, dim, [1, 2, 17, 100])
    if above is None or above.y is None or Seen(above, chain).off.any():
        return None
    for name, taken in (("right", where), ("clamped", 0 * where), ("absolute", -where)):
        if agree(answer.y, run(chain, replace(answer.given, positions=taken))).all():
            return name
    return "other"
