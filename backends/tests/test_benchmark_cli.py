import json
import subprocess
import sys

import jsonschema
import pytest

from ropespec.backends.benchmark import run as running
from ropespec.backends.benchmark.case import SIZES, Row
from ropespec.backends.benchmark.cli import main, selected
from ropespec.backends.benchmark.document import SCHEMA, document, write
from ropespec.backends.benchmark.environment import NO_GPU, allocator, environment
from ropespec.backends.benchmark.plot import plot
from ropespec.backends.benchmark.progress import Progress
from ropespec.backends.benchmark.run import Absent, Plan, run
from ropespec.backends.benchmark.subjects import ENTRIES, PEERS, Entry, compiled, find
from ropespec.backends.benchmark.targets import outcomes

TINY = (1, 2, 1, 8)
PLAN = Plan(("float32", "bfloat16"), (TINY,), repetitions=1, limit=0.0, device="cpu")


@pytest.fixture(scope="module")
def found():
    return run([find("ropespec numpy"), find("naive numpy")], PLAN, lambda _: None)


def schema():
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


def test_every_case_of_a_subject_is_a_row(found):
    """Both dtypes, both layouts, forward and backward, into every kind of memory."""
    ours = {row.case for row in found.rows if row.subject == "ropespec numpy"}
    naive = {row.case for row in found.rows if row.subject == "naive numpy"}

    assert len(ours) == 16
    assert len(naive) == 8
    assert {row.device for row in found.rows} == {"cpu"}
    assert [row.reason for row in found.rows if row.reason] == []


def test_a_result_file_follows_the_schema(found, tmp_path):
    """Measured and failed rows, absent subjects and targets, as they are written."""
    failed = Row("mlx", "float32", True, TINY, "forward", "new", reason="no such thing")
    rows = [*found.rows, failed]
    absent = [Absent("torchtune", "not installed: torchtune")]
    path = tmp_path / "result.json"
    write(path, document(environment(found.gpu), rows, absent, outcomes(rows)))
    value = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(value, schema(), cls=jsonschema.Draft202012Validator)

    assert [Row.from_json(one) for one in value["rows"]] == rows
    assert value["environment"]["gpu"] == NO_GPU
    assert value["environment"]["versions"]["numpy"]


@pytest.mark.parametrize(
    "change",
    [{"seconds": None}, {"reason": "why"}, {"into": "elsewhere"}, {"shape": [1, 2]}, {"error": {}}],
)
def test_the_schema_refuses_half_a_row(found, change):
    """A row is measured with everything that belongs to it, or has a reason."""
    value = document(environment(""), found.rows[:1], [], [])
    value["rows"][0] |= change

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, schema(), cls=jsonschema.Draft202012Validator)


def test_a_subject_that_is_not_installed_is_named():
    """It is absent with the module that is missing; nothing is run for it."""
    entry = Entry("dream", "peer", ("numpy", "no_such_module"), "nowhere:Nothing")
    found = run([entry], PLAN, lambda _: None)

    assert found.rows == []
    assert found.absent == [Absent("dream", "not installed: no_such_module")]


def test_a_subject_that_cannot_be_loaded_is_named():
    """NumPy asked for a GPU has a reason and no row."""
    plan = Plan(("float32",), (TINY,), device="cuda")
    found = run([find("ropespec numpy")], plan, lambda _: None)

    assert found.absent == [Absent("ropespec numpy", "NumPy knows no GPU")]


CRASHING = """
import json, os, sys
request = json.loads(sys.stdin.readline())
print(json.dumps({"device": "cpu", "device_name": "", "cases": 2}), flush=True)
row = {row}
for index in range(request["skip"], 2):
    case = ["float32", index == 0, [1, 2, 1, 8], "forward", "new"]
    print(json.dumps({"start": case}), flush=True)
    if index == 0:
        print("it went wrong", file=sys.stderr, flush=True)
        os._exit(3)
    row["interleaved"] = False
    print(json.dumps({"row": row}), flush=True)
"""


def test_a_crash_is_a_row_and_the_rest_goes_on(monkeypatch, found, tmp_path):
    """The case in progress has failed, and a new process takes up the next one."""
    script = tmp_path / "child.py"
    row = next(row for row in found.rows if row.subject == "naive numpy").to_json()
    script.write_text(CRASHING.replace("{row}", repr(row)), encoding="utf-8")
    monkeypatch.setattr(running, "COMMAND", (sys.executable, str(script)))
    crashed = run([find("naive numpy")], PLAN, lambda _: None)

    assert [one.interleaved for one in crashed.rows] == [True, False]
    assert crashed.rows[0].reason == "the process ended early, exit status 3: it went wrong"
    assert crashed.rows[1].reason is None
    assert crashed.absent == []


def test_a_process_that_hangs_is_ended(monkeypatch, tmp_path):
    """Its time is bounded, and what it did is said."""
    script = tmp_path / "child.py"
    script.write_text("import time; time.sleep(600)", encoding="utf-8")
    monkeypatch.setattr(running, "COMMAND", (sys.executable, str(script)))
    plan = Plan(("float32",), (TINY,), timeout=0.2)
    found = run([find("naive numpy")], plan, lambda _: None)

    assert found.absent == [Absent("naive numpy", "the process ended early, killed by signal 9")]


