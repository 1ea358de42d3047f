"""How a subject is asked, whoever asks: checks, identification, comparison.

A call either returns a `Reply` or raises a `SubjectError`, and can be recorded. Rotations are asked
in the axes (B, S, H, D), whatever those of the subject are.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.asked import Asked
from ropespec.conformance.subject.errors import SubjectError
from ropespec.conformance.subject.layout import (
    from_subject,
    positions_for_subject,
    result_from_subject,
    result_to_subject,
    to_subject,
)
from ropespec.conformance.subject.reply import Offer, Reply, Rotated
from ropespec.conformance.subject.requests import Question
from ropespec.conformance.subject.styled import Styled

__all__ = ["Caller"]

Keywords = Mapping[str, Any]
Pair = tuple[np.ndarray, np.ndarray]

_NOTHING: Keywords = MappingProxyType({})


class Caller(ABC):
    """Asks one subject under one profile.

    Attributes
    ----------
    profile : Profile
        The claims: `axes` and `shared_positions` say how it is called.
    timeout : float
        Seconds for each call.
    """

    profile: Profile
    timeout: float
    _tape: list[Asked] | None = None

    @property
    def style(self) -> Styled | None:
        """How a style binds its rotation; None where none does."""
        return None

    @property
    @abstractmethod
    def offers(self) -> Mapping[str, Offer]:
        """The functions the subject offers, by name."""

    @abstractmethod
    def refresh(self) -> None:
        """Start the subject afresh, so that it remembers nothing."""

    @abstractmethod
    def ask(self, question: Question) -> Reply:
        """Ask, and wait for the answer; this is not recorded.

        Raises
        ------
        SubjectError
            If the subject raised, crashed or did not answer.
        TargetUnusable
            If it cannot be loaded at all.
        """

    def under(self, profile: Profile, timeout: float) -> Self:
        """Return what asks the same subject under other claims, for as long as this is open.

        Parameters
        ----------
        profile : Profile
            The claims; `array`, `device`, `axes` and `shared_positions` are those of this one.
        timeout : float
            Seconds for each call; what is set here at most.
        """
        other = copy(self)
        other.profile = profile
        other.timeout = min(timeout, self.timeout)
        return other

    @contextmanager
    def recording(self) -> Iterator[list[Asked]]:
        """Keep every call until the end of the block, in order, whoever makes it."""
        before = self._tape
        tape: list[Asked] = []
        self._tape = tape
        try:
            yield tape
        finally:
            self._tape = before
            if before is not None:
                before.extend(tape)

    def forgotten(self) -> None:
        """Record that the subject remembers nothing of what was asked before."""
        if self._tape is not None:
            self._tape.append(Asked("refresh", "", ()))

    def accepted(self, function: str, keywords: Keywords) -> dict[str, Any]:
        """Return those of `interleaved`, `base` and `rotary_dim` that the function takes."""
        offer = self.offers.get(function)
        taken = offer.keywords if offer is not None else frozenset()
        return {name: value for name, value in keywords.items() if name in taken}

    def conventions(self, function: str, keywords: Keywords = _NOTHING) -> dict[str, Any]:
        """Return the keywords of a rotation that a function takes; what is not given is claimed.

        A rotary_dim that nobody claims is left to the function, which may have one of its own.
        """
        claimed = self.profile.keywords
        if claimed["rotary_dim"] is None:
            del claimed["rotary_dim"]
        return self.accepted(function, {**claimed, **keywords})

    def call(
        self,
        function: str,
        arrays: Sequence[Any],
        *,
        keywords: Keywords = _NOTHING,
        strided: bool | str = False,
        strided_positions: bool | str = False,
    ) -> Reply:
        """Call a function of the subject.

        Parameters
        ----------
        function : str
            Its name in the API.
        arrays : sequence
            Positional arguments in order: NumPy arrays, already in the subject's order of axes,
            and plain Python values. Integers that are wider than those of the framework become
            narrower if all values fit, and stay NumPy if they do not.
        keywords : mapping
            Arrays or JSON values, passed as given; see `accepted`.
        strided, strided_positions : bool or str
            Hand floating arrays, or integer ones, over as views that are not contiguous, with the
            same values; or as the view of that name, see `ropespec.conformance.subject.views`.

        Raises
        ------
        SubjectError, TargetUnusable
            As `ask`.
        """
        question = Question(
            "call",
            function,
            tuple(arrays),
            keywords,
            strided=strided,
            strided_positions=strided_positions,
        )
        return self._raw("call", question)

    def vjp(
        self,
        function: str,
        arrays: Sequence[Any],
        cotangent: np.ndarray,
        *,
        keywords: Keywords = _NOTHING,
        strided: bool | str = False,
    ) -> Reply:
        """Return the gradient of <cotangent, function(x, ...)> with respect to x = arrays[0].

        By the subject's own `apply_rotary_vjp(cotangent, positions)` if it offers one, otherwise
        by that of the framework. With `strided` x and the cotangent are views that are not
        contiguous.

        Raises
        ------
        NotDifferentiable
            If there is no way to a gradient.
        SubjectError
            As `call`.
        """
        extra = (cotangent,)
        question = Question("vjp", function, tuple(arrays), keywords, extra, strided=strided)
        return self._raw("gradient", question)

    def into(
        self,
        function: str,
        arrays: Sequence[Any],
        kind: str,
        *,
        keywords: Keywords = _NOTHING,
        strided: bool | str = False,
    ) -> Reply:
        """Call a function with memory for its result, `out`.

        Parameters
        ----------
        function, arrays, keywords, strided
            As in `call`; x is `arrays[0]`.
        kind : str
            Which memory, one of `ropespec.conformance.subject.into.KINDS`.

        Raises
        ------
        SubjectError
            As `call`.
        """
        question = Question("into", function, tuple(arrays), keywords, kind=kind, strided=strided)
        return self._raw("into", question)

    def transform(
        self,
        transform: str,
        function: str,
        arrays: Sequence[Any],
        extra: Sequence[np.ndarray] = (),
        *,
        keywords: Keywords = _NOTHING,
        axes: Sequence[int | None] = (),
    ) -> Reply:
        """Call a function under a transform of its framework.

        Parameters
        ----------
        transform : str
            One of `ropespec.conformance.subject.transforms.TRANSFORMS`.
        function, arrays, keywords
            As in `call`.
        extra : sequence of arrays
            Tangents or cotangents, as the transform needs them.
        axes : sequence
            For vmap the axis of each positional argument, None for one that is not mapped.

        Raises
        ------
        NotPossible
            If the framework has no such transform, or anything is raised under it. What raised may
            have left something behind: the next call of another kind runs in a fresh worker.
        SubjectError
            As `call`.
        """
        given, with_it, mapped = tuple(arrays), tuple(extra), tuple(axes)
        question = Question("transform", function, given, keywords, with_it, transform, mapped)
        return self._raw("transform", question)

    def rotate(
        self,
        x: np.ndarray,
        positions: np.ndarray,
        *,
        keywords: Keywords = _NOTHING,
        strided: bool | str = False,
        strided_positions: bool | str = False,
        function: str = "apply_rotary",
    ) -> Rotated:
        """Rotate x of shape (B, S, H, D) by positions of shape (B, S), whatever its axes.

        Keywords that the function does not take are left out; those not given come from the
        profile. With `shared_positions` or axes `shd` the rows of positions must be equal, and the
        first one is passed.

        Raises
        ------
        ValueError
            For axes `shd` and more than one row.
        SubjectError
            As `call`.
        """
        return self.attempt(
            x,
            positions,
            keywords=keywords,
            strided=strided,
            strided_positions=strided_positions,
            function=function,
        ).rotated()

    def attempt(
        self,
        x: np.ndarray,
        positions: np.ndarray,
        *,
        keywords: Keywords = _NOTHING,
        strided: bool | str = False,
        strided_positions: bool | str = False,
        function: str = "apply_rotary",
        profile: Profile | None = None,
    ) -> Asked:
        """Rotate as `rotate` does; a `SubjectError` is part of the answer.

        Parameters
        ----------
        x, positions, keywords, strided, strided_positions, function
            As in `rotate`.
        profile : Profile, optional
            Of this one `axes` and `shared_positions` are kept, instead of those that are claimed.
        """
        asked = Asked(
            "rotate",
            function,
            (x, positions),
            strided=strided,
            strided_positions=strided_positions,
        )
        return self._rotation(asked, keywords, profile=profile)

    def rotate_vjp(
        self,
        x: np.ndarray,
        positions: np.ndarray,
        cotangent: np.ndarray,
        *,
        keywords: Keywords = _NOTHING,
        strided: bool | str = False,
        strided_cotangent: bool | str | None = None,
        function: str = "apply_rotary",
    ) -> Rotated:
        """Return the gradient of <cotangent, rotate(x, positions)> with respect to x.

        `strided` is meant for both arrays, if not said of the cotangent. Shapes and keywords are
        those of `rotate`, errors those of `vjp`.
        """
        return self.attempt_vjp(
            x,
            positions,
            cotangent,
            keywords=keywords,
            strided=strided,
            strided_cotangent=strided_cotangent,
            function=function,
        ).rotated()

    def attempt_vjp(
        self,
        x: np.ndarray,
        positions: np.ndarray,
        cotangent: np.ndarray,
        *,
        keywords: Keywords = _NOTHING,
        strided: bool | str = False,
        strided_cotangent: bool | str | None = None,
        function: str = "apply_rotary",
    ) -> Asked:
        """Take the gradient as `rotate_vjp` does; a `SubjectError` is part of the answer."""
        asked = Asked(
            "vjp",
            function,
            (x, positions),
            extra=(cotangent,),
            strided=strided,
            strided_cotangent=strided_cotangent,
        )
        sent = (result_to_subject(cotangent, self.profile),)
        return self._rotation(asked, keywords, "vjp", sent)

    def rotate_refilled(
        self, before: Pair, after: Pair, *, keywords: Keywords = _NOTHING
    ) -> Rotated:
        """Rotate x by positions, write others into their memory, and rotate again.

        As a loop of generation does that keeps one buffer. What the second call returns comes
        back. Shapes, keywords and errors are those of `rotate`. Some arrays cannot be written to.
        """
        asked = Asked("refilled", "apply_rotary", after, extra=before)
        sent = self._sent(*after, self.profile)
        return self._rotation(asked, keywords, "refilled", sent, first=before).rotated()

    def rotate_unrecorded(
        self, x: np.ndarray, positions: np.ndarray, *, keywords: Keywords = _NOTHING
    ) -> Rotated:
        """Rotate where no gradient is recorded, as in inference.

        Shapes and keywords are those of `rotate`, errors those of `transform`.
        """
        asked = Asked("unrecorded", "apply_rotary", (x, positions))
        return self._rotation(asked, keywords, "transform", kind="unrecorded").rotated()

    def _rotation(
        self,
        asked: Asked,
        keywords: Keywords,
        do: str = "call",
        extra: tuple[np.ndarray, ...] = (),
        *,
        kind: str = "",
        first: Pair | None = None,
        profile: Profile | None = None,
    ) -> Asked:
        """Ask for a rotation in the subject's order of axes, and read the answer in ours."""
        under = profile or self.profile
        x, positions = first or asked.arrays
        sent = self._sent(x, positions, under)
        asked.stated = keywords
        asked.keywords = self.conventions(asked.function, keywords)
        question = Question(
            do,
            asked.function,
            sent,
            asked.keywords,
            extra,
            kind,
            strided=asked.strided,
            strided_positions=asked.strided_positions,
            strided_cotangent=asked.strided_cotangent,
        )
        self._note(asked, question)
        if asked.reply is not None and len(asked.reply.values) == 1:
            got = asked.reply.values[0]
            back = from_subject if do == "vjp" else result_from_subject
            asked.y = back(got, under) if got.shape == sent[0].shape else None
        return asked

    @staticmethod
    def _sent(x: np.ndarray, positions: np.ndarray, profile: Profile) -> Pair:
        return to_subject(x, profile), positions_for_subject(positions, profile)

    def _raw(self, do: str, question: Question) -> Reply:
        asked = Asked(
            do,
            question.function,
            question.arguments,
            question.keywords,
            extra=question.extra,
            kind=question.kind,
            strided=question.strided,
            strided_positions=question.strided_positions,
        )
        self._note(asked, question)
        return asked.answered()

    def _note(self, asked: Asked, question: Question) -> None:
        """Ask, and write down what came of it."""
        asked.question = question
        if self._tape is not None:
            self._tape.append(asked)
        try:
            asked.reply = self.ask(question)
        except SubjectError as error:
            asked.error = error
