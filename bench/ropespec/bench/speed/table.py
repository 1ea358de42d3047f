"""The ladders on a terminal: for every dtype and layout a table, a column a size."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from ropespec.bench.speed.case import Case, Row, Shape
from ropespec.bench.speed.run import Found
from ropespec.bench.speed.subjects import called

__all__ = ["WIDTH", "duration", "ladders", "machine", "missing"]

WIDTH = 100
ACROSS = 6
"""Sizes beside each other."""

READING = (
    "In each cell: copies, time. Copies of the same tensor by the same framework in the same "
    "process, into the same kind of memory (NumPy copies in one thread, torch and JAX in several); "
    "both: the rotation and its gradient, for one of the two passes; into: new memory, a given "
    "out, or x itself; error: largest absolute one near position 2^20, for normally distributed x. "
    "Times are the least of all repetitions, for one tensor."
)


def machine(environment: dict[str, Any]) -> RenderableType:
    """Return what the numbers were measured on."""
    pages = environment["transparent_huge_pages"]
    lines = [
        f"{environment['cpu']}, {environment['threads']} threads, {environment['date']}",
        f"memory from {environment['allocator']}, huge pages {pages}",
        f"GPU {environment['gpu']}",
        *(f"{name}={value}" for name, value in environment["settings"].items()),
        ", ".join(f"{name} {version}" for name, version in environment["versions"].items()),
    ]
    return Text("\n".join(lines), style="dim")


def ladders(console: Console, rows: Sequence[Row]) -> None:
    """Print the tables of all rows that were measured."""
    good = [row for row in rows if row.seconds is not None]
    for case in dict.fromkeys(
        row.case.group._replace(direction="forward", into="new") for row in good
    ):
        same = [
            row for row in good if (row.dtype, row.interleaved) == (case.dtype, case.interleaved)
        ]
        for shapes in _across(same):
            console.print(_table(f"{case.dtype} {case.layout}", same, shapes))
    console.print(Text(READING, style="dim"))


def missing(found: Found) -> RenderableType | None:
    """Return who was not measured, or not in every case, and why."""
    reasons: dict[tuple[str, str], int] = {}
    for row in found.rows:
        if row.reason is not None:
            key = (row.subject, row.reason)
            reasons[key] = reasons.get(key, 0) + 1
    lines = [f"interrupted: {found.left} cases were left"] if found.left else []
    lines += [f"{one.subject}: {one.reason}" for one in found.absent]
    lines += [
        f"{subject}, {count} {'row' if count == 1 else 'rows'}: {reason}"
        for (subject, reason), count in reasons.items()
    ]
    return Text("\n".join(["", "Not measured", *lines, ""])) if lines else None


def duration(seconds: float) -> str:
    """Return seconds with two digits or three, in the unit that suits them."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        value = seconds / size
        if value >= 1 or unit == "ns":
            return f"{value:.0f}{unit}" if value >= 99.5 else f"{value:.2g}{unit}"
    raise AssertionError


def _across(rows: Sequence[Row]) -> Iterator[list[Shape]]:
    """Return the sizes, as many at once as fit: one family of tokens after the other."""
    shapes = sorted({row.shape for row in rows}, key=_family)
    for first in range(0, len(shapes), ACROSS):
        yield shapes[first : first + ACROSS]


def _family(shape: Shape) -> tuple[int, ...]:
    batch, length, heads, head_dim = shape
    return batch, -heads, abs(head_dim - 128), head_dim, length


def _table(title: str, rows: Sequence[Row], shapes: Sequence[Shape]) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("B x S\nH x D", overflow="fold")
    for batch, length, heads, head_dim in shapes:
        header = f"{batch} x {length}\n{heads} x {head_dim}"
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("error", justify="right", no_wrap=True)
    chosen = [row for row in rows if row.shape in shapes]
    for group in sorted({row.case.group for row in chosen}, key=_order):
        table.add_section()
        table.add_row(Text(f"{group.direction} into {group.into}", style="italic"))
        same = [row for row in chosen if row.case.group == group]
        for name in dict.fromkeys((row.subject, row.device) for row in same):
            own = {row.shape: row for row in same if (row.subject, row.device) == name}
            style = "bold" if name[0].startswith("ropespec") else ""
            table.add_row(*_line(name, own, shapes), style=style)
    return table


def _order(case: Case) -> tuple[Any, ...]:
    return case.direction != "forward", ("new", "out", "self").index(case.into)


def _line(name: tuple[str, str], rows: dict[Shape, Row], shapes: Sequence[Shape]) -> list[str]:
    subject, device = name
    errors = [row.error for row in rows.values() if row.error is not None]
    return [
        called(subject) + (" (GPU)" if device == "cuda" else ""),
        *(_cell(rows.get(shape)) for shape in shapes),
        f"{max(errors):.0e}" if errors else "",
    ]


def _cell(row: Row | None) -> str:
    if row is None or row.copies is None or row.seconds is None:
        return ""
    copies = f"{row.copies:.2f}" if row.copies < 10 else f"{row.copies:.0f}"
    return f"{copies} {duration(row.seconds):>5}"
