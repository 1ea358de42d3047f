"""The plot: for the largest size, how many copies every subject costs, and its error."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ropespec.backends.benchmark.case import Into, Row

__all__ = ["plot"]

COLOURS = {"ropespec": "#1b6ca8", "naive": "#9aa5b1", "peer": "#d98032"}
WRONG = 0.05
"""An error that no rounding of a result explains, not even to bfloat16."""

WRONG_COLOUR = "#b3261e"
LABELS = {"ropespec": "ropespec", "naive": "naive form", "peer": "others"}
TITLES: dict[Into, str] = {
    "new": "into new memory",
    "out": "into given memory",
    "self": "in place",
}


def plot(path: Path, environment: dict[str, Any], rows: Sequence[Row]) -> None:
    """Draw the largest size that was measured; the suffix of the path says how.

    A panel for every dtype and kind of memory; a bar for the forward pass, a diamond for the
    backward pass; beside it the error at position 2^20.

    Parameters
    ----------
    path : Path
        File to write, such as `result.png`.
    environment : dict
        What `environment` found.
    rows : sequence of Row
        All rows.

    Raises
    ------
    ValueError
        If nothing was measured, or the suffix is unknown.
    ImportError
        If matplotlib is not installed.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415  # an extra, needed here alone

    good = [row for row in rows if row.seconds is not None]
    if not good:
        raise ValueError("nothing was measured")
    shape = max((row.shape for row in good), key=lambda one: (one[0] * one[1], one))
    shown = [row for row in good if row.shape == shape]
    dtypes = list(dict.fromkeys(row.dtype for row in shown))
    ways: list[Into] = [into for into in TITLES if any(row.into == into for row in shown)]
    counts = [max(len(_bars(shown, dtype, into)) for dtype in dtypes) for into in ways]
    figure = Figure(figsize=(7.2 * len(dtypes), 2.0 + 0.27 * sum(counts) + 0.75 * len(ways)))
    grid = figure.subplots(
        len(ways),
        len(dtypes),
        squeeze=False,
        gridspec_kw={"height_ratios": [c + 2 for c in counts]},
    )
    for across, dtype in enumerate(dtypes):
        for down, into in enumerate(ways):
            _panel(grid[down][across], _bars(shown, dtype, into), f"{dtype}, {TITLES[into]}")
    size = " x ".join(map(str, shape))
    figure.suptitle(
        f"Rotary embedding of {size}: time as a multiple of a copy of the same tensor\n"
        f"{environment['cpu']}, {environment['threads']} threads, "
        f"{environment['allocator']}, {environment['date']}; GPU {environment['gpu']}",
        fontsize=11,
    )
    _legend(figure)
    figure.tight_layout(rect=(0, 0.02, 1, 0.995))
    figure.savefig(path, dpi=110)


Bar = tuple[str, Row | None, Row | None]


def _bars(rows: Sequence[Row], dtype: str, into: Into) -> list[Bar]:
    """Return label, forward row and backward row, the slowest first: bars grow from below."""
    pairs: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row.dtype == dtype and row.into == into:
            layout = "interleaved" if row.interleaved else "half-split"
            device = ", GPU" if row.device == "cuda" else ""
            pairs.setdefault(f"{row.subject}, {layout}{device}", {})[row.direction] = row
    bars = [(name, both.get("forward"), both.get("backward")) for name, both in pairs.items()]
    return sorted(bars, key=lambda bar: -_ratio(bar[1] or bar[2]))


def _ratio(row: Row | None) -> float:
    assert row is not None
    assert row.ratio is not None
    return row.ratio


def _panel(axes: Any, bars: Sequence[Bar], title: str) -> None:  # noqa: ANN401  # matplotlib's Axes
    axes.set_title(title, fontsize=10, loc="left")
    if not bars:
        axes.set_axis_off()
        return
    for height, (name, forward, backward) in enumerate(bars):
        colour = COLOURS[_kind(name)]
        right = max(1.0, *(_ratio(row) for row in (forward, backward) if row is not None))
        if forward is not None:
            axes.barh(height, _ratio(forward) - 1, left=1, color=colour, height=0.72)
        if backward is not None:
            axes.plot(
                _ratio(backward), height, marker="D", color="white", mec="black", ms=4.5, zorder=3
            )
        error = (forward or backward).error.get(str(2**20))  # type: ignore[union-attr]  # one of them is there
        beside = f"{_ratio(forward or backward):.2f}x" + ("" if error is None else f"  {error:.0e}")
        axes.annotate(
            beside,
            (right, height),
            (6, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color="black" if error is None or error < WRONG else WRONG_COLOUR,
        )
    axes.axvline(1.0, color="black", linewidth=1.0, zorder=4)
    axes.set_yticks(range(len(bars)), [bar[0] for bar in bars], fontsize=8)
    for label in axes.get_yticklabels():
        if _kind(label.get_text()) == "ropespec":
            label.set_fontweight("bold")
    _scale(axes, bars)


def _scale(axes: Any, bars: Sequence[Bar]) -> None:  # noqa: ANN401  # matplotlib's Axes
    ratios = [_ratio(row) for bar in bars for row in bar[1:] if row is not None]
    axes.set_xscale("log")
    axes.set_xlim(min(0.5, 0.8 * min(ratios)), 2.6 * max(*ratios, 1.0))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(
        lambda value, _: f"{value:g}" if f"{value:e}"[0] in "25" and value < 100 else ""
    )
    axes.tick_params(axis="x", which="both", labelsize=8)
    axes.set_ylim(-0.6, len(bars) - 0.4)
    axes.grid(axis="x", which="major", linewidth=0.4, alpha=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _kind(name: str) -> str:
    first = name.split(maxsplit=1)[0]
    return first if first in {"ropespec", "naive"} else "peer"


def _legend(figure: Any) -> None:  # noqa: ANN401  # matplotlib's Figure
    from matplotlib.lines import Line2D  # noqa: PLC0415  # an extra, needed here alone
    from matplotlib.patches import Patch  # noqa: PLC0415  # an extra, needed here alone

    handles: list[Any] = [Patch(color=COLOURS[kind], label=LABELS[kind]) for kind in COLOURS]
    handles += [
        Line2D([], [], marker="D", color="white", mec="black", ms=5, label="backward"),
        Line2D([], [], color="black", label="a copy"),
        Line2D(
            [], [], linestyle="", label="text: ratio, and error at position 2^20; red: wrong there"
        ),
    ]
    figure.legend(
        handles=handles, loc="lower center", ncols=len(handles), fontsize=8, frameon=False
    )
