"""One failed check: laid out line by line."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from ropespec.conformance.report.failure import failure, smallest, worst_element
from ropespec.conformance.report.page import Page
from ropespec.conformance.results import CheckResult, Counterexample, Status

FOUND = Counterexample(
    case={"shape": [1, 1, 1, 2], "dtype": "float32"},
    inputs={"x": [[[[1.0, 0.0]]]], "positions": [[1]], "interleaved": False},
    where="y[0, 0, 0, 1]",
    expected=0.5,
    got=-0.5,
    budget=1e-3,
    script="import numpy as np\nprint(np.pi)\n",
)
FAILED = CheckResult(
    "ROT-7.value",
    "ROT-7",
    "Sparse form, half-split",
    "The sign of sin is swapped.",
    Status.FAIL,
    3,
    1e6,
    "y is further from R_m x than `float32-angles` allows",
    FOUND,
)
CASE = {
    "batch": 2,
    "seq": 1,
    "heads": 3,
    "head_dim": 4,
    "rotary_dim": None,
    "interleaved": True,
    "base": 10000.0,
    "dtype": "bfloat16",
    "positions": "arange",
    "start": 255,
    "limit": 131071,
    "values": "ones",
    "strided": True,
    "seed": 3,
}


def test_the_worst_element_is_told_in_multiples_of_the_budget():
    """Expected, got, error and error / budget stand in one line, and how many are off."""
    several = replace(FOUND, off=3, of=12)

    assert worst_element(FOUND) == (
        "y[0, 0, 0, 1] expected 0.5, got -0.5, error 1 = 1e+03 times the budget of 0.001"
    )
    assert worst_element(several) == f"{worst_element(FOUND)}; 3 of 12 elements are off"
    assert worst_element(replace(FOUND, off=1, of=12)).endswith("; 1 of 12 elements is off")
    assert worst_element(replace(FOUND, off=1, of=1)) == worst_element(FOUND)
    assert worst_element(replace(FOUND, budget=1e-40)).endswith(
        ", error 1, more than a million times the budget of 1e-40"
    )


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"got": float("nan")}, "y[0] expected 0.5, got nan"),
        ({"budget": 0.0}, "y[0] expected 0.5, got -0.5, error 1 where it must be exact"),
        ({"budget": None}, "y[0] expected 0.5, got -0.5, error 1"),
        ({"got": None}, "y[0] expected 0.5, got nothing"),
        ({"got": None, "expected": None}, "y[0]"),
    ],
)
def test_the_worst_element_without_all_its_numbers(changes, text):
    """What is not a finite number is said as it is."""
    assert worst_element(replace(FOUND, where="y[0]", **changes)) == text


def told(result, width=100, **options):
    """Return the lines about one failure."""
    page = Page(Console(file=io.StringIO(), width=width))
    failure(page, result, **options)
    return [line.plain for line in page.lines]


def test_a_failure_is_told_line_by_line():
    """Clause, mistake, finding, smallest input, worst element and script, in this order."""
    assert told(FAILED) == [
        "fail  ROT-7.value  Sparse form, half-split",
        "  The sign of sin is swapped.",
        "  y is further from R_m x than `float32-angles` allows",
        "  smallest case: shape [1, 1, 1, 2], dtype float32",
        "    x = [[[[1, 0]]]]",
        "    positions = [[1]]",
        "    interleaved False",
        f"  worst element: {worst_element(FOUND)}",
        "  this script shows it:",
        "",
        "import numpy as np",
        "print(np.pi)",
    ]


def test_a_finding_that_was_said_is_not_said_again():
    """Where the first line stands above, the others follow it."""
    lines = told(FAILED, is_told=True)

    assert FAILED.message not in "".join(lines)
    assert "  The sign of sin is swapped." in lines


def test_a_failure_without_a_script_says_why():
    """One line takes its place."""
    found = replace(FOUND, script="", no_script="it takes `jvp` of torch")

    assert told(replace(FAILED, counterexample=found))[-1] == "  no script: it takes `jvp` of torch"


def test_a_drawn_case_is_told_in_a_sentence():
    """Of a case only what a person needs is printed; the document has all of it."""
    found = replace(FOUND, case=CASE)
    whole, *_ = smallest(found)
    brief, *_ = smallest(found, brief=True)

    assert whole == (
        "smallest case: x (batch, sequence, heads, head_dim) of shape (2, 1, 3, 4), bfloat16, "
        "a strided view, values `ones`; positions `arange` from 255"
    )
    # How values were drawn is of no use to who sees them.
    assert brief == whole.partition(", values")[0]


def test_values_that_are_long_are_cut_and_marked():
    """In brief earlier than in full."""
    found = replace(FOUND, inputs={"x": list(range(300))})
    brief = list(smallest(found, brief=True))[-1]
    whole = list(smallest(found))[-1]

    assert brief.endswith(" ...")
    assert len(brief) < 180 < len(whole) < 420
    assert whole.endswith(" ...")


def test_a_failure_without_a_counterexample_is_short():
    """A crash on loading has no input to show."""
    found = replace(FAILED, status=Status.CRASH, counterexample=None, message="died of SIGABRT")

    assert told(found) == [
        "crash  ROT-7.value  Sparse form, half-split",
        "  died of SIGABRT",
        "  the check looks for this: The sign of sin is swapped.",
    ]
