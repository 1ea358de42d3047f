"""What a check found on one case: a ratio error / budget, and the worst element for the report."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.fault import Fault
from ropespec.conformance.judge.rotation import error_ratios

if TYPE_CHECKING:  # a case makes its arrays with the judge
    from ropespec.conformance.case import Case

__all__ = ["FLUSHED", "Call", "Finding", "broken", "compare", "flushed", "held", "worst"]

FLUSHED = "subnormals are flushed: a number below the normal range of its dtype became zero"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the subject, kept for the report and the script.

    Attributes
    ----------
    function : str
        The API function.
    arrays : tuple
        The positional arguments: arrays, or plain numbers.
    keywords : mapping
        The keyword arguments that matter.
    """

    function: str
    arrays: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one case.

    Attributes
    ----------
    ratio : float
        The largest error / budget; at most 1 passes; infinite for a rule that is simply broken.
    message : str
        What is wrong, in words; may be empty for a pass.
    where : str
        The worst element.
    expected, got, budget : float or None
        The exact value there, the subject's, and the error allowed.
    call : Call or None
        The call that shows it.
    general : bool
        Whether the failure points at no mistake in particular.
    case : Case or None
        The case that shows it, where the check made one of its own from the one that was drawn.
    off, of : int or None
        How many elements exceed their budget, and of how many; None where none were counted.
    fault : Fault or None
        What kind of failure it is; None for one that has its message alone.
    """

    ratio: float
    message: str = ""
    where: str = ""
    expected: float | None = None
    got: float | None = None
    budget: float | None = None
    call: Call | None = None
    general: bool = False
    case: "Case | None" = None
    off: int | None = None
    of: int | None = None
    fault: Fault | None = None

    @property
    def passed(self) -> bool:
        """Whether the error stayed within its budget."""
        return self.ratio <= 1.0

    def after(self, call: Call) -> "Finding":
        """Return the finding with the call that led to it."""
        return replace(self, call=call)


def held(ratio: float = 0.0) -> Finding:
    """Return a pass."""
    return Finding(ratio)


def broken(message: str, **details: Any) -> Finding:  # noqa: ANN401  # passed on to Finding
    """Return the failure of a yes-or-no rule."""
    return Finding(float("inf"), message, **details)


def flushed(finding: Finding) -> Finding:
    """Return the failure that consists in flushed subnormals, and is otherwise right."""
    return replace(finding, message=FLUSHED, fault=Fault.FLUSHED)


def worst(*findings: Finding) -> Finding:
    """Return the finding with the largest ratio; the first of equals."""
    return max(findings, key=lambda finding: finding.ratio)


def compare(
    got: NDArray[Any],
    expected: NDArray[Any],
    allowed: NDArray[np.float64] | float,
    *,
    name: str = "y",
    message: str = "",
) -> Finding:
    """Compare element by element: abs(got - expected) / allowed.

    Parameters
    ----------
    got : ndarray
        What the subject returned.
    expected : ndarray of float64 or complex128
        The exact values; complex ones are compared by their parts.
    allowed : ndarray or float
        The largest error allowed of each.
    name : str
        How the result is called in the report.
    message : str
        What is wrong when the budget is exceeded.
    """
    if got.shape != expected.shape:
        return broken(f"{name} has shape {got.shape}; expected {expected.shape}")
    if expected.size == 0:
        return held()
    allowed = np.broadcast_to(allowed, expected.shape)
    if np.iscomplexobj(got) or np.iscomplexobj(expected):
        parts = [
            compare(part(got), part(expected), allowed, name=f"{name}.{label}", message=message)
            for part, label in ((np.real, "real"), (np.imag, "imag"))
        ]
        both = [error_ratios(part(got), part(expected), allowed) for part in (np.real, np.imag)]
        found = worst(*parts)
        off = int(np.count_nonzero(np.maximum(*both) > 1.0))
        return found if found.passed else replace(found, off=off)
    ratios = error_ratios(got, expected, allowed)
    index = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    ratio = float(ratios[index])
    if ratio <= 1.0:
        return held(ratio)
    return Finding(
        ratio,
        message or f"{name} differs from the exact value",
        f"{name}[{', '.join(str(int(i)) for i in index)}]",
        float(expected[index]),
        float(got[index]),
        float(allowed[index]),
        off=int(np.count_nonzero(ratios > 1.0)),
        of=ratios.size,
    )
