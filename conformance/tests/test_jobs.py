"""Checks in two processes: the same verdict as in one, and nothing left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from ropespec.conformance.beside import Beside
from ropespec.conformance.cli import main
from ropespec.conformance.cli.jobs import fitting, others
from ropespec.conformance.jobs.job import Job
from ropespec.conformance.opening import open_subject
from ropespec.conformance.order import (
    ALIKE,
    DEAR,
    FRESH,
    LARGE,
    LONG,
    dealt,
    is_late,
    telling_first,
)
from ropespec.conformance.registry import all_checks
from ropespec.conformance.report.document import document
from ropespec.conformance.runner import Plan, run, select
from ropespec.conformance.subject.target import FOREIGN

FEW = ("ROT-6", "ROT-7", "ROT-9.forms", "ROT-10", "ROT-17", "ROT-21", "JDG-1", "JDG-3")
SUBJECTS = """
import os
import sys
from pathlib import Path

import numpy as np

PROFILE = {"interleaved": False, "dtypes": ["float32"], "max_position": 4095, "head_dim": [8, 16]}


def right(x, positions):
    half = x.shape[-1] // 2
    inv_freq = (10000.0 ** (-np.arange(half) / half)).astype(np.float32)
    angle = positions[..., None, None].astype(np.float32) * inv_freq
    cos, sin = np.cos(angle), np.sin(angle)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)


def wrong(x, positions):
    return right(x, -positions)


def talks(x, positions):
    print("from the subject", flush=True)
    print("from the subject", file=sys.stderr, flush=True)
    return right(x, positions)


def writes(x, positions):
    y = right(x, positions)
    x[...] = 0
    return y


def dies(x, positions):
    if x.shape[1] == 60:
        os.abort()
    return right(x, positions)
