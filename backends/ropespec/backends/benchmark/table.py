"""The results on a terminal: a table for every size and dtype, at most 100 columns wide."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from ropespec.backends.benchmark.case import Row
from ropespec.backends.benchmark.run import Absent
from ropespec.backends.benchmark.targets import Outcome

__all__ = ["WIDTH", "duration", "show"]

WIDTH = 100

READING = (
    "ratio: to a copy of the same tensor by the same framework in the same process, into the same "
    "kind of memory (NumPy copies in one thread, torch and JAX in several); "
    "GB/s: one read and one write of x; error: largest absolute one near these positions, for "
    "normally distributed x"
)


def show(
    console: Console,
    environment: dict[str, Any],
    rows: Sequence[Row],
    absent: Sequence[Absent],
    targets: Sequence[Outcome],
) -> None:
    """Print everything.

    Parameters
    ----------
    console : Console
        Where.
    environment : dict
        What `environment` found.
    rows : sequence of Row
        All rows.
    absent : sequence of Absent
        Subjects without any.
    targets : sequence of Outcome
        What was held against the targets; none to leave that out.
    """
    console.print(_machine(environment))
    for shape in sorted({row.shape for row in rows}, key=lambda one: (one[0] * one[1], one)):
        for dtype in dict.fromkeys(row.dtype for row in rows):
            chosen = [row for row in rows if row.shape == shape and row.dtype == dtype]
            if chosen:
                title = f"{' x '.join(map(str, shape))} {dtype}"
                console.print(_measured(title, chosen))
    console.print(Text(READING, style="dim"))
    for part in (_failed(rows, absent), _targets(targets)):
        if part is not None:
            console.print(part)


def duration(seconds: float) -> str:
    """Return seconds with three digits, in the unit that suits them."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _machine(environment: dict[str, Any]) -> RenderableType:
    pages = environment["transparent_huge_pages"]
    lines = [
        f"{environment['cpu']}, {environment['threads']} threads, {environment['date']}",
        f"memory from {environment['allocator']}, huge pages {pages}",
        f"GPU {environment['gpu']}",
        *(f"{name}={value}" for name, value in environment["settings"].items()),
        ", ".join(f"{name} {version}" for name, version in environment["versions"].items()),
    ]
    return Text("\n".join(lines), style="dim")


def _measured(title: str, rows: Iterable[Row]) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("subject", no_wrap=True)
    for name in ("pairs", "pass", "into"):
        table.add_column(name, no_wrap=True)
    for name in ("time", "ratio", "GB/s", "2^10", "2^17", "2^20"):
        table.add_column(name, justify="right", no_wrap=True)
    before: tuple[bool, str, str] | None = None
    for row in sorted((row for row in rows if row.seconds is not None), key=_order):
        group = (row.interleaved, row.direction, row.into)
        if before is not None and group != before:
            table.add_section()
        before = group
        table.add_row(*_cells(row), style="bold" if row.subject.startswith("ropespec") else "")
    return table


def _cells(row: Row) -> list[str]:
    assert row.seconds is not None
    assert row.ratio is not None
    assert row.bytes_per_second is not None
    return [
        row.subject + (" (GPU)" if row.device == "cuda" else ""),
        _layout(interleaved=row.interleaved),
        row.direction[:4] if row.direction == "backward" else "fwd",
        row.into,
        duration(row.seconds),
        f"{row.ratio:.2f}" if row.ratio < 100 else f"{row.ratio:.0f}",
        f"{row.bytes_per_second / 1e9:.3g}",
        *(f"{value:.0e}" for value in row.error.values()),
    ]


def _order(row: Row) -> tuple[Any, ...]:
    ways = ("new", "out", "self")
    return not row.interleaved, row.direction != "forward", ways.index(row.into), row.ratio


def _layout(*, interleaved: bool) -> str:
    return "inter" if interleaved else "half"


def _failed(rows: Sequence[Row], absent: Sequence[Absent]) -> RenderableType | None:
    reasons: dict[tuple[str, str], int] = {}
    for row in rows:
        if row.reason is not None:
            key = (row.subject, row.reason)
            reasons[key] = reasons.get(key, 0) + 1
    lines = [f"{one.subject}: {one.reason}" for one in absent]
    lines += [
        f"{subject}, {count} {'row' if count == 1 else 'rows'}: {reason}"
        for (subject, reason), count in reasons.items()
    ]
    return Text("\n".join(["Not measured", *lines, ""])) if lines else None


def _targets(targets: Sequence[Outcome]) -> RenderableType | None:
    if not targets:
        return None
    table = Table(title="Targets", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("target", "dtype", "pairs", "asked", "found", "against", "verdict"):
        table.add_column(name, justify="right" if name in {"asked", "found"} else "left")
    for one in targets:
        sign = "<=" if one.at_most else ">="
        table.add_row(
            one.target,
            one.dtype,
            _layout(interleaved=one.interleaved),
            f"{sign} {one.bound:.3g}",
            "-" if one.measured is None else f"{one.measured:.2f}",
            one.against,
            one.verdict,
            style={True: "green", False: "red", None: "dim"}[one.met],
        )
    counts = [sum(one.met is value for one in targets) for value in (True, False, None)]
    text = "{} met, {} missed, {} not measured".format(*counts)
    return Group(table, Text(text))
