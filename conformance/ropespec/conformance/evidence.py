"""The smallest failing input, written out for a person to look at and to run."""

from typing import Any

import numpy as np

from ropespec.conformance.case import Case
from ropespec.conformance.judge.finding import Call, Finding
from ropespec.conformance.report.script import reproduction, reproduction_call
from ropespec.conformance.results import Counterexample
from ropespec.conformance.subject.session import Session

__all__ = ["counterexample"]

LISTED = 32
_ROTATIONS = ("apply_rotary", "apply_rotary_dense", "apply_rotary_complex")


def counterexample(session: Session, case: Case, finding: Finding | None) -> Counterexample:
    """Describe a failing case.

    Parameters
    ----------
    session : Session
        The subject.
    case : Case
        The smallest case that fails.
    finding : Finding or None
        What was found; None if the subject raised or was lost.
    """
    call = finding.call if finding is not None else None
    case = (finding.case if finding is not None else None) or case
    if call is None and "apply_rotary" not in session.offers:
        # It raised in another function; the case says where the inputs came from.
        return Counterexample(case.as_dict(), {}, "", None, None, None, "")
    if call is None:
        positions = case.make_positions()
        call = Call("apply_rotary", (case.make_x(positions), positions), case.keywords)
    return Counterexample(
        case=case.as_dict(),
        inputs=_inputs(call),
        where=finding.where if finding else "",
        expected=finding.expected if finding else None,
        got=finding.got if finding else None,
        budget=finding.budget if finding else None,
        script=_script(session, call),
    )


def _inputs(call: Call) -> dict[str, Any]:
    names = ("x", "positions") if call.function in _ROTATIONS else ()
    inputs: dict[str, Any] = {"function": call.function}
    for index, value in enumerate(call.arrays):
        name = names[index] if index < len(names) else f"argument {index + 1}"
        inputs[name] = _value(value)
    return inputs | {key: _value(value) for key, value in call.keywords.items()}


def _value(value: Any) -> Any:  # noqa: ANN401  # an array, or a plain value
    if not isinstance(value, np.ndarray):
        return value
    if value.size <= LISTED:
        plain = value if value.dtype.kind in "biufc" else value.astype(np.float64)
        if plain.dtype.kind == "c":
            return [str(item) for item in plain.ravel()]
        return plain.tolist()
    return f"an array of shape {value.shape} and dtype {value.dtype.name}"


def _script(session: Session, call: Call) -> str:
    if call.function in _ROTATIONS:
        x, positions = call.arrays
        keywords = call.keywords
        return reproduction(
            target=session.target,
            profile=session.profile,
            x=x,
            positions=positions,
            interleaved=keywords["interleaved"],
            base=keywords["base"],
            rotary_dim=keywords["rotary_dim"],
            function=call.function,
            accepts=session.offers[call.function].keywords,
        )
    return reproduction_call(
        target=session.target,
        profile=session.profile,
        function=call.function,
        arrays=call.arrays,
        keywords=dict(call.keywords),
    )
