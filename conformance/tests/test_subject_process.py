"""A worker process: how it starts, how it is asked, and that nothing is left of it."""

import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from ropespec.conformance.profile import Profile
from ropespec.conformance.subject import loaded, process
from ropespec.conformance.subject.errors import (
    SubjectCrashed,
    SubjectRaised,
    SubjectTimeout,
    TargetUnusable,
)
from ropespec.conformance.subject.keeper import Printed
from ropespec.conformance.subject.session import Session, load

SUBJECTS = Path(__file__).parent / "subjects"
LOAD = {"do": "load", "target": "raises.py:apply", "style": "", "memory_limit": None}
X = np.zeros((1, 2, 1, 4))
POSITIONS = np.arange(2)[None]


def session(target, **options):
    """Return a session with a subject."""
    return Session(str(target), Profile(layouts=(False,), dtypes=("float64",)), **options)


@pytest.fixture
def process_of_its_own():
    """Start a worker process without a subject."""
    found = process.WorkerProcess(SUBJECTS)
    yield found
    found.close(kill=True)


def ask(one, timeout=20.0, doing="at rest"):
    """Have a worker load something."""
    return one.ask(LOAD, timeout=timeout, doing=doing, read=lambda frame: frame.header)


def exists(pid):
    """Tell whether a process runs."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_for_end(pid):
    """Wait until a process is gone, for ten seconds at most."""
    limit = time.monotonic() + 10
    while exists(pid) and time.monotonic() < limit:
        time.sleep(0.01)
    return not exists(pid)


def wait_for(path):
    """Wait until a file is there, for twenty seconds at most, and return what it holds."""
    limit = time.monotonic() + 20
    while not path.exists() and time.monotonic() < limit:
        time.sleep(0.01)
    return path.read_text(encoding="ascii")


def test_a_worker_that_dies_between_calls(process_of_its_own):
    """A worker killed while nobody asks is found dead at the next question."""
    one = process_of_its_own
    ask(one)
    assert one.alive
    os.kill(one.pid, signal.SIGSEGV)
    with pytest.raises(SubjectCrashed, match="its process died of SIGSEGV at rest") as caught:
        ask(one)

    assert caught.value.signal == "SIGSEGV"
    assert caught.value.exit_code is None
    assert not one.alive


def test_a_stopped_worker_times_out(process_of_its_own):
    """A worker that stands still is killed at the deadline."""
    one = process_of_its_own
    os.kill(one.pid, signal.SIGSTOP)
    with pytest.raises(SubjectTimeout, match=r"^no answer within 0\.2 s at all; "):
        ask(one, 0.2, "at all")

    assert not exists(one.pid)


@pytest.mark.parametrize("timeout", [float("nan"), 0.0, -1.0])
def test_a_deadline_that_is_none(process_of_its_own, timeout):
    """What is no number of seconds is refused, and does not wait for ever."""
    with pytest.raises(ValueError, match="a timeout must be a number of seconds above zero; got"):
        ask(process_of_its_own, timeout)
    with pytest.raises(ValueError, match="a timeout must be"):
        session("numpy", timeout=timeout)
    with pytest.raises(ValueError, match="a timeout must be"):
        session("numpy", load_timeout=timeout)


def test_a_short_deadline_is_kept(process_of_its_own):
    """A deadline of next to nothing ends the first wait."""
    with pytest.raises(SubjectTimeout, match=r"no answer within 1e-300 s"):
        ask(process_of_its_own, 1e-300)


def test_a_worker_ends_when_its_connection_closes(tmp_path):
    """Closing lets the worker end by itself, once and for all."""
    (tmp_path / "mine.py").write_text(
        "import atexit, pathlib\n"
        "atexit.register(pathlib.Path('ended').touch)\n"
        "def apply(x, positions): pass\n"
    )
    one = process.WorkerProcess(tmp_path)
    one.ask(LOAD | {"target": "mine.py"}, timeout=20, doing="", read=lambda frame: frame.header)
    one.close()
    one.close()

    assert not exists(one.pid)
    assert (tmp_path / "ended").exists()


def test_a_forgotten_worker_is_killed():
    """A worker that nobody holds any more does not go on."""
    one = process.WorkerProcess(SUBJECTS)
    pid = one.pid
    assert exists(pid)
    del one

    assert wait_for_end(pid)


def test_a_worker_without_its_keeper_ends(process_of_its_own):
    """A keeper that is killed takes the worker along, and the next question says so."""
    one = process_of_its_own
    ask(one)
    one._hold._keeper.kill()

    assert wait_for_end(one.pid)
    with pytest.raises(SubjectCrashed, match="closed the connection at rest"):
        ask(one)


@pytest.mark.parametrize("kept", [True, False])
def test_a_fork_of_the_parent_leaves_its_workers_alone(monkeypatch, kept):
    """A child of the parent that ends by the book does not end what is not its own."""
    monkeypatch.setattr(process, "can_keep", lambda: kept)
    one = process.WorkerProcess(SUBJECTS)
    with warnings.catch_warnings():  # Python 3.12 warns of the threads of NumPy
        warnings.simplefilter("ignore")
        child = os.fork()
    if not child:
        try:
            one._release()
        finally:
            os._exit(0)
    os.waitpid(child, 0)

    assert "offers" in ask(one)
    one.close()


@pytest.mark.parametrize("name", ["child", "session", "daemon"])
def test_what_a_subject_started_is_ended_and_told(name):
    """A child, one in a session of its own and an orphaned one are gone, and counted."""
    with session(f"{SUBJECTS}/strays.py:{name}") as subject:
        found = [int(subject.rotate(X, POSITIONS).y.flat[0]) for _ in range(2)]
        assert all(map(exists, found))
        subject.refresh()

        assert not any(map(exists, found))
        assert sum(subject.stragglers.values()) == 2
        assert all("python" in name for name in subject.stragglers)
        again = int(subject.rotate(X, POSITIONS).y.flat[0])
    assert not exists(again)
    assert sum(subject.stragglers.values()) == 3


@pytest.mark.parametrize("target", ["pooled.py:apply", "strays.py:reader"])
def test_what_ends_with_its_subject_is_not_told(target):
    """A pool that the subject keeps, or a child that reads from it, ends when the subject does."""
    with session(f"{SUBJECTS}/{target}") as subject:
        for _ in range(2):
            assert np.array_equal(subject.rotate(X, POSITIONS).y, X)
            subject.refresh()

    assert not subject.stragglers


def test_a_subject_may_not_send_its_keeper_away():
    """Signals that can be refused are refused; after SIGKILL the subject is lost, and said so."""
    with session(f"{SUBJECTS}/strays.py:signals_keeper") as subject:
        for _ in range(2):
            assert np.array_equal(subject.rotate(X, POSITIONS).y, X)
        assert subject.restarts == 0
    with session(f"{SUBJECTS}/strays.py:kills_keeper", timeout=20) as subject:
        assert subject.environment
        pid = subject._workers._worker.pid
        with pytest.raises(SubjectCrashed, match="closed the connection in apply_rotary"):
            subject.rotate(X, POSITIONS)
        assert wait_for_end(pid)
    with session(f"{SUBJECTS}/strays.py:stops_keeper", timeout=0.3) as subject:
        for _ in range(2):
            with pytest.raises(SubjectTimeout):
                subject.rotate(X, POSITIONS)
            assert wait_for_end(subject._workers._worker.pid)


PARENT = """
import signal, sys
import numpy as np
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.session import Session
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup hands on that it is ignored
with Session(sys.argv[1], Profile(layouts=(False,)), timeout=60) as subject:
    subject.rotate(np.zeros((1, 2, 1, 4)), np.arange(2)[None])
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_outlives_the_parent(number, tmp_path):
    """However the parent ends: a subject that hears nothing and its daemon end, TMPDIR is empty."""
    (tmp_path / "tmp").mkdir()
    paths = os.pathsep.join(sys.path)
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, f"{SUBJECTS}/strays.py:deaf"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths, "TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as parent:
        found = [int(word) for word in wait_for(tmp_path / "pids").split()]
        assert all(map(exists, found))
        parent.send_signal(number)

        assert all(map(wait_for_end, found))
        assert parent.wait(10) != 0
    late = time.monotonic() + 10
    while list((tmp_path / "tmp").iterdir()) and time.monotonic() < late:
        time.sleep(0.01)  # the keeper has yet to end
    assert list((tmp_path / "tmp").iterdir()) == []


