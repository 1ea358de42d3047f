"""The gradient: it must be the rotation by the opposite angle."""

import numpy as np

from ropespec.conformance.identify.model import Model
from ropespec.conformance.identify.probe import Lost, Probe
from ropespec.conformance.subject.layout import from_subject, positions_for_subject, to_subject
from ropespec.conformance.subject.session import (
    NotClaimed,
    NotDifferentiable,
    SubjectCrashed,
    SubjectError,
    SubjectTimeout,
)

__all__ = ["find_gradient"]


def find_gradient(probe: Probe, dim: int, model: Model | None) -> str | None:
    """Return what the gradient with respect to x is.

    Returns
    -------
    str or None
        `right`, `not conjugated`, `constant tail`, `zero`, `none`, `raises again`, `raises`,
        `of one row`, `by strides`, `wrong`; None if it cannot be taken or judged.
    """
    if model is None or not model.usable or not hasattr(probe.session, "vjp"):
        return None
    found = _in_one_way(probe, dim, model)
    if found != "right":
        return found
    shared = probe.manner.axes == "shd" or probe.manner.shared
    if not shared and _in_one_way(probe, dim, model, ragged=True) == "wrong":
        return "of one row"
    profile = probe.session.profile
    has_strides = profile.framework.has_strides and profile.strided
    return (
        "by strides"
        if has_strides and _in_one_way(probe, dim, model, strided=True) == "wrong"
        else found
    )


def _in_one_way(
    probe: Probe, dim: int, model: Model, *, ragged: bool = False, strided: bool = False
) -> str | None:
    rng = np.random.default_rng(41)
    batch = 1 if probe.manner.axes == "shd" else 2
    shape = (batch, 5, 3, dim)
    x, cotangent = (rng.standard_normal(shape).astype(np.float32) for _ in range(2))
    positions = np.broadcast_to(np.array([1, 4, 2, 9, 30]), shape[:2]).copy()
    if ragged:
        positions[1:] += 5
    profile = probe.profile
    sent = [to_subject(x, profile), positions_for_subject(positions, profile)]
    got: list[np.ndarray] = []
    for _ in range(2):
        try:
            reply = probe.session.vjp(
                "apply_rotary",
                sent,
                to_subject(cotangent, profile),
                keywords=probe.keywords(),
                strided=strided,
            )
        except NotClaimed:
            return None
        except NotDifferentiable:
            return "none" if probe.session.profile.framework.has_gradients else None
        except (SubjectCrashed, SubjectTimeout) as error:
            answer = "timeout" if isinstance(error, SubjectTimeout) else "crash"
            raise Lost(answer, error.message) from error
        except SubjectError:
            return "raises again" if got else "raises"
        if len(reply.values) != 1 or reply.values[0].shape != sent[0].shape:
            return "wrong"
        got.append(from_subject(reply.values[0], profile).astype(np.float64))
    return _read(got[0], cotangent.astype(np.float64), positions, model)


def _read(got: np.ndarray, cotangent: np.ndarray, positions: np.ndarray, model: Model) -> str:
    def same(expected: np.ndarray) -> bool:
        return bool(np.abs(got - expected).max() < 1e-3 * np.abs(cotangent).max())

    back = Model(model.channels, -model.speed, model.offset, model.gain)
    right = back.turn(cotangent, positions)
    if same(right):
        return "right"
    if same(model.turn(cotangent, positions)):
        return "not conjugated"
    if same(np.zeros_like(got)):
        return "zero"
    turning = np.zeros(got.shape[-1], dtype=bool)
    turning[model.channels.inputs.ravel()] = True
    tail = got[..., ~turning]
    if tail.size and np.ptp(tail) < 1e-6 and np.abs((got - right)[..., turning]).max() < 1e-3:
        return "constant tail"
    return "wrong"
