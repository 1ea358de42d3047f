import io
from dataclasses import replace

import pytest
from rich.console import Console

from ropespec.conformance.profile import Profile
from ropespec.conformance.report.progress import Progress
from ropespec.conformance.report.summary import (
    chief,
    diagnosis_lines,
    print_report,
    profile_line,
    verdict_lines,
)
from ropespec.conformance.report.table import clause_rows, left_out, number, skip_lines
from ropespec.conformance.results import (
    OVERDUE,
    CheckResult,
    Counterexample,
    Diagnosis,
    Remedy,
    Status,
    Verdict,
)

FOUND = Counterexample(
    case={"shape": [1, 1, 1, 2], "dtype": "float32"},
    inputs={"x": [[[[1.0, 0.0]]]], "positions": [[1]], "interleaved": False},
    where="y[0, 0, 0, 1]",
    expected=0.5,
    got=-0.5,
    budget=1e-3,
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
EMPTY = CheckResult("ROT-18.empty", "ROT-18", "Empty axes", "It raises.", Status.PASS, 12)
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


def printed(found, *, only=(), width=100, terminal=False, verbose=False):
    """Return what is printed about a verdict."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=terminal, highlight=False)
    print_report(console, found, only=only, verbose=verbose)
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


def test_what_ends_in_the_same_way_is_told_once():
    """An exception that every check meets has one traceback and one script in the report."""
    message = "ValueError: no\n  File my_rope.py, line 3"
    first = replace(FAILED, status=Status.ERROR, message=message)
    second = replace(first, id="ROT-7.pairing")
    other = replace(first, id="ROT-8.value", message="TypeError")
    text = printed(verdict(first, second, other), verbose=True)
    details = text[text.index("clause   title") :]

    assert details.count("line 3") == 1
    assert "  ValueError: no\n  as in ROT-7.value above\n" in details
    assert text.count("import numpy as np") == 2


def test_every_wrong_value_is_told_in_full():
    """Two failures of one wording have two inputs and two scripts."""
    text = printed(verdict(FAILED, replace(FAILED, id="ROT-7.other")), verbose=True)

    assert text.count("import numpy as np") == 2


def test_markup_in_a_message_is_printed_as_it_is():
    """Brackets of a subject's error message are text, not colours."""
    found = replace(FAILED, message="[red]list[0][/red]")

    assert "  [red]list[0][/red]\n" in printed(verdict(found), verbose=True)


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


DIAGNOSIS = Diagnosis("L1", "wrong pairing", "The other pairs are rotated; rotate these.")


def test_the_report_begins_with_the_answer():
    """Verdict, diagnosis, the one smallest case, what to do; then what else there is."""
    other = replace(FAILED, id="ROT-11.norm", clause="ROT-11", message="the length changes")
    vague = replace(FAILED, id="ROT-6.value", clause="ROT-6", general=True)
    remedy = Remedy({"layouts": (True,)}, failures=3, tried=3, left=0)
    found = verdict(PASSED, vague, FAILED, other, SKIPPED)
    found = replace(found, diagnosis=(DIAGNOSIS,), remedy=remedy)
    text = printed(found, width=160)
    order = [
        "my_rope.py:apply does not conform: numbers wrong: 3 of 4 clauses fail, see first ROT-7;",
        "Diagnosis: L1 wrong pairing. The other pairs are rotated; rotate these.\n",
        "ROT-7.value  y is further from R_m x than `float32-angles` allows\n",
        "    x = [[[[1, 0]]]]\n",
        "  y[0, 0, 0, 1] expected 0.5, got -0.5",
        "What to do:\n",
        "want (tried: no failure is left): ropespec check my_rope.py:apply --interleaved\n",
        "ropespec spec ROT-7\n",
        "ropespec check my_rope.py:apply --half --only ROT-7.value --verbose\n",
        "What else fails:\n",
        "  fail  ROT-11.norm  the length changes\n",
        "  as after almost any mistake, 1 more check of 1 clause (--verbose: which)\n",
        f"checked as {profile_line(Profile(layouts=(False,)).as_dict())}"[:60],
        "seed 7\n",
        "1 check left out: 1 of functions that it does not offer\n",
        "--verbose prints every clause, and every failure with a script that shows it\n",
    ]
    places = [text.find(part) for part in order]

    assert places[0] == 0
    assert -1 not in places
    assert places == sorted(places)
    assert "import numpy" not in text


def test_verbose_prints_everything():
    """The table, every failure with its script, what was left out and why; and the answer again."""
    vague = replace(FAILED, id="ROT-6.value", clause="ROT-6", general=True)
    text = printed(verdict(PASSED, vague, FAILED, SKIPPED), width=160, verbose=True)
    lines = text.splitlines()

    assert text.count("import numpy as np") == 2
    assert any(line.startswith("ROT-10   Position 0 is the identity") for line in lines)
    assert "1 check skipped: not offered: attention" in lines
    assert lines[-1] == lines[0]


def test_a_waived_failure_keeps_its_status_and_is_shown_with_its_reason():
    """In the table, in a line of its own, in full with --verbose, and on the screen at once."""
    waived = replace(FAILED, waived={"ROT-7": "known for long"})
    found = verdict(PASSED, waived)
    text = printed(found, width=160)
    verbose = printed(found, width=160, verbose=True)

    assert (
        "Waived:\n  fail  ROT-7.value  y is further from R_m x than `float32-angles` allows "
        "(waived: known for long)\n"
    ) in text
    assert "What to do:" not in text
    assert "fail, waived" in verbose
    assert "  waived by ROT-7: known for long\n" in verbose
    assert clause_rows([waived, replace(FAILED, id="ROT-7.other")])[0].waived is False


def test_many_waived_failures_are_counted():
    """A few are told, and how many more there are."""
    many = [replace(FAILED, id=f"ROT-7.n{n}", waived={"ROT-7": "why"}) for n in range(9)]
    text = printed(verdict(PASSED, *many))

    assert text.count("(waived: why)") == 5
    assert "  and 4 more (--verbose: all of them)\n" in text


def test_the_first_failure_is_one_that_points_at_a_mistake_by_a_number():
    """What almost any mistake causes comes last, and words come after numbers."""
    vague = replace(FAILED, id="ROT-6.value", clause="ROT-6", general=True)
    words = replace(FAILED, id="ROT-5.layouts", counterexample=replace(FOUND, expected=None))

    assert chief(verdict(vague, words, FAILED)) is FAILED
    assert chief(verdict(vague, words)) is words
    assert chief(verdict(PASSED, vague)) is vague
    assert chief(verdict(PASSED)) is None


@pytest.mark.parametrize("width", [60, 80, 100, 120])
@pytest.mark.parametrize("status", [Status.FAIL, Status.ERROR])
def test_whatever_fails_takes_forty_lines(width, status):
    """Even if everything fails, in long words: cut at words, and what is left out is said."""
    long = "something that is not as it has to be, and takes many words to be said " * 8
    inputs = {"x": [[0.123456789] * 40] * 8, "positions": list(range(300)), "base": 10000.0}
    example = replace(FOUND, inputs=inputs, case=CASE)
    checks = [
        replace(
            FAILED,
            id=f"ROT-{n}.value",
            clause=f"ROT-{n}",
            status=status,
            message=f"{n} {long}\n  File my_rope.py, line 3, in f\n    {long}",
            counterexample=example,
            general=n > 40,
        )
        for n in range(1, 60)
    ]
    diagnosis = tuple(replace(DIAGNOSIS, name=f"mistake {n}", sentence=long) for n in range(7))
    found = replace(verdict(*checks), diagnosis=diagnosis, subject="a_long_path/" * 9 + "a.py:f")
    text = printed(found, width=width)
    lines = text.splitlines()

    assert len(lines) <= 40
    # A path has no blank to be broken at, and is broken all the same.
    assert max(map(len, lines)) <= width
    assert "--verbose" in lines[-1]
    assert "What to do:" in lines
    assert " ..." in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_nothing_is_dropped_and_no_word_is_cut(width):
    """All words of a report stand in it at any width, and no line is wider than the console."""
    found = replace(verdict(PASSED, FAILED, SKIPPED), diagnosis=(DIAGNOSIS,))
    wide = printed(found, width=1000, verbose=True).split()
    text = printed(found, width=width, verbose=True)
    # Below 69 columns a row of the table is a sentence, which names all columns but the first.
    words = {"clause", *(word.strip(";") for word in text.split())}

    assert max(map(len, text.splitlines())) <= width
    assert [word for word in wide if word.strip(";") not in words and set(word) != {"─"}] == []


def test_where_and_evidence_stand_below_a_name_with_what_cannot_be_told_from_it():
    """No percentage is printed: nobody measured it."""
    seen = {"where": "calls with 1 token", "evidence": "reproduces 8 of 8", "equals": ("K6 two",)}
    one, two = replace(DIAGNOSIS, **seen), replace(DIAGNOSIS, id="A2", name="name A2")
    lines = [line.plain for line in diagnosis_lines((one, two))]

    assert lines == [
        f"Diagnosis: L1 wrong pairing. {DIAGNOSIS.sentence}",
        "  Where: calls with 1 token. Evidence: reproduces 8 of 8; not to be told from: K6 two.",
        f"Also: A2 name A2. {DIAGNOSIS.sentence}",
    ]
    assert "%" not in "".join(lines)


def test_an_unknown_mistake_has_no_name():
    """The sentence says what was measured."""
    unknown = Diagnosis("", "unknown", "The smallest wrong call is this.")
    told = "Diagnosis: unknown. The smallest wrong call is this."

    assert diagnosis_lines((unknown,))[0].plain == told


UNFIT = "1 of what is not claimed or not possible here"


def test_what_was_not_run_for_want_of_time_is_said_whole():
    """It is no matter of what is offered or claimed."""
    late = replace(SKIPPED, message="not run: the deadline of 3 s had passed")
    tail = replace(SKIPPED, message="no tail claimed")

    assert left_out([late, late, SKIPPED, tail]) == (
        "2 checks not run: the deadline of 3 s had passed",
        f"2 checks left out: 1 of functions that it does not offer, {UNFIT}",
    )


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
    ("checks", "only", "first"),
    [
        (
            (PASSED,),
            (),
            "conforms: numbers right, contract not judged; 1 clause checked in 2 s",
        ),
        (
            (PASSED, EMPTY),
            ("ROT",),
            "conforms (checked only: ROT): numbers right, contract kept; 2 clauses checked in 2 s",
        ),
        (
            (FAILED, PASSED),
            (),
            (
                "does not conform: numbers wrong: 1 of 2 clauses fail, see first ROT-7; contract "
                "not judged"
            ),
        ),
        (
            (replace(PASSED, status=Status.TIMEOUT), FAILED),
            (),
            (
                "does not conform: numbers wrong: 1 of 1 clauses fail, see first ROT-7; deviates "
                "from the contract: ROT-10, does not answer"
            ),
        ),
        (
            (PASSED, replace(SKIPPED, message=f"{OVERDUE} of 3 s had passed")),
            (),
            "is undecided: 1 clause checked and none failed, 1 checks were not run in time",
        ),
    ],
)
def test_the_first_line_is_the_verdict(checks, only, first):
    """It agrees with `Verdict.conforms` and says what the run was limited to."""
    found = verdict(*checks)

    assert verdict_lines(found, only=only)[0].plain == f"my_rope.py:apply {first}"
    assert first.startswith("conforms") == found.conforms


