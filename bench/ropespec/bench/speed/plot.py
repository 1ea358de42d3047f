"""The picture: time in copies against size, one line a contender, a panel a dtype and layout."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ropespec.bench.speed.case import Direction, Into, Row
from ropespec.bench.speed.labels import Label, place
from ropespec.bench.speed.subjects import called

__all__ = ["plot"]

COLOURS = {"numpy": "#d55e00", "torch": "#0072b2", "jax": "#009e73", "cupy": "#cc79a7"}
"""Of Okabe and Ito, which people tell apart whatever colours they see; all others are grey."""

GREY = "#6b6b6b"
MARKS = "os^Dv<>PXph*d"
TITLES: dict[Into, str] = {
    "new": "into new memory",
    "out": "into given memory",
    "self": "in place",
}
PASSES: dict[Direction, str] = {"forward": "", "both": " and its gradient, mean of both"}
Family = tuple[int, int, int]


def plot(path: Path, environment: dict[str, Any], rows: Sequence[Row]) -> list[Path]:
    """Draw a picture for each pass and kind of memory, beside the given path.

    Parameters
    ----------
    path : Path
        What the names begin with and which format they have: `ladder.png` gives
        `ladder-forward-new.png` and so on.
    environment : dict
        What `environment` found.
    rows : sequence of Row
        All rows; those of the family of sizes with the most steps are drawn.

    Returns
    -------
    list of Path
        The files; none if nothing was measured.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    good = [row for row in rows if row.copies is not None]
    steps = Counter(_family(shape) for shape in {row.shape for row in good})
    family = max(steps, key=steps.__getitem__, default=None)
    drawn = []
    for direction, passes in PASSES.items():
        for into, kind in TITLES.items():
            chosen = [
                row
                for row in good
                if (row.direction, row.into) == (direction, into) and _family(row.shape) == family
            ]
            if family is not None and chosen:
                target = path.with_name(f"{path.stem}-{direction}-{into}{path.suffix}")
                title = f"Rotary embedding{passes}, {kind}"
                _picture(target, title, family, environment, chosen)
                drawn.append(target)
    return drawn


def _family(shape: tuple[int, int, int, int]) -> Family:
    batch, _, heads, head_dim = shape
    return batch, heads, head_dim


def _picture(
    path: Path, title: str, family: Family, environment: dict[str, Any], rows: Sequence[Row]
) -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415  # an extra, needed here alone

    dtypes = list(dict.fromkeys(row.dtype for row in rows))
    layouts = list(dict.fromkeys(row.interleaved for row in rows))
    figure = Figure(figsize=(1 + 5.4 * len(dtypes), 1.4 + 4.6 * len(layouts)), layout="constrained")
    grid = figure.subplots(len(layouts), len(dtypes), squeeze=False, sharex=True, sharey=True)
    _scales(grid[0][0], rows)
    for down, interleaved in enumerate(layouts):
        for across, dtype in enumerate(dtypes):
            same = [row for row in rows if (row.dtype, row.interleaved) == (dtype, interleaved)]
            _panel(grid[down][across], same)
        grid[down][0].set_ylabel("time, in copies of the same tensor")
    for axes in grid[-1]:
        axes.set_xlabel("tokens")
    batch, heads, head_dim = family
    where = environment["gpu"] if any(row.device == "cuda" for row in rows) else environment["cpu"]
    figure.suptitle(
        f"{title}: {batch} x tokens x {heads} x {head_dim}\n"
        f"{where}, {environment['threads']} threads, {environment['date']}; "
        "dashed: tables at hand, dotted: not ours",
        fontsize=11,
    )
    figure.savefig(path, dpi=110)


def _scales(axes: Any, rows: Sequence[Row]) -> None:  # noqa: ANN401  # matplotlib's Axes
    tokens = sorted({row.shape[1] for row in rows})
    copies = [row.copies for row in rows if row.copies is not None]
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    wide = (tokens[-1] / tokens[0]) or 1
    axes.set_xlim(tokens[0] / max(wide, 2) ** 0.04, tokens[-1] * max(wide, 2) ** 0.62)
    axes.set_ylim(0.85 * min(*copies, 1.0), 1.2 * max(*copies, 2.0))
    axes.set_xticks(tokens, [str(one) for one in tokens])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")


def _panel(axes: Any, rows: Sequence[Row]) -> None:  # noqa: ANN401  # matplotlib's Axes
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if not rows:
        axes.set_axis_off()
        return
    case = rows[0].case
    axes.set_title(f"{case.dtype}, {case.layout}", loc="left", fontsize=10)
    axes.grid(axis="y", linewidth=0.4, alpha=0.5)
    axes.axhline(1.0, color="black", linewidth=1.0)
    labels = []
    for index, name in enumerate(dict.fromkeys(row.subject for row in rows)):
        line = sorted((row for row in rows if row.subject == name), key=lambda row: row.shape)
        style = _style(name, index)
        at, copies = [row.shape[1] for row in line], [row.copies or 1.0 for row in line]
        axes.plot(at, copies, **style)
        labels.append(Label(called(name), at[-1], copies[-1], style["color"]))
    place(axes, labels, max(row.shape[1] for row in rows))


def _style(name: str, index: int) -> dict[str, Any]:
    first, _, rest = name.partition(" ")
    if first != "ropespec":
        mark = MARKS[index % len(MARKS)]
        return {"color": GREY, "linewidth": 0.9, "linestyle": ":", "marker": mark, "ms": 4}
    backend, *how = rest.split()
    return {
        "color": COLOURS[backend],
        "linewidth": 1.3 if how else 2.6,
        "linestyle": "--" if "tables" in how else "-",
        "marker": "s" if "compiled" in how else "D" if "eager" in how else "o",
        "ms": 4,
        "zorder": 4,
    }
