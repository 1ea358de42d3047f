"""The command `ropespec identify`, run as a click command."""

import json

import pytest
from click.testing import CliRunner

from ropespec.conformance.cli.identify import identify_command
from ropespec.conformance.cli.status import UNUSABLE

HALF = "ropespec.conformance.zoo.styles:bhsd_order"


def invoke(*words):
    """Run the command."""
    return CliRunner().invoke(identify_command, list(words))


def test_it_prints_the_facts_and_the_line_to_run():
    """A table of facts, no mistake, and the command that checks it."""
    done = invoke(HALF)

    assert done.exit_code == 0, done.output
    assert "Components i and i+d/2 turn together." in done.output
    assert done.output.rstrip().endswith(f"ropespec check {HALF} --half --axes bhsd")
    assert "differs" not in done.output


def test_what_was_stated_stays_in_the_line_to_run():
    """dtypes and a limit that were given are given again."""
    done = invoke(HALF, "--dtype", "float32", "--dtype", "float16", "--max-position", "4095")

    line = done.output.rstrip().splitlines()[-1]
    assert line.endswith("--half --axes bhsd --dtype float32 --dtype float16 --max-position 4095")


def test_a_rotary_dim_of_its_own_is_found(tmp_path):
    """A function whose rotary_dim is 8 unless it is told otherwise is not told None."""
    file = tmp_path / "own.py"
    file.write_text(
        "from ropespec import reference\n"
        "def apply(x, positions, rotary_dim=8):\n"
        "    return reference.apply_rotary(\n"
        "        x, positions, interleaved=True, rotary_dim=rotary_dim + 0\n"
        "    )\n"
    )
    done = invoke(f"{file}:apply")

    assert done.exit_code == 0, done.output
    assert "--interleaved --rotary-dim 8" in done.output.rstrip().splitlines()[-1]


def test_a_mistake_is_named_and_written_as_json(tmp_path):
    """What no convention explains is named; the document holds facts and diagnosis."""
    file = tmp_path / "found.json"
    done = invoke("ropespec.conformance.zoo.layout:lost_sine", "--json", str(file))
    content = json.loads(file.read_text(encoding="utf-8"))

    assert "D13 sine lost" in done.output
    assert content["diagnosis"][0]["id"] == "D13"
    assert {"name", "value", "certainty", "sentence"} == set(content["facts"][0])
    assert content["command"].startswith("ropespec check")


@pytest.mark.parametrize("target", ["no_such_module:f", "nonsense"])
def test_an_unusable_target_says_so(target):
    """Status 2 and one line."""
    done = invoke(target)

    assert done.exit_code == UNUSABLE
