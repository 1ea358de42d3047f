"""Tests of the environment variables of a worker."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ropespec.conformance.subject.environment import environment
from ropespec.conformance.subject.keeper import COMPILED

JAX = "JAX_COMPILATION_CACHE_DIR"


@pytest.mark.parametrize(("theirs", "found"), [(None, "passive"), ("active", "active")])
def test_threads_do_not_spin_unless_that_is_asked_for(theirs, found, monkeypatch):
    """The variable of OpenMP is set where the user has not set it."""
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if theirs is not None:
        monkeypatch.setenv("OMP_WAIT_POLICY", theirs)

    assert environment()["OMP_WAIT_POLICY"] == found


def test_what_workers_compile_is_kept_where_the_user_keeps_it(monkeypatch):
    """Whoever has a folder for compiled programs has them there, and those that they say."""
    monkeypatch.delenv(COMPILED, raising=False)
    monkeypatch.setenv(JAX, "theirs")
    found = environment()

    assert found[JAX] == "theirs"
    assert "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in found


def test_what_workers_compile_is_kept_for_one_run(monkeypatch):
    """All workers of a process have one folder; it goes with the process."""
    monkeypatch.delenv(JAX, raising=False)
    monkeypatch.delenv(COMPILED, raising=False)
    program = (
        "from ropespec.conformance.subject.environment import environment\n"
        f"first, second = (environment()['{JAX}'] for _ in range(2))\n"
        "import os; print(first, second, os.path.isdir(first))"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    first, second, was_there = said.stdout.split()

    assert first == second != environment()[JAX]
    assert was_there == "True"
    assert not Path(first).exists()


def test_a_forked_process_does_not_own_the_folder(monkeypatch):
    """Its end is not that of the run."""
    monkeypatch.delenv(COMPILED, raising=False)
    owner = environment()[COMPILED]
    monkeypatch.setattr(os, "getpid", lambda: 1)  # as a process that was forked sees it

    assert environment()[COMPILED] == owner


def test_another_job_of_a_run_has_its_folder(monkeypatch):
    """What is said to a job it says to its workers, and makes no folder of its own."""
    said = environment()
    for name in said.keys() - os.environ.keys():
        monkeypatch.setenv(name, said[name])

    assert environment() == said
