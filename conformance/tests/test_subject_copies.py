"""A fresh instance: as the subject was when it had been imported, without paying for that again."""

import sys
from pathlib import Path

import numpy as np
import pytest

from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.session import Session, SubjectCrashed

SUBJECTS = Path(__file__).parent / "subjects"
X = np.zeros((1, 2, 1, 4))
POSITIONS = np.arange(2)[None]

COUNTS = """
import pathlib
with open("imports", "a") as file:
    file.write("imported\\n")
calls = []
def apply(x, positions):
    calls.append(1)
    if positions[0, 0] == 9:
        import os
        os.abort()
    return x + len(calls)
"""
THREAD = """
import threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
"""


def session(folder, monkeypatch, code, **claims):
    """Return a session with a subject of that code, whose folder is the current one."""
    (folder / "mine.py").write_text(code)
    monkeypatch.chdir(folder)
    return Session("mine.py:apply", Profile(layouts=(False,), **claims))


def imports(folder):
    """Count how often the subject was imported."""
    return (folder / "imports").read_text(encoding="ascii").count("imported")


@pytest.mark.parametrize("array", ["numpy", "torch", "jax"])
def test_a_fresh_instance_remembers_nothing_and_imports_nothing(tmp_path, monkeypatch, array):
    """The state of its modules is new, also after a crash, and its import is not run again."""
    pytest.importorskip(array)
    with session(tmp_path, monkeypatch, COUNTS, array=array) as subject:
        for _ in range(3):
            assert np.all(subject.rotate(X, POSITIONS).y == 1)
            assert np.all(subject.rotate(X, POSITIONS).y == 2)
            first = subject._workers._worker.pid
            subject.refresh()
            assert np.all(subject.rotate(X, POSITIONS).y == 1)
            assert subject._workers._worker.pid != first
            with pytest.raises(SubjectCrashed, match="died of SIGABRT"):
                subject.rotate(X, POSITIONS + 9)
        assert subject.restarts == 5

    assert imports(tmp_path) == 1
    assert not subject.stragglers


LATE = """
with open("imports", "a") as file:
    file.write("imported\\n")
calls = []
"""
USES = """
def apply(x, positions):
    {before}
    import late
    late.calls.append(1)
    return x + len(late.calls){plus}
"""


@pytest.mark.parametrize(
    ("late", "before", "plus", "times"),
    [
        ("", "pass", "", 2),
        (THREAD, "pass", "", 5),
        ("import asked", "import sys; sys.modules['asked'] = sys", "", 4),
        ("import os\nadded = os.environ.get('ADDED', 9)", "import os; os.environ['ADDED'] = '0'",
         " + int(late.added)", 5),
        ("import os; os.environ['SET'] = '1'", "pass", "", 2),
    ],
    ids=["module", "thread", "stand-in", "environment", "sets"],
)  # fmt: skip
def test_what_a_call_imports_is_imported_once(tmp_path, monkeypatch, late, before, plus, times):
    """Four instances import a module twice: the first, and the copy; unless it could be another."""
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "late.py").write_text(f"{late}\n{LATE}")
    monkeypatch.syspath_prepend(str(packages))
    folder = tmp_path / "mine"
    folder.mkdir()
    with session(folder, monkeypatch, USES.format(before=before, plus=plus)) as subject:
        for _ in range(4):
            assert np.all(subject.rotate(X, POSITIONS).y == 1)
            assert np.all(subject.rotate(X, POSITIONS).y == 2)
            subject.refresh()

    assert imports(folder) == times
    assert not subject.stragglers


COMPILES = """
def apply(x, positions):
    from numba.core.registry import cpu_target
    return x + len(cpu_target.typing_context._registries)
"""


def test_a_fresh_instance_has_the_tables_of_numba(tmp_path, monkeypatch):
    """They are read when a function is first compiled, or before the copy of all instances."""
    with session(tmp_path, monkeypatch, COMPILES) as subject:
        assert np.all(subject.rotate(X, POSITIONS).y == 0)
        subject.refresh()
        assert np.all(subject.rotate(X, POSITIONS).y > 0)


def test_a_part_of_the_subject_is_imported_by_each_instance(tmp_path, monkeypatch):
    """A module of the subject's own folder may be made by what a call has set before."""
    (tmp_path / "late.py").write_text(LATE)
    with session(tmp_path, monkeypatch, USES.format(before="pass", plus="")) as subject:
        for _ in range(3):
            assert np.all(subject.rotate(X, POSITIONS).y == 1)
            subject.refresh()

    assert imports(tmp_path) == 3


@pytest.mark.parametrize(
    "code",
    [
        THREAD,
        "import subprocess, sys\nchild = subprocess.Popen(['sleep', '60'])",
        "import socket\npair = socket.socketpair()",
        "import os\npipe = os.pipe()",
        "import mmap\nshared = mmap.mmap(-1, 4096)",
        "import multiprocessing\nvalue = multiprocessing.Value('i', 0)",
    ],
    ids=["thread", "child", "socket", "pipe", "memory", "value"],
)
def test_what_a_fork_would_share_is_imported_again(tmp_path, monkeypatch, code):
    """A subject that is more than its own memory is started anew, and remembers nothing either."""
    with session(tmp_path, monkeypatch, f"{code}\n{COUNTS}") as subject:
        for _ in range(2):
            assert np.all(subject.rotate(X, POSITIONS).y == 1)
            subject.refresh()

    assert imports(tmp_path) == 2


