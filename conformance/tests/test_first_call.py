"""The call that comes first: a signature that does not fit is no wrong rotation."""

import numpy as np
import pytest

from ropespec.conformance.cli import main
from ropespec.conformance.cli.status import UNUSABLE
from ropespec.conformance.first_call import require_answer, usual_dims
from ropespec.conformance.opening import PairingUnknown, open_guessing, open_subject
from ropespec.conformance.profile import Profile
from ropespec.conformance.results import Status
from ropespec.conformance.runner import Plan, run
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.zoo import zoo

SUBJECTS = """
import os
import time
from pathlib import Path

import numpy as np

from ropespec import reference

LOG = Path("calls.log")


def right(x, positions):
    with LOG.open("a") as log:
        log.write(f"{x.shape} {x.dtype} {positions.shape} {positions.min()}\\n")
    return reference.apply_rotary(x, positions, interleaved=False)


def by_tables(x, cos, sin, phase):
    return x


def only_raises(x, positions):
    raise ValueError("operands could not be broadcast")


def heads_first(x, positions):
    if positions.shape != (x.shape[0], x.shape[2]):
        raise ValueError("operands could not be broadcast")
    y = reference.apply_rotary(x.transpose(0, 2, 1, 3), positions, interleaved=False)
    return y.transpose(0, 2, 1, 3)


def narrow(x, positions):
    if x.shape[-1] > 32:
        raise ValueError("head_dim must be at most 32")
    return right(x, positions)


def tail_twice(x, positions):
    return np.concatenate([right(x[..., :64], positions), x[..., 64 - x.shape[-1] :]], axis=-1)


def halves(x, positions):
    if x.dtype != np.float64:
        raise TypeError(f"{x.dtype} is not supported")
    return right(x, positions)


def remembers(x, positions, seen=[]):
    if x.shape[-1] > 32:
        seen.append(1)
        raise ValueError("head_dim must be at most 32")
    return right(x, positions) * (2.0 if seen else 1.0)


def transposed(x, positions):
    return right(x, positions).transpose(0, 2, 1, 3)


def twice(x, positions):
    return right(x, positions), right(x, positions)


def nothing(x, positions):
    pass


def flat(x, positions):
    return right(x, positions).ravel()


def promoted(x, positions):
    return right(x, positions).astype(float)


def listed(x, positions):
    return right(x, positions).tolist()


def in_x(x, positions):
    x[...] = right(x, positions)
    return x


def unknown(a, b):
    raise ValueError("no")


def aborts(x, positions):
    os.abort()


def hangs(x, positions):
    time.sleep(60)


def keyword_only(x, *, input_pos=None):
    return right(x, input_pos)


def positions_first(position_ids, x):
    return right(x, position_ids)


class Tables:
    def inv_freq(self, dim, base=10000.0):
        return base ** (-np.arange(0, dim, 2) / dim)
"""
HALF = {"layouts": [False]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a current folder with subjects in it."""
    (tmp_path / "my_rope.py").write_text(SUBJECTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(name, timeout=30.0, **claims):
    """Return the line and the remedy with which a subject is refused."""
    with pytest.raises(TargetUnusable) as caught:
        open_subject(f"my_rope.py:{name}", HALF | claims, timeout).close()
    assert "\n" not in str(caught.value)
    return str(caught.value), caught.value.remedy


@pytest.mark.parametrize(
    ("name", "said", "advised"),
    [
        (
            "by_tables",
            "cannot be called as f(x, positions); its parameters are x, cos, sin, phase",
            "cos=",
        ),
        (
            "only_raises",
            (
                "raises ValueError: operands could not be broadcast, when it is called as "
                "f(x, positions); its parameters are x, positions"
            ),
            "--axes",
        ),
        ("unknown", "raises ValueError: no, when it is called as f(x, positions)", "unknown(a=..."),
        (
            "twice",
            "answers f(x, positions) with 2 results, an array of shape",
            "twice(x, positions)[0]",
        ),
        ("nothing", "answers f(x, positions) with None (NoneType) for x of shape", "return ..."),
        ("flat", "with an array of shape (1920,) and dtype float32 for x of", "return ..."),
        (
            "transposed",
            (
                "with an array of shape (2, 3, 5, 64) and dtype float32 for x of shape "
                "(2, 5, 3, 64): the same sizes in another order"
            ),
            "transposed(x, positions).transpose(0, 2, 1, 3)",
        ),
        ("transposed", "in another order", "--axes"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_called_is_refused_in_one_message(name, said, advised):
    """What happened and the parameters are the line; the adapter or the option is the remedy."""
    line, remedy = refused(name)

    assert line.startswith(f"my_rope.py:{name} ")
    assert said in line
    assert "; its parameters are " in line
    assert advised in remedy


@pytest.mark.parametrize(
    ("claims", "advised"),
    [
        ({}, ["--axes", "--shared-positions", "--head-dim,"]),
        ({"shared_positions": True}, ["--axes", "--head-dim,"]),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_may_be_claimed_otherwise_is_proposed(claims, advised):
    """An order of axes, a form of positions; and nothing that is claimed already."""
    _, remedy = refused("only_raises", **claims)
    options = [line.split()[0] for line in remedy.splitlines() if line.startswith("  --")]

    assert options == advised
    assert "def apply" not in remedy  # its parameters are x and positions


def test_the_framework_that_a_subject_imports_is_proposed(folder):
    """Arrays of NumPy are the default, and rarely what a function of torch takes."""
    pytest.importorskip("torch")
    source = "import torch\n\n\ndef apply(x, positions):\n    return torch.relu(x)\n"
    (folder / "my_rope.py").write_text(source, encoding="utf-8")
    line, remedy = refused("apply")

    assert "raises TypeError: relu(): argument 'input'" in line
    assert "  --array torch        if it takes arrays of torch" in remedy.splitlines()


@pytest.mark.parametrize(
    ("name", "claims"),
    [
        ("right", {}),
        ("keyword_only", {}),
        ("positions_first", {}),
        ("promoted", {}),
        ("listed", {}),
        ("in_x", {}),
        ("heads_first", {"axes": "bhsd"}),
        ("Tables", {}),
        ("aborts", {}),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_finding_is_not_refused(name, claims):
    """dtype, type, memory and numbers are judged by the checks, and so is a crash."""
    open_subject(f"my_rope.py:{name}", HALF | claims, 30.0).close()


def test_one_call_is_made_under_the_claims(folder):
    """Contiguous x, positions from 0, the claimed order of axes and dtype; then no other."""
    claims = {"axes": "sbhd", "shared_positions": True, "dtypes": ["float64"], "head_dims": [8]}
    open_subject("my_rope.py:right", HALF | {"dtypes": ["float64"]}, 30.0).close()
    with pytest.raises(TargetUnusable):
        open_subject("my_rope.py:right", HALF | claims, 30.0)

    assert (folder / "calls.log").read_text().splitlines() == [
        "(2, 5, 3, 64) float64 (2, 5) 0",
        "(5, 2, 3, 8) float64 (5,) 0",
    ]


@pytest.mark.parametrize(
    ("claims", "shape"),
    [
        ({"max_position": 1}, "(2, 2, 3, 64)"),
        ({"max_tokens": 6}, "(2, 3, 3, 64)"),
        ({"max_tokens": 1}, "(1, 1, 3, 64)"),
        ({"min_head_dim": 96}, "(2, 5, 3, 128)"),
        ({"rotary_dim": 80}, "(2, 5, 3, 128)"),
    ],
)
def test_the_call_stays_within_the_claims(claims, shape, folder):
    """No position, size or number of tokens beyond what is claimed."""
    open_subject("my_rope.py:right", HALF | claims, 30.0).close()

    assert (folder / "calls.log").read_text().startswith(f"{shape} float32 ")


@pytest.mark.parametrize(
    ("name", "claims", "calls"),
    [
        ("narrow", {}, 1),
        ("tail_twice", {"rotary_dim": 64, "head_dims": [64, 96]}, 2),
        ("halves", {"dtypes": ["float32", "float64"]}, 1),
    ],
)
def test_other_claimed_sizes_and_dtypes_are_tried_before_it_is_refused(name, claims, calls, folder):
    """One that is accepted is enough."""
    open_subject(f"my_rope.py:{name}", HALF | claims, 30.0).close()

    assert len((folder / "calls.log").read_text().splitlines()) == calls


@pytest.mark.usefixtures("folder")
def test_what_an_error_left_behind_is_forgotten():
    """After a call that raised, the checks meet a fresh subject."""
    x, positions = np.ones((1, 2, 1, 8), np.float32), np.zeros((1, 2), np.int64)
    with open_subject("my_rope.py:remembers", HALF, 30.0) as session:
        assert np.array_equal(session.rotate(x, positions).y, x)


@pytest.mark.usefixtures("folder")
def test_a_signature_is_told_before_the_pairing_is_asked_for():
    """Nobody has to say how something pairs that cannot be called."""
    with pytest.raises(TargetUnusable, match="its parameters are x, cos, sin, phase"):
        open_subject("my_rope.py:by_tables", {}, 30.0)
    with pytest.raises(PairingUnknown, match="does not say how it pairs"):
        open_subject("my_rope.py:right", {}, 30.0)
    session, guessed = open_guessing("my_rope.py:right", {}, 30.0)
    session.close()
    assert guessed


@pytest.mark.parametrize(
    ("name", "status", "most"), [("aborts", Status.CRASH, 3), ("hangs", Status.TIMEOUT, 3)]
)
@pytest.mark.usefixtures("folder")
def test_a_crash_is_a_finding_and_not_many(name, status, most):
    """What is lost in the first call is lost in the first checks, and nothing else is asked."""
    with open_subject(f"my_rope.py:{name}", HALF, 1.0) as session:
        verdict = run(session, Plan(only=("ROT",)))

    assert {result.status for result in verdict.failures} == {status}
    assert len(verdict.failures) <= most


@pytest.mark.parametrize(
    "words",
    [
        ("check", "my_rope.py:by_tables", "--half"),
        ("identify", "my_rope.py:by_tables"),
        ("compare", "my_rope.py:by_tables", "numpy"),
        ("compare", "numpy", "my_rope.py:by_tables"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_every_command_says_the_same(words, capsys):
    """Status 2, one line, the adapter, and nothing on standard output."""
    assert main(words) == UNUSABLE
    said = capsys.readouterr()
    line, blank, remedy = said.err[said.err.index("ropespec: my_rope.py:by_tables cannot") :].split(
        "\n", 2
    )

    assert said.out == ""
    assert line.endswith("its parameters are x, cos, sin, phase")
    assert blank == ""
    assert "def apply(x, positions):" in remedy.splitlines()


@pytest.mark.parametrize("name", ["only_raises", "twice", "aborts"])
def test_identify_claims_nothing_of_what_gives_no_numbers(name, folder, capsys):
    """Status 2, no fact, no command, no document."""
    file = folder / "found.json"

    assert main(["identify", f"my_rope.py:{name}", "--json", str(file)]) == UNUSABLE
    assert not file.exists()
    said = capsys.readouterr()
    assert said.out == ""
    assert "shares memory" not in said.err
    assert "--half" not in said.err


def test_the_adapter_is_checked_in_the_place_of_the_target(folder, capsys):
    """What is printed, written to a file, is a subject that can be checked."""
    assert main(["check", "my_rope.py:twice", "--half"]) == UNUSABLE
    said = capsys.readouterr().err
    (folder / "adapter.py").write_text(said[said.index("from my_rope") :], encoding="utf-8")

    assert main(["check", "adapter.py:apply", "--half", "--only", "ROT-7"]) == 0


BARE = [entry for entry in zoo() if entry.bare and entry.name not in ("aborts", "hangs")]


@pytest.mark.parametrize("entry", BARE, ids=lambda entry: entry.name)
def test_every_implementation_of_the_zoo_can_be_called(entry, checks):
    """The command gives each a verdict, and so the score is one of the command."""
    session = type(checks.trial({}).session)({"apply_rotary": entry.function}, entry.profile)

    require_answer(session)


@pytest.mark.parametrize(
    ("claims", "dims"),
    [
        ({}, (64, 128, 32, 16)),
        ({"head_dims": (8,)}, (8,)),
        ({"head_dims": (512, 1024)}, (512, 1024)),
        ({"head_dims": (24, 48, 72, 96, 120)}, (72, 48, 96, 24)),
        ({"min_head_dim": 80}, (128, 80, 256)),
    ],
)
def test_the_usual_sizes_come_first(claims, dims):
    """Of those that are claimed."""
    found = usual_dims(Profile(layouts=(False,), **claims))

    assert found[: len(dims)] == dims
