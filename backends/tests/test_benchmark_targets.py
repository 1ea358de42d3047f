import dataclasses
import itertools
import re

import pytest
from rich.console import Console

from ropespec.backends.benchmark.case import Case, Row
from ropespec.backends.benchmark.environment import environment
from ropespec.backends.benchmark.run import Absent
from ropespec.backends.benchmark.table import WIDTH, duration, show
from ropespec.backends.benchmark.targets import DECODE, LARGE, LARGEST, outcomes


def row(subject, seconds, ratio=10.0, *, shape=LARGE, into="new", **case):
    given = {"dtype": "float32", "interleaved": False, "direction": "forward"} | case
    return Row(
        subject,
        shape=shape,
        into=into,
        **given,
        seconds=seconds,
        copy_seconds=seconds / ratio,
        ratio=ratio,
        bytes_per_second=1e9,
        error={"1024": 1e-7, "131072": 1e-7, "1048576": 1e-7},
        copy="torch copy_",
        repetitions=5,
    )


def verdicts(rows, number, dtype="float32", *, interleaved=False):
    return [
        one
        for one in outcomes(rows)
        if one.target.startswith(number) and one.dtype == dtype and one.interleaved == interleaved
    ]


@pytest.mark.parametrize(
    ("ratio", "met", "verdict"),
    [(2.5, True, "met"), (2.4, True, "met"), (3.0, False, "missed by 20%")],
)
def test_a_ratio_to_a_copy_is_at_most_the_bound(ratio, met, verdict):
    """Torch into out, float32: at most 2.5 copies."""
    (found,) = verdicts([row("ropespec torch", 0.1, ratio, into="out")], "1")

    assert found.met is met
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("seconds", "met", "verdict"),
    [(0.05, True, "met"), (0.04, True, "met"), (0.1, False, "missed by 50%")],
)
def test_a_factor_is_at_least_the_bound(seconds, met, verdict):
    """Torch into new memory, half-split: twice as fast as the fastest eager peer."""
    rows = [
        row("ropespec torch", seconds),
        row("transformers llama", 0.1),
        row("flash-attn torch", 0.2),
        row("transformers llama compiled", 0.01),
    ]
    (found,) = verdicts(rows, "3")

    assert found.against == "transformers llama"
    assert found.met is met
    assert found.verdict == verdict


def test_each_target_has_its_bound():
    """The bounds by target, dtype and layout are those that were set."""
    rows = [row("ropespec torch", 1.0)]
    found = {(one.target[0], one.dtype, one.interleaved): one.bound for one in outcomes(rows)}
    wide, narrow = "float32", "bfloat16"

    assert [found["1", dtype, False] for dtype in (wide, narrow)] == [2.5, 6.0]
    assert [found["2", dtype, False] for dtype in (wide, narrow)] == [1.3, 2.0]
    assert [found["3", wide, layout] for layout in (True, False)] == [1.0, 2.0]
    assert [found["3", narrow, layout] for layout in (True, False)] == [2.0, 2.0]
    assert [found["4", dtype, False] for dtype in (wide, narrow)] == [1.5, 1.0]
    assert [found["5", dtype, False] for dtype in (wide, narrow)] == [2.0, 2.0]
    assert found["6", wide, False] == found["7", wide, False] == 1.0
    assert ("6", wide, True) not in found


def test_what_was_not_measured_is_neither_met_nor_missed():
    """A missing or failed side gives no verdict."""
    failed = dataclasses.replace(row("ropespec torch", 1.0), seconds=None, ratio=None, reason="no")
    (found,) = verdicts([failed, row("transformers llama", 0.1)], "3")

    assert found.met is None
    assert found.verdict == "not measured"


def test_the_decode_token_is_that_size_alone():
    """A large size says nothing of one token."""
    large = [row("ropespec torch", 1.0), row("transformers llama", 2.0)]
    small = [
        row(name, time, shape=DECODE)
        for name, time in (("ropespec torch", 1.0), ("transformers llama", 2.0))
    ]

    assert verdicts(large, "6")[0].met is None
    assert verdicts(small, "6")[0].met is True


def test_a_gpu_has_targets_of_its_own():
    """They appear with the first row that ran on one, and take no row of a CPU."""
    slow = row("ropespec jax", 1.0, 1.2, shape=LARGEST)
    fast = dataclasses.replace(row("ropespec jax", 1.0, 1.1, shape=LARGEST), device="cuda")

    assert not verdicts([slow], "8")
    found = {one.target: one.met for one in verdicts([slow, fast], "8")}
    assert found["8 jax forward on the GPU"] is True
    assert found["8 torch forward on the GPU"] is None


def everything():
    found = []
    for dtype, interleaved in itertools.product(("float32", "bfloat16"), (True, False)):
        for subject, into in (
            ("ropespec torch tables compiled", "self"),
            ("rotary-embedding-torch compiled", "new"),
        ):
            case = Case(dtype, interleaved, LARGE, "backward", into)
            found.append(row(subject, 0.123, 12.34, **case._asdict()))
    return found


def test_the_table_fits(capsys):
    """No line is wider than 100 columns, and every subject, ratio and error is in it whole."""
    rows = [*everything(), dataclasses.replace(row("mlx", 1.0), seconds=None, reason="no bfloat16")]
    absent = [Absent("keras-hub", "not installed: keras_hub")]
    show(Console(width=WIDTH), environment(""), rows, absent, outcomes(rows))
    text = capsys.readouterr().out

    assert max(map(len, text.splitlines())) <= WIDTH
    assert text.count("rotary-embedding-torch compiled ") == 4
    assert text.count("12.34") == 8
    assert text.count("1e-07") == 24
    assert "keras-hub: not installed: keras_hub" in text
    assert "mlx, 1 row: no bfloat16" in text
    assert re.search(r"0 met, 0 missed, \d+ not measured", text)
    assert "nothing in this file ran on a GPU" in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1.5, "1.5 s"), (0.0123456, "12.3 ms"), (4.2e-5, "42 us"), (3e-9, "3 ns")],
)
def test_durations_have_their_unit(seconds, text):
    """Three digits, in the unit that suits them."""
    assert duration(seconds) == text
