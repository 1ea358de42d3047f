"""Checks of the chapter `errata`: a result is the right form, not one that was printed wrong."""

import numpy as np

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.common import called
from ropespec.conformance.judge.finding import Finding, broken, held
from ropespec.conformance.judge.rotation import from_pairs, pairs_of
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial

__all__: list[str] = []


@check(
    "ERR-1",
    "printed",
    "A formula was copied from a document that prints it wrong.",
    properties=("P-45",),
    space=Space(values=("normal",), positions=("arange",), max_position=64),
)
def printed(trial: Trial, case: Case) -> Finding:
    """If y is not R_m x, it is none of the wrong forms of the documents either, or it is named."""
    positions = case.make_positions() + 1
    x = case.make_x(positions)
    y = trial.rotate(case, x, positions)
    call = called(case, x, positions)
    exact = trial.expect(case, x, positions)
    allowed = exact.allowed(trial.loosest(case.dtype), trial.machine)
    for name, wrong in _wrong_forms(trial, case, x, positions).items():
        near = np.abs(y.astype(np.float64) - wrong) <= allowed
        apart = np.abs(exact.y - wrong) > 2 * allowed
        if near.all() and apart.any():
            index = tuple(int(i) for i in np.argwhere(apart)[0])
            return broken(
                f"y is the form of {name}",
                where=f"y[{', '.join(map(str, index))}]",
                expected=float(exact.y[index]),
                got=float(y[index]),
                budget=float(allowed[index]),
                call=call,
            )
    return held()


def _wrong_forms(
    trial: Trial, case: Case, x: np.ndarray, positions: np.ndarray
) -> dict[str, np.ndarray]:
    """Return what the wrong forms give for this input."""
    exact = trial.expect(case, x, positions)
    pairs = exact.pairs
    x1, x2, m, theta = pairs.x1, pairs.x2, positions[..., None, None], pairs.theta

    def turn(angle: np.ndarray) -> np.ndarray:
        c, s = np.cos(angle), np.sin(angle)
        return from_pairs(
            x1 * c - x2 * s, x1 * s + x2 * c, exact.tail, interleaved=case.interleaved
        )

    ratio = theta[1] if theta.size > 1 else case.base ** (-2.0 / case.dim)
    last = theta.size - 1
    swapped = turn(m * theta)
    y1, _ = pairs_of(swapped, case.dim, interleaved=case.interleaved)
    c, s = np.cos(m * theta[last]), np.sin(m * theta[last])
    y1[..., last] = x1[..., last] * s[..., 0] + x2[..., last] * c[..., 0]
    return {
        "E-04, R((m-n) theta) for R((n-m) theta): the opposite direction": turn(-m * theta),
        "E-10, every angle doubled in value instead of listed twice": turn(2 * m * theta),
        "E-26, theta_i = 10000^(-2i/d) with i from 1": turn(m * theta * ratio),
        "E-45, 10000^(-2(i-1)/d) with i from 0": turn(m * theta / ratio),
        "E-02, one scalar theta for all pairs": turn(m * np.ones_like(theta)),
        "E-19, (sin, cos) for (cos, -sin) in the last block": swapped,
    }
