import json
import sys

import jsonschema
import pytest

from ropespec.bench.speed import process
from ropespec.bench.speed.case import Case, Row
from ropespec.bench.speed.document import SCHEMA, document, write
from ropespec.bench.speed.environment import NO_GPU, allocator, environment
from ropespec.bench.speed.ladder import Plan
from ropespec.bench.speed.run import Absent, Found, run
from ropespec.bench.speed.subjects import Entry, find
from ropespec.bench.speed.targets import outcomes

TINY = (1, 2, 1, 8)
PLAN = Plan(dtypes=("float32", "bfloat16"), shapes=(TINY,), repetitions=1, limit=0.0, device="cpu")


@pytest.fixture(scope="module")
def found():
    return run([find("ropespec numpy"), find("naive numpy")], PLAN, lambda _: None)


def schema():
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


def judged(value):
    jsonschema.validate(value, schema(), cls=jsonschema.Draft202012Validator)


def test_every_case_of_a_contender_is_a_row(found):
    """Both dtypes, both layouts, one pass and both, into every kind of memory; nothing twice."""
    ours = [row.case for row in found.rows if row.subject == "ropespec numpy"]
    naive = [row.case for row in found.rows if row.subject == "naive numpy"]

    assert len(ours) == len(set(ours)) == 24
    assert len(naive) == len(set(naive)) == 8
    assert {row.device for row in found.rows} == {"cpu"}
    assert [row.reason for row in found.rows if row.reason] == []
    assert {row.repetitions for row in found.rows} == {PLAN.rounds}


def test_contenders_take_turns_in_every_case():
    """No contender has its rounds in a row while another waits."""
    heard = []
    plan = Plan(dtypes=("float32",), shapes=(TINY,), intos=("new",), directions=("forward",))
    run([find("ropespec numpy"), find("naive numpy")], plan, heard.append)
    turns = [text.rpartition(": ")[2] for text in heard if ": " in text]

    assert turns == ["ropespec numpy", "naive numpy"] * (2 * plan.rounds)


def test_an_interrupted_run_keeps_what_it_has():
    """The rows of the cases before it are there, and how many are left."""

    def progress(text):
        if text.startswith("[4/"):
            raise KeyboardInterrupt

    found = run([find("ropespec numpy")], PLAN, progress)

    assert len(found.rows) == 3
    assert found.left == len(PLAN.cases()) - 3


def test_a_result_file_follows_the_schema(found, tmp_path):
    """Measured and failed rows, absent contenders and targets, as they are written."""
    failed = Row("mlx", "float32", True, "forward", "new", TINY, reason="no such thing")
    absent = [Absent("torchtune", "not installed: torchtune")]
    whole = Found([*found.rows, failed], absent)
    path = tmp_path / "result.json"
    write(path, document(environment(""), PLAN, whole, outcomes(whole.rows)))
    value = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema())
    judged(value)

    assert [Row.from_json(one) for one in value["rows"]] == whole.rows
    assert value["rows"][0]["copies"] == whole.rows[0].copies
    assert value["targets"]
    assert value["environment"]["gpu"] == NO_GPU
    assert value["environment"]["versions"]["numpy"]


@pytest.mark.parametrize(
    "change",
    [
        {"seconds": None},
        {"reason": "why"},
        {"into": "elsewhere"},
        {"shape": [1, 2]},
        {"copies": -1},
        {"speed": 1},
    ],
)
def test_the_schema_refuses_half_a_row(found, change):
    """A row is measured with everything that belongs to it, or has a reason."""
    value = document(environment(""), PLAN, Found(found.rows[:1]), [])
    value["rows"][0] |= change

    with pytest.raises(jsonschema.ValidationError):
        judged(value)


def test_a_contender_that_is_not_installed_is_named():
    """It is absent with the module that is missing; nothing is run for it."""
    entry = Entry("dream", "peer", ("numpy", "no_such_module"), "nowhere:Nothing")
    nothing = run([entry], PLAN, lambda _: None)

    assert nothing.rows == []
    assert nothing.absent == [Absent("dream", "not installed: no_such_module")]


