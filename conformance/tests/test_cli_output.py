"""What was found survives what it is told with: streams, files, names, words of a subject."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ropespec.conformance.cli import main
from ropespec.conformance.cli.output import deliver, writable
from ropespec.conformance.cli.status import Undelivered, Unusable
from ropespec.conformance.report.screen import Screen, shown

ROPESPEC = (sys.executable, "-m", "ropespec")
RIGHT = """
import numpy as np


def f(x, positions):
    d = x.shape[-1]
    angle = positions[..., None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angle)[:, :, None], np.sin(angle)[:, :, None]
    a, b = x[..., : d // 2], x[..., d // 2 :]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)
"""
WRONG = RIGHT.replace("a * sin + b * cos", "b * cos - a * sin")
RAISES = """
g, asked = f, []


def f(x, positions):
    asked.append(1)
    if len(asked) > {after}:
        raise ValueError({words!r})
    return g(x, positions)
"""


def run(folder, *words, source=RIGHT, name="mine.py", env=None, **streams):
    """Check a file with one clause in a process of its own; return status, output and errors."""
    (folder / name).write_text(source, encoding="utf-8")
    command = [*ROPESPEC, "check", f"{name}:f", "--half", "--only", "ROT-10", *words]
    streams.setdefault("stdout", subprocess.PIPE)
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | (env or {}),
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
        **streams,
    )
    return done.returncode, done.stdout or b"", done.stderr


@pytest.mark.parametrize(("source", "status"), [(RIGHT, 0), (WRONG, 1)], ids=["right", "wrong"])
def test_a_report_that_nobody_takes_changes_no_verdict(tmp_path, source, status):
    """A full disk below standard output: the document is written, the status stays."""
    check = ("--json", "v.json", "--only", "ROT-1")
    with Path("/dev/full").open("wb") as full:
        found, _, errors = run(tmp_path, *check, source=source, stdout=full)

    assert found == status
    assert json.loads((tmp_path / "v.json").read_text())["conforms"] is (status == 0)
    assert b"the report could not be printed: No space left on device" in errors
    assert b"Traceback" not in errors


def test_a_reader_that_has_enough_changes_no_verdict(tmp_path):
    """`| head -1`: the pipe closes before the report is printed."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        found, _, errors = run(tmp_path, "--json", "v.json", stdout=writer)
    finally:
        os.close(writer)

    assert found == 0
    assert json.loads((tmp_path / "v.json").read_text())["conforms"] is True
    assert b"Traceback" not in errors


@pytest.mark.parametrize("closed", ["1", "2"])
def test_closed_streams_change_no_verdict(tmp_path, closed):
    """`>&-` and `2>&-`."""
    (tmp_path / "mine.py").write_text(RIGHT, encoding="utf-8")
    words = "check mine.py:f --half --only ROT-10 --json v.json"
    line = f'"{sys.executable}" -m ropespec {words} {closed}>&-'
    done = subprocess.run(line, shell=True, cwd=tmp_path, check=False, timeout=60)  # noqa: S602  # a closed stream is the shell's to give

    assert done.returncode == 0
    assert json.loads((tmp_path / "v.json").read_text())["conforms"] is True


WORDS = ["θ", "\ud800", "\x1b[2J\x1b[Hconforms\x1b[8m\u202e"]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("words", WORDS)
def test_any_words_can_be_said_on_any_terminal(tmp_path, encoding, words):
    """Letters that the encoding lacks, halves of letters, and escape sequences."""
    status, out, errors = run(
        tmp_path,
        "--json",
        "v.json",
        source=RIGHT + RAISES.format(after=8, words=words),
        env={"PYTHONIOENCODING": encoding},
    )

    assert status == 1
    assert b"Traceback" not in errors
    assert b"ValueError: " in out
    assert b"\x1b" not in out
    assert json.loads((tmp_path / "v.json").read_text(encoding="utf-8"))["conforms"] is False


@pytest.mark.parametrize("words", WORDS)
def test_any_words_can_be_said_of_what_cannot_be_called(tmp_path, words):
    """The first call raises: one message, which is shown and not obeyed, and status 2."""
    source = RIGHT + RAISES.format(after=0, words=words)
    status, out, errors = run(tmp_path, source=source, env={"PYTHONIOENCODING": "ascii"})

    assert (status, out) == (2, b"")
    assert b"Traceback" not in errors
    assert b"ValueError: " in errors
    assert b"\x1b" not in errors


def test_a_name_that_is_no_text(tmp_path):
    """A file name that is not UTF-8 is checked, printed and written."""
    name = os.fsdecode(b"caf\xe9.py")
    status, out, errors = run(tmp_path, "--json", "v.json", name=name)

    assert (status, b"Traceback" in errors) == (0, False)
    assert b"caf" in out
    assert json.loads((tmp_path / "v.json").read_text())["conforms"] is True


def test_json_on_standard_output(tmp_path):
    """`--json -` prints the document alone; the report goes to standard error."""
    status, out, errors = run(tmp_path, "--json", "-")

    assert status == 0
    assert json.loads(out)["conforms"] is True
    assert b"conforms" in errors
    assert not (tmp_path / "-").exists()


def test_the_source_is_never_written_to(tmp_path, monkeypatch, capsys):
    """`--json` onto the file that is checked is refused, also through a link."""
    source = tmp_path / "mine.py"
    source.write_text(RIGHT, encoding="utf-8")
    (tmp_path / "link.json").symlink_to(source)
    monkeypatch.chdir(tmp_path)

    for name in ("mine.py", "link.json"):
        assert main(["check", "mine.py:f", "--half", "--json", name]) == 2
        assert f"--json: {name} is the source that is checked" in capsys.readouterr().err
    assert source.read_text(encoding="utf-8") == RIGHT


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("folder", "Is a directory"),
        ("no/such/v.json", "No such file or directory"),
        ("x" * 300, "File name too long"),
        ("fifo", "nobody reads from it"),
        ("loop", "Too many levels of symbolic links|Symlink loop"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path, name, words):
    """One line that names the file and the cause."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")

    with pytest.raises(Unusable, match=f"--json: cannot write .*({words})"):
        writable(str(tmp_path / name))


def test_a_document_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    """Where writing fails midway the old document stays, and nothing lies beside it."""
    path = tmp_path / "v.json"
    path.write_text("old", encoding="utf-8")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ropespec.conformance.cli.output.os.fdopen", full)
    printed = []
    with pytest.raises(Undelivered, match="No space left on device") as problem:
        deliver({"new": 1}, writable(str(path)), printed.append)

    assert problem.value.exit_code == 3
    assert path.read_text(encoding="utf-8") == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["v.json"]
    assert len(printed) == 1, "the report is printed all the same"


def test_the_mode_of_a_document_is_kept(tmp_path):
    """Replacing a file changes neither who may read it nor a link that leads to it."""
    path, link = tmp_path / "v.json", tmp_path / "link.json"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    link.symlink_to(path)

    deliver({"new": 1}, writable(str(link)), lambda _: None)

    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert json.loads(path.read_text(encoding="utf-8")) == {"new": 1}


def test_what_a_terminal_would_obey_is_shown():
    """Every such character is one that is seen; letters and line breaks stay."""
    assert shown("θ a\nb\tc") == "θ a\nb\tc"
    assert shown("\x1b[2J\x00\x08\x7f\x9b\u202e\ud800") == "␛[2J␀␈␡\ufffd\ufffd\ufffd"


def test_a_screen_shows_the_words_of_a_subject(capsys):
    """Whatever is printed on it, styles are its only escape sequences."""
    screen = Screen(force_terminal=True, width=60, highlight=False)
    screen.print("\x1b]0;title\x00 plain", style="bold")

    out = capsys.readouterr().out
    assert "␛]0;title␀ plain" in out
    assert "\x1b]0;" not in out


@pytest.mark.parametrize("value", ["nan", "0", "-1"])
def test_a_deadline_is_a_number_above_zero(value, tmp_path, monkeypatch, capsys):
    """`--timeout nan` would switch every deadline off."""
    (tmp_path / "mine.py").write_text(RIGHT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert main(["check", "mine.py:f", "--half", "--timeout", value]) == 2
    assert "must be a number above 0" in capsys.readouterr().err


def test_places_that_are_gone_or_closed_are_one_line(tmp_path, monkeypatch, capsys):
    """A loop of links as the target, and a current folder that was deleted."""
    (tmp_path / "loop.py").symlink_to("loop.py")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "loop.py:f", "--half"]) == 2
    assert capsys.readouterr().err.count("\n") == 1

    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for words in (["check", "mine.py:f", "--half"], ["spec", "ROT-6.value"], ["check", "numpy"]):
        assert main(words) == 2
        assert capsys.readouterr().err.count("\n") == 1
