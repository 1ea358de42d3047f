"""The two subjects of a comparison: each loaded, identified, and called."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.builtin import BUILTIN, builtin_profile
from ropespec.conformance.compare.turn import Exact, Turn
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
from ropespec.conformance.subject.errors import (
    SubjectCrashed,
    SubjectError,
    SubjectRaised,
    SubjectTimeout,
    TargetUnusable,
)
from ropespec.conformance.subject.session import Session

__all__ = ["Answer", "Keywords", "Side", "frame_of", "open_side", "side_of"]

Keywords = Mapping[str, Any]

_KNOWN = (Pairing.INTERLEAVED, Pairing.DEINTERLEAVED, Pairing.HALF, Pairing.HALF_OF_HEAD)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a side made of one input.

    Attributes
    ----------
    y : ndarray or None
        The result (B, S, H, D); None if there was none of that shape.
    problem : str
        What it did instead, or the dtype it answered with where that is not x's; may be empty.
    lost : bool
        Whether its worker crashed or hung.
    """

    y: NDArray[Any] | None
    problem: str = ""
    lost: bool = False


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
        self.turn, self.taken = Turn.found(self.found), False
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

    def turn_under(self, keywords: Keywords) -> Turn | None:
        """Return what it does under keywords; those that it obeys change what was identified."""
        turn = self.turn
        if turn is None:
            return None
        if self.takes("interleaved") and turn.woven != keywords["interleaved"]:
            pairing = Pairing.INTERLEAVED if keywords["interleaved"] else Pairing.HALF
            turn = replace(turn, pairing=pairing)
        if self.takes("base"):
            turn = replace(
                turn, frequencies=replace(turn.frequencies, base=float(keywords["base"]))
            )
        if self.takes("rotary_dim") and keywords["rotary_dim"] is not None:
            turn = replace(turn, fixed=keywords["rotary_dim"])
        return turn

    def answer(self, x: NDArray[Any], positions: NDArray[np.int64], keywords: Keywords) -> Answer:
        """Rotate x (B, S, H, D); what has more tokens than are claimed goes in parts."""
        try:
            y, dtype = self._rotated(x, positions, keywords)
        except SubjectRaised as error:
            return Answer(None, f"raises {error.type_name}: {error.message}")
        except (SubjectCrashed, SubjectTimeout) as error:
            return Answer(None, f"is lost: {error.message}", lost=True)
        except SubjectError as error:
            return Answer(None, f"fails: {error.message}")
        if y.shape != x.shape:
            return Answer(None, f"returns shape {y.shape} for x of shape {x.shape}")
        same = dtype == x.dtype.name
        return Answer(y, "" if same else f"returns {dtype} for {x.dtype.name} x")

    def _rotated(
        self, x: NDArray[Any], positions: NDArray[np.int64], keywords: Keywords
    ) -> tuple[NDArray[Any], str]:
        """Return the result as it came, and its dtype as reported."""
        y, dtype = np.zeros_like(x), ""
        for part in self._parts(*positions.shape[:2]):
            given = np.ascontiguousarray(x[part])
            done = self.session.rotate(given, positions[part], keywords=keywords)
            dtypes = done.reply.dtypes
            dtype = dtypes[0] if len(dtypes) == 1 else "several results"
            if done.y.shape == x.shape or done.y.shape != given.shape:
                return np.asarray(done.y), dtype
            y = y if y.dtype == done.y.dtype else np.zeros(x.shape, done.y.dtype)
            y[part] = done.y
        return y, dtype

    def _parts(self, rows: int, tokens: int) -> list[tuple[slice, slice]]:
        most = self.profile.max_tokens
        if most is None or rows * tokens <= most:
            return [(slice(None), slice(None))]
        starts = range(0, tokens, most)
        return [(slice(b, b + 1), slice(s, s + most)) for b in range(rows) for s in starts]


def frame_of(turn: Turn | None, x: NDArray[Any], positions: NDArray[np.int64]) -> Exact | None:
    """Return what a side should return; None where it is not known which number pairs follow."""
    if turn is None or (positions.ndim > 2 and not turn.axes):
        return None
    return turn.of(x, positions)


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
    if target in BUILTIN:
        known = builtin_profile(target).dtypes
        if missing := [name for name in claims.get("dtypes", ()) if name not in known]:
            said = f"takes no {', '.join(missing)}; it takes {', '.join(known)}"
            raise TargetUnusable(f"{target} {said}")
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
    label, claims, try_axes
        As for `open_side`.
    session : Session
        The subject.
    guessed : bool
        Whether the layout of its profile is a guess, to be replaced by what is found.

    Raises
    ------
    TargetUnusable
        As `open_side`.
    """
    target, profile = session.target, session.profile
    if target in BUILTIN:
        unseen = Identification(target, (), 0, 0.0, target)
        pairing = Pairing.INTERLEAVED if profile.layouts[0] else Pairing.HALF
        usual = Turn(pairing, frequencies=profile.convention.frequencies, fixed=profile.rotary_dim)
        return Side(label, session, claims, unseen, usual, profile, taken=True)
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
    return Side(label, session, claims, found, Turn.found(found), profile)


def _settle(label: str, session: Session, found: Identification, claims: Mapping[str, Any]) -> None:
    """Put what was found in the place of the guess."""
    target = session.target
    answer = found.value(Name.ANSWER)
    if answer != "values":
        raise TargetUnusable(f"{target} cannot be identified: it answers with {answer}")
    if found.value(Name.PAIRING) not in _KNOWN:
        flag = label.lower()
        raise TargetUnusable(
            f"{target} does not say how it pairs components, and identification finds no known "
            f"pairing: give --{flag}-interleaved or --{flag}-half"
        )
    # A base is a setting to be compared, not a condition of calling it.
    kept = {**claims, "base": session.profile.base}
    if "interleaved" in session.offers["apply_rotary"].keywords:
        kept["layouts"] = (True, False)
        both = session.profile.as_dict() | {"layouts": (True, False)}
        session.profile = Profile.from_mapping(both)
    session.profile = convention(found, session.profile, kept)
