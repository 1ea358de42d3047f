"""The targets on a terminal: how many cases met each, and the worst of them."""

import itertools
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects import called
from ropespec.bench.speed.table import duration
from ropespec.bench.speed.targets import Outcome

__all__ = ["verdicts"]


def verdicts(console: Console, targets: Sequence[Outcome], *, every: bool) -> None:
    """Print a line for each target, contender and pass.

    Parameters
    ----------
    console : Console
        Where.
    targets : sequence of Outcome
        All that was judged.
    every : bool
        Print every miss too, rather than the worst of each line.
    """
    table = Table(title="Targets", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("target", "who", "pass", "at most", "met", "worst", "where"):
        table.add_column(name, justify="right" if name in {"at most", "met", "worst"} else "left")
    for key, group in itertools.groupby(sorted(targets, key=_key), key=_key):
        _lines(table, key, list(group), every=every)
    missed = [one for one in targets if not one.met]
    console.print(table)
    said = f"{len(targets) - len(missed)} met, {len(missed)} missed"
    if below := sum(one.below_product for one in missed):
        said += f", {below} of these ask for less than one product of each number takes"
    console.print(Text(said))


def _key(one: Outcome) -> tuple[str, str, str]:
    on = " (GPU)" if one.device == "cuda" else ""
    return one.target, called(one.subject) + on, one.case.direction


def _lines(table: Table, key: tuple[str, str, str], group: list[Outcome], *, every: bool) -> None:
    group.sort(key=lambda one: -one.measured)
    missed = [one for one in group if not one.met]
    shown = missed if every and missed else group[:1]
    met = f"{len(group) - len(missed)}/{len(group)}"
    for index, one in enumerate(shown):
        table.add_row(
            *(("", "", "", "", "") if index else (*key, _number(one, one.bound), met)),
            _number(one, one.measured),
            _where(one.case) + (f", {one.against}" if "others" in one.target else ""),
            style="green" if one.met else "red",
        )


def _number(one: Outcome, value: float) -> str:
    if "over" not in one.target:
        return f"{value:.2f}"
    return duration(value) if value > 0 else "none"


def _where(case: Case) -> str:
    size = "x".join(map(str, case.shape))
    return f"{size} {case.dtype} {case.layout.split('-')[0]}"
