"""What the command needs of a system: Windows and macOS, as far as what they lack can be hidden."""

import os
import subprocess
import sys

import pytest

# For the command and, by way of `sitecustomize`, for every process that it starts.
HIDDEN = {
    "windows": """
import os, select, signal, socket, subprocess, sys
import platformdirs.unix  # where the name of the system says that it is another, others are taken
for name in ("fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"):
    sys.modules[name] = None
# Python's own words for POSIX need the number, under another name.
subprocess.Popen.kill = lambda self, number=int(signal.SIGKILL): self.send_signal(number)
for module, names in [
    (os, "fork forkpty getpgid getpgrp getuid geteuid killpg memfd_create mkfifo "
         "posix_spawn preadv register_at_fork sched_getaffinity setsid sysconf wait waitid "
         "O_NONBLOCK O_CLOEXEC"),
    (signal, "SIGALRM SIGCHLD SIGHUP SIGIO SIGKILL SIGPIPE SIGUSR1 SIGUSR2 alarm pthread_kill "
             "pthread_sigmask setitimer sigwait"),
    (socket, "AF_UNIX MSG_CMSG_CLOEXEC SOCK_SEQPACKET recv_fds send_fds"),
    (select, "epoll poll"),
]:
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
""",
    "macos": """
import os, select, signal, socket, sys, sysconfig
sysconfig.get_config_vars()  # by the name that this Python was built under
for module, names in [
    (os, "memfd_create pidfd_open sched_getaffinity"),
    (signal, "sigtimedwait sigwaitinfo"),
    (socket, "MSG_CMSG_CLOEXEC SOCK_SEQPACKET"),
    (select, "epoll"),
]:
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
sys.platform = "darwin"
""",
}
WEAKER = "isolation is weaker on this system: processes that the subject starts may outlive it;"
SIGNS_OF_LIFE = ("ropespec: loading ", "ropespec: numpy: ", "ropespec: mine.py:f: ")


@pytest.fixture(params=HIDDEN)
def elsewhere(request, tmp_path):
    """Run the command as on another system; the exit status, and both outputs."""
    (tmp_path / "sitecustomize.py").write_text(HIDDEN[request.param])
    paths = os.pathsep.join([str(tmp_path), *sys.path])

    def run(*words):
        done = subprocess.run(
            [sys.executable, "-m", "ropespec", *words],
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=tmp_path,
        )
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--help"], "ropespec check my_rope.py:apply --half"),
        (["spec", "ROT-7"], "ROT-7 Sparse form, half-split"),
        (["zoo", "--only", "clockwise"], "clockwise"),
    ],
)
def test_reading_needs_nothing_that_another_system_lacks(elsewhere, words, said):
    """The help, the specification and the list of wrong implementations start no worker."""
    status, out, err = elsewhere(*words)

    assert (status, err) == (0, "")
    assert said in out


def test_a_check_works_and_says_that_isolation_is_weaker(elsewhere):
    """The verdict is the same; what the subject is not kept from stands below it."""
    status, out, err = elsewhere("check", "numpy", "--only", "ROT-10")

    assert status == 0, err
    assert all(line.startswith(SIGNS_OF_LIFE) for line in err.splitlines()), err
    lines = out.splitlines()
    assert lines[0].startswith("numpy conforms (checked only: ROT-10)")
    assert any(line.startswith(WEAKER) for line in lines)


def test_a_failure_elsewhere_has_its_script(elsewhere, tmp_path):
    """The search, its counterexample and the script that is run need no more than the worker."""
    (tmp_path / "mine.py").write_text("def f(x, positions):\n    return x\n")
    words = ["mine.py:f", "--half", "--only", "ROT-7.value", "--verbose"]
    status, out, err = elsewhere("check", *words)

    assert status == 1, err
    assert all(line.startswith(SIGNS_OF_LIFE) for line in err.splitlines()), err
    assert "this script shows it:" in out
