"""Calls for identification: in the subject's own terms, and whatever it does is an answer."""

from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.diagnosis.ask import Answer, Asker, Lost
from ropespec.conformance.judge.values import numpy_dtype
from ropespec.conformance.mistakes.given import Given
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.session import Session
from ropespec.spec.convention import Keywords

__all__ = ["Float", "Manner", "Probe", "drawn"]

Float = NDArray[np.float64]


def drawn(dim: int, seed: int = 31) -> tuple[Float, NDArray[np.int64]]:
    """Draw x (2, 5, 3, dim), and positions that are the same in both rows."""
    x = np.random.default_rng(seed).standard_normal((2, 5, 3, dim))
    return x, np.broadcast_to(np.array([1, 4, 2, 9, 30]), (2, 5)).copy()


@dataclass(frozen=True, slots=True)
class Manner:
    """How x and positions are handed over.

    Attributes
    ----------
    axes : str
        Order of the axes of x.
    shared : bool
        Positions as one vector (S,) instead of (B, S).
    """

    axes: str
    shared: bool

    @property
    def one_row(self) -> bool:
        """Whether all rows of a call have the same positions."""
        return self.shared or self.axes == "shd"

    def of(self, profile: Profile) -> Profile:
        """Return the claims with it."""
        shared = self.shared and self.axes != "shd"
        return replace(profile, axes=self.axes, shared_positions=shared)


@dataclass(slots=True)
class Probe:
    """Calls `apply_rotary` of a session in one manner and keeps what every call shows.

    Attributes
    ----------
    session : Session
        The subject.
    manner : Manner
        How it is called.
    dtype : str
        dtype of x unless a call says otherwise.
    written : set of str
        Arguments that a call has changed.
    aliased : bool
        Whether a result shared memory with an argument.
    only : int or None
        Which of several position numbers counts, while the others are 0; None for equal ones.
    asker : Asker
        Makes the calls.
    """

    session: Session
    manner: Manner
    dtype: str = "float32"
    written: set[str] = field(default_factory=set)
    aliased: bool = False
    only: int | None = None
    asker: Asker = field(init=False)

    def __post_init__(self) -> None:
        under = self.session.under(self.manner.of(self.session.profile), self.session.timeout)
        self.asker = Asker(under)

    @property
    def profile(self) -> Profile:
        """The claims with the manner of calling."""
        return self.asker.session.profile

    @property
    def taken(self) -> frozenset[str]:
        """The keywords that `apply_rotary` takes."""
        return self.session.offers["apply_rotary"].keywords

    def given(
        self,
        x: NDArray[Any],
        positions: NDArray[np.integer],
        *,
        dtype: str | None = None,
        strided: bool = False,
        **keywords: Unpack[Keywords],
    ) -> Given:
        """Make a call of x (B, S, H, D) and positions (B, S) as claimed, but for its keywords."""
        claimed = self.profile.rotation
        return Given(
            x.astype(numpy_dtype(dtype or self.dtype)),
            np.asarray(positions, dtype=np.int64),
            (claimed.text if self.only is None else claimed).stating(**keywords),
            strided,
            only=self.only,
        )

    def ask(self, given: Given) -> Answer | None:
        """Make a call, row by row where it takes one vector; None if it is not to be made.

        Raises
        ------
        Lost
            If the subject crashed or hung.
        """
        most, parts = self._rows_at_once(given.positions), list[Answer]()
        for begin in range(0, max(len(given.x), 1), most) if most else ():
            rows = slice(begin, begin + most)
            part = replace(given, x=given.x[rows], positions=given.positions[rows])
            answer = self.asker.ask(part)
            if answer is None:
                return None
            if answer.fault in ("crash", "timeout"):
                raise Lost(answer.fault, answer.detail)
            if answer.fault not in ("", "dtype"):
                return replace(answer, y=None)
            self.written.update(answer.written)
            self.aliased = self.aliased or answer.aliased
            parts.append(answer)
        if not parts:
            return None
        joined = np.concatenate([one.y for one in parts if one.y is not None])
        return replace(parts[0], given=given, y=joined)

    def rotate(
        self,
        x: NDArray[Any],
        positions: NDArray[np.integer],
        *,
        dtype: str | None = None,
        **keywords: Unpack[Keywords],
    ) -> Float | None:
        """Return the rotated x in float64; None if no array like x came."""
        answer = self.ask(self.given(x, positions, dtype=dtype, **keywords))
        return None if answer is None else answer.y

    def _rows_at_once(self, positions: NDArray[np.integer]) -> int:
        """Return how many rows one call can have; none if a row is longer than is claimed."""
        ragged = len(positions) > 1 and bool(np.any(positions != positions[:1]))
        apart = self.manner.axes == "shd" or (self.manner.shared and ragged)
        most = 1 if apart else max(len(positions), 1)
        tokens = self.profile.max_tokens
        return most if tokens is None else min(most, tokens // max(positions.shape[1], 1))