PRINTS = """
import os
def endless(x, positions, lines=10**9):
    for number in range(lines):
        os.write(1, b"line %d\\n" % number * 1000)
def much(x, positions):
    endless(x, positions, 10**4)
    os._exit(3)
"""


@pytest.mark.parametrize("name", ["endless", "much"])
def test_printing_is_kept_to_its_end(tmp_path, name):
    """A subject that prints without end fills neither the disk nor the memory."""
    (tmp_path / "mine.py").write_text(PRINTS)
    timeout = 0.7 if name == "endless" else 60.0
    with session(f"{tmp_path}/mine.py:{name}", timeout=timeout) as subject:
        assert subject.environment
        worker = subject._workers._worker
        assert str(Path(f"/proc/{worker.pid}/fd/1").readlink()).startswith("pipe:")
        with pytest.raises((SubjectTimeout, SubjectCrashed)) as caught:
            subject.rotate(X, POSITIONS)
        status = Path(f"/proc/{worker._hold._keeper.pid}/status").read_text(encoding="ascii")

    assert isinstance(caught.value, SubjectTimeout) == (name == "endless")
    assert len(caught.value.detail) < 2**13
    if name == "much":
        assert caught.value.detail.splitlines()[-1] == "line 9999"
    assert int(re.search(r"VmHWM:\s+(\d+)", status)[1]) < 2**16