def test_threads_of_a_framework_end_before_a_fork_and_come_back(tmp_path, monkeypatch):
    """A table that torch computes in several threads is computed once, and used by such again."""
    torch = pytest.importorskip("torch")
    if torch.get_num_threads() < 2:
        pytest.skip("one processor, one thread")
    use = COUNTS.replace("return x", "x = x + 0 * table.cos()[:1]\n    return x")
    code = f"import torch\ntable = torch.arange(10**6).double().cos()\n{use}"
    with session(tmp_path, monkeypatch, code, array="torch") as subject:
        for _ in range(3):
            assert np.all(subject.rotate(X, POSITIONS).y == 1)
            subject.refresh()

    assert imports(tmp_path) == 1


def test_files_of_a_module_last_as_long_as_its_copies(tmp_path, monkeypatch):
    """What a module removes when it ends is removed once, at the end of the last instance."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    code = (
        "import atexit, os, tempfile, numpy as np\n"
        "folder = tempfile.TemporaryDirectory()\n"
        "np.save(folder.name + '/table.npy', np.ones(4))\n"
        "atexit.register(open, 'ended', 'w')\n"
        "def apply(x, positions): return x + np.load(folder.name + '/table.npy')\n"
    )
    with session(tmp_path, monkeypatch, code) as subject:
        for _ in range(3):
            assert np.all(subject.rotate(X, POSITIONS).y == 1)
            subject.refresh()
            assert not (tmp_path / "ended").exists()

    assert (tmp_path / "ended").exists()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_what_a_call_registers_for_the_end_is_done(tmp_path, monkeypatch):
    """An instance that ends does what its own calls have asked for."""
    code = (
        "import atexit\n"
        "def apply(x, positions):\n"
        "    atexit.register(open, f'ended{positions[0, 0]}', 'w')\n"
        "    return x.copy()\n"
    )
    with session(tmp_path, monkeypatch, code) as subject:
        for number in range(3):
            subject.rotate(X, POSITIONS + number)
            subject.refresh()
            assert (tmp_path / f"ended{number}").exists()


def test_a_copy_that_is_gone_is_done_without(tmp_path, monkeypatch):
    """If the copy is killed, the subject is imported again."""
    code = (
        "import os, signal\n"
        f"{COUNTS}\n"
        "def apply(x, positions):\n"
        "    keeper = os.getppid()\n"
        "    children = open(f'/proc/{keeper}/task/{keeper}/children').read()\n"
        "    for child in children.split():\n"
        "        if int(child) != os.getpid():\n"
        "            os.kill(int(child), signal.SIGKILL)\n"
        "    return x.copy()\n"
    )
    if not Path("/proc/self/task").exists() or sys.platform != "linux":
        pytest.skip("no list of children")
    with session(tmp_path, monkeypatch, code) as subject:
        for _ in range(2):
            assert np.array_equal(subject.rotate(X, POSITIONS).y, X)
            subject.refresh()

    assert imports(tmp_path) == 2


REMEMBERS = """
import numpy as np
buffers = [np.empty((1, 2, 1, 4)) for _ in range(4)]
count = 0
def in_turn(x, positions, n):
    global count
    count += 1
    buffers[count % n][...] = x
    return buffers[count % n]
def one(x, positions): return in_turn(x, positions, 1)
def two(x, positions): return in_turn(x, positions, 2)
def four(x, positions): return in_turn(x, positions, 4)
def fresh(x, positions): return x + 0
"""


@pytest.mark.parametrize(
    ("name", "reused", "changed"),
    [
        ("one", [False, True, True, True, True], (True, True, True, False)),
        ("two", [False, False, True, True, True], (True, True, False, False)),
        ("four", [False, False, False, False, True], (False, False, False, False)),
        ("fresh", [False] * 5, (False, False, False, False)),
    ],
)
def test_results_of_the_last_calls_are_watched(tmp_path, name, reused, changed):
    """Buffers used in turn are found by their memory, and by what earlier results hold now."""
    (tmp_path / "mine.py").write_text(REMEMBERS)
    with Session(f"{tmp_path}/mine.py:{name}", Profile(layouts=(False,))) as subject:
        replies = [subject.rotate(X + number, POSITIONS).reply for number in range(5)]

        assert [reply.reused[0] for reply in replies] == reused
        assert subject.changed(*replies[1:]) == changed
        assert subject.changed(*replies[:0:-1]) == changed[::-1]
        assert subject.changed() == ()
        with pytest.raises(Exception, match=r"results of calls \[\d\] are not kept"):
            subject.changed(replies[0])
