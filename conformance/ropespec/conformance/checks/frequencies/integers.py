"""Checks of integers of any type: dimensions (FREQ-1), and positions in few bits (FREQ-6)."""

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.checks.frequencies.vectors import inv_freq_allowed
from ropespec.conformance.checks.rotation.common import called
from ropespec.conformance.checks.rotation.transforms import has_gradient
from ropespec.conformance.checks.rotation.walked import every_item, listed, widened
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.finding import Call, Finding, compare, held, worst
from ropespec.conformance.registry import check, walks
from ropespec.conformance.subject.session import NotPossible, SubjectRaised
from ropespec.conformance.trial import Trial

__all__: list[str] = []

_NARROW = ("int16", "uint16", "uint32")
"""Integers beside those that every walk asks for; no sequence fits in 8 bits."""

_SPAN = 4001
"""Positions of a call that a table of its own may be made for, and more numbers than 16 bits."""


def _widest(trial: Trial, seed: int, strength: int) -> Walk:
    """Walk them with the widest head, whose tables have most numbers in a row."""
    walk = every_item(2 * len(_NARROW) + 1)(trial, seed, strength)
    return listed(widened(trial.profile, row.case) for row in walk)


@check(
    "FREQ-6.integers",
    "Positions of few bits are reckoned with in these bits, and overflow.",
    names=("F-019",),
)
@walks(_widest)
def narrow(trial: Trial, case: Case) -> Finding:
    """Positions of int16, uint16 and uint32 are those of int64, on the way back too, or refused.

    They end where one more is still a number of the kind: that is how long a table is made. Or
    they are near each other. Last comes the least of int16, whose absolute value is none of them.
    """
    kind = _NARROW[case.seed % len(_NARROW)]
    ends = np.iinfo(kind)
    most = min(int(ends.max) - 1, trial.profile.max_position)
    least = max(ends.min + 1, -most) if trial.profile.negative_positions else 0
    ways = (
        [most, least, most // 2 + 1],
        [min(_SPAN, most), 0, most // 9],
        [max(ends.min, -trial.profile.max_position) if least else 0, -bool(least), 0],
    )
    asked = ways[case.seed // len(_NARROW) % len(ways)]
    positions = np.resize(asked, (case.batch, case.seq)).astype(np.int64)
    if trial.profile.shared_positions:
        positions[:] = positions[0]
    x, c, few = case.make_x(positions), case.make_x(positions, seed=1), positions.astype(kind)
    message, call = f"positions of {kind} are others in int64", called(case, x, few)
    try:
        y = trial.rotate(case, x, few)
        back = trial.rotate_vjp(case, x, few, c) if has_gradient(trial) is None else None
    except SubjectRaised as error:
        raise NotPossible(f"positions of {kind} raise {error.type_name}") from error
    allowed = 2 * trial.allowed(case, x, positions)
    found = _alike(y, trial.rotate(case, x, positions), allowed, message)
    if back is not None:
        wide = trial.rotate_vjp(case, x, positions, c)
        allowed = 2 * trial.allowed(case, c, -positions)
        message = f"on the way back, {message}"
        found = worst(found, _alike(back, wide, allowed, message, name="gradient"))
    return found.after(call)


def _alike(
    few: NDArray[np.floating],
    wide: NDArray[np.floating],
    allowed: NDArray[np.float64],
    message: str,
    name: str = "y",
) -> Finding:
    """Compare results of the same positions: what is no number in both is another check's."""
    if np.array_equal(few, wide, equal_nan=True):
        return held()
    return compare(few, wide, allowed, name=name, message=message)


_KINDS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64")
"""Integers of NumPy beside those that Python's are taken for."""


@check(
    "FREQ-1.integers",
    "A dimension of few bits, or without a sign, overflows where it is reckoned with.",
    needs=("inv_freq",),
    names=("F-020",),
)
@walks(every_item(len(_KINDS)))
def of_any_type(trial: Trial, case: Case) -> Finding:
    """inv_freq takes a dimension as an integer of NumPy's for the number it is, or refuses it."""
    kind = np.dtype(_KINDS[case.seed % len(_KINDS)])
    fits = [one for one in trial.profile.head_dims if one <= np.iinfo(kind).max]
    if not fits:
        raise NotPossible(f"no claimed head_dim is a number of {kind.name}")
    dim, keywords = kind.type(max(fits)), case.only("base")
    call = Call("inv_freq", (dim,), keywords)
    try:
        reply = trial.call("inv_freq", (dim,), keywords)
    except SubjectRaised as error:
        raise NotPossible(f"a dimension of {kind.name} raises {error.type_name}") from error
    exact = oracle.frequencies(int(dim), case.frequencies)
    allowed = inv_freq_allowed(int(dim), case.frequencies, reply.dtypes[0], trial.machine)
    message = f"a dimension of {kind.name} is taken for another number"
    return compare(reply.values[0], exact, allowed, name="inv_freq", message=message).after(call)
