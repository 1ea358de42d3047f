"""Right implementations at many seeds: what is said of them, and that nothing is run twice."""

import json
from collections.abc import Mapping
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ropespec.bench import alarms, claims, seeds
from ropespec.conformance.profile import Profile
from ropespec.conformance.runner import Plan, run_check, select
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.trial import Trial
from ropespec.conformance.zoo import Right, Wrong, zoo

_RIGHT = {one.name: one for one in zoo() if isinstance(one, Right)}
_REFUSED = {"ROT-7.value": "it is off"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Two right ones, of which one is refused at seed 1."""
    told: list[tuple[str, int]] = []

    def answer(target: str, _: Profile, seed: int) -> Mapping[str, str]:
        told.append((target.rpartition(":")[2], seed))
        return _REFUSED if told[-1] == ("recurrence", 1) else {}

    monkeypatch.setattr(alarms, "zoo", lambda: [_RIGHT["recurrence"], _RIGHT["exact_phase"]])
    monkeypatch.setattr(alarms, "refused", answer)
    return told


def _run(file: Path, seeds: int, *more: str) -> str:
    done = CliRunner().invoke(alarms.main, [str(file), "--seeds", str(seeds), *more])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_an_alarm_is_told_and_nothing_is_run_twice(
    asked: list[tuple[str, int]], tmp_path: Path
) -> None:
    """Each is run once at each seed, however often the command is; what is refused is said."""
    file = tmp_path / "alarms.jsonl"
    assert _run(file, 1) == "2 runs of 2 right ones: 0 refused; 0 not run\n"
    assert asked == [("recurrence", 0), ("exact_phase", 0)]
    said = _run(file, 2)
    assert asked[2:] == [("recurrence", 1), ("exact_phase", 1)]
    assert said == (
        "recurrence is refused by ROT-7.value at seed 1: it is off\n"
        "4 runs of 2 right ones: 1 refused; 0 not run\n"
    )


def test_a_line_says_of_which_state_it_is(asked: list[tuple[str, int]], tmp_path: Path) -> None:
    """What was run before stays what it was."""
    file = tmp_path / "alarms.jsonl"
    for seeds_, state in enumerate(("ab12", "cd34"), 1):
        _run(file, seeds_, "--state", state)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(one["seed"], one["state"]) for one in lines] == [
        *((0, "ab12"), (0, "ab12")),
        *((1, "cd34"), (1, "cd34")),
    ]
    assert len(asked) == 4


def test_processes_share_the_work(asked: list[tuple[str, int]], tmp_path: Path) -> None:
    """Each takes its part, and what another has written is not run again."""
    file = tmp_path / "alarms.jsonl"
    _run(file, 1, "--part", "1", "2")
    assert asked == [("exact_phase", 0)]
    _run(file, 1, "--part", "0", "2")
    assert _run(file, 1) == "2 runs of 2 right ones: 0 refused; 0 not run\n"
    assert asked == [("exact_phase", 0), ("recurrence", 0)]


def test_those_that_are_named_are_run(asked: list[tuple[str, int]], tmp_path: Path) -> None:
    """And no other, each once."""
    file = tmp_path / "alarms.jsonl"
    _run(file, 2, "--name", "exact_phase", "--name", "exact_phase")
    assert asked == [("exact_phase", 0), ("exact_phase", 1)]


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody",), "--name must be one of recurrence, exact_phase; got 'nobody'"),
        (("recurrence", "--claims", "2"), "rotations under drawn claims have no names"),
    ],
)
def test_a_name_that_there_is_not_is_refused(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    """Nothing is run, and the message says which there are."""
    done = CliRunner().invoke(alarms.main, [str(tmp_path / "alarms.jsonl"), "--name", *words])
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.parametrize("main", [alarms.main, seeds.main])
@pytest.mark.parametrize("part", [("0", "0"), ("2", "2"), ("-1", "2")])
def test_a_part_that_there_is_not_is_refused(
    main: click.Command, part: tuple[str, str], tmp_path: Path
) -> None:
    """Nothing is left out without a word."""
    words = [str(tmp_path / "alarms.jsonl")] if main is alarms.main else []
    done = CliRunner().invoke(main, [*words, "--part", *part])
    assert done.exit_code == 2
    assert f"I must be from 0 to N - 1; got {' '.join(part)}" in done.stderr


@pytest.mark.parametrize("text", ["no json", '{"name": "recurrence"}', "3"])
def test_a_file_of_something_else_is_refused(text: str, tmp_path: Path) -> None:
    """It is not written to, and the message says what it must hold."""
    file = tmp_path / "notes.txt"
    file.write_text(text)
    done = CliRunner().invoke(alarms.main, [str(file)])
    assert done.exit_code == 2
    assert "must hold lines that this command wrote" in done.stderr
    assert file.read_text() == text


def test_a_wrong_one_would_be_refused() -> None:
    """The verdict comes from all checks: what is wrong, called right, is refused."""
    wrong = next(one for one in zoo() if isinstance(one, Wrong) and one.name == "no_gain")
    called_right = Right(wrong.name, wrong.target, "", {}, wrong.claims, wrong.function)
    assert {*wrong.killed_by} <= {*alarms.refused(called_right.target, called_right.profile, 0)}


def test_claims_are_drawn_by_their_number(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A line keeps them, and what is refused under them can be asked for again."""
    monkeypatch.setattr(alarms, "refused", lambda *_: {"ROT-7.value": "off\nby much"})
    file = tmp_path / "alarms.jsonl"
    assert _run(file, 1, "--claims", "2") == (
        "claims 0 is refused by ROT-7.value at seed 0: off\n"
        "claims 1 is refused by ROT-7.value at seed 0: off\n"
        "2 runs of 2 right ones: 2 refused; 0 not run\n"
    )
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    again = [json.loads(json.dumps(claims.drawn(number))) for number in range(2)]
    assert [one["claims"] for one in lines] == again
    assert again[0] != again[1]


def test_all_that_can_be_claimed_of_a_rotation_is_drawn() -> None:
    """Nothing that judging depends on stays as it is."""
    drawn = [Profile.from_mapping(claims.drawn(number)) for number in range(300)]
    of_others = {"device", "constant_tables", "refusals", "precision"}
    same = {one for one in Profile.__slots__ if len({str(getattr(p, one)) for p in drawn}) == 1}
    assert same == of_others


@pytest.mark.parametrize(
    "told",
    [
        {"pairs_apart": True},
        {"rotary_dim": 4, "trailing": True},
        {"sections": [2, 2], "sections_in_turn": True, "axes": "sbhd"},
        {"sections": [2, 2], "axial": True, "array": "torch", "axes": "bhsd"},
        {"frequencies": [[1.0, 0.5, 0.1, 0.01], [0.25, 0.2, 0.125, 0.0]], "axes": "shd"},
        {"scaling": {"rope_type": "linear", "factor": 4}},
    ],
    ids=str,
)
def test_a_rotation_is_right_under_its_claims_alone(
    told: dict[str, object], tmp_path: Path
) -> None:
    """It passes, and one without them does not."""
    arrays = {"array": told.get("array", "numpy")}
    plain = {"layouts": [True], "head_dims": [8], **arrays}
    profile = Profile.from_mapping({**plain, **told})
    for of, conforms in (({**plain, **told}, True), (plain, False)):
        with Session(load(claims.written(of, tmp_path)), profile, timeout=60) as session:
            (check,) = select(Plan(only=("ROT-6.value",)))
            result = run_check(check, Trial(session), Plan())
        assert result.status.conforms == conforms
