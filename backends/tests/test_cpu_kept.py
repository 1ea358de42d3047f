"""Tests of machine code that is kept on disk."""

import ctypes
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

pytest.importorskip("numba")
from llvmlite import binding

import ropespec.backends.numpy as backend
from ropespec.backends.cpu import kept, machine

TEXT = "define i64 @its(i64 %0) {\n ret i64 %0\n}"


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Return the names that are compiled, each to the same function, and kept in a fresh folder."""
    names = []

    def compiled(name):
        names.append(name)
        return TEXT, "its"

    monkeypatch.setattr(machine, "_compiled", compiled)
    monkeypatch.setattr(kept, "folder", lambda: tmp_path / "all" / "this")
    return names


def call(address):
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(7)


def test_what_is_kept_is_not_compiled_again(made):
    """Each function has its own code, and the code of one is what was compiled."""
    assert not kept.is_used()
    assert [call(machine._address(name, "")) for name in "abaab"] == [7] * 5
    assert made == ["a", "b"]
    assert kept.is_used()


@pytest.mark.parametrize("what", ["cut off", "altered", "empty", "of another"])
def test_what_is_not_whole_is_compiled_again(made, what):
    """Such code would end the process, or worse."""
    machine._address("a", "")
    file = kept.folder() / "a.o"
    data = file.read_bytes()
    middle = len(data) // 2
    file.write_bytes(
        {
            "cut off": data[:middle],
            "altered": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "empty": b"",
            "of another": b"#!/bin/sh",
        }[what]
    )

    assert call(machine._address("a", "")) == 7
    assert made == ["a", "a"]
    assert file.read_bytes() == data


def test_code_is_compiled_without_a_place_to_keep_it(made, tmp_path, monkeypatch):
    """Where nothing can be kept each process compiles for itself, and leaves nothing."""
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(kept, "folder", lambda: tmp_path / "file" / "this")

    assert [call(machine._address("a", "")) for _ in range(2)] == [7, 7]
    assert made == ["a", "a"]
    assert not kept.is_used()
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_without_a_home_nothing_is_read_or_written(tmp_path, monkeypatch):
    """A folder that would depend on the current one is not trusted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kept.platformdirs, "user_cache_path", lambda _: kept.Path("~/.cache"))
    folder = kept.folder.__wrapped__()
    monkeypatch.setattr(kept, "folder", lambda: folder)
    kept.write("a", b"code")

    assert kept.read("a") is None
    assert not kept.is_used()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_leaves_nothing(made, monkeypatch):
    """A full disk: what was begun is removed."""
    monkeypatch.setattr(kept.Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("full")))

    assert call(machine._address("a", "")) == 7
    assert list(kept.folder().iterdir()) == []
    assert made == ["a"]


def test_of_other_folders_the_newest_stay(made):
    """Each version leaves one."""
    for age in range(kept.MOST + 3):
        other = kept.folder().parent / str(age)
        other.mkdir(parents=True)
        os.utime(other, (age, age))
    machine._address("a", "")
    left = {found.name for found in kept.folder().parent.iterdir()}

    assert left == {"this", *map(str, range(4, kept.MOST + 3))}
    assert made == ["a"]


def test_another_version_or_source_has_another_folder(monkeypatch):
    """What was made of something else is not taken for it."""
    here = kept.folder.__wrapped__()
    assert kept.folder.__wrapped__() == here
    monkeypatch.setattr(kept, "_version", lambda library: f"{library} of tomorrow")
    newer = kept.folder.__wrapped__()
    monkeypatch.setattr(kept, "SOURCES", kept.SOURCES[:-1])
    shorter = kept.folder.__wrapped__()
    monkeypatch.setattr(kept.Path, "read_bytes", lambda _: b"")
    changed = kept.folder.__wrapped__()

    assert len({here, newer, shorter, changed}) == 4


@pytest.mark.parametrize("name", ["float16", "float64", "share", "serve", "conduct", "help_out"])
def test_kernels_call_the_c_library_alone(name):
    """Their code is loaded without Numba, whose own functions would not be there."""
    module = binding.parse_assembly(machine._compiled(name)[0])
    called = {one.name for one in module.functions if one.is_declaration}
    used = {one for one in called if not one.startswith("llvm.")}

    assert used <= {"abort", "free", "malloc", "pthread_self", "sched_yield"}
    assert [one.name for one in module.global_variables if one.is_declaration] == []


def test_a_rotation_loads_no_numba_once_it_is_compiled():
    """Who does not rotate loads no compiler, and who rotates nothing large starts no thread."""
    backend.apply_rotary(np.ones((2, 1, 4)), [1, 2], interleaved=True)
    code = """
    import sys, threading, numpy as np, ropespec.backends.numpy as backend
    print("llvmlite" in sys.modules)
    backend.apply_rotary(np.ones((2, 1, 4)), [1, 2], interleaved=True)
    print("numba" in sys.modules, threading.active_count())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split() == ["False", "False", "1"]


@pytest.mark.parametrize("terminal", [True, False])
def test_compiling_is_announced_on_a_terminal_alone(made, capsys, monkeypatch, terminal):
    """What takes long says so, once, and only where someone reads along."""
    monkeypatch.setattr(machine.sys.stderr, "isatty", lambda: terminal, raising=False)
    for _ in range(2):
        machine._address("a", "for float32 ")

    said = "ropespec: compiling the rotation for float32 for this machine, once\n"
    assert capsys.readouterr().err == (said if terminal else "")
    assert made == ["a"]