def test_names_are_unique_and_adapters_are_where_they_are_said_to_be():
    """Every subject is found by its name, a compiled peer too."""
    names = [entry.name for entry in ENTRIES]

    assert len(set(names)) == len(names)
    assert set(PEERS) <= set(names)
    assert find("torchtune compiled") == compiled(find("torchtune"))
    assert find("torchtune compiled").is_compiled


def test_options_select():
    """Backends and peers are chosen by name, compiled ones when asked for."""

    def names(*backends, peers=(), no_peers=False, with_compiled=False):
        chosen = selected(backends, peers, no_peers=no_peers, with_compiled=with_compiled)
        return [entry.name for entry in chosen]

    assert names("numpy", no_peers=True) == [
        "ropespec numpy",
        "ropespec numpy tables",
        "naive numpy",
    ]
    assert names("jax", peers=("mlx",))[-1] == "mlx"
    assert "transformers llama compiled" not in names()
    assert "transformers llama compiled" in names(with_compiled=True)
    assert "keras-hub compiled" not in names(with_compiled=True)
    assert set(PEERS) <= set(names())


def test_the_short_run_leaves_out_what_costs_time():
    """Compiled subjects get the largest size alone, unless everything is asked for."""
    short, full = Plan(("float32",), SIZES), Plan(("float32",), SIZES, full=True)
    entry = find("ropespec torch compiled")

    assert short.request(entry)["shapes"] == (SIZES[-1],)
    assert full.request(entry)["shapes"] == SIZES
    assert short.request(find("ropespec torch"))["shapes"] == SIZES
    assert ("forward", "self") not in short.request(find("ropespec torch tables"))["ways"]


def test_the_command_runs(capsys, tmp_path):
    """A tiny run prints a table and writes its file; a target out of reach is not failed."""
    path = tmp_path / "result.json"
    status = main(
        [
            "--backend",
            "numpy",
            "--no-peers",
            "--size",
            "1x2x1x8",
            "--dtype",
            "float32",
            "--repetitions",
            "1",
            "--seconds",
            "0",
            "--json",
            str(path),
            "--check-targets",
        ]
    )
    text = capsys.readouterr()

    assert status == 0
    assert "1 x 2 x 1 x 8 float32" in text.out
    assert "[3/3] naive numpy" in text.err
    jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), schema())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--size", "4x2048"], "'4x2048' is not four numbers such as 4x2048x32x128"),
        (["--size", "1x1x1x3"], "all four must be positive, and head_dim even"),
        (["--dtype", "int8"], "'int8' is not one of"),
        (["--backend", "tinygrad"], "'tinygrad' is not one of"),
        (["--repetitions", "0"], "0 is not in the range x>=1"),
        (["--peer", "mlx", "--no-peers"], "--peer and --no-peers exclude each other"),
        (["--json", "no/such/folder/x.json"], "there is no folder no/such/folder for x.json"),
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
    """It says what a ratio is, what a subject is given, and how to call it."""
    assert main(["--help"]) == 0
    text = capsys.readouterr().out

    for words in ("a copy of the same", "2^20", "--no-peers", "naive numpy", "allocator"):
        assert words in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100


def test_the_command_loads_no_framework():
    """torch, JAX, CuPy and matplotlib are imported by the process that needs them."""
    code = (
        "import sys, ropespec.backends.benchmark.cli\n"
        "print([name for name in ('torch', 'jax', 'cupy', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )

    assert done.stdout.strip() == "[]"


def test_the_allocator_is_the_one_that_is_preloaded(monkeypatch):
    """A preloaded library is named, otherwise the C library."""
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    plain = allocator()
    monkeypatch.setenv("LD_PRELOAD", "/usr/lib/libjemalloc.so.2")

    assert plain.endswith("malloc")
    assert allocator() == "libjemalloc.so.2"


def test_a_gpu_is_named(monkeypatch):
    """The file says on which device something ran, or that nothing did."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")

    assert environment("H200")["gpu"] == "H200"
    assert environment("")["gpu"] == "none: nothing in this file ran on a GPU"
    assert environment("")["settings"]["OMP_NUM_THREADS"] == "2"


def test_a_plot_is_drawn(found, tmp_path):
    """Rows of both dtypes give a picture; no row gives an error."""
    pytest.importorskip("matplotlib")
    path = tmp_path / "result.png"
    plot(path, environment(""), found.rows)

    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="nothing was measured"):
        plot(path, environment(""), [])


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
    """A log gets a line for every subject, a terminal what is going on."""
    log, terminal = Stream(live=False), Stream(live=True)
    for stream in (log, terminal):
        with Progress(stream) as progress:
            progress("[1/1] torch")
            progress("[1/1] torch: 1/8 case")

    assert log.text == "[1/1] torch\n"
    assert "1/8 case" in terminal.text
    assert "\n" not in terminal.text
