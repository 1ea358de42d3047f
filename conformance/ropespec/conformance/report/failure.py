"""One failed check: what is wrong, where it shows, and a script that shows it again."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from ropespec.conformance.report.page import Page, shortened
from ropespec.conformance.report.table import number, styled
from ropespec.conformance.results import CheckResult, Counterexample, Status

__all__ = ["failure", "finding", "smallest", "worst_element"]

LIMIT = 400
BRIEF = 160
ROTATION = "apply_rotary"
MANY = 1e6
AXES = "(batch, sequence, heads, head_dim)"


def finding(result: CheckResult) -> str:
    """Return the first line of what was found; of a check that says nothing, what it looks for."""
    lines = [line.strip() for line in result.message.splitlines() if line.strip()]
    return lines[0] if lines else result.sentence


def failure(page: Page, result: CheckResult, *, same_as: str = "", is_told: bool = False) -> None:
    """Lay out one failed check in full.

    Parameters
    ----------
    page : Page
        Where to. A script stands at the left margin, whole, so that it can be copied as it is.
    result : CheckResult
        A check whose status is neither `pass` nor `skip`.
    same_as : str
        A check that ended in the very same way and has been told in full: only it is named.
    is_told : bool
        Whether the finding was said before.
    """
    heading = styled(result.status)
    heading.append(f"  {result.id}  {result.title}", style="bold")
    page.add(heading, hang=2)
    for line in _sentences(result, same_as):
        if not (is_told and line.plain.strip() == finding(result)):
            page.add(line, indent=2, hang=2)
    for name, why in result.waived.items():
        page.add(f"waived by {name}: {why}", indent=2, hang=2)
    found = result.counterexample
    if found is None or same_as:
        return
    for words in smallest(found):
        page.add(words, indent=2, hang=2)
    if worst := worst_element(found):
        page.add(f"worst element: {worst}", indent=2, hang=2)
    if found.script.strip():
        page.add("this script shows it:", indent=2, style="dim")
        page.add()
        page.code(found.script.strip())
    elif found.no_script:
        page.add(f"no script: {found.no_script}", indent=2, hang=2, style="dim")


def _sentences(result: CheckResult, same_as: str) -> Iterator[Text]:
    lines = [line.rstrip() for line in result.message.splitlines() if line.strip()]
    if result.status is Status.FAIL:
        yield Text(result.sentence)
    elif same_as:
        lines = [*lines[:1], f"as in {same_as} above"]
    for line in lines:
        yield Text(line)
    if result.status is not Status.FAIL:
        # It never came to that, but it says what the check was about.
        yield Text(f"the check looks for this: {result.sentence}", style="dim")


def smallest(found: Counterexample, *, brief: bool = False) -> Iterator[str]:
    """Say of the smallest case what a person needs; the JSON document has all of it.

    Parameters
    ----------
    found : Counterexample
        With its case and inputs.
    brief : bool
        Whether longer values are cut.
    """
    limit = BRIEF if brief else LIMIT
    listed = {name: value for name, value in found.inputs.items() if isinstance(value, list)}
    others = {name: value for name, value in found.inputs.items() if name not in listed}
    if found.case:
        which = "smallest case" if found.smallest else "a case, not the smallest"
        yield f"{which}: {_case(found.case, brief=brief and 'x' in listed)}"
    for name, value in listed.items():
        yield f"  {name} = {shortened(_nested(value), limit)}"
    if brief:
        others = {name: value for name, value in others.items() if value not in (ROTATION, None)}
    if others:
        words = ", ".join(f"{name} {_nested(value)}" for name, value in others.items())
        yield f"  {shortened(words, limit)}"


def _case(case: Mapping[str, Any], *, brief: bool) -> str:
    """Say what x is, and how its values and the positions were drawn where they are not listed."""
    if not {"batch", "seq", "heads", "head_dim", "dtype", "positions", "values"} <= set(case):
        return ", ".join(f"{name} {_nested(value)}" for name, value in case.items())
    shape = tuple(case[name] for name in ("batch", "seq", "heads", "head_dim"))
    view = _views(case)
    said = f"x {AXES} of shape {shape}, {case['dtype']}{view}"
    if brief:
        return said
    start = case.get("start", 0)
    return f"{said}, values `{case['values']}`; positions `{case['positions']}` from {start}"


_VIEWS = {
    "swap": "with axes {} and {} swapped in memory",
    "step": "every other one along axis {} of a buffer",
    "wide": "a part of a buffer that is longer along axis {}",
    "still": "of stride 0 along axis {}",
    "back": "of a negative stride along axis {}",
    "offset": "from the third element of a buffer on",
    "read-only": "that cannot be written to",
}


def _views(case: Mapping[str, Any]) -> str:
    """Say as what x, positions and cotangent are handed over."""
    said = []
    for name, key in (("", "strided"), ("positions ", "positions_view"), ("c ", "cotangent_view")):
        word, *axes = str(case.get(key) or "whole").split()
        if word in _VIEWS:
            said.append(f", {name}a view {_VIEWS[word].format(*axes)}")
        elif word != "whole":
            said.append(f", {name}a strided view")
    if case.get("integers", "int64") != "int64":
        said.append(f", positions {case['integers']}")
    return "".join(said)


def worst_element(found: Counterexample) -> str:
    """Say what was expected and got, as a multiple of the budget, and how many elements are off."""
    return f"{_one(found)}{_others(found)}"


def _one(found: Counterexample) -> str:
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
        times = error / found.budget
        many = f" = {number(times)}" if times < MANY else ", more than a million"
        line += f"{many} times the budget of {number(found.budget)}"
    elif found.budget == 0:
        line += " where it must be exact"
    return line.strip()


def _others(found: Counterexample) -> str:
    if found.off is None or found.of is None or found.of == 1:
        return ""
    return f"; {found.off} of {found.of} elements {'is' if found.off == 1 else 'are'} off"


def _element(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.9g}"


def _nested(value: Any) -> str:  # noqa: ANN401  # plain values of any shape
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_nested(item) for item in value)}]"
    # Nine digits tell any two float32 apart.
    return f"{value:.9g}" if isinstance(value, float) else str(value)