"""
ONCE = """
mine = Path(__file__).with_suffix(".lock")
os.close(os.open(mine, os.O_CREAT | os.O_EXCL))
"""
TIMES = ("seconds", "duration", "spent")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a current folder with subjects in it."""
    (tmp_path / "mine.py").write_text(SUBJECTS, encoding="utf-8")
    (tmp_path / "once.py").write_text(SUBJECTS + ONCE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def words(target, jobs, *more):
    """Return the words of a command that checks a few clauses."""
    only = [word for name in FEW for word in ("--only", name)]
    return ["check", target, *only, "--jobs", str(jobs), *more]


def untimed(found):
    """Leave out of a document what no two runs share."""
    if isinstance(found, dict):
        return {name: untimed(one) for name, one in found.items() if name not in TIMES}
    return [untimed(one) for one in found] if isinstance(found, list) else found


def told(capsys, target, jobs):
    """Check a target in so many processes; return the status and the document."""
    status = main(words(target, jobs, "--json", "-"))
    return status, untimed(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize(("name", "status"), [("right", 0), ("wrong", 1), ("writes", 1)])
def test_two_jobs_find_what_one_finds(folder, capsys, monkeypatch, name, status):
    """Cases, numbers, counterexamples, coverage and diagnosis: all but the times."""
    begun = []
    begin = Beside.begin
    monkeypatch.setattr(Beside, "begin", lambda *given: begun.append(given) or begin(*given))
    alone, one = told(capsys, f"{folder}/mine.py:{name}", 1)
    together, two = told(capsys, f"{folder}/mine.py:{name}", 2)

    assert len(begun) == 1
    assert one == two
    assert alone == together == status


@pytest.mark.usefixtures("folder")
def test_a_crash_in_one_job_is_one_result(capsys):
    """The job goes on with a fresh worker, and the other has nothing to do with it."""
    (alone, one), (together, two) = (told(capsys, "mine.py:dies", jobs) for jobs in (1, 2))
    found = [{check["id"]: check["status"] for check in run["checks"]} for run in (one, two)]

    assert alone == together == 1
    assert found[0] == found[1]
    assert [name for name, status in found[1].items() if status == "crash"] == ["JDG-3.break"]


def plain(verdict):
    """Return the document of a verdict, without the times."""
    return untimed(json.loads(json.dumps(document(verdict))))


@pytest.mark.usefixtures("folder")
def test_what_a_lost_job_has_left_undone_is_done():
    """Its process is killed before it can say anything: every check has its result."""
    plan = Plan(only=FEW[:2])
    with open_subject("mine.py:wrong", {}, 30.0) as session:
        alone = run(session, plan)
    with Beside("mine.py:wrong", {}, 30.0) as beside:
        os.kill(beside._process.pid, signal.SIGKILL)
        with open_subject("mine.py:wrong", {}, 30.0) as session:
            together = run(session, plan, beside=[beside])

    assert plain(alone) == plain(together)


@pytest.mark.usefixtures("folder")
def test_a_subject_that_does_not_start_twice_is_checked_once(capsys):
    """The second instance cannot be loaded: the first answers all, and nothing is said."""
    status, found = told(capsys, "once.py:right", 2)

    assert status == 0
    assert {one["status"] for one in found["checks"]} == {"pass", "skip"}


@pytest.mark.usefixtures("folder")
def test_results_are_counted_as_they_come():
    """Each is told of once, with how many came before it, whichever process it is from."""
    seen, checks = [], ("ROT-6", "ROT-7", "ROT-9.forms", "ROT-10")
    with (
        Beside("mine.py:right", {}, 30.0) as beside,
        open_subject("mine.py:right", {}, 30.0) as session,
    ):
        verdict = run(session, Plan(only=checks), lambda *given: seen.append(given), [beside])

    assert [index for _, index, _ in seen] == list(range(len(verdict.checks)))
    assert {total for *_, total in seen} == {len(verdict.checks)}
    assert sorted(result.id for result, *_ in seen) == sorted(one.id for one in verdict.checks)


@pytest.mark.usefixtures("folder")
def test_what_goes_wrong_in_telling_is_no_lost_job():
    """An error of whoever is told comes up, and is not swallowed with the end of a process."""

    def tell(result, *_):
        if result.id == second:
            raise OSError("nobody reads")

    plan = Plan(only=("ROT-6",))
    second = telling_first([one for one in all_checks() if one.clause == "ROT-6"])[1].id
    with (
        Beside("mine.py:right", {}, 30.0) as beside,
        open_subject("mine.py:right", {}, 30.0) as session,
        pytest.raises(OSError, match="nobody reads"),
    ):
        run(session, plan, tell, [beside])


@pytest.mark.usefixtures("folder")
def test_what_a_subject_prints_stays_apart(capfd):
    """Neither report nor progress has a word of it."""
    status = main(words("mine.py:talks", 2))
    printed = capfd.readouterr()

    assert status == 0
    assert "from the subject" not in printed.out + printed.err


def marked(mark):
    """List the processes with a mark in their environment."""
    found = []
    for item in Path("/proc").iterdir():
        try:
            if item.name.isdecimal() and mark in (item / "environ").read_bytes():
                found.append(int(item.name))
        except OSError:
            continue
    return found


def until(done, seconds=60.0):
    """Wait for something to become true; whether it did."""
    limit = time.monotonic() + seconds
    while not (held := done()) and time.monotonic() < limit:
        time.sleep(0.1)
    return held


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interruption_ends_all_processes(folder, number):
    """Two judges, two subjects and their keepers: a while after the command none is left."""
    mark = f"ROPESPEC_TEST_MARK={folder}"
    name, _, value = mark.partition("=")
    ran = subprocess.Popen(
        [sys.executable, "-m", "ropespec", "check", "numpy", "--jobs", "2"],
        env={**os.environ, name: value},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    started = until(lambda: len(marked(mark.encode())) >= 2 + 2 * 2)
    os.kill(ran.pid, number)
    _, errors = ran.communicate(timeout=60)

    assert started
    if number == signal.SIGINT:
        assert ran.returncode == 130
        assert errors.splitlines()[-1] == "ropespec: interrupted"
    assert until(lambda: not marked(mark.encode()), 20.0)


@pytest.mark.parametrize("value", ["0", "-1", "two"])
def test_jobs_are_a_number_above_zero(capsys, value):
    """One line says what it must be."""
    assert main(["check", "numpy", "--jobs", value]) == 2
    line = capsys.readouterr().err
    assert line.startswith("ropespec: Invalid value for '--jobs': ")
    assert value in line
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize(
    ("cores", "target", "only", "jobs", "found"),
    [
        (8, "numpy", (), None, 1),
        (1, "numpy", (), None, 0),
        (8, "numpy", ("ROT-6",), None, 0),
        (8, f"{FOREIGN[0]}./program", (), None, 0),
        (8, "numpy", (), 1, 0),
        (1, f"{FOREIGN[1]}librope.so:rope()", ("ROT-6",), 3, 2),
    ],
)
def test_how_many_others_there_are(monkeypatch, cores, target, only, jobs, found):
    """Two jobs where two cores and many checks are; what is asked for wins."""
    monkeypatch.setattr("ropespec.conformance.cli.jobs.cores", lambda: cores)
    with others(jobs, target, {}, 30.0, only) as beside:
        assert len(beside) == found
    assert all(one._process.poll() is not None for one in beside)


@pytest.mark.parametrize(
    ("target", "claims", "now"),
    [
        ("numpy", {}, True),
        ("torch", {"dtypes": ["float32"]}, True),
        ("torch", {"device": "cuda:0"}, False),
        ("jax", {}, False),  # a card that is there is its own, unasked
        ("cupy", {}, False),
        ("mine.py:right", {"array": "numpy"}, False),
    ],
)
def test_what_may_be_loaded_twice_at_once_is(target, claims, now):
    """A second instance of a backend of ours on the host; of others when the first is there."""
    with others(2, target, claims, 30.0, ()) as (beside,):
        assert (beside._subject is None) == now


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_a_subject_that_is_asked_nothing_ends(tmp_path, monkeypatch):
    """Nothing is left of a job that was opened at once, and then not wanted."""
    name, mark = "ROPESPEC_TEST_MARK", str(tmp_path)
    monkeypatch.setenv(name, mark)
    with others(2, "numpy", {}, 30.0, ()):
        started = until(lambda: len(marked(f"{name}={mark}".encode())) >= 1 + 2)

    assert started
    assert until(lambda: not marked(f"{name}={mark}".encode()), 20.0)


@pytest.mark.parametrize(
    ("device", "jobs", "fits"),
    [("", None, True), ("cpu:0", None, True), ("cuda:0", None, False), ("cuda:0", 2, True)],
)
def test_a_gpu_is_not_shared_unless_that_is_asked_for(device, jobs, fits):
    """A framework may have taken most of its memory for the first instance."""
    beside = [SimpleNamespace()]
    session = SimpleNamespace(environment={"device": device})

    assert fitting(beside, jobs, session) == (beside if fits else [])


@pytest.mark.parametrize("compiles", [True, False])
@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_all_checks_are_dealt(jobs, compiles):
    """Each to one job, in the order of the run; what is large to one, what is late to none.

    What a fresh instance has compiled is of use to none after it, and one that comes after the
    compiler would import all of it.
    """
    checks = [item for item in telling_first(all_checks()) if not is_late(item)]
    shares = dealt(checks, jobs, compiles=compiles)

    assert sorted((one for share in shares for one in share), key=checks.index) == checks
    assert all(share == sorted(share, key=checks.index) for share in shares)
    for together in (LARGE, ALIKE):
        assert any(set(together) <= {item.id for item in share} for share in shares)
    assert jobs == 1 or not any({*LARGE, *LONG} <= {item.id for item in share} for share in shares)
    assert min(map(len, shares)) > len(checks) // (jobs + 2)
    apart = {*DEAR[compiles], *LARGE, *LONG, *ALIKE}
    cheap = [{one.clause for one in share if one.id not in apart} for share in shares]
    assert sum(map(len, cheap)) == len(set().union(*cheap))  # what it compiles is compiled once
    assert set(DEAR[compiles]) < {item.id for item in checks}
    late = [item.id for item in checks[-len(FRESH + LONG) :]]
    assert (set(late[: len(FRESH)]), late[len(FRESH) :]) == (set(FRESH), [*LONG])


def test_what_begins_with_a_fresh_instance_is_told(monkeypatch):
    """No other check of what conforms starts one, and each of these does."""
    with open_subject("torch", {}, 30.0) as session:
        fresh = []
        monkeypatch.setattr(session, "refresh", lambda: fresh.append(True))
        job = Job(session, Plan(only=("ROT-19", "SCAL-8")))
        begun = set()
        for item in select(Plan(only=("ROT-19", "SCAL-8"))):
            fresh.clear()
            assert job.run(item).result.status.conforms
            if fresh:
                begun.add(item.id)

    assert begun == set(FRESH)


@pytest.mark.parametrize("compiles", [True, False])
@pytest.mark.parametrize("jobs", [2, 3])
@pytest.mark.parametrize("clauses", [(), ("ROT-20", "ROT-24")])
def test_each_job_has_as_much_to_do(jobs, compiles, clauses):
    """As much is told of what is dear, what is skipped is nothing, and the others are alike."""
    checks = [item for item in telling_first(all_checks()) if not is_late(item)]
    skipped = {item.id for item in checks if item.clause in clauses}
    shares = dealt(checks, jobs, compiles=compiles, skipped=skipped)
    dear = DEAR[compiles]
    other = (1000 - sum(dear.values())) / sum(item.id not in dear for item in checks)
    costs = [
        sum(dear.get(item.id, other) for item in share if item.id not in skipped)
        for share in shares
    ]

    assert max(costs) - min(costs) < sum(costs) // 50


FAULTS = """
import resource, sys
import numpy as np
from ropespec.conformance.jobs.process import make_ready

if sys.argv[1] == "ready":
    make_ready()
for _ in range(20):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    one = np.ones(2**19)
    other = 2 * one
    del one, other
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(os.confstr_names.get("CS_GNU_LIBC_VERSION") is None, reason="another C library")
@pytest.mark.parametrize(("word", "anew"), [("as it is", True), ("ready", False)])
def test_a_judge_keeps_memory_that_is_freed(word, anew):
    """Arrays of 4 MiB are made where the last ones were, and not of fresh pages."""
    words = [sys.executable, "-c", FAULTS, word]
    faults = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

    assert (faults > 500) == anew
