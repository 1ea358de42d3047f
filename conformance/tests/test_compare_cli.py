"""The command `ropespec compare`, run as a click command."""

import itertools
import json

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from ropespec.conformance.builtin import BUILTIN, availability
from ropespec.conformance.cli.compare import compare_command
from ropespec.conformance.cli.status import FAILS, UNUSABLE
from ropespec.conformance.report.comparison import COMPARISON_SCHEMA, comparison_schema
from ropespec.conformance.report.screen import Screen

ZOO = "ropespec.conformance.zoo"
HALF = f"{ZOO}.styles:usual_half"
WOVEN = f"{ZOO}.styles:usual_interleaved"
VALIDATOR = Draft202012Validator(comparison_schema())

SUBJECTS = """
import os

import numpy as np

PROFILE = {"interleaved": True, "head_dim": 8, "max_position": 4095, "axes": "bhsd"}


def woven(x, positions):
    n = x.shape[-1]
    angle = positions[:, None, :, None] * 10000.0 ** (-np.arange(0, n, 2) / n)
    cos, sin = np.cos(angle), np.sin(angle)
    a, b = x[..., 0::2].astype(float), x[..., 1::2].astype(float)
    y = np.stack([a * cos - b * sin, a * sin + b * cos], -1)
    return y.reshape(x.shape).astype(x.dtype)


TABLE = np.arange(100)


def short(x, positions):
    return woven(x, TABLE[positions])


def wide(x, positions):
    return woven(x, positions).astype(np.float64)


def aborts(x, positions):
    os.abort()


def aborts_far(x, positions):
    if positions.max() > 1000:
        os.abort()
    return woven(x, positions)


class Tables:
    PROFILE = PROFILE

    def inv_freq(self, dim, base=10000.0):
        return base ** (-np.arange(0, dim, 2) / dim)


tables = Tables()
"""


def invoke(*words):
    """Run the command: a click result whose exit code is the status."""
    return CliRunner().invoke(compare_command, list(words), standalone_mode=False)