def test_the_last_megabyte_is_kept():
    """What is older than the last megabyte, or than the question, is forgotten."""
    printed = Printed(100)
    for number in range(5000):
        printed.add(b"%09d\n" % number, 1.0)
    printed.add(b"the end\n", 2.0)

    assert len(printed._kept) == 100
    assert printed.since(0.0).endswith("000004999\nthe end\n")
    assert printed.since(1.5) == "the end\n"
    assert printed.since(3.0) == ""
    printed.add(b"\xff" * 10**6, 4.0)
    assert printed.since(1.5) == "\ufffd" * 100


def test_last_words_are_those_of_the_last_question(tmp_path):
    """What was printed before the call that failed is not among its words."""
    (tmp_path / "mine.py").write_text(
        "import os\n"
        "def apply(x, positions):\n"
        "    print('about', positions[0, 0])\n"
        "    if positions[0, 0]: os._exit(3)\n"
        "    return x.copy()\n"
    )
    with session(f"{tmp_path}/mine.py:apply") as subject:
        for _ in range(3):
            subject.rotate(X, POSITIONS)
            # The keeper stands still, as on a busy machine, until it is asked something.
            subject._workers._worker._hold._keeper.send_signal(signal.SIGSTOP)
            subject.rotate(X, POSITIONS)
            with pytest.raises(SubjectCrashed, match="ended with exit code 3") as caught:
                subject.rotate(X, POSITIONS + 7)

            assert caught.value.detail == "about 7"


SHARED = """
import mmap, os, resource, time
import numpy as np
kept = []
def free(x, positions):
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY,) * 2)
    except ValueError:
        raise MemoryError from None
    for _ in range(64):
        kept.append(np.ones(2**21))
        time.sleep(0.02)
    time.sleep(60)
def shared(x, positions):
    for _ in range(64):
        kept.append(mmap.mmap(-1, 2**24))
        kept[-1].write(b"1" * 2**24)
        time.sleep(0.02)
    time.sleep(60)
def children(x, positions):
    for _ in range(8):
        if not os.fork():
            shared(x, positions)
    time.sleep(60)
"""


@pytest.mark.parametrize("name", ["shared", "free", "children"])
def test_memory_that_is_no_data_of_the_process_is_counted(name, tmp_path, monkeypatch):
    """Shared memory, that of children, and what is taken after the limit was lifted end it."""
    monkeypatch.setattr(loaded, "allowance", lambda _: 2**28)
    (tmp_path / "mine.py").write_text(SHARED)
    with session(f"{tmp_path}/mine.py:{name}", memory_limit=2**40, timeout=30) as subject:
        with pytest.raises((SubjectCrashed, SubjectRaised), match="memory|Memory"):
            subject.rotate(X, POSITIONS)
        # and the next worker is as good as the first
        with pytest.raises((SubjectCrashed, SubjectRaised), match="memory|Memory"):
            subject.rotate(X, POSITIONS)


def test_memory_is_limited_while_the_subject_is_imported(tmp_path):
    """The limit holds from before the first line of the subject, and cannot be lifted by it."""
    (tmp_path / "mine.py").write_text(
        "import resource\n"
        "soft, hard = resource.getrlimit(resource.RLIMIT_DATA)\n"
        "assert soft == hard != resource.RLIM_INFINITY\n"
        "import numpy as np\n"
        "table = [np.ones(2**23) for _ in range(2**12)]\n"
        "def apply(x, positions): pass\n"
    )
    with pytest.raises(TargetUnusable, match=r"raised .*MemoryError: Unable to allocate"):
        load(f"{tmp_path}/mine.py:apply", memory_limit=2**26)


def test_no_bytecode_beside_the_file_of_a_user(tmp_path, monkeypatch):
    """What the subject imports from its own folder, or the current one, is compiled in memory."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    (tmp_path / "deep" / "inner").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    (tmp_path / "deep" / "near.py").touch()
    (tmp_path / "beside.py").write_text("from deep.inner import more\n")
    (tmp_path / "deep" / "__init__.py").touch()
    (tmp_path / "deep" / "inner" / "__init__.py").touch()
    (tmp_path / "deep" / "inner" / "more.py").touch()
    (tmp_path / "deep" / "mine.py").write_text(
        "try:\n    import beside\nexcept ImportError:\n    import near\n"
        "def apply(x, positions): pass\n"
    )
    load("deep/mine.py:apply", folder=tmp_path).close()
    load("deep.mine:apply", folder=tmp_path).close()
    load("../deep/mine.py:apply", folder=tmp_path / "work").close()

    assert list(tmp_path.rglob("__pycache__")) == []


def test_what_is_installed_below_the_folder_is_compiled_once(tmp_path, monkeypatch):
    """An environment in the folder of a project keeps its bytecode."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "installed.py").touch()
    (tmp_path / "mine.py").write_text("import installed\ndef apply(x, positions): pass\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    load("mine.py:apply", folder=tmp_path).close()

    assert [item.parent.name for item in tmp_path.rglob("__pycache__")] == ["site"]
