import copy
import json
from dataclasses import replace

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from ropespec.conformance.profile import Profile
from ropespec.conformance.report.document import (
    SCHEMA,
    document,
    documents,
    plain,
    schema,
    text_of,
    version,
)
from ropespec.conformance.results import CheckResult, Counterexample, Remedy, Status, Verdict

FOUND = Counterexample(
    case={"shape": (1, 1, 1, 2), "limit": np.int64(7)},
    inputs={"x": np.array([[1.0, np.nan]], np.float32), "interleaved": True},
    where="y[0, 0, 0, 1]",
    expected=float("nan"),
    got=float("-inf"),
    budget=None,
    script="print(1)\n",
)
PASSED = CheckResult(
    "ROT-10.identity", "ROT-10", "Position 0", "Turns at 0.", Status.PASS, 24, np.float64(0.5)
)
FAILED = replace(
    PASSED,
    id="ROT-7.value",
    clause="ROT-7",
    status=Status.FAIL,
    worst=float("inf"),
    message="wrong",
    counterexample=FOUND,
)
VERDICT = Verdict(
    subject="my_rope.py:apply",
    profile=Profile(layouts=(False,)).as_dict(),
    seed=0,
    precision_by_dtype={"float32": "float32-angles"},
    checks=(PASSED, FAILED),
    environment={"numpy": np.__version__},
    duration=1.5,
    spent={"drawing": 0.5, "calling": 0.25},
)
VALIDATOR = Draft202012Validator(schema())


def strict(content):
    """Write and read a document as strict JSON."""
    return json.loads(json.dumps(content, allow_nan=False))


def test_the_schema_is_a_schema():
    """It is valid under its own metaschema, and its id is the one in the documents."""
    Draft202012Validator.check_schema(schema())

    assert schema()["$id"] == SCHEMA == schema()["properties"]["schema"]["const"]


@pytest.mark.parametrize("status", list(Status))
def test_a_verdict_is_valid_under_the_schema(status):
    """Every status gives a valid document."""
    checks = (PASSED, replace(FAILED, status=status))

    VALIDATOR.validate(strict(document(replace(VERDICT, checks=checks))))


def test_a_document_has_what_scripts_rely_on():
    """The keys of the contract, with their values."""
    content = strict(document(VERDICT, only=("ROT-7",), full=True))
    first, second = content["checks"]

    assert content["ropespec"] == version()
    assert content["schema"] == SCHEMA
    assert content["only"] == ["ROT-7"]
    assert content["full"] is True
    assert content["subject"] == "my_rope.py:apply"
    assert content["profile"]["layouts"] == [False]
    assert content["seed"] == 0
    assert content["conforms"] is False
    assert (content["numbers"], content["contract"]) == ("wrong", "not judged")
    assert (content["waivers"], content["unneeded_waivers"], content["remedy"]) == ({}, {}, None)
    assert content["precision"] == "float32-angles"
    assert content["precision_by_dtype"] == {"float32": "float32-angles"}
    assert content["environment"] == {"numpy": np.__version__}
    assert content["duration"] == 1.5
    assert content["spent"] == {"drawing": 0.5, "calling": 0.25}
    assert first == {
        "id": "ROT-10.identity",
        "clause": "ROT-10",
        "title": "Position 0",
        "sentence": "Turns at 0.",
        "status": "pass",
        "examples": 24,
        "worst": 0.5,
        "message": "",
        "counterexample": None,
        "general": False,
        "diagnosis": [],
        "seconds": 0.0,
        "stateful": False,
        "cut": False,
        "kind": "numbers",
        "waived": {},
        "fault": None,
    }
    assert second["worst"] == "inf"
    assert second["counterexample"] == {
        "case": {"shape": [1, 1, 1, 2], "limit": 7},
        "inputs": {"x": [[1.0, "nan"]], "interleaved": True},
        "where": "y[0, 0, 0, 1]",
        "expected": "nan",
        "got": "-inf",
        "budget": None,
        "off": None,
        "of": None,
        "script": "print(1)\n",
        "no_script": "",
        "smallest": True,
    }