def status(done):
    """Return the status the command would end with."""
    if done.exception is not None:
        return done.exception.exit_code
    return done.return_value


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a current directory with subjects in it."""
    (tmp_path / "my_rope.py").write_text(SUBJECTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("a", "b"), list(itertools.pairwise(BUILTIN)))
def test_the_backends_are_interchangeable(a, b):
    """Two frameworks on the same inputs, in both layouts; each is one of a pair.

    JAX, which compiles every shape, is asked for one dtype alone.
    """
    if reason := availability(a) or availability(b):
        pytest.skip(reason)
    dtypes = ("bfloat16",) if b == "jax" else ("float32", "bfloat16")
    options = [word for dtype in dtypes for word in ("--dtype", dtype)]
    done = invoke(a, b, *options, "--head-dim", "8")

    assert status(done) == 0, done.output
    assert done.stdout.startswith("interchangeable\n")
    # A slow machine hears of it again every few seconds.
    assert done.stderr.startswith(f"ropespec: loading {a} and {b} ...\n")


def test_cupy_says_why_it_does_not_run(monkeypatch):
    """Without a GPU the comparison is no pass and no failure."""
    reasons = {"cupy": "no GPU"}
    monkeypatch.setattr("ropespec.conformance.opening.availability", reasons.get)
    done = invoke("numpy", "cupy")

    assert status(done) == UNUSABLE
    assert done.exception.format_message() == "cupy cannot run here: no GPU"


def test_a_permutation_is_printed_in_full():
    """Headline, list of channels, both tables."""
    done = invoke(WOVEN, HALF, "--head-dim", "8")

    assert status(done) == FAILS
    assert done.stdout.splitlines()[0] == (
        "not interchangeable: they agree after permuting channels (0, 2, 4, 6, 1, 3, 5, 7)"
    )
    assert "W_B = W_A[[0, 2, 4, 6, 1, 3, 5, 7]]" in done.stdout
    assert "\nAs they are:\n" in done.stdout
    assert "\nAfter permuting channels (0, 2, 4, 6, 1, 3, 5, 7):\n" in done.stdout


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_column_is_lost_at_any_width(monkeypatch, width):
    """Where the table does not fit its rows become sentences; no line is wider than the screen."""

    def narrow(stream, _):
        return Screen(file=stream, width=width, highlight=False, markup=False, emoji=False)

    monkeypatch.setattr("ropespec.conformance.cli.output.console", narrow)
    done = invoke(WOVEN, HALF, "--head-dim", "8")
    start = done.stdout.index("As they are:")
    table = done.stdout[start : done.stdout.index("float32: worst at")].replace(";", " ")

    assert max(len(line.rstrip()) for line in done.stdout.splitlines()) <= width
    for word in ("precision of A", "precision of B", "budget", "ulp", "logits", "they part"):
        assert word in " ".join(table.split())
    assert "from 1 on" in " ".join(table.split())
    assert "float32-angles, measured" in " ".join(table.split())
    assert ("─" in table) == (width == 120)


def test_options_of_one_side_win_over_those_of_both(folder):
    """Each side has its own layout, order of axes and framework."""
    file = folder / "found.json"
    done = invoke(
        *("my_rope.py:woven", "numpy", "--half", "--a-interleaved", "--a-axes", "bhsd"),
        *("--max-position", "500", "--json", str(file)),
    )
    content = json.loads(file.read_text(encoding="utf-8"))
    VALIDATOR.validate(content)

    assert status(done) == FAILS
    assert content["a"]["profile"]["axes"] == "bhsd"
    assert content["a"]["profile"]["layouts"] == [True]
    assert content["b"]["profile"]["layouts"] == [False]
    assert content["b"]["profile"]["max_position"] == 500
    assert content["change"]["permutation"]["order"] == [0, 2, 4, 6, 1, 3, 5, 7]
    assert content["changed"]["agrees"] is True


@pytest.mark.usefixtures("folder")
def test_a_profile_is_honoured():
    """The subject says itself how it is called; the backend follows its layout."""
    done = invoke("my_rope.py:woven", "numpy")

    assert status(done) == 0, done.output


def test_a_backend_takes_any_head_dim():
    """It follows the head_dim and the rotary_dim of the other side."""
    target = f"{ZOO}.styles:partial_rotary"
    claims = ("--half", "--b-head-dim", "24", "--b-rotary-dim", "8")
    done = invoke("numpy", target, *claims, "--precision", "float32-angles")

    assert status(done) == 0, done.output


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("short", "they part from position 100 on in float32: A raises IndexError: "),
        ("wide", "A returns float64 for float32 x"),
        ("aborts_far", "A is lost: its process died of SIGABRT in apply_rotary"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_a_side_does_instead_is_the_headline(target, line):
    """A short table and another dtype are told, not measured."""
    done = invoke(f"my_rope.py:{target}", "numpy", "--no-negative-positions")

    assert status(done) == FAILS
    assert done.stdout.startswith(f"not interchangeable: {line}")


def test_the_document_holds_everything(tmp_path):
    """Worst element, parting position, growth, logits: valid under the published schema."""
    file = tmp_path / "found.json"
    done = invoke("numpy", HALF, "--seed", "3", "--json", str(file))
    content = json.loads(file.read_text(encoding="utf-8"))
    VALIDATOR.validate(content)
    (one,) = content["direct"]["by_dtype"]

    assert status(done) == FAILS
    assert (content["schema"], content["relation"]) == (COMPARISON_SCHEMA, "part")
    assert content["headline"] == done.stdout.splitlines()[0]
    assert content["headline"].endswith("B has float32 angles")
    assert content["seed"] == 3
    assert one["worst"]["element"].startswith("y[")
    assert one["parting"]["position"] > one["parting"]["agree_to"]
    assert content["direct"]["logits"][0]["distances"][:4] == [0, 1, 2, 4]
    broken = content | {"relation": "perhaps"}
    assert not VALIDATOR.is_valid(broken)


def test_the_schema_is_a_schema():
    """It is valid under its own metaschema and carries the id of the documents."""
    Draft202012Validator.check_schema(comparison_schema())
    assert comparison_schema()["$id"] == COMPARISON_SCHEMA


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("numpy",), "Missing argument 'B'"),
        (("numpy", "nonsense"), "no module named 'nonsense'"),
        (("numpy", "no_such_module:f"), "no_such_module"),
        (("numpy", HALF, "--b-axes", "dbsh"), "Invalid value for '--b-axes'"),
        (("numpy", HALF, "--a-axes", "bhsd"), "axes of the built-in numpy is bshd, always"),
        (("jax", "numpy", "--dtype", "float64"), "jax takes no float64; it takes float32"),
        (("numpy", HALF, "--a-dtype", "float64"), "no dtype in common: numpy takes float64"),
        (("numpy", HALF, "--a-head-dim", "8", "--b-head-dim", "6"), "no head_dim in common"),
        (("numpy", HALF, "--json", "/no/such/folder/x.json"), "--json: cannot write"),
        (("my_rope.py:aborts", "numpy"), "gives no result: it is lost: its process died"),
        (("my_rope.py:tables", "numpy"), "offers no apply_rotary"),
        (("my_rope.py:TABLE", "numpy"), "my_rope.py:TABLE"),
        ((f"{ZOO}.layout:lost_sine", "numpy"), "give --a-interleaved or --a-half"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_bad_use_is_one_line(words, message):
    """Status 2, the reason in one line, nothing on standard output."""
    done = invoke(*words)

    assert status(done) == UNUSABLE
    assert message in done.exception.format_message()
    assert "\n" not in done.exception.format_message()
    assert done.stdout == ""


def test_each_option_exists_for_each_side():
    """All profile options can be given for one side; the help says how, once."""
    names = {name for option in compare_command.params for name in option.opts}
    shared = {name for name in names if not name.startswith(("--a-", "--b-"))}
    profile = shared - {"a", "b", "--seed", "--json", "--timeout", "--try-axes", "--python"}
    text = CliRunner().invoke(compare_command, ["--help"]).output

    assert "--half" in profile
    for name in profile:
        assert {f"--a-{name[2:]}", f"--b-{name[2:]}"} <= names
    assert "--a-half" in text
    assert "--a-rotary-dim" not in text
