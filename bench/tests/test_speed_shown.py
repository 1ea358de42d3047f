import dataclasses
import itertools

import pytest
from rich.console import Console

from ropespec.bench.speed.case import Row
from ropespec.bench.speed.environment import environment
from ropespec.bench.speed.labels import apart
from ropespec.bench.speed.ladder import sizes
from ropespec.bench.speed.plot import plot
from ropespec.bench.speed.run import Absent, Found
from ropespec.bench.speed.table import WIDTH, duration, ladders, machine, missing
from ropespec.bench.speed.targets import outcomes
from ropespec.bench.speed.verdicts import verdicts

NAMES = ("ropespec torch tables compiled", "rotary-embedding-torch compiled", "ropespec numpy")


def everything(shapes, names=NAMES, dtypes=("float32", "bfloat16")):
    return [
        Row(
            name,
            *(dtype, interleaved, direction, into, shape),
            seconds=0.0123456,
            copy_seconds=0.001,
            error=1e-7,
            copy="torch copy_",
            repetitions=5,
        )
        for dtype, interleaved, shape, (direction, into), name in itertools.product(
            dtypes, (True, False), shapes, (("forward", "new"), ("both", "self")), names
        )
    ]


@pytest.mark.parametrize("full", [True, False])
def test_the_tables_fit(full, capsys):
    """No line is wider than 100 columns, and every time of every contender is in them whole."""
    rows = everything(sizes(full=full))
    console = Console(width=WIDTH)
    console.print(machine(environment("")))
    ladders(console, rows)
    verdicts(console, outcomes(rows), every=True)
    text = capsys.readouterr().out

    assert max(map(len, text.splitlines())) <= WIDTH
    assert text.count("12  12ms") == len(rows)
    assert "…" not in text
    assert "nothing in this file ran on a GPU" in text


def test_what_is_not_measured_is_named(capsys):
    """Absent contenders, and failed rows counted by their reason."""
    failed = Row("mlx", "float32", True, "forward", "new", (1, 1, 1, 2), reason="no bfloat16")
    found = Found([failed, failed], [Absent("keras-hub", "not installed: keras_hub")])
    Console(width=WIDTH).print(missing(found))
    text = capsys.readouterr().out

    assert "keras-hub: not installed: keras_hub" in text
    assert "mlx, 2 rows: no bfloat16" in text
    assert missing(Found(everything([(1, 1, 1, 2)]))) is None


def test_targets_are_counted_and_the_worst_is_shown(capsys):
    """One line for each target, contender and pass; every miss where all are asked for."""
    base = everything([(1, 512, 32, 128)], ["ropespec numpy"], ["float32"])[0]
    times = (0.0011, 0.0013, 0.0015)
    rows = [
        dataclasses.replace(base, into="out", shape=(1, 512 + index, 32, 128), seconds=seconds)
        for index, seconds in enumerate(times)
    ]
    for every, shown in ((False, 1), (True, 2)):
        verdicts(Console(width=WIDTH), outcomes(rows), every=every)
        text = capsys.readouterr().out

        assert "1/3" in text
        assert "1.50" in text
        assert text.count("float32") == shown
        assert "1 met, 2 missed" in text
        assert "product" not in text

    here = [dataclasses.replace(one, subject="ropespec torch") for one in rows]
    product = [dataclasses.replace(rows[1], subject="torch product")]
    verdicts(Console(width=WIDTH), outcomes([*here, *product]), every=False)
    text = " ".join(capsys.readouterr().out.split())

    assert "1 met, 2 missed, 1 of these ask for less than one product of each number takes" in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1.5, "1.5s"),
        (0.0123456, "12ms"),
        (0.12345, "123ms"),
        (4.2e-5, "42us"),
        (9.99e-7, "999ns"),
        (3e-9, "3ns"),
    ],
)
def test_durations_have_their_unit(seconds, text):
    """Two digits, three where there are as many before the point, in the unit that suits them."""
    assert duration(seconds) == text


def test_labels_keep_their_distance_and_order():
    """Names that would lie on each other are moved apart, and stay between the limits."""
    found = apart([0.0, 0.1, 0.1, 5.0, 9.9, 10.0], 1.0, 0.0, 10.0)

    assert all(b - a >= 1.0 - 1e-12 for a, b in itertools.pairwise(found))
    assert found[3] == 5.0
    assert min(found) >= 0.0
    assert max(found) <= 10.0


def test_a_picture_has_a_line_for_every_contender(tmp_path):
    """One picture for each pass and kind of memory, a panel for each dtype and layout."""
    pytest.importorskip("matplotlib")
    shapes = [(1, length, 32, 128) for length in (1, 16, 128)] + [(8, 1, 32, 128)]
    rows = everything(shapes) + everything(shapes[-1:], ["mlx"])
    paths = plot(tmp_path / "ladder.svg", environment(""), rows)
    text = paths[0].read_text(encoding="utf-8")

    assert [path.name for path in paths] == ["ladder-forward-new.svg", "ladder-both-self.svg"]
    for words in ("float32, interleaved", "bfloat16, half-split", "1 x tokens x 32 x 128"):
        assert f"<!-- {words}" in text or words in text
    for name in ("our torch tables compiled", "rotary-embedding-torch compiled", "our numpy"):
        assert text.count(f"<!-- {name} -->") == 4
    assert "mlx" not in text  # it has no step of the ladder that is drawn
    assert plot(tmp_path / "none.svg", environment(""), []) == []
