"""The precision class of an operator whose formula is known, and roundings that betray it."""

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.digits import on_grid
from ropespec.conformance.identify.facts import Pairing
from ropespec.conformance.identify.model import Model
from ropespec.conformance.identify.probe import Probe
from ropespec.conformance.judge.budget import Machine
from ropespec.conformance.judge.precision import ladder
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.judge.values import make_values
from ropespec.spec.convention import Convention

__all__ = ["arithmetic", "precision_classes", "stored_twice"]

_NEAR = ((0, 1, 2, 3, 5, 9, 17, 40), (100, 101, 127, 200, 255, 230, 131, 99))
_VALUES = ("normal", "null", "heavy", "ones")


def precision_classes(
    probe: Probe, model: Model, base: float, limit: int
) -> tuple[tuple[str, str], ...]:
    """Return (dtype, best class that holds) for the claimed dtypes; `none` if none does.

    A dtype in which a call gave no numbers is left out.

    Parameters
    ----------
    probe : Probe
        The subject.
    model : Model
        Its operator: counter-clockwise, pairing interleaved or half, from component 0, no offset.
    base : float
        The base found.
    limit : int
        The largest position to use.
    """
    channels = model.channels
    interleaved = channels.pairing is Pairing.INTERLEAVED
    by = Convention.of(interleaved=interleaved, base=base, rotary_dim=channels.rotary_dim)
    rng = np.random.default_rng(43)
    far = np.exp(rng.uniform(np.log(2), np.log(max(limit, 3)), (2, 8))).astype(np.int64)
    shared = probe.manner.shared or probe.manner.axes == "shd"
    sets = [np.array(_NEAR), far, np.sort(far) // 2, np.full((2, 8), limit)]
    claimed = probe.session.profile
    machine = Machine.of(claimed.array, claimed.device, subnormals=claimed.subnormals)
    found = []
    for dtype in probe.session.profile.dtypes:
        standing = list(ladder(dtype))
        for k, values in enumerate(_VALUES * 2):
            positions = np.minimum(sets[k % len(sets)], limit)
            positions = np.broadcast_to(positions[:1], positions.shape) if shared else positions
            x = make_values(
                values,
                (2, 8, 3, channels.head_dim),
                dtype,
                k,
                positions=positions,
                by=by,
            )
            y = probe.rotate(x, positions, dtype=dtype).y
            if y is None:
                break  # what it is worth in this dtype cannot be said
            exact = Rotation.of(x, positions, by)
            standing = [c for c in standing if (exact.ratios(y, c, machine) <= 1.0).all()]
        else:
            found.append((dtype, standing[0].name if standing else "none"))
    return tuple(found)


def arithmetic(probe: Probe, dim: int) -> tuple[tuple[str, str], ...] | None:
    """Return (dtype of x, dtype its components pass through) where these differ.

    At position 0 x comes back bit for bit unless it was rounded on the way. None if no call that
    could show it gave numbers.
    """
    found: list[tuple[str, str]] | None = None
    draw = np.random.default_rng(47).standard_normal((1, 4, 2, dim))
    for dtype in dict.fromkeys((probe.dtype, *probe.session.profile.dtypes)):
        if dtype not in ("float32", "float64"):
            continue
        x = draw.astype(dtype)
        y = probe.rotate(x, np.zeros((1, 4), dtype=np.int64), dtype=dtype).y
        if y is None:
            continue
        found = found or []
        if np.array_equal(y, x.astype(np.float64)):
            continue
        if coarse := on_grid(y.ravel()):
            found.append((dtype, coarse))
        elif dtype == "float64" and np.array_equal(y, x.astype(np.float32).astype(np.float64)):
            found.append((dtype, "float32"))
    return None if found is None else tuple(found)


def stored_twice(probe: Probe, model: Model) -> bool | None:
    """Whether results in bfloat16 carry the rounding of two stores; None if that cannot be seen.

    One store is off by half a unit in the last place at most; a second rotation of a stored
    result is off by more in many components.
    """
    rng = np.random.default_rng(53)
    shape = (1, 16, 3, model.channels.head_dim)
    x = rng.standard_normal(shape).astype(ml_dtypes.bfloat16).astype(np.float64)
    positions = np.arange(16)[None]
    y = probe.rotate(x, positions, dtype="bfloat16").y
    if y is None:
        return None
    return _store_errors(y, model.turn(x, positions)) > 0.05


def _store_errors(y: NDArray[np.float64], exact: NDArray[np.float64]) -> float:
    """Return the share of components that are off by more than 0.6 units of bfloat16."""
    unit = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(exact), 1e-6))) - 7)
    return float((np.abs(y - exact) > 0.6 * unit).mean())
