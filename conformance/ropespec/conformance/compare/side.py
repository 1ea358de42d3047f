"""One side of a comparison: a subject that is loaded and identified."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.builtin import BUILTIN, builtin_profile
from ropespec.conformance.compare.turn import Turn, turn_of
from ropespec.conformance.first_call import require_answer
from ropespec.conformance.identify import (
    Identification,
    Name,
    Pairing,
    convention,
    identify,
    oriented,
)
from ropespec.conformance.judge.budget import Machine
from ropespec.conformance.opening import open_guessing
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.subject.session import Session

__all__ = ["Side", "open_side", "side_of"]

_INTERLEAVED = (Pairing.INTERLEAVED, Pairing.DEINTERLEAVED)
_HALF = (Pairing.HALF, Pairing.HALF_OF_HEAD)


@dataclass(slots=True)
class Side:
    """A subject under comparison.

    Attributes
    ----------
    label : str
        `A` or `B`.
    session : Session
        Open.
    claims : mapping
        What the command line says of it.
    found : Identification
        What it does.
    turn : Turn or None
        Its convention; None if it is none of a plain RoPE.
    claimed : Profile
        What it is diagnosed under: its claims, or what was found where there are none.
    taken : bool
        Whether it is a built-in backend that is taken to do what it should, until it differs.
    """

    label: str
    session: Session
    claims: Mapping[str, Any]
    found: Identification
    turn: Turn | None
    claimed: Profile
    taken: bool = False

    def look(self) -> bool:
        """Identify it if that has not been done; return whether it was done now."""
        if not self.taken:
            return False
        self.found = identify(self.session)
        self.turn, self.taken = turn_of(self.found), False
        return True

    @property
    def profile(self) -> Profile:
        """What is claimed or was found."""
        return self.session.profile

    @property
    def machine(self) -> Machine:
        """Constants of the mathematical library of its framework."""
        claimed = self.profile
        return Machine.of(claimed.array, claimed.device, subnormals=claimed.subnormals)

    def takes(self, keyword: str) -> bool:
        """Whether its rotation takes a keyword and obeys it."""
        offered = self.session.offers["apply_rotary"].keywords
        ignored = {name for name, _ in self.found.value(Name.FLAGS) or ()}
        return keyword in offered and keyword not in ignored

    def rotate(
        self, x: NDArray[Any], positions: NDArray[np.int64], keywords: Mapping[str, Any]
    ) -> tuple[NDArray[Any], str]:
        """Rotate x (B, S, H, D); return the result as it came, and its dtype as reported.

        What has more tokens than are claimed is rotated in parts.
        """
        y, dtype = np.zeros_like(x), ""
        for part in self._parts(*positions.shape):
            done = self.session.rotate(
                np.ascontiguousarray(x[part]), positions[part], keywords=keywords
            )
            dtypes = done.reply.dtypes
            dtype = dtypes[0] if len(dtypes) == 1 else "several results"
            if done.y.shape == x.shape or done.y.shape != x[part].shape:
                return np.asarray(done.y), dtype
            y = y if y.dtype == done.y.dtype else np.zeros(x.shape, done.y.dtype)
            y[part] = done.y
        return y, dtype

    def _parts(self, rows: int, tokens: int) -> list[tuple[slice, slice]]:
        """Cut a call into as few as hold what is claimed."""
        most = self.profile.max_tokens
        if most is None or rows * tokens <= most:
            return [(slice(None), slice(None))]
        return [
            (slice(row, row + 1), slice(first, first + most))
            for row in range(rows)
            for first in range(0, tokens, most)
        ]


@contextmanager
def open_side(
    label: str,
    target: str,
    claims: Mapping[str, Any],
    timeout: float,
    *,
    try_axes: bool = False,
) -> Iterator[Side]:
    """Load a target and identify it; a built-in backend only once it differs.

    Parameters
    ----------
    label : str
        `A` or `B`.
    target : str
        As for `open_subject`.
    claims : mapping
        Arguments of `Profile`. Without any layout, here or in its `PROFILE`, the layout that is
        identified is used.
    timeout : float
        Seconds for one call.
    try_axes : bool
        Whether it is called in other orders of axes, too; the one that is found is used.

    Raises
    ------
    TargetUnusable
        If it cannot be loaded or called, offers no rotation, or nobody knows how it pairs.
    """
    _require_dtypes(target, claims)
    tries = try_axes and target not in BUILTIN
    session, guessed = open_guessing(target, claims, timeout, try_axes=tries)
    with session:
        yield side_of(label, session, claims, guessed=guessed, try_axes=tries)


def side_of(
    label: str,
    session: Session,
    claims: Mapping[str, Any],
    *,
    guessed: bool,
    try_axes: bool = False,
) -> Side:
    """Identify a subject that is open already.

    Parameters
    ----------
    label, claims
        As for `open_side`.
    session : Session
        The subject.
    guessed : bool
        Whether the layout of its profile is a guess, to be replaced by what is found.
    try_axes : bool
        As for `open_side`.

    Raises
    ------
    TargetUnusable
        As `open_side`.
    """
    target, profile = session.target, session.profile
    if target in BUILTIN:
        unseen = Identification(target, (), 0, 0.0, target)
        return Side(label, session, claims, unseen, _usual(profile), profile, taken=True)
    if "apply_rotary" not in session.offers:
        raise TargetUnusable(f"{target} offers no apply_rotary, and that is what is compared")
    found = identify(session, try_axes=try_axes)
    if try_axes:
        if found.is_nothing:
            require_answer(session, pairing_known=not guessed)  # in no order of axes it answers
        session.profile = oriented(found, session.profile)
    if guessed:
        _settle(label, session, found, claims)
        profile = convention(found, session.profile, claims)
    return Side(label, session, claims, found, turn_of(found), profile)


def _usual(profile: Profile) -> Turn:
    """Return what a backend does that is right."""
    pairing = Pairing.INTERLEAVED if profile.layouts[0] else Pairing.HALF
    return Turn(pairing, base=profile.base, fixed=profile.rotary_dim)


def _settle(label: str, session: Session, found: Identification, claims: Mapping[str, Any]) -> None:
    """Put what was found in the place of the guess."""
    target = session.target
    answer = found.value(Name.ANSWER)
    if answer != "values":
        raise TargetUnusable(f"{target} cannot be identified: it answers with {answer}")
    if found.value(Name.PAIRING) not in (*_INTERLEAVED, *_HALF):
        flag = label.lower()
        raise TargetUnusable(
            f"{target} does not say how it pairs components, and identification finds no known "
            f"pairing: give --{flag}-interleaved or --{flag}-half"
        )
    # A base is a setting to be compared, not a condition of calling it.
    kept = {**claims, "base": session.profile.base}
    if "interleaved" in session.offers["apply_rotary"].keywords:
        kept["layouts"] = (True, False)
        session.profile = _with_layouts(session.profile, (True, False))
    session.profile = convention(found, session.profile, kept)


def _with_layouts(profile: Profile, layouts: tuple[bool, ...]) -> Profile:
    return Profile.from_mapping(profile.as_dict() | {"layouts": layouts})


def _require_dtypes(target: str, claims: Mapping[str, Any]) -> None:
    if target not in BUILTIN:
        return
    known = builtin_profile(target).dtypes
    if missing := [name for name in claims.get("dtypes", ()) if name not in known]:
        raise TargetUnusable(f"{target} takes no {', '.join(missing)}; it takes {', '.join(known)}")
