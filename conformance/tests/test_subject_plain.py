"""Where a system lacks what a keeper needs: the same calls, less isolation, and it is said."""

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ropespec.conformance.profile import Profile
from ropespec.conformance.subject import process
from ropespec.conformance.subject.frames import LARGE
from ropespec.conformance.subject.session import (
    Session,
    SubjectCrashed,
    SubjectTimeout,
    TargetUnusable,
)

SUBJECTS = Path(__file__).parent / "subjects"
X = np.ones((1, 2, 1, 4))
POSITIONS = np.arange(2)[None]

# What Windows or macOS lack, in the session and, by way of `sitecustomize`, in its worker.
BLOCKED = """
import os, select, signal, socket, sys
for name in ("fcntl", "resource"):
    sys.modules[name] = None
for module, names in [
    (os, ["fork", "killpg", "setsid", "sysconf", "memfd_create", "preadv", "waitid"]),
    (socket, ["AF_UNIX", "send_fds", "recv_fds", "MSG_CMSG_CLOEXEC"]),
    (select, ["poll"]),
]:
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
"""
CALLS = f"""
import sys
import numpy as np
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.session import Session, SubjectCrashed
x, positions = np.ones((1, 2, 1, {LARGE})), np.arange(2)[None]
with Session(sys.argv[1] + "/offers.py:bare", Profile(layouts=(True,), base=2.0)) as subject:
    assert np.array_equal(subject.rotate(x, positions).y, 2 * x)
    subject.refresh()
    assert np.array_equal(subject.rotate(x, positions).y, 2 * x)
    assert any("may outlive it" in item for item in subject.lacks)
    assert any("memory is not limited" in item for item in subject.lacks)
with Session(sys.argv[1] + "/aborts.py:quits", Profile(layouts=(True,))) as subject:
    try:
        subject.rotate(x, positions)
    except SubjectCrashed as error:
        print(error)
"""


def test_without_the_modules_of_unix(tmp_path):
    """Nothing that Windows or macOS lacks is needed to load and to call a subject."""
    (tmp_path / "sitecustomize.py").write_text(BLOCKED)
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", CALLS, str(SUBJECTS)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout == "its process ended with exit code 7 in apply_rotary\n"


@pytest.fixture
def plainly(monkeypatch):
    """Have workers started without a keeper."""
    monkeypatch.setattr(process, "can_keep", lambda: False)


def session(target, **options):
    """Return a session with a subject."""
    return Session(f"{SUBJECTS}/{target}", Profile(layouts=(False,)), **options)


@pytest.mark.usefixtures("plainly")
def test_crashes_and_hangs_are_noticed_without_a_keeper():
    """With the last words, and a fresh worker after."""
    with session("aborts.py:sometimes") as subject:
        with pytest.raises(SubjectCrashed, match="died of SIGABRT") as caught:
            subject.rotate(X, POSITIONS - 1)
        assert "Fatal Python error: Aborted" in caught.value.detail
        assert np.array_equal(subject.rotate(X, POSITIONS).y, X)
    with session("hangs.py:apply", timeout=0.3) as subject:
        with pytest.raises(SubjectTimeout, match=r"no answer within 0\.3 s") as caught:
            subject.rotate(X, POSITIONS)
        assert caught.value.detail == "waiting"


@pytest.mark.usefixtures("plainly")
def test_an_end_is_noticed_while_another_process_holds_the_connection(tmp_path):
    """A child that was forked off does not hide that its parent is gone."""
    (tmp_path / "mine.py").write_text(
        "import os, time\n"
        "def apply(x, positions):\n"
        "    if os.fork(): os._exit(3)\n"
        "    time.sleep(60)\n"
    )
    told = pytest.raises(SubjectCrashed, match="ended with exit code 3")
    with Session(f"{tmp_path}/mine.py:apply", Profile(layouts=(False,))) as subject, told:
        subject.rotate(X, POSITIONS)


@pytest.mark.usefixtures("plainly")
def test_a_stranger_does_not_answer_for_the_worker(monkeypatch):
    """Who connects first without knowing the word is sent away."""
    real, strangers = socket.create_server, []

    def create_server(address):
        listener = real(address)
        strangers.append(socket.create_connection(listener.getsockname()))
        strangers[-1].sendall(b"0" * 64)
        return listener

    monkeypatch.setattr(socket, "create_server", create_server)
    with session("half_numpy.py:apply") as subject:
        assert subject.rotate(X, POSITIONS).shape_ok
    (stranger,) = strangers
    with stranger, contextlib.suppress(ConnectionResetError):
        assert stranger.recv(1) == b""


@pytest.mark.usefixtures("plainly")
def test_a_worker_that_never_connects_is_told(monkeypatch):
    """One that ends at once is a crash of the loading."""
    monkeypatch.setattr(process, "_START", "raise SystemExit(5)")
    told = pytest.raises(TargetUnusable, match="ended with exit code 5")
    with session("half_numpy.py:apply") as subject, told:
        subject.rotate(X, POSITIONS)
