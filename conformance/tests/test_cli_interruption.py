"""Ctrl-C ends the command with one line, whenever it is pressed."""

import subprocess
import sys

import pytest

from ropespec.conformance.cli import main
from ropespec.conformance.cli.interruption import repeated

PRESSED = {
    "while garbage is collected": """
def press(*_):
    gc.callbacks.remove(press)
    signal.raise_signal(signal.SIGINT)

gc.callbacks.append(press)
gc.collect()
""",
    "while an object ends": """
class Press:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

Press()
""",
}
RUN = """
import gc, signal, sys
from ropespec.conformance import opening
from ropespec.conformance.cli import main

open_subject = opening.open_subject

def pressed(*arguments):
{body}
    return open_subject(*arguments)

opening.open_subject = pressed
sys.exit(main(["check", "numpy"]))
"""
SIGNS_OF_LIFE = ("ropespec: loading numpy ...", "ropespec: numpy: ")


@pytest.mark.parametrize("moment", PRESSED)
def test_an_interruption_that_python_ignores_comes_again(moment):
    """It goes no further than the collector or the finalizer, but the command ends."""
    body = "\n".join(f"    {line}" for line in PRESSED[moment].splitlines())
    ran = subprocess.run(
        [sys.executable, "-c", RUN.format(body=body)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert ran.returncode == 130, ran.stderr
    assert ran.stdout == ""
    *signs_of_life, last = ran.stderr.splitlines()
    assert last == "ropespec: interrupted"
    assert all(
        line.startswith(("ropespec: loading", "ropespec: numpy: ")) for line in signs_of_life
    )


def test_an_interruption_that_comes_too_soon_comes_once_more(monkeypatch):
    """Where starting the clock takes longer than the clock runs, it would be lost again."""
    started = []

    class Clock:
        def __init__(self, *_):
            pass

        def start(self):
            started.append(self)
            if len(started) == 1:
                raise KeyboardInterrupt

        def cancel(self):
            pass

    class Press:
        def __del__(self):
            raise KeyboardInterrupt

    monkeypatch.setattr("threading.Timer", Clock)
    with repeated():
        Press()

    assert len(started) == 2


def test_what_else_python_ignores_is_reported_as_before(monkeypatch):
    """Only interruptions are pressed again."""
    told = []
    monkeypatch.setattr("sys.unraisablehook", lambda lost: told.append(lost.exc_type))

    class Broken:
        def __del__(self):
            raise ValueError("lost")

    with repeated():
        Broken()

    assert told == [ValueError]


def test_an_interruption_while_the_command_is_imported_is_one_line():
    """The imports take a moment, in which there is no command yet."""
    script = (
        "import sys\n"
        "from ropespec.__main__ import main\n"
        "class Press:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'ropespec.conformance.cli':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Press())\n"
        "sys.exit(main())\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "ropespec: interrupted\n")


def test_no_interruption_changes_nothing(capsys):
    """The hook is the one that was there before."""
    before = sys.unraisablehook

    assert main(["--version"]) == 0
    assert sys.unraisablehook is before
    assert capsys.readouterr().out.startswith("ropespec ")