def test_where_nothing_was_checked_the_reason_stands_first():
    """It is no verdict, and its words are not those of one; two reasons are enough."""
    found = verdict(
        SKIPPED,
        replace(SKIPPED, id="ROT-6.value", clause="ROT-6", message="layout not claimed"),
        replace(SKIPPED, id="ROT-10.x", clause="ROT-10", message="a third reason"),
    )
    why = "1 check skipped: layout not claimed (ROT-6); 1 check skipped: a third reason (ROT-10)"

    assert verdict_lines(found, only=("ROT",))[0].plain == (
        f"my_rope.py:apply: nothing was checked (checked only: ROT): {why}"
    )
    assert not found.judged
    assert not found.conforms


@pytest.mark.parametrize("verbose", [True, False])
def test_what_a_subject_was_not_kept_from_is_said(verbose):
    """Where isolation is weaker, and what outlived the subject."""
    found = replace(
        verdict(PASSED),
        lacks=("its memory is not limited", "it may stay"),
        stragglers={"sleep": 2, "python": 1},
    )
    text = printed(found, width=200, verbose=verbose)

    assert "isolation is weaker on this system: its memory is not limited; it may stay" in text
    assert "it left processes behind, which were ended: 1 python, 2 sleep" in text
    assert "isolation" not in printed(verdict(PASSED), width=200, verbose=verbose)


def test_no_precision_class_is_said_in_words():
    """`none` is no name of a class, and where something fails it says nothing."""
    found = replace(verdict(PASSED), precision_by_dtype={"float32": "none"})
    failing = replace(verdict(FAILED), precision_by_dtype={"float32": "none"})

    assert verdict_lines(found)[1].plain == "precision measured for float32: no class holds"
    assert len(verdict_lines(failing)) == 1


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
        "base 10000, rotary_dim 4, head_dim 8 16, precision float32-angles, positions 0..131071, "
        "shared by the batch, on cuda:0"
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
        progress.on_result(replace(FAILED, waived={"ROT-7": "why"}), 1, 2)
    text = stream.getvalue()

    assert "loading my_rope.py:apply ..." in text
    assert "fail  ROT-7.value  Sparse form, half-split" in text
    assert text.count("Sparse form, half-split (waived)") == 1
