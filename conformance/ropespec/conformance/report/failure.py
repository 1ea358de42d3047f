"""One failed check in full: what is wrong, where it shows, and a script that shows it again."""

import math
from collections.abc import Mapping
from typing import Any

from rich.text import Text

from ropespec.conformance.report.table import number, styled
from ropespec.conformance.results import CheckResult, Counterexample, Status

__all__ = ["failure", "worst_element"]

LIMIT = 400
INDENT = "  "


def failure(result: CheckResult, *, same_as: str = "") -> Text:
    """Lay out one failed check.

    Parameters
    ----------
    result : CheckResult
        A check whose status is neither `pass` nor `skip`.
    same_as : str
        A check that ended in the very same way and has been told in full: only it is named.

    Returns
    -------
    Text
        Styled lines; `.plain` is the same without colour. The script stands at the left margin,
        so that it can be copied as it is.
    """
    text = Text()
    text.append_text(styled(result.status))
    text.append(f"  {result.id}  {result.title}\n", style="bold")
    lines = [line for line in result.message.splitlines() if line.strip()]
    if result.status is Status.FAIL:
        lines.insert(0, result.sentence)
    elif same_as:
        lines = [*lines[:1], f"as in {same_as} above"]
    for line in lines:
        text.append(f"{INDENT}{line}\n")
    if result.status is not Status.FAIL:
        # It never came to that, but it says what the check was about.
        text.append(f"{INDENT}the check looks for this: {result.sentence}\n", style="dim")
    if result.counterexample is not None and not same_as:
        _counterexample(text, result.counterexample)
    text.rstrip()
    return text


def _counterexample(text: Text, found: Counterexample) -> None:
    if found.case:
        text.append(f"{INDENT}smallest case: {_case(found.case)}\n")
    plain = {name: value for name, value in found.inputs.items() if not isinstance(value, list)}
    for name, value in found.inputs.items():
        if isinstance(value, list):
            text.append(f"{INDENT}{INDENT}{name} = {_value(value)}\n")
    if plain:
        words = ", ".join(f"{name} {_value(value)}" for name, value in plain.items())
        text.append(f"{INDENT}{INDENT}{words}\n")
    if line := worst_element(found):
        text.append(f"{INDENT}worst element: {line}\n")
    if found.script.strip():
        text.append(f"{INDENT}this script shows it:\n", style="dim")
        text.append(f"\n{found.script.strip()}\n\n")


def _case(case: Mapping[str, Any]) -> str:
    """Say of a drawn case what a person needs; the JSON document has all of it."""
    if not {"batch", "seq", "heads", "head_dim", "dtype", "positions", "values"} <= set(case):
        return ", ".join(f"{name} {_value(value)}" for name, value in case.items())
    shape = tuple(case[name] for name in ("batch", "seq", "heads", "head_dim"))
    view = ", a strided view" if case.get("strided") else ""
    return (
        f"x of shape {shape}, {case['dtype']}, values `{case['values']}`{view}; "
        f"positions `{case['positions']}` from {case.get('start', 0)}"
    )


def worst_element(found: Counterexample) -> str:
    """Say what was expected and got, and how far apart they are as a multiple of the budget."""
    if found.expected is None and found.got is None:
        return found.where
    line = f"{found.where} expected {_element(found.expected)}, got {_element(found.got)}"
    if found.expected is None or found.got is None:
        return line.strip()
    error = abs(found.got - found.expected)
    if not math.isfinite(error):
        return line.strip()
    line += f", error {number(error)}"
    if found.budget is not None and found.budget > 0 and math.isfinite(found.budget):
        line += f" = {number(error / found.budget)} times the budget of {number(found.budget)}"
    elif found.budget == 0:
        line += " where it must be exact"
    return line.strip()


def _element(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.9g}"


def _value(value: Any) -> str:  # noqa: ANN401  # plain values of any shape
    text = _nested(value)
    return text if len(text) <= LIMIT else f"{text[: LIMIT - 3]}..."


def _nested(value: Any) -> str:  # noqa: ANN401  # as above
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_nested(item) for item in value)}]"
    # Nine digits tell any two float32 apart.
    return f"{value:.9g}" if isinstance(value, float) else str(value)
