"""What is off by little, and by more the farther it is: measured, and not reproduced."""

from collections.abc import Callable, Iterator

import numpy as np

from ropespec.conformance.diagnosis.read import multipliers
from ropespec.conformance.diagnosis.rotation import Outcome
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.diagnosis.told import fact
from ropespec.conformance.diagnosis.unexplained import share
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.results import Diagnosis

__all__ = ["drifting", "growing"]

_STEP = 2.0**-20
"""The most that a step may be off: some units in the last place of float32."""
_NEAR = 10
"""From where the rounding of the result is less than what is off."""
_DECADES = 3
"""Over how many the error must grow, so that it is no error of one place."""
_ALIKE = 4.0
"""By how much the worst steps of the decades may differ from each other."""


def drifting(outcome: Outcome) -> Iterator[Diagnosis]:
    """Say that errors grow in proportion to the position, or along a row, if all that is wrong do.

    Parameters
    ----------
    outcome : Outcome
        What the calls of a battery came to.
    """
    if any(_elsewhere(one) for one in outcome.wrong):
        return
    if 2 * sum(map(_is_exact, outcome.wrong)) < len(outcome.wrong):
        return
    for key, (among, of, each, where) in _GROWING.items():
        exact = [one for one in among(outcome) if _is_exact(one)]
        step = growing(np.concatenate([_off(one, of) for one in exact], axis=1))
        if step:
            said = f"It is off by up to {step:.2g} for each {each}."
            yield fact(key, said, where, share(outcome))
            return


Among = Callable[[Outcome], list[Seen]]
"""In which calls it grows: in all, or where it is made of what is before in the row."""
Size = Callable[[Given], Array]
"""How far tokens are, (B, S, 1, 1)."""

_GROWING: dict[str, tuple[Among, Size, str, str]] = {
    "error grows with the position": (
        lambda outcome: outcome.seen,
        lambda given: np.abs(given.positions)[..., None, None],
        "step of the position",
        "far positions",
    ),
    "error grows along a row": (
        lambda outcome: outcome.wrong,
        lambda given: given.index(1),
        "token before it in its row",
        "long rows",
    ),
}
"""What an error may grow with: its name, each step of it, and where it is largest."""


def growing(far_off: Array) -> float:
    """Return the worst step, if all decades have one like it and it is small; or else 0.

    Parameters
    ----------
    far_off : ndarray
        How far tokens are, and how far pairs are off; NaN for a pair that tells nothing.
    """
    of_pairs = far_off[:, (far_off[0] >= _NEAR) & ~np.isnan(far_off[1])]  # (0, 0) tells nothing
    size, off = of_pairs
    if not size.size:
        return 0.0
    step, decade = off / size, np.floor(np.log10(size))
    worst = np.array([step[decade == one].max() for one in np.unique(decade)])
    grows = len(worst) >= _DECADES and worst.max() <= min(_STEP, _ALIKE * worst.min())
    return float(worst.max()) if grows else 0.0


def _off(seen: Seen, of: Size) -> Array:
    """Return how far tokens are, and how far pairs are off the circle's point, (2, N)."""
    given, chain = seen.given, seen.right
    angle = chain.angle(given, chain.place(given), chain.frequency(given))
    c, s = chain.table(given, angle)
    off = np.abs(multipliers(seen, chain) - (c + 1j * s))
    return np.stack([np.broadcast_to(of(given), off.shape).ravel(), off.ravel()])


def _is_exact(seen: Seen) -> bool:
    """Whether what is off is told apart from the rounding of the result."""
    return seen.given.dtype in ("float32", "float64")


def _elsewhere(seen: Seen) -> bool:
    """Whether anything is wrong but what rotates, or is no number."""
    still = seen.off[..., seen.given.turning :].any()
    return bool(still) or not bool(np.isfinite(seen.y[seen.off]).all())
