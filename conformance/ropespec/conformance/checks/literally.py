"""What the literal reference makes of a case, under whatever scheme is claimed."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case
from ropespec.conformance.checks.shared import based
from ropespec.reference import frequencies
from ropespec.reference.axes import angles_axial, angles_mixed
from ropespec.spec.axes import Anew, Axes, Axial, Mixed, Told
from ropespec.spec.scaling import Scaling, check_scaling

__all__ = ["literal_frequencies", "literal_rotation"]

Float = NDArray[np.float64]


def literal_rotation(case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Float:
    """Return x rotated by the literal reference, under the convention of the case."""
    scheme = case.frequencies.scheme
    if scheme is None:
        how = based(case, "interleaved", "rotary_dim")
        return np.asarray(reference.apply_rotary(x, positions, **how))
    if isinstance(scheme, Anew):
        inner = None if scheme.scheme is None else check_scaling(scheme.scheme)
        return _equal(case, x, positions, Axial(scheme.sections), scaling=inner)
    if isinstance(scheme, Told):
        return _equal(case, x, positions, Mixed(scheme.frequencies))
    scaling = check_scaling(scheme)
    return np.asarray(reference.apply_rotary_scaled(x, positions, scaling=scaling, **case.keywords))


def _equal(
    case: Case,
    x: NDArray[Any],
    positions: NDArray[np.int64],
    of: Axes,
    scaling: Scaling | None = None,
) -> Float:
    """Return x rotated by several equal numbers."""
    numbers, how = np.stack([positions] * of.count), case.keywords
    return np.asarray(reference.apply_rotary_axes(x, numbers, axes=of, scaling=scaling, **how))


def literal_frequencies(case: Case) -> Float:
    """Return the frequencies by the literal reference, scaled where that is claimed."""
    scheme = case.frequencies.scheme
    if scheme is None:
        return np.asarray(frequencies.inv_freq(case.dim, **based(case)))
    if isinstance(scheme, Told):
        rows = np.array(scheme.frequencies)
        return np.asarray(angles_mixed(np.ones((len(rows), 1), dtype=np.int64), rows)[0])
    if isinstance(scheme, Anew):
        inner, own = replace(case.frequencies, scheme=scheme.scheme), case.convention
        blocks = [
            literal_frequencies(
                replace(case, convention=replace(own, frequencies=inner, rotary_dim=2 * pairs))
            )
            for pairs in scheme.sections
        ]
        once = np.ones((len(blocks), 1), dtype=np.int64)
        return np.asarray(angles_axial(once, blocks)[0])
    scaling = check_scaling(scheme)
    return np.asarray(reference.inv_freq_scaled(case.dim, **case.only("base"), scaling=scaling))
