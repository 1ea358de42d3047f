"""The command that asks a card all that is to be known, with the CPU in the card's place."""

import json
import sys
import time
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

import ropespec.backends.torch as backend
from ropespec.bench.card import bits, cli, graphs, probe, streams
from ropespec.bench.card.run import run
from ropespec.bench.card.steps import Step, steps
from ropespec.bench.speed.cli import command as benchmark

WRITES = "import json, sys; open(sys.argv[1], 'w').write({found!r}); sys.exit({code})"


def step(name="one", found="[1]", code=0, before=""):
    """A step that writes `found` and exits with `code`."""
    return Step(name, (sys.executable, "-c", before + WRITES.format(found=found, code=code)), "os")


@pytest.fixture(name="command")
def _command(monkeypatch, tmp_path):
    """Run the command on given steps; return exit status, what it said, and the files."""

    def call(*given, options=("--device", "cpu")):
        monkeypatch.setattr(cli, "steps", lambda *_a, **_k: list(given))
        done = CliRunner().invoke(cli.main, [*options, "--results", str(tmp_path)])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.output
        files = {path.name: json.loads(path.read_text()) for path in tmp_path.iterdir()}
        return done.exit_code, done.output, files

    return call


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a card")
def test_without_a_card_it_says_so(command):
    """Where there is no card the exit status is one of its own, and nothing is run."""
    code, said, files = command(step(), options=())

    assert (code, files) == (cli.NO_DEVICE, {})
    assert said.startswith("no device")


def test_files_are_named_after_the_device_and_the_day(command):
    """A file holds the device, the versions, the day, and what the step found."""
    code, _, files = command(step(found='{"a": 1}'))
    ((name, kept),) = files.items()

    assert code == 0
    assert name == f"cpu-{kept['date']}-one.json"
    assert kept["found"] == {"a": 1}
    assert kept["versions"]["torch"] == torch.__version__
    assert (kept["device"], kept["status"], kept["exit"]) == ("cpu", "passed", 0)


@pytest.mark.parametrize(
    ("first", "status", "code"),
    [
        (step(), "passed", 0),
        (step(code=1), "failed", 1),
        (step(code=4), "out of time", 1),
        (step(found="[]"), "failed", 1),
        (step(found='{"rows": []}'), "failed", 1),
        (Step("one", (), "no_such_package"), "not here", 0),
    ],
)
def test_begun_again_it_goes_on(command, first, status, code):
    """What is known is kept, what ran out of time runs again, and so does all that is asked to."""
    found = command(first)
    kept = next(iter(found[2].values()))
    again = command(step(found="[2]"))
    asked = command(step(found="[3]"), options=("--device", "cpu", "--again"))

    assert (found[0], kept["status"]) == (code, status)
    assert next(iter(again[2].values()))["status"] == (
        "passed" if status == "out of time" else status
    )
    assert ("kept of" in again[1]) == (status != "out of time")
    assert next(iter(asked[2].values()))["found"] == [3]


def test_other_versions_are_another_matter(command, monkeypatch):
    """With another version of anything every step runs again."""
    command(step(found="[1]"))
    monkeypatch.setattr(cli, "environment", lambda _gpu: {"versions": {"torch": "0"}})
    _, said, files = command(step(found="[2]"))

    assert "kept" not in said
    assert next(iter(files.values()))["found"] == [2]


def test_quick_results_are_kept_apart(command):
    """A few cases never stand for all of them."""
    command(step(found="[1]"), options=("--device", "cpu", "--quick"))
    _, _, files = command(step(found="[2]"))

    assert sorted(kept["found"] for kept in files.values()) == [[1], [2]]


def test_a_step_that_takes_too_long_is_ended(tmp_path):
    """With all its processes: nothing of it goes on to hold the card."""
    mark = tmp_path / "alive"
    child = f"import time, pathlib; time.sleep(3); pathlib.Path({str(mark)!r}).touch()"
    before = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)\n"
    )
    found = run(step(before=before), 1)
    time.sleep(3)

    assert (found["status"], found["exit"], found["found"]) == ("out of time", None, None)
    assert not mark.exists()


