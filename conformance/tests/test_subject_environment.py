"""Tests of the environment variables of a worker."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ropespec.conformance.subject import environment as rooms
from ropespec.conformance.subject.environment import environment

JAX = "JAX_COMPILATION_CACHE_DIR"


@pytest.mark.parametrize(
    ("name", "ours"), [("OMP_WAIT_POLICY", "passive"), ("OPENBLAS_THREAD_TIMEOUT", "4")]
)
@pytest.mark.parametrize("theirs", [None, "20"])
def test_threads_do_not_spin_unless_that_is_asked_for(name, ours, theirs, monkeypatch):
    """A variable is set where the user has not set it."""
    monkeypatch.delenv(name, raising=False)
    if theirs is not None:
        monkeypatch.setenv(name, theirs)

    assert environment()[name] == (theirs or ours)


@pytest.mark.parametrize("theirs", [None, "3"])
def test_a_judge_has_one_thread_for_products(theirs, tmp_path):
    """In the command and in the process beside it, where nobody asks for more; no subject has."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os\n"
        "import sys\n"
        "class Look:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'numpy':\n"
        "            whose = ('subject.worker', 'beside.main', '')\n"
        "            who = next(one for one in whose if one in ' '.join(sys.orig_argv))\n"
        "            threads = os.environ.get('OPENBLAS_NUM_THREADS')\n"
        f"            with open({str(tmp_path / 'seen')!r}, 'a') as file:\n"
        "                print(who, threads, file=file)\n"
        "sys.meta_path.insert(0, Look())\n",
        encoding="utf-8",
    )
    own = {name: value for name, value in os.environ.items() if "OPENBLAS" not in name}
    own |= {"PYTHONPATH": str(tmp_path)}
    own |= {} if theirs is None else {"OPENBLAS_NUM_THREADS": theirs}
    program = [
        sys.executable,
        "-m",
        "ropespec",
        "check",
        "numpy",
        "--only",
        "ROT-10",
        "--jobs",
        "2",
    ]
    subprocess.run(program, env=own, capture_output=True, check=True)
    seen = {line.rpartition(" ") for line in (tmp_path / "seen").read_text().splitlines()}

    judges, subjects = theirs or "1", str(theirs)
    assert {(who, threads) for who, _, threads in seen} == {
        ("", judges),
        ("beside.main", judges),
        ("subject.worker", subjects),
    }


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return a folder in which a user with nothing set keeps what programs keep."""
    monkeypatch.delenv(JAX, raising=False)
    monkeypatch.setattr(rooms.platformdirs, "user_cache_path", tmp_path.joinpath)
    rooms._kept.cache_clear()
    yield tmp_path
    rooms._kept.cache_clear()


def test_what_workers_compile_is_kept_where_the_user_keeps_it(home, monkeypatch):
    """Whoever has a folder for compiled programs has them there alone, and those that they say."""
    monkeypatch.setenv(JAX, "theirs")
    found = environment()

    assert found[JAX] == "theirs"
    assert not any(home.iterdir())
    assert "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in found


def test_what_workers_compile_is_kept_for_later_runs(home):
    """It is in the user's folder, in one for each kind of machine and each framework."""
    folder = Path(environment()[JAX])

    assert folder.relative_to(home).parts[:2] == ("ropespec", "compiled")
    assert folder.name == "jax"
    assert folder.parent.is_dir()


def test_a_machine_with_other_instructions_has_another_folder(home, monkeypatch):
    """What was compiled for more than it has would kill a subject there."""
    here = environment()[JAX]
    told = "model name\t: one\nflags\t\t: fpu\ncpu MHz\t\t: 2000\n\nmodel name\t: two\n"
    folders = set()
    for cpu in (told, told.replace("2000", "3000"), told.replace("fpu", "fpu avx512f")):
        monkeypatch.setattr(Path, "read_text", lambda *_, cpu=cpu, **__: cpu)
        rooms._kept.cache_clear()
        folders.add(environment()[JAX])

    assert len(folders) == 2
    assert here not in folders
    assert str(home) in here


def test_a_folder_that_cannot_be_had_is_done_without(home):
    """Then each worker compiles for itself."""
    (home / "ropespec").write_text("a file")

    assert JAX not in environment()


def test_without_a_home_nothing_is_kept(home, monkeypatch):
    """The current folder is none of the user's for that."""
    monkeypatch.chdir(home)
    monkeypatch.setattr(rooms.platformdirs, "user_cache_path", lambda _: Path("~/.cache"))
    rooms._kept.cache_clear()

    assert JAX not in environment()
    assert list(home.iterdir()) == []


def test_what_is_kept_has_a_limit(home, monkeypatch):
    """The older half goes when it is too much, and nothing before."""
    monkeypatch.setattr(rooms, "MOST_BYTES", 4000)
    folder = Path(environment()[JAX])
    folder.mkdir()
    for name in range(4):
        (folder / str(name)).write_bytes(bytes(1000))
        os.utime(folder / str(name), (name, name))

    def left():
        rooms._kept.cache_clear()
        environment()
        return sorted(file.name for file in folder.iterdir())

    assert left() == ["0", "1", "2", "3"]
    (folder / "4").write_bytes(b"1")

    assert left() == ["3", "4"]
    assert str(home) in str(folder)


def test_a_kept_program_that_is_cut_off_is_compiled_again(tmp_path):
    """A worker may have died while it wrote: the verdict is the same, and no word of it is said."""
    program = [sys.executable, "-m", "ropespec", "check", "jax", "--only", "ROT-10", "--half"]
    own = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    own |= {"XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}

    def told():
        run = subprocess.run(program, env=own, capture_output=True, text=True, check=True)
        return run.stdout.splitlines()[0], run.stderr

    first = told()
    kept = [file for file in tmp_path.rglob("*-cache") if file.stat().st_size > 100]
    for file in kept:
        file.write_bytes(file.read_bytes()[:100])

    assert kept
    assert told() == first
