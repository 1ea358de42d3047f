import json
import subprocess
import sys

import jsonschema
import pytest

from ropespec.bench.speed.cli import main
from ropespec.bench.speed.document import SCHEMA
from ropespec.bench.speed.progress import Progress


def test_the_command_runs(capsys, tmp_path):
    """A tiny run prints ladder and targets and writes its files; a missed target is status 1."""
    pytest.importorskip("matplotlib")
    path, picture = tmp_path / "result.json", tmp_path / "ladder.png"
    words = (
        "--only *numpy --size 1x2x1x8 --size 1x4x1x8 --dtype float32 --layout half-split "
        f"--pass forward --repetitions 1 --seconds 0 --check-targets --json {path} --plot {picture}"
    )
    status = main(words.split())
    text = capsys.readouterr()
    value = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(value, json.loads(SCHEMA.read_text(encoding="utf-8")))

    assert status == (0 if all(one["met"] for one in value["targets"]) else 1)
    assert "float32 half-split" in text.out
    assert "our numpy" in text.out
    assert "loading naive numpy" in text.err
    assert "small, over a copy" in text.out
    assert "Left out without --full" in text.out
    assert sorted(one.name for one in tmp_path.glob("*.png")) == [
        "ladder-forward-new.png",
        "ladder-forward-out.png",
        "ladder-forward-self.png",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--size", "4x2048"], "'4x2048' is not four numbers such as 1x2048x32x128"),
        (["--size", "1x1x1x3"], "all four must be positive, and head_dim even"),
        (["--dtype", "int8"], "'int8' is not one of"),
        (["--only", "tinygrad"], "--only 'tinygrad' is none of ropespec numpy, "),
        (["--repetitions", "0"], "0 is not in the range x>=1"),
        (["--tokens", "3"], "nothing is left to measure: no size has so many tokens"),
        (["--json", "no/such/folder/x.json"], "there is no folder no/such/folder for x.json"),
        (["--plot", "ladder.gif"], "ladder.gif: not a .png, .svg or .pdf"),
        (["--nonsense"], "No such option"),
    ],
)
def test_a_bad_option_is_one_line(arguments, words, capsys):
    """It says what is wrong, before anything is measured."""
    status = main(arguments)
    text = capsys.readouterr()

    assert status == 2
    assert text.out == ""
    assert text.err.startswith("Error: ")
    assert words in text.err
    assert text.err.count("\n") == 1


def test_help_teaches(capsys):
    """It says what the yardstick is, what a contender is given, and what a run leaves out."""
    assert main(["--help"]) == 0
    text = capsys.readouterr().out

    for words in ("a copy of the same", "2^20", "--only", "naive numpy", "without --full: batch 8"):
        assert words in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100


def test_the_command_loads_no_framework():
    """Frameworks, Numba and matplotlib are imported by the process that needs them."""
    code = (
        "import sys, ropespec.bench.speed.cli\n"
        "names = ('torch', 'jax', 'cupy', 'numba', 'matplotlib')\n"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )

    assert done.stdout.strip() == "[]"


class Stream:
    """Takes what is written."""

    def __init__(self, *, live):
        self.live = live
        self.text = ""

    def isatty(self):
        """Say whether it is a terminal."""
        return self.live

    def write(self, text):
        """Take text."""
        self.text += text

    def flush(self):
        """Do nothing."""


def test_progress_is_one_line_on_a_terminal_and_plain_lines_elsewhere():
    """A log gets a line for every group of cases, a terminal what is going on."""
    log, terminal = Stream(live=False), Stream(live=True)
    for stream in (log, terminal):
        with Progress(stream) as progress:
            progress("[1/8] float32")
            progress("[1/8] 1x1x32x128 float32: torch")

    assert log.text == "[1/8] float32\n"
    assert "1x1x32x128 float32: torch" in terminal.text
    assert "\n" not in terminal.text