def test_a_contender_that_cannot_be_loaded_is_named():
    """NumPy asked for a GPU has a reason and no row."""
    plan = Plan(dtypes=("float32",), shapes=(TINY,), device="cuda")
    nothing = run([find("ropespec numpy")], plan, lambda _: None)

    assert nothing.rows == []
    assert nothing.absent == [Absent("ropespec numpy", "NumPy knows no GPU")]


CHILD = """
import json, os, sys
hello = {"device": "cpu", "device_name": "", "layouts": [True, False], "ways": [["forward", "new"]]}
row = {row}
sys.stdin.readline()
print(json.dumps(hello), flush=True)
for line in sys.stdin:
    case = json.loads(line)["case"]
    if case[1]:
        print("it went wrong", file=sys.stderr, flush=True)
        os._exit(3)
    print(json.dumps(row | dict(interleaved=False)), flush=True)
"""


def stand_in(monkeypatch, tmp_path, text):
    script = tmp_path / "child.py"
    script.write_text(text, encoding="utf-8")
    monkeypatch.setattr(process, "COMMAND", (sys.executable, str(script)))


def test_a_crash_is_a_row_and_the_rest_goes_on(monkeypatch, found, tmp_path):
    """The case in progress has failed, and a new process takes up the next one."""
    row = next(row for row in found.rows if row.subject == "naive numpy").to_json()
    stand_in(monkeypatch, tmp_path, CHILD.replace("{row}", repr(row)))
    plan = Plan(dtypes=("float32",), shapes=(TINY,))
    crashed = run([find("naive numpy")], plan, lambda _: None)

    assert [one.interleaved for one in crashed.rows] == [True, False]
    assert crashed.rows[0].reason == "the process ended early, exit status 3: it went wrong"
    assert crashed.rows[1].reason is None
    assert crashed.absent == []


def test_who_always_crashes_is_given_up(monkeypatch, found, tmp_path):
    """After three crashes nothing more is asked, and the list of the absent says so."""
    row = found.rows[0].to_json()
    stand_in(monkeypatch, tmp_path, CHILD.replace("{row}", repr(row)))
    shapes = tuple((1, length, 1, 8) for length in range(1, 6))
    plan = Plan(dtypes=("float32",), layouts=(True,), shapes=shapes)
    crashed = run([find("naive numpy")], plan, lambda _: None)

    assert len(crashed.rows) == 3
    assert crashed.absent == [Absent("naive numpy", "given up after 3 crashes")]


def test_a_process_that_hangs_is_ended(monkeypatch, tmp_path):
    """Its time is bounded, and what it did is said."""
    stand_in(monkeypatch, tmp_path, "import time; time.sleep(600)")
    plan = Plan(dtypes=("float32",), shapes=(TINY,), timeout=0.2)
    hung = run([find("naive numpy")], plan, lambda _: None)

    assert hung.absent == [Absent("naive numpy", "the process ended early, killed by signal 9")]


def test_the_least_of_both_rounds_counts():
    """Either side takes its own least time; a failure in one round stays a failure."""
    case = Case("float32", True, "forward", "new", TINY)
    one = Row("a", *case, seconds=2.0, copy_seconds=1.0, error=0.1, copy="c", repetitions=3)
    two = Row("a", *case, seconds=3.0, copy_seconds=0.5, copy="c", repetitions=4)
    both = one.merged(two)

    assert (both.seconds, both.copy_seconds, both.copies) == (2.0, 0.5, 4.0)
    assert (both.error, both.repetitions) == (0.1, 7)
    assert one.merged(Row("a", *case, reason="no")).reason == "no"


def test_the_allocator_is_the_one_that_is_preloaded(monkeypatch):
    """A preloaded library is named, otherwise the C library."""
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    plain = allocator()
    monkeypatch.setenv("LD_PRELOAD", "/usr/lib/libjemalloc.so.2")

    assert plain.endswith("malloc")
    assert allocator() == "libjemalloc.so.2"


def test_a_gpu_is_named(monkeypatch):
    """The file says on which device something ran, or that nothing did."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")

    assert environment("H200")["gpu"] == "H200"
    assert environment("")["gpu"] == "none: nothing in this file ran on a GPU"
    assert environment("")["settings"]["OMP_NUM_THREADS"] == "2"