def test_a_step_that_is_cut_short_keeps_what_it_has():
    """It is interrupted before it is killed, and writes what it found until then."""
    before = (
        "import time\n"
        "try:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print('cut', flush=True)\n"
    )
    found = run(step(found='{"rows": [1]}', before=before), 1)

    assert (found["status"], found["found"], found["said"]) == (
        "out of time",
        {"rows": [1]},
        "cut\n",
    )


def test_what_a_step_says_is_kept():
    """The last words of a step that fails are in its result."""
    found = run(step(before="print('why')\n", code=2), 60)

    assert (found["status"], found["said"]) == ("failed", "why\n")


@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_steps_are_what_the_commands_take(device):
    """Every ladder is a call of the benchmark; JAX takes no other device than it is told."""
    for quick in (False, True):
        found = steps(device, quick=quick, seconds=570)
        names = [one.name for one in found]
        assert len(set(names)) == len(names)
        assert all(any(n.startswith(kind) for n in names) for kind in ("suite", "ladder", "bits"))
        for one in found:
            if one.name.startswith("ladder"):
                benchmark.make_context("benchmark", [*one.command[3:], "found.json"])
            if "jax" in one.name:
                assert one.settings["JAX_PLATFORMS"] == device


def test_the_suite_is_a_step(tmp_path):
    """`ropespec check` with the CPU in the card's place, a few cases, through the whole command."""
    wanted = ["--device", "cpu", "--quick", "--only", "suite-jax", "--results", str(tmp_path)]
    done = CliRunner().invoke(cli.main, wanted)
    (file,) = tmp_path.iterdir()

    assert done.exit_code == 0, file.read_text()
    assert json.loads(file.read_text())["found"]["conforms"]


RIGHT = backend.apply_rotary


def turned_too_far(x, positions, **options):
    """A backend that is wrong where the card's would be."""
    return RIGHT(x, torch.as_tensor(positions) + 1, **options)


class ByTurns:
    """A backend that is wrong in every third call, as one with a race may be."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x, positions, **options):
        """Count the calls."""
        self.calls += 1
        return (RIGHT if self.calls % 3 else turned_too_far)(x, positions, **options)


@pytest.mark.parametrize(
    ("kind", "wrong"), [(bits, turned_too_far), (streams, ByTurns()), (graphs, ByTurns())]
)
def test_probes_tell_right_from_wrong(monkeypatch, tmp_path, kind, wrong):
    """On the CPU every row of a probe is right; of a wrong backend some are not, and it fails."""
    monkeypatch.setattr(bits, "SHAPES", bits.SHAPES[2:])
    name = kind.__name__.rpartition(".")[2]
    arguments = [name, "torch", "cpu", "--json", str(tmp_path / "found")]
    right = CliRunner().invoke(probe.main, arguments)
    rows = json.loads(Path(tmp_path, "found").read_text())

    assert right.exit_code == 0, right.output
    assert rows
    assert all(row["right"] for row in rows)
    monkeypatch.setattr(backend, "apply_rotary", wrong)
    refused = CliRunner().invoke(probe.main, arguments)

    assert (refused.exit_code, type(refused.exception)) == (1, SystemExit), refused.output


def test_graphs_hold_every_function_with_positions():
    """What takes positions on the device is captured, but for what only calls the others."""
    x, m = torch.ones(2, 5, 3, 16), torch.arange(5)
    held = {name.partition(",")[0] for name in graphs.calls(backend, x, m)}
    others = {"angles", "project_key", "apply_rotary_emb", "RoPE", "project_value"}
    numbers = {
        "inv_freq",
        "inv_freq_scaled",
        "precompute_freqs_cis",
        "sinusoidal_position_embedding",
    }
    pairs = {
        "to_complex",
        "from_complex",
        "interleaved_to_half",
        "half_to_interleaved",
        "reshape_for_broadcast",
    }

    assert held | others | numbers | pairs == set(backend.__all__)
