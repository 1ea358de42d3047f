"""One subject under trial: calls in its own terms, judged in ours."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.coverage.tally import Covered
from ropespec.conformance.judge.budget import Machine, angle_error
from ropespec.conformance.judge.fault import Fault
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, flushed
from ropespec.conformance.judge.laws import rounding_allowed
from ropespec.conformance.judge.precision import (
    DEFECTS,
    Precision,
    arithmetic_dtype,
    ladder,
    legitimate,
    loosest,
)
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.profile import Profile
from ropespec.conformance.results import Status
from ropespec.conformance.subject.session import Reply, Rotated, Session

__all__ = ["Effort", "Measured", "Trial", "Unfit", "unfit"]


class Unfit(Exception):  # noqa: N818  # a finding on its way to the runner
    """A result that cannot be judged as a rotated x, whatever its numbers are: of the last call.

    Attributes
    ----------
    finding : Finding
        What is wrong with it.
    """

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def unfit(rotated: Rotated, x: NDArray[Any]) -> Finding | None:
    """Return the finding that a result is not one real array of the shape of x, or None.

    Parameters
    ----------
    rotated : Rotated
        What came back.
    x : ndarray
        What was to be rotated, (B, S, H, D).
    """
    problem = _misfit(rotated, x)
    return broken(f"returns {problem}", fault=Fault.FORM) if problem else None


def _misfit(rotated: Rotated, x: NDArray[Any]) -> str:
    """Say what came back where one real array of the shape of x is claimed; nothing if it is."""
    reply = rotated.reply
    if len(reply.values) != 1:
        return f"{len(reply.values)} results where one array is claimed"
    if not rotated.shape_ok:
        got = f"shape {rotated.y.shape}" if reply.is_array[0] else reply.descriptions[0]
        return f"{got} where shape {x.shape} is claimed"
    if np.iscomplexobj(rotated.y):
        return f"{reply.dtypes[0]} where {x.dtype.name} is claimed"
    return ""


@dataclass(slots=True)
class Measured:
    """The best precision class that has held so far, per dtype of x."""

    standing: dict[str, list[Precision]] = field(default_factory=dict)
    suspected: dict[str, list[Precision]] = field(default_factory=dict)

    def suspects(self, dtype: str) -> list[Precision]:
        """Return the defects that would explain every result of this dtype so far."""
        return self.suspected.setdefault(dtype, list(DEFECTS.values()))

    def tried(self, dtype: str) -> list[Precision]:
        """Return the classes that have held for every result of this dtype, from best to worst."""
        return self.standing.setdefault(dtype, list(ladder(dtype)))

    def add(self, others: "Measured") -> None:
        """Keep only what has held for the results of others as well."""
        for dtype, classes in others.standing.items():
            self.standing[dtype] = [one for one in self.tried(dtype) if one in classes]
        for dtype, defects in others.suspected.items():
            self.suspected[dtype] = [one for one in self.suspects(dtype) if one in defects]

    def best(self) -> dict[str, str]:
        """Return the best class per dtype that was seen; `none` where no class holds."""
        return {
            dtype: classes[0].name if classes else "none"
            for dtype, classes in self.standing.items()
        }


@dataclass(slots=True)
class Effort:
    """What making failing cases smaller has taken so far, in all checks of a subject.

    Attributes
    ----------
    seconds : float
        Of all of them.
    """

    seconds: float = 0.0


@dataclass(slots=True)
class Trial:
    """A session with the means to judge what comes back.

    Attributes
    ----------
    session : Session
        The subject.
    measured : Measured
        What has been found out about its precision.
    untried : set of Status
        What has not yet been tried again on a fresh instance, the first of each kind being enough;
        empty where nothing can be started afresh.
    worn : bool
        Whether an error was seen to go away on a fresh instance, so that one is due after each.
    effort : Effort
        What making failing cases smaller has taken.
    covered : Covered
        What of the input space has been judged.
    """

    session: Session
    measured: Measured = field(default_factory=Measured)
    untried: set[Status] = field(default_factory=lambda: {Status.FAIL, Status.ERROR})
    worn: bool = False
    effort: Effort = field(default_factory=Effort)
    covered: Covered = field(default_factory=Covered)

    @property
    def profile(self) -> Profile:
        """The claims."""
        return self.session.profile

    @property
    def machine(self) -> Machine:
        """Constants of the mathematical library of its framework."""
        claimed = self.profile
        return Machine.of(claimed.array, claimed.device, subnormals=claimed.subnormals)

    def most_tokens(self, batch: int) -> int:
        """Return how many tokens each of so many rows may have."""
        most = self.profile.max_tokens
        return sys.maxsize if most is None else most // batch

    def keywords(self, function: str) -> frozenset[str]:
        """Which of interleaved, base, rotary_dim, out and device a function takes."""
        offer = self.session.offers.get(function)
        return offer.keywords if offer is not None else frozenset()

    def classes(self, dtype: str) -> tuple[Precision, ...]:
        """Return the classes under which x of this dtype passes."""
        return legitimate(dtype, self.profile.precision)

    def loosest(self, dtype: str) -> Precision:
        """Return what allows as much as any class that passes."""
        return loosest(self.classes(dtype))

    def call(
        self, function: str, arrays: Sequence[Any], keywords: dict[str, Any] | None = None
    ) -> Reply:
        """Call a function of the API, with the keywords it takes."""
        given = keywords or {}
        taken = self.keywords(function)
        optional = {"interleaved", "base", "rotary_dim", "device"}
        passed = {k: v for k, v in given.items() if k not in optional or k in taken}
        return self.session.call(function, arrays, keywords=passed)

    def rotate(
        self,
        case: Case,
        x: NDArray[Any],
        positions: NDArray[np.int64],
        *,
        function: str = "apply_rotary",
        strided: bool | str = False,
        strided_positions: bool | str = False,
    ) -> NDArray[Any]:
        """Rotate x of shape (B, S, H, D); the result is in the same order of axes.

        Raises
        ------
        Unfit
            If the result is not one array of real numbers of the shape of x.
        """
        rotated = self.session.rotate(
            x,
            positions,
            keywords=case.keywords,
            strided=strided,
            strided_positions=strided_positions,
            function=function,
        )
        if finding := unfit(rotated, x):
            raise Unfit(finding)
        return np.asarray(rotated.y)

    def rotate_refilled(
        self,
        case: Case,
        before: tuple[NDArray[Any], NDArray[np.int64]],
        after: tuple[NDArray[Any], NDArray[np.int64]],
    ) -> NDArray[Any]:
        """Rotate x at positions, write others into their memory, and rotate again.

        Raises
        ------
        Unfit
            As `rotate`.
        """
        rotated = self.session.rotate_refilled(before, after, keywords=case.keywords)
        if finding := unfit(rotated, after[0]):
            raise Unfit(finding)
        return np.asarray(rotated.y)

    def rotate_vjp(
        self,
        case: Case,
        x: NDArray[Any],
        positions: NDArray[np.int64],
        cotangent: NDArray[Any],
        *,
        strided: bool | str = False,
        strided_cotangent: bool | str | None = None,
    ) -> NDArray[Any]:
        """Take the gradient of <cotangent, rotated x> with respect to x, (B, S, H, D).

        Raises
        ------
        Unfit
            If the gradient is not one array of real numbers of the shape of x.
        NotDifferentiable
            If there is none.
        """
        gradient = self.session.rotate_vjp(
            x,
            positions,
            cotangent,
            keywords=case.keywords,
            strided=strided,
            strided_cotangent=strided_cotangent,
        )
        if problem := _misfit(gradient, x):
            raise Unfit(broken(f"has a gradient of {problem}"))
        return np.asarray(gradient.y)

    def expect(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Rotation:
        """Rotate x exactly."""
        return Rotation.of(x, positions, case.convention)

    def allowed(
        self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Bound the error of every component of the rotated x under the loosest passing class."""
        return self.expect(case, x, positions).allowed(self.loosest(case.dtype), self.machine)

    def length_allowed(
        self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Bound the length of the error of each vector of x, shape (B, S, H), whatever the pairing.

        An angle that is off by at most D moves a vector by at most D |x|; table, arithmetic and
        store add their share of every pair.
        """
        precision = self.loosest(case.dtype)
        pairs = self.expect(case, x, positions).pairs
        working = arithmetic_dtype(case.dtype)
        off = angle_error(
            precision.angle,
            pairs.position,
            pairs.theta,
            arithmetic=working,
            machine=self.machine,
            of=pairs.of,
        )
        bound = rounding_allowed(x, case.convention, precision, self.machine)
        length = np.linalg.norm(x.astype(np.float64), axis=-1)
        most = pairs.reach * np.minimum(off.max(axis=-1), 2.0)
        return np.asarray(most * length + np.linalg.norm(bound, axis=-1) + 2.0**-48 * length)

    def judge(
        self,
        case: Case,
        x: NDArray[Any],
        positions: NDArray[np.int64],
        y: NDArray[Any],
        *,
        function: str = "apply_rotary",
        message: str = "",
    ) -> Finding:
        """Judge a rotated x by the error budget of the best class that may pass.

        The ratio is that of the tightest passing class still standing; it exceeds 1 only when the
        budgets of all of them are exceeded.
        """
        call = Call(function, (x, positions), case.keywords)
        exact = self.expect(case, x, positions)
        if y.shape != exact.y.shape:
            return broken(f"y has shape {y.shape}; expected {exact.y.shape}", call=call)
        if self._flushes(exact, y):
            own = exact.allowed(self.loosest(case.dtype), self.machine)
            return flushed(compare(y, exact.y, own)).after(call)
        finding: Finding | None = None
        standing = self.measured.tried(case.dtype)
        passing = self.classes(case.dtype)
        for precision in list(standing):
            ratio = compare(y, exact.y, exact.allowed(precision, self.machine))
            if ratio.passed:
                if precision in passing:
                    return ratio
                break
            standing.remove(precision)
        for precision in passing:
            said = message or f"y is further from R_m x than `{precision.name}` allows"
            found = compare(y, exact.y, exact.allowed(precision, self.machine), message=said)
            if found.passed:
                return found
            if finding is None or found.ratio < finding.ratio:
                finding = found
        assert finding is not None
        suspects = self.measured.suspects(case.dtype)
        suspects[:] = [
            defect
            for defect in suspects
            if compare(y, exact.y, exact.allowed(defect, self.machine)).passed
        ]
        return finding.after(call)

    def flushes(
        self, case: Case, x: NDArray[Any], positions: NDArray[np.int64], y: NDArray[Any]
    ) -> bool:
        """Whether y is wrong on a machine that keeps subnormals, and right on one that does not."""
        return self._flushes(self.expect(case, x, positions), y)

    def _flushes(self, exact: Rotation, y: NDArray[Any]) -> bool:
        other = replace(self.machine, flushes=True)
        tiny = (exact.y != 0.0) & (np.abs(exact.y) < other.flushed(exact.dtype))
        if self.machine.flushes or not (tiny & (y == 0)).any():
            return False
        loosest = self.loosest(exact.dtype)
        own, loose = (exact.allowed(loosest, machine) for machine in (self.machine, other))
        return not compare(y, exact.y, own).passed and compare(y, exact.y, loose).passed

    def resembles(
        self, case: Case, x: NDArray[Any], positions: NDArray[np.int64], y: NDArray[Any]
    ) -> bool:
        """Whether y is the rotation of x by these positions, for naming a mistake."""
        exact = self.expect(case, x, positions)
        return compare(y, exact.y, exact.allowed(self.loosest(case.dtype), self.machine)).passed

    def rotate_and_judge(
        self, case: Case, *, function: str = "apply_rotary", message: str = ""
    ) -> Finding:
        """Make the inputs of a case, rotate and judge."""
        positions = case.make_positions()
        x = case.make_x(positions)
        y = self.rotate(case, x, positions, function=function, strided=case.strided)
        return self.judge(case, x, positions, y, function=function, message=message)
