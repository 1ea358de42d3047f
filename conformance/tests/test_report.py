import io
from dataclasses import replace

import pytest
from rich.console import Console

from ropespec.conformance.profile import Profile
from ropespec.conformance.report.failure import failure, worst_element
from ropespec.conformance.report.progress import Progress
from ropespec.conformance.report.summary import print_report, profile_line, verdict_lines
from ropespec.conformance.report.table import clause_rows, number, skip_lines
from ropespec.conformance.results import CheckResult, Counterexample, Status, Verdict

FOUND = Counterexample(
    case={"shape": [1, 1, 1, 2], "dtype": "float32"},
    inputs={"x": [[[[1.0, 0.0]]]], "positions": [[1]], "interleaved": False},
    where="y[0, 0, 0, 1]",
    expected=0.5,
    got=-0.5,
    budget=1e-6,
    script="import numpy as np\nprint(np.pi)\n",
)
PASSED = CheckResult(
    "ROT-10.identity", "ROT-10", "Position 0 is the identity", "Turns at 0.", Status.PASS, 24, 0.031
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
SKIPPED = CheckResult(
    "ATT-1.softmax",
    "ATT-1",
    "Softmax of scaled scores",
    "The scale is forgotten.",
    Status.SKIP,
    message="attention not offered",
)


def verdict(*checks):
    """Return a verdict on these checks."""
    return Verdict(
        subject="my_rope.py:apply",
        profile=Profile(layouts=(False,)).as_dict(),
        seed=7,
        precision_by_dtype={"float32": "float32-angles"},
        checks=checks,
        duration=2.0,
    )


def printed(found, *, only=(), width=100, terminal=False):
    """Return what is printed about a verdict."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=terminal, highlight=False)
    print_report(console, found, only=only)
    return stream.getvalue()


def test_a_clause_takes_the_worst_of_its_checks():
    """One failed check fails its clause, whatever the others say."""
    other = replace(PASSED, clause="ROT-7", id="ROT-7.other", worst=None)

    (row,) = clause_rows([other, FAILED, replace(other, status=Status.SKIP)])

    assert (row.clause, row.status, row.examples) == ("ROT-7", Status.FAIL, 51)
    assert row.worst == 1e6


def test_the_largest_ratio_of_a_clause_is_a_nan_if_there_is_one():
    """NaN is no small number: it must not be lost among others."""
    (row,) = clause_rows([PASSED, replace(PASSED, worst=float("nan")), replace(PASSED, worst=2.0)])

    assert number(row.worst) == "nan"


def test_a_clause_that_ran_in_part_is_not_skipped():
    """A skipped check beside a passed one does not hide that the clause was checked."""
    (row,) = clause_rows([replace(PASSED, status=Status.SKIP), PASSED])

    assert row.status is Status.PASS


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.4512, "0.45"), (123456.0, "1.2e+05"), (float("inf"), "inf")]
)
def test_figures_of_merit_have_two_digits(value, text):
    """Two significant digits say all there is to say."""
    assert number(value) == text


def test_skips_are_told_once_per_reason():
    """Many skips for one reason make one line, with the clauses."""
    tail = replace(SKIPPED, message="no tail claimed", clause="ROT-14")
    other = replace(tail, clause="ROT-3")
    angles = replace(SKIPPED, message="cos_sin, angles not offered")

    assert skip_lines([SKIPPED, tail, PASSED, angles, other, tail, SKIPPED]) == (
        "3 checks skipped: no tail claimed (ROT-14, ROT-3)",
        "3 checks skipped: not offered: attention, cos_sin, angles",
    )


def test_a_skip_without_a_reason_says_so():
    """A reason is never made up."""
    assert skip_lines([replace(SKIPPED, message="")]) == (
        "1 check skipped: no reason was given (ATT-1)",
    )


def test_the_worst_element_is_told_in_multiples_of_the_budget():
    """Expected, got, error and error / budget stand in one line."""
    assert worst_element(FOUND) == (
        "y[0, 0, 0, 1] expected 0.5, got -0.5, error 1 = 1e+06 times the budget of 1e-06"
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


def test_a_failure_is_told_line_by_line():
    """Clause, mistake, finding, smallest input, worst element and script, in this order."""
    assert failure(FAILED).plain.splitlines() == [
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


def test_a_drawn_case_is_told_in_one_line():
    """Of a case only what a person needs is printed; the document has all of it."""
    case = {
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
    text = failure(replace(FAILED, counterexample=replace(FOUND, case=case))).plain

    assert (
        "  smallest case: x of shape (2, 1, 3, 4), bfloat16, values `ones`, a strided view; "
        "positions `arange` from 255\n"
    ) in text


def test_a_failure_without_a_counterexample_is_short():
    """A crash on loading has no input to show."""
    found = replace(FAILED, status=Status.CRASH, counterexample=None, message="died of SIGABRT")

    assert failure(found).plain.splitlines() == [
        "crash  ROT-7.value  Sparse form, half-split",
        "  died of SIGABRT",
        "  the check looks for this: The sign of sin is swapped.",
    ]


def test_what_ends_in_the_same_way_is_told_once():
    """An exception that every check meets has one traceback and one script in the report."""
    message = "ValueError: no\n  File my_rope.py, line 3"
    first = replace(FAILED, status=Status.ERROR, message=message)
    second = replace(first, id="ROT-7.pairing")
    text = printed(verdict(first, second, replace(first, id="ROT-8.value", message="TypeError")))

    assert text.count("line 3") == 1
    assert "  ValueError: no\n  as in ROT-7.value above\n" in text
    assert text.count("import numpy as np") == 2


def test_every_wrong_value_is_told_in_full():
    """Two failures of one wording have two inputs and two scripts."""
    text = printed(verdict(FAILED, replace(FAILED, id="ROT-7.other")))

    assert text.count("import numpy as np") == 2


def test_markup_in_a_message_is_printed_as_it_is():
    """Brackets of a subject's error message are text, not colours."""
    found = replace(FAILED, message="[red]list[0][/red]")

    assert "  [red]list[0][/red]\n" in printed(verdict(found))


def test_the_summary_stands_above_the_details():
    """The first failure is understood from the list; details and verdict follow."""
    text = printed(verdict(PASSED, FAILED, SKIPPED))
    order = [
        "my_rope.py:apply\n",
        f"{profile_line(Profile(layouts=(False,)).as_dict())}, seed 7\n",
        "ROT-10",
        "1 check skipped: not offered: attention\n",
        "What is wrong:\n",
        "  fail  ROT-7.value  Sparse form, half-split: y is further from R_m x than",
        "In detail:\n",
        "this script shows it",
        "precision measured for float32: float32-angles\n",
        "does not conform: 1 of 2 clauses fail, see first ROT-7\n",
    ]
    places = [text.find(part) for part in order]

    assert -1 not in places
    assert places == sorted(places)
    assert text.endswith(order[-1])


def test_the_table_fits_100_columns_and_narrower():
    """No line of the table is wider than the console, whatever the title."""
    long = replace(PASSED, title="A title that goes on and on " * 5)
    for width in (100, 72):
        lines = printed(verdict(long, PASSED), width=width).splitlines()
        table = lines[2:-3]

        assert any("ROT-10" in line for line in table)
        assert max(map(len, table)) <= width


def test_no_colour_when_it_is_not_asked_for(monkeypatch):
    """NO_COLOR is respected on a terminal; without it there is colour."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = printed(verdict(FAILED), terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    plain = printed(verdict(FAILED), terminal=True)

    assert "\x1b[1;31m" in coloured
    assert "31m" not in plain


@pytest.mark.parametrize(
    ("checks", "only", "last"),
    [
        ((PASSED,), (), "conforms: 1 clause checked in 2 s"),
        ((PASSED,), ("ROT-10",), "conforms (checked only: ROT-10): 1 clause checked in 2 s"),
        ((SKIPPED,), (), "does not conform: nothing was checked"),
        ((FAILED, PASSED), (), "does not conform: 1 of 2 clauses fail, see first ROT-7"),
        (
            (replace(PASSED, status=Status.TIMEOUT), FAILED),
            (),
            "does not conform: 2 of 2 clauses fail, see first ROT-10",
        ),
    ],
)
def test_the_last_line_is_the_verdict(checks, only, last):
    """It agrees with `Verdict.conforms` and says what the run was limited to."""
    found = verdict(*checks)

    assert verdict_lines(found, only=only)[-1].plain == last
    assert last.startswith("conforms") == found.conforms


def test_no_precision_class_is_said_in_words():
    """`none` is no name of a class."""
    found = replace(verdict(FAILED), precision_by_dtype={"float32": "none"})

    assert verdict_lines(found)[0].plain == "precision measured for float32: no class holds"


def test_a_profile_in_one_line_names_what_is_unusual():
    """Options that differ from the default are in the header."""
    profile = Profile(
        layouts=(True, False),
        array="torch",
        dtypes=("float32", "bfloat16"),
        rotary_dim=4,
        head_dims=(8, 16),
        precision="float32-angles",
        negative_positions=False,
        shared_positions=True,
        device="cuda:0",
    )

    assert profile_line(profile.as_dict()) == (
        "interleaved (2i, 2i+1) and half-split (i, i+d/2), torch bshd float32/bfloat16, "
        "base 10000, rotary_dim 4, head_dim 8/16, positions 0..131071, shared by the batch, "
        "on cuda:0, precision float32-angles"
    )


def test_progress_elsewhere_is_one_line_before_anything_is_loaded():
    """Off a terminal the first line comes on entering, and it stays the only one."""
    stream = io.StringIO()
    with Progress(Console(file=stream, width=40), "a_long_package.a_long_module:apply") as progress:
        first = stream.getvalue()
        progress.on_result(FAILED, 0, 2)

    assert first == "ropespec: loading a_long_package.a_long_module:apply ...\n"
    assert stream.getvalue() == first


def test_progress_on_a_terminal_moves_and_keeps_failures(monkeypatch):
    """On a terminal the check is shown, and a failure stays on the screen."""
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = io.StringIO()
    console = Console(file=stream, width=100, force_terminal=True, color_system=None)
    with Progress(console, "my_rope.py:apply") as progress:
        progress.on_result(PASSED, 0, 2)
        progress.on_result(FAILED, 1, 2)
    text = stream.getvalue()

    assert "loading my_rope.py:apply ..." in text
    assert "fail  ROT-7.value  Sparse form, half-split" in text