def test_waivers_and_a_remedy_are_part_of_a_document():
    """A waived failure keeps its status, and has the reason beside it."""
    waived = replace(FAILED, waived={"ROT-7": "known"})
    found = replace(
        VERDICT,
        checks=(PASSED, waived),
        waivers={"ROT-7": "known", "ROT-10": "gone"},
        unneeded={"ROT-10": "ROT-10.identity passes"},
        remedy=Remedy({"max_tokens": 7}, failures=2, tried=2, left=1, waivers=("ROT-17",)),
    )
    content = strict(document(found))
    VALIDATOR.validate(content)

    assert (content["conforms"], content["numbers"]) == (True, "wrong")
    assert content["checks"][1]["status"] == "fail"
    assert content["checks"][1]["waived"] == {"ROT-7": "known"}
    assert content["unneeded_waivers"] == {"ROT-10": "ROT-10.identity passes"}
    assert content["remedy"] == {
        "claims": {"max_tokens": 7},
        "failures": 2,
        "tried": 2,
        "left": 1,
        "waivers": ["ROT-17"],
    }


def test_several_verdicts_make_one_document():
    """Without a target: all verdicts, and why the other backends did not run."""
    passed = replace(VERDICT, checks=(PASSED,))
    content = strict(documents([passed, VERDICT], {"cupy": "no GPU"}))
    VALIDATOR.validate(content)

    assert content["conforms"] is False
    assert [one["conforms"] for one in content["verdicts"]] == [True, False]
    assert content["not_run"] == {"cupy": "no GPU"}
    assert strict(documents([], {}))["conforms"] is False


def drop(content, *path):
    """Return the document without the value at a path."""
    changed = copy.deepcopy(content)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    return changed


def put(content, value, *path):
    """Return the document with another value at a path."""
    changed = copy.deepcopy(content)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    "change",
    [
        lambda one: drop(one, "conforms"),
        lambda one: drop(one, "subject"),
        lambda one: put(one, "good", "numbers"),
        lambda one: put(one, "wrong", "contract"),
        lambda one: put(one, {"ROT-18": ""}, "waivers"),
        lambda one: put(one, {"claims": {}}, "remedy"),
        lambda one: drop(one, "checks", 0, "kind"),
        lambda one: put(one, "unheard of", "checks", 1, "fault"),
        lambda one: put(one, "why", "checks", 1, "waived"),
        lambda one: drop(one, "checks", 0, "status"),
        lambda one: drop(one, "profile", "layouts"),
        lambda one: put(one, "passed", "checks", 0, "status"),
        lambda one: put(one, "NaN", "checks", 0, "worst"),
        lambda one: put(one, "ROT 7", "checks", 0, "clause"),
        lambda one: put(one, 1, "extra"),
        lambda one: put(one, 1, "checks", 1, "counterexample", "extra"),
        lambda one: put(one, 1.5, "checks", 1, "counterexample", "off"),
        lambda one: drop(one, "checks", 1, "counterexample", "no_script"),
        lambda one: put(one, "urn:other", "schema"),
        lambda one: put(one, [], "verdicts"),
    ],
)
def test_the_schema_refuses_what_is_no_verdict(change):
    """A missing key, an unknown status, a number that is no number, an extra key."""
    content = strict(document(VERDICT))

    assert VALIDATOR.is_valid(content)
    assert not VALIDATOR.is_valid(change(content))


def test_the_schema_refuses_a_wrong_verdict_among_several():
    """The verdicts of a list are held to the same rules."""
    content = strict(documents([VERDICT], {}))

    assert VALIDATOR.is_valid(content)
    assert not VALIDATOR.is_valid(drop(content, "verdicts", 0, "seed"))
    assert not VALIDATOR.is_valid(put(content, 1, "verdicts", 0, "extra"))


def test_anything_becomes_plain_json():
    """Sets, NumPy scalars and unknown objects are turned into what JSON can say."""
    assert plain({1: {2.5}, "b": np.bool_(True), "c": 1 + 2j, "d": (None, np.float32("inf"))}) == {
        "1": [2.5],
        "b": True,
        "c": "(1+2j)",
        "d": [None, "inf"],
    }


def test_a_document_is_strict_json():
    """What is written reads back as it was, and never as `NaN`."""
    text = text_of(document(replace(VERDICT, subject="ρ.py:f")))

    assert json.loads(text)["subject"] == "ρ.py:f"
    assert "NaN" not in text
    assert "Infinity" not in text
    assert text.endswith("}\n")
