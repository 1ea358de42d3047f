"""The precision class of a convention that was found, measured against it."""

import numpy as np

from ropespec.conformance.identify.probe import Probe
from ropespec.conformance.judge.budget import Machine
from ropespec.conformance.judge.precision import ladder
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.judge.values import make_values
from ropespec.spec.convention import Convention

__all__ = ["precision_classes"]

_NEAR = ((0, 1, 2, 3, 5, 9, 17, 40), (100, 101, 127, 200, 255, 230, 131, 99))
_VALUES = ("normal", "null", "heavy", "ones")


def precision_classes(
    probe: Probe, by: Convention, dim: int, limit: int
) -> tuple[tuple[str, str], ...]:
    """Return (dtype, best class that holds) for the claimed dtypes; `none` if none does.

    A dtype in which a call gave no numbers is left out.

    Parameters
    ----------
    probe : Probe
        The subject.
    by : Convention
        What it was found to do.
    dim : int
        The head_dim.
    limit : int
        The largest position to use.
    """
    rng = np.random.default_rng(43)
    far = np.exp(rng.uniform(np.log(2), np.log(max(limit, 3)), (2, 8))).astype(np.int64)
    sets = [np.array(_NEAR), far, np.sort(far) // 2, np.full((2, 8), limit)]
    claimed = probe.profile
    machine = Machine.of(claimed.array, claimed.device, subnormals=claimed.subnormals)
    found = []
    for dtype in claimed.dtypes:
        standing = list(ladder(dtype))
        for k, values in enumerate(_VALUES * 2):
            positions = np.minimum(sets[k % len(sets)], limit)
            if probe.manner.one_row:
                positions = np.broadcast_to(positions[:1], positions.shape)
            x = make_values(values, (2, 8, 3, dim), dtype, k, positions=positions, by=by)
            y = probe.rotate(x, positions, dtype=dtype)
            if y is None:
                break  # what it is worth in this dtype cannot be said
            exact = Rotation.of(x, positions, by)
            standing = [c for c in standing if (exact.ratios(y, c, machine) <= 1.0).all()]
        else:
            found.append((dtype, standing[0].name if standing else "none"))
    return tuple(found)
