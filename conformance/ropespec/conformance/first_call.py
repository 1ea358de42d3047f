"""The call that is made once before a rotation is checked or identified: whether it can be called.

A function with another signature is no wrong rotation, and nothing that it does shows one.
"""

import shlex
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.adapter import Answered, adapter
from ropespec.conformance.frameworks import ARRAYS, DEFAULT
from ropespec.conformance.judge.values import numpy_dtype
from ropespec.conformance.profile import HEAD_DIMS, Profile
from ropespec.conformance.styles.signature import POSITIONS
from ropespec.conformance.subject.errors import (
    SubjectCrashed,
    SubjectError,
    SubjectRaised,
    SubjectTimeout,
    TargetUnusable,
)
from ropespec.conformance.subject.layout import to_subject
from ropespec.conformance.subject.session import Rotated, Session

__all__ = ["require_answer", "require_signature", "usual_dims"]

USUAL_DIMS = (64, 128, 32, 16, 80, 256, 8, 4, 2)
_MOST_TRIED = 4
_BATCH, _SEQ, _HEADS = 2, 5, 3  # all different, and unlike any head_dim


def usual_dims(profile: Profile) -> tuple[int, ...]:
    """Return claimed head dimensions to call with, the most usual first."""
    claimed = set(profile.head_dims)
    if claimed <= set(HEAD_DIMS) and len(claimed) > _MOST_TRIED:
        return tuple(dim for dim in USUAL_DIMS if dim in claimed)
    fit = [dim for dim in profile.head_dims if dim <= max(USUAL_DIMS)]
    return tuple(sorted(fit or profile.head_dims, key=lambda dim: abs(dim - 64)))[:_MOST_TRIED]


def require_signature(session: Session, *, pairing_known: bool = True) -> None:
    """Refuse a rotation whose parameters are not x and positions; it is not called.

    Parameters
    ----------
    session : Session
        The subject.
    pairing_known : bool
        Whether the layouts of its profile are claimed, and no guess.

    Raises
    ------
    TargetUnusable
        With the adapter to write.
    """
    if "apply_rotary" in session.offers:
        _FirstCall(session, pairing_known=pairing_known).require_signature()


def require_answer(session: Session, *, pairing_known: bool = True) -> None:
    """Call the rotation of a subject as its profile says, if it offers one.

    What crashes or hangs is left to the checks.

    Parameters
    ----------
    session, pairing_known
        As in `require_signature`.

    Raises
    ------
    TargetUnusable
        If it raises whatever it is given, or never answers with one array of the shape of x; with
        the options that may be missing, or the adapter to write.
    """
    if "apply_rotary" in session.offers:
        _FirstCall(session, pairing_known=pairing_known).require_answer()


class _FirstCall:
    def __init__(self, session: Session, *, pairing_known: bool) -> None:
        self.session = session
        self.profile = session.profile
        self.binding = session.offers["apply_rotary"].binding
        self.pairing_known = pairing_known

    def require_signature(self) -> None:
        if not self.binding.fits:
            raise self._unusable("cannot be called as f(x, positions)", self._adapter())

    def require_answer(self) -> None:
        raised: list[SubjectError] = []
        odd: TargetUnusable | None = None
        for dtype, dim in _tries(self.profile):
            x, positions = _arguments(self.profile, dim, dtype)
            try:
                rotated = self.session.rotate(x, positions)
            except (SubjectCrashed, SubjectTimeout):
                return
            except SubjectError as error:
                raised.append(error)
                continue
            if rotated.shape_ok:
                break
            odd = odd or self._odd(rotated, to_subject(x, self.profile).shape)
        else:
            raise odd or self._raising(raised[0])
        if raised or odd:
            self.session.refresh()  # what an error leaves behind is no part of the subject

    def _raising(self, error: SubjectError) -> TargetUnusable:
        text = f"{error.type_name}: " if isinstance(error, SubjectRaised) else ""
        what = f"raises {text}{error.message[:300]}" if text else error.message
        named = self.binding.positions or (*self.binding.parameters, "", "")[1]
        known = named in POSITIONS or self.binding.swapped
        return self._unusable(
            f"{what.rstrip('.')}, when it is called as f(x, positions)",
            self._options() + ("" if known else f"\n\n{self._adapter()}"),
        )

    def _odd(self, rotated: Rotated, sent: tuple[int, ...]) -> TargetUnusable:
        reply = rotated.reply
        answered = Answered(sent, tuple(value.shape for value in reply.values), reply.written[0])
        if len(reply.values) > 1:
            got = f"{len(reply.values)} results, {' and '.join(reply.descriptions[:3])},"
        else:
            got = reply.descriptions[0]
        what = f"answers f(x, positions) with {got} for x of shape {sent}"
        if not answered.order:
            return self._unusable(what, self._adapter(answered))
        remedy = f"{self._options()}\n\n{self._adapter(answered)}"
        return self._unusable(f"{what}: the same sizes in another order", remedy)

    def _unusable(self, what: str, remedy: str) -> TargetUnusable:
        names = ", ".join(
            name if name in self.binding.required else f"{name}="
            for name in self.binding.parameters
        )
        said = f"its parameters are {names}" if names else "what parameters it has is not known"
        return TargetUnusable(f"{self.session.target} {what}; {said}", remedy)

    def _adapter(self, answered: Answered | None = None) -> str:
        source = adapter(
            self.session.target,
            self.binding,
            self.profile,
            answered,
            pairing_known=self.pairing_known,
        )
        return f"Write an adapter like this one beside it, and name that instead:\n\n{source}"

    def _options(self) -> str:
        """Say which claims might be missing."""
        profile = self.profile
        order = "(batch, sequence, heads, head_dim)"
        target = shlex.quote(self.session.target)
        tries = f"`ropespec identify {target} --try-axes` finds the order"
        told = {"--axes": f"if x is not {order}; {tries}"}
        if not profile.shared_positions and profile.axes != "shd":
            told["--shared-positions"] = "if positions are one vector (sequence,)"
        told["--head-dim, --dtype"] = "if it takes few of them"
        for name in ARRAYS:
            if name not in (DEFAULT, profile.array) and name in self.session.environment:
                told[f"--array {name}"] = f"if it takes arrays of {name}"
        called = f"It was called with axes {profile.axes} and arrays of {profile.array}."
        lines = [f"  {option:<20} {when}" for option, when in told.items()]
        return "\n".join([f"{called} What it wants instead can be claimed:", *lines])


def _tries(profile: Profile) -> Iterator[tuple[str, int]]:
    """Return what to call with: several head_dims in the first dtype, then the other dtypes."""
    dims = [dim for dim in usual_dims(profile) if dim >= (profile.rotary_dim or 0)]
    dims = dims[:_MOST_TRIED] or [max(profile.head_dims)]
    yield from ((profile.dtypes[0], dim) for dim in dims)
    yield from ((dtype, dims[0]) for dtype in profile.dtypes[1:_MOST_TRIED])


def _arguments(
    profile: Profile, dim: int, dtype: str
) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
    """Make x, and positions from 0."""
    batch, seq = (1 if profile.axes == "shd" else _BATCH), min(_SEQ, profile.max_position + 1)
    if profile.max_tokens is not None:
        batch = min(batch, profile.max_tokens)
        seq = min(seq, profile.max_tokens // batch)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((batch, seq, _HEADS, dim)).astype(numpy_dtype(dtype))
    return x, np.broadcast_to(np.arange(seq), (batch, seq)).copy()
