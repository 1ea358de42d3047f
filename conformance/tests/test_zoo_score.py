"""The score of the suite on small zoos, as values, as a table and as JSON."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ropespec.conformance import zoo as package
from ropespec.conformance.cli.zoo import zoo_command
from ropespec.conformance.results import Diagnosis
from ropespec.conformance.zoo import Right, Wrong, zoo
from ropespec.conformance.zoo.score import Score, Scored, _is_named, _names, score

PLANTED = Path(__file__).parent / "subjects" / "planted.py"
CLAIMS = {"interleaved": True}


def planted(kind, name, attribute):
    """Return an entry of a small zoo."""
    target = f"{PLANTED}:{attribute}"
    if kind is Wrong:
        return Wrong(name, target, "L1", "A sentence.", (), CLAIMS, None)
    return Right(name, target, "A sentence.", {}, CLAIMS, None)


@pytest.fixture(scope="module")
def small():
    """Score four entries: caught, missed, passed, and a false alarm."""
    entries = (
        planted(Wrong, "caught", "Wrong"),
        planted(Wrong, "missed", "Right"),
        planted(Right, "passed", "Right"),
        planted(Right, "alarm", "Wrong"),
    )
    done = []
    return score(entries, seeds=2, on_done=lambda *args: done.append(args)), done


def test_a_wrong_one_that_passes_and_a_right_one_that_fails_miss_the_target(small):
    """Both are listed by name, and the target is not met."""
    found, _ = small

    assert found.missed == ("missed",)
    assert found.false_alarms == ("alarm",)
    assert not found.met


def test_each_entry_is_scored_in_order_and_right_ones_with_every_seed(small):
    """Results come in the order of the entries, whichever is done first."""
    found, done = small

    assert [(item.name, item.seed) for item in found.scored] == [
        *(("caught", 0), ("missed", 0), ("passed", 0), ("passed", 1), ("alarm", 0), ("alarm", 1)),
    ]
    assert [(count, total) for _, count, total in done] == [(i, 6) for i in range(1, 7)]


def test_what_kills_is_named_and_timed(small):
    """The failed checks, the time to the first of them, and no diagnosis where none is right."""
    caught, missed = small[0].scored[:2]

    assert "CPLX-8.to-complex" in caught.failed
    assert 0 < caught.first_failure <= caught.seconds
    assert caught.named is False
    assert (missed.failed, missed.named, missed.first_failure) == ((), None, None)


@pytest.mark.parametrize(
    ("own", "given", "named"),
    [
        ("L1", ("L1", ""), True),
        ("history", ("", "history"), True),
        ("K6", ("A1", "applied twice"), True),
        ("L1", ("", "wrong pairing"), False),
        ("history", ("", "unknown"), False),
        ("", ("", "unknown"), False),
        ("", ("", "history"), False),
    ],
)
def test_a_name_counts_only_where_it_is_the_entrys_own(own, given, named):
    """`unknown` is never a name, and an entry that has none cannot be named."""
    told = Diagnosis(*given, "A sentence.", equals=("K6 position scale 2", "operands confused"))

    assert _is_named(own, _names((told,))) is named


def item(name, *failed, named=True, is_wrong=True):
    """Return a result that has not been run."""
    return Scored(name, "L1", "", is_wrong, 0, failed, failed, (), ("L1",), named, 1.0, 2.0)


def test_the_target_for_names_is_95_percent():
    """19 of 20 suffice, 18 do not."""
    twenty = tuple(item(str(i), "ROT-6.value", named=i > 0) for i in range(20))
    eighteen = tuple(item(str(i), "ROT-6.value", named=i > 1) for i in range(20))

    assert Score(twenty, whole=False).met
    assert not Score(eighteen, whole=False).met


def test_idle_checks_and_clauses_without_a_killer_are_counted_on_the_whole_zoo_alone():
    """A check that nothing fails is idle; a clause is killed by what fails in it alone."""
    some = (item("a", "ROT-6.value", "ROT-6.pairing"), item("b", "ROT-7.value", "ROT-1.direction"))
    whole, part = Score(some, whole=True), Score(some, whole=False)

    assert "ROT-9.rows" in whole.idle
    assert "ROT-7.value" not in whole.idle
    assert "ROT-6" not in whole.without_own_killer
    assert {"ROT-7", "ROT-1"} <= set(whole.without_own_killer)
    assert not whole.met
    assert (part.idle, part.without_own_killer) == ((), ())


def invoke(*arguments):
    """Run the command; return status, standard output and standard error."""
    done = CliRunner().invoke(zoo_command, arguments, standalone_mode=False)
    return done.return_value, done.stdout, done.stderr


def test_the_list_shows_every_entry_and_every_reason():
    """Name, id and sentence of all; without --score nothing is run."""
    status, out, _ = invoke()

    assert status == 0
    for entry in zoo():
        assert entry.name in out
    assert "needs two devices" in out


def test_a_missed_target_is_exit_status_1(monkeypatch, tmp_path):
    """The wrong one that passes is named in the report and in the JSON."""
    entries = (planted(Wrong, "slips_through", "Right"),)
    monkeypatch.setattr(package, "zoo", lambda: entries)
    file = tmp_path / "score.json"
    status, out, err = invoke("--score", "--json", str(file))

    assert status == 1
    assert "missed: slips_through" in out
    assert "[1/1] slips_through (wrong) passes" in err
    assert json.loads(file.read_text())["missed"] == ["slips_through"]


def test_a_met_target_is_exit_status_0():
    """A mask that is dropped is caught and named."""
    status, out, _ = invoke("--score", "--only", "mask_discarded")

    assert status == 0, out
    assert "T5" in out
    assert "all targets are met" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--only", "clockwize"), "did you mean 'clockwise'"),
        (("--json", "x.json"), "give it with --score"),
        (("--score", "--only", "clockwise", "--json", "/nowhere/x.json"), "cannot write"),
    ],
)
def test_what_cannot_be_used_is_one_line(arguments, message):
    """A name that is not there, a file that cannot be written."""
    done = CliRunner().invoke(zoo_command, arguments)

    assert done.exit_code == 2
    assert message in done.stderr
