"""Are the numbers right, and is the contract kept: answered apart, in values and in words."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from ropespec.conformance.cli import main
from ropespec.conformance.profile import Profile
from ropespec.conformance.registry import all_checks
from ropespec.conformance.report.answers import WHERE, contract_answer, deviation
from ropespec.conformance.report.document import document
from ropespec.conformance.report.summary import print_report, verdict_lines
from ropespec.conformance.results import CheckResult, Status, Verdict
from ropespec.conformance.runner import Plan, run
from ropespec.conformance.subject.session import Session
from ropespec.spec import PARTS, clauses


def result(id_, status=Status.PASS, message="", **values):
    """Return the result of a check."""
    clause = id_.partition(".")[0]
    return CheckResult(id_, clause, "Title", "Sentence.", status, 3, message=message, **values)


RIGHT = result("ROT-7.value")
WRONG = result("ROT-7.value", Status.FAIL, "y is further from R_m x")
KEPT = result("ROT-18.empty")
REFUSES = result(
    "ROT-18.empty", Status.FAIL, "x of shape (0, 1, 1, 8) raises TypeError: not enough values"
)
RAISES = result("ROT-7.pairing", Status.ERROR, "ValueError: head_dim must be at least 8")
PROMOTES = result("ROT-17.dtype", Status.FAIL, "returns float64 where float32 is claimed")
NOT_OFFERED = result("ATT-1.value", Status.SKIP, "attention not offered")


def verdict(*checks, **values):
    """Return a verdict on these checks."""
    profile = Profile(layouts=(False,)).as_dict()
    precision = {"float32": "float32-angles"}
    return Verdict("my_rope.py:apply", profile, 0, precision, checks, duration=2.0, **values)


def first_line(*checks, **values):
    """Return the first line of a report."""
    return verdict_lines(verdict(*checks, **values))[0].plain


@pytest.mark.parametrize("item", all_checks(), ids=lambda item: item.id)
def test_a_check_is_of_the_part_of_its_clause(item):
    """The contract is what stands in the part "The API"; all else is about numbers."""
    api = clauses()[item.clause].chapter in PARTS["The API"]

    assert item.kind == ("contract" if api else "numbers")
    assert result(item.id).kind == item.kind


@pytest.mark.parametrize(
    ("checks", "numbers", "contract"),
    [
        ((RIGHT, KEPT), "right", "kept"),
        ((RIGHT,), "right", "not judged"),
        ((KEPT,), "not judged", "kept"),
        ((NOT_OFFERED,), "not judged", "not judged"),
        ((RIGHT, REFUSES), "right", "broken"),
        ((WRONG, KEPT), "wrong", "kept"),
        ((WRONG, REFUSES), "wrong", "broken"),
        ((RAISES, KEPT), "not judged", "broken"),
        ((RIGHT, RAISES), "right", "broken"),
        ((RIGHT, replace(RAISES, status=Status.CRASH), KEPT), "right", "broken"),
        ((RIGHT, replace(RAISES, status=Status.TIMEOUT), KEPT), "right", "broken"),
        ((WRONG, replace(RAISES, status=Status.SKIP)), "wrong", "not judged"),
    ],
)
def test_the_two_answers(checks, numbers, contract):
    """A wrong number is no broken contract, and what raises is no wrong number."""
    found = verdict(*checks)
    ran = bool({numbers, contract} - {"not judged"})

    assert (found.numbers, found.contract) == (numbers, contract)
    assert found.conforms == ({numbers, contract} <= {"right", "kept", "not judged"} and ran)
    content = document(found)
    assert (content["numbers"], content["contract"]) == (numbers, contract)


def test_a_waiver_makes_no_number_right():
    """What is waived is said, and stays what it is."""
    found = verdict(replace(WRONG, waived={"ROT-7": "why"}), KEPT)

    assert (found.numbers, found.contract, found.conforms) == ("wrong", "kept", True)


@pytest.mark.parametrize(
    ("checks", "line"),
    [
        ((RIGHT, KEPT), "conforms: numbers right, contract kept; 2 clauses checked in 2 s"),
        (
            (RIGHT, REFUSES),
            (
                "does not conform: numbers right, precision float32-angles; deviates from the "
                "contract: ROT-18, raises on empty input"
            ),
        ),
        (
            (WRONG, KEPT),
            "does not conform: numbers wrong: 1 of 1 clauses fail, see first ROT-7; contract kept",
        ),
        (
            (WRONG, REFUSES),
            (
                "does not conform: numbers wrong: 1 of 1 clauses fail, see first ROT-7; deviates "
                "from the contract: ROT-18, raises on empty input"
            ),
        ),
        (
            (RAISES, KEPT),
            (
                "does not conform: numbers not judged; deviates from the contract: ROT-7, raises "
                "ValueError: head_dim must be at least 8"
            ),
        ),
        (
            (replace(REFUSES, waived={"ROT-18": "never so"}), RIGHT),
            (
                "conforms, waived: ROT-18 (never so): numbers right, contract kept otherwise; "
                "2 clauses checked in 2 s"
            ),
        ),
        (
            (replace(WRONG, waived={"ROT-7": "known"}), KEPT),
            (
                "conforms, waived: ROT-7 (known): numbers right otherwise, contract kept; "
                "2 clauses checked in 2 s"
            ),
        ),
        (
            (replace(REFUSES, waived={"ROT-18": "never so"}), RIGHT, PROMOTES),
            (
                "does not conform: numbers right, precision float32-angles; deviates from the "
                "contract: ROT-17, returns float64 where float32 is claimed; waived: ROT-18 "
                "(never so)"
            ),
        ),
    ],
)
def test_both_answers_stand_in_the_first_line(checks, line):
    """The numbers first; of a contract that is broken, each deviation in a few words."""
    assert first_line(*checks) == f"my_rope.py:apply {line}"


def test_a_wrong_number_is_shown_before_a_deviation():
    """What is to be seen first is about the numbers."""
    assert "see first ROT-7" in first_line(REFUSES, replace(WRONG, general=True))


def test_what_wrong_numbers_cause_is_no_deviation():
    """A check of the contract that fails with almost any mistake says nothing more."""
    general = result("ROT-17.rounded", Status.FAIL, "y is not R_m x rounded once", general=True)

    assert contract_answer(verdict(WRONG, general)) == "contract kept otherwise"
    assert "ROT-17" in contract_answer(verdict(RIGHT, general))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (REFUSES, "raises on empty input"),
        (replace(REFUSES, message="x of shape (0, 1) gives shape (1,)"), "gives another shape on"),
        (replace(REFUSES, status=Status.CRASH), "crashes on empty input"),
        (replace(REFUSES, status=Status.TIMEOUT), "does not answer on empty input"),
        (result("ROT-20.gradient", Status.ERROR, "RuntimeError: no"), "raises in the gradient"),
        (result("ROT-24.vmap", Status.ERROR, "RuntimeError: no"), "raises under vmap"),
        (result("ROT-19.strides", Status.ERROR, "ValueError: no"), "raises on a strided x"),
        (result("ROT-7.value", Status.ERROR, "ValueError"), "raises ValueError"),
        (
            result("ROT-20.gradient", Status.ERROR, "the check cannot judge this: KeyError: x"),
            "the check cannot judge this: KeyError: x",
        ),
        (result("ROT-7.value", Status.CRASH, "killed by SIGSEGV"), "crashes"),
    ],
)
def test_a_deviation_is_told_in_a_few_words(found, words):
    """By what is asked beside a plain call, and else by what was raised."""
    assert deviation(found).startswith(words)
    assert len(deviation(found)) <= 64


def test_every_place_is_that_of_a_check():
    """No words stand for a clause or a check that does not exist."""
    known = {name for item in all_checks() for name in (item.id, item.clause)}

    assert set(WHERE) <= known


def test_three_deviations_are_told_and_the_others_counted():
    """What is raised alike in many clauses is one deviation."""
    alike = [replace(RAISES, id=f"ROT-{n}.value", clause=f"ROT-{n}") for n in (1, 2, 5)]
    other = result("ROT-24.jvp", Status.FAIL, "the tangent of forward mode is not R_m t")
    gradient = result("ROT-20.gradient", Status.ERROR, "RuntimeError: no")
    said = contract_answer(verdict(RIGHT, *alike, REFUSES, PROMOTES, gradient, other))
    fewer = contract_answer(verdict(RIGHT, *alike, REFUSES, PROMOTES))

    assert said == (
        "deviates from the contract: ROT-18, raises on empty input; ROT-17, returns float64 where "
        "float32 is claimed; ROT-20, raises in the gradient; and 2 more"
    )
    assert fewer.endswith(
        "; ROT-1 and 2 more clauses, raises ValueError: head_dim must be at least 8"
    )


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("verbose", [False, True])
def test_the_first_lines_hold_both_answers_at_every_width(width, verbose):
    """Nothing of them is cut."""
    alike = [replace(RAISES, id=f"ROT-{n}.value", clause=f"ROT-{n}") for n in (1, 2, 5)]
    found = verdict(RIGHT, REFUSES, PROMOTES, *alike)
    stream = io.StringIO()
    print_report(Console(file=stream, width=width), found, verbose=verbose)
    text = " ".join(stream.getvalue().split())

    assert text.startswith(verdict_lines(found)[0].plain)
    assert max(map(len, stream.getvalue().splitlines())) <= width


def test_without_a_target_both_answers_are_given_for_each(monkeypatch, capsys, tmp_path):
    """In the report and in the document."""
    monkeypatch.setattr(
        "ropespec.conformance.builtin.availability", {"cupy": "no", "jax": "no"}.get
    )
    file = tmp_path / "all.json"
    status = main(["check", "--only", "ROT-10", "--only", "ROT-18", "--json", str(file)])
    found = json.loads(file.read_text(encoding="utf-8"))["verdicts"]
    out = " ".join(capsys.readouterr().out.split())

    assert status == 0
    assert out.count("): numbers right, contract kept; 2 clauses checked in ") == len(found) == 2
    assert [(one["numbers"], one["contract"]) for one in found] == [("right", "kept")] * 2


OWN_GRADIENT = """
import numpy as np

def apply_rotary(x, positions, *, sign=1):
    half = x.shape[-1] // 2
    angles = positions[..., None, None] * {base} ** (-np.arange(half) / half) * sign
    z = (x[..., :half] + 1j * x[..., half:].astype(float)) * np.exp(1j * angles)
    return np.concatenate([z.real, z.imag], -1).astype(x.dtype)

def apply_rotary_vjp(cotangent, positions):
    return apply_rotary(cotangent, positions, sign={sign})
"""


@pytest.mark.parametrize(
    ("base", "sign", "follows"), [(5e5, -1, True), (5e5, 1, False), (1e4, 1, False)]
)
def test_the_gradient_of_a_wrong_function_is_no_mistake_of_its_own(tmp_path, base, sign, follows):
    """Where a gradient is that of the wrong function as it is, the step back has no mistake."""
    file = tmp_path / "subject.py"
    file.write_text(OWN_GRADIENT.format(base=base, sign=sign))
    with Session(str(file), Profile(layouts=(False,), dtypes=("float32",))) as session:
        (gradient,) = run(session, Plan(only=("ROT-20.gradient",))).checks
    assert gradient.status is Status.FAIL
    assert gradient.general is follows
