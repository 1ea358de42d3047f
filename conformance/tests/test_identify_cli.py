"""The command `ropespec identify`, run as a click command."""

import io
import json

import pytest
from click.testing import CliRunner
from rich.console import Console

from ropespec.conformance.cli.identify import identify_command
from ropespec.conformance.cli.status import UNUSABLE
from ropespec.conformance.identify import Name, identify
from ropespec.conformance.profile import Profile
from ropespec.conformance.report.identification import print_identification
from ropespec.conformance.subject.session import Session, load

HALF = "ropespec.conformance.zoo.styles:bhsd_order"


def joined(text):
    """Return a text without its line breaks."""
    return " ".join(text.split())


def invoke(*words):
    """Run the command."""
    return CliRunner().invoke(identify_command, list(words))


def test_it_prints_the_facts_and_the_line_to_run():
    """One sentence first, then the command that checks it, then the facts in groups."""
    done = invoke(HALF, "--try-axes")
    order = [
        f"{HALF}: half-split (NeoX/Llama), base 10000, all of head_dim, positions as given, float",
        f"  ropespec check {HALF} --half --axes bhsd\n",
        "\nWhat is rotated\n",
        "  Components i and i+d/2 are rotated together.\n",
        "\nBy which angles\n",
        "\nHow it is called\n",
        "  x is (batch, heads, sequence, head_dim).\n",
    ]
    places = [joined(done.output).find(joined(part)) for part in order]

    assert done.exit_code == 0, done.output
    assert places[0] == 0
    assert -1 not in places
    assert places == sorted(places)
    assert "Diagnosis" not in done.output
    assert "%" not in done.output


def test_what_was_stated_stays_in_the_line_to_run():
    """dtypes and a limit that were given are given again."""
    stated = ("--dtype", "float32", "--dtype", "float16", "--max-position", "4095")
    done = invoke(HALF, "--axes", "bhsd", *stated)

    words = "--half --axes bhsd --dtype float32 --dtype float16 --max-position 4095"
    assert f"ropespec check {HALF} {words} What is rotated" in joined(done.output)


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
    assert "the first 8 components" in done.output.partition("\n\n")[0]
    assert ":apply --interleaved --rotary-dim 8" in joined(done.output)


BY_KEYWORD = """
from ropespec import reference

PROFILE = {"layouts": [True, False]}


def both(x, positions, *, interleaved):
    return reference.apply_rotary(x, positions, interleaved=interleaved)


def inverted(x, positions, *, interleaved):
    return both(x, positions, interleaved=not interleaved)


def ignored(x, positions, *, interleaved):
    return both(x, positions, interleaved=True)


def only(x, positions, *, interleaved):
    if not interleaved:
        raise NotImplementedError
    return both(x, positions, interleaved=True)
"""
WOVEN = "interleaved (GPT-J/Meta)"
HALVED = "half-split (NeoX/Llama)"


@pytest.mark.parametrize(
    ("name", "pairing", "options"),
    [
        (
            "both",
            f"{WOVEN} with interleaved=True and {HALVED} with interleaved=False",
            "--interleaved --half",
        ),
        (
            "inverted",
            f"{HALVED} with interleaved=True and {WOVEN} with interleaved=False",
            "--half",
        ),
        ("ignored", WOVEN, "--interleaved"),
        ("only", WOVEN, "--interleaved"),
    ],
)
@pytest.mark.parametrize("is_claimed", [True, False])
def test_a_function_that_pairs_by_keyword_is_said_to(name, pairing, options, is_claimed, tmp_path):
    """Both layouts are told if both were seen, and claimed if each is the one it should be."""
    file = tmp_path / "by_keyword.py"
    file.write_text(BY_KEYWORD if is_claimed else BY_KEYWORD.replace("PROFILE", "OTHER"))
    done = invoke(f"{file}:{name}", "--dtype", "float32")
    said = "With interleaved=True these are "

    assert done.exit_code == 0, done.output
    assert joined(done.output).startswith(joined(f"{file}:{name}: {pairing}, base 10000"))
    assert f":{name} {options} " in joined(done.output).partition("What is rotated")[0]
    assert (said in done.output) == (name in ("both", "inverted"))


def test_a_mistake_is_named_and_written_as_json(tmp_path):
    """What no convention explains is named, without a line to run; the document has it all."""
    file = tmp_path / "found.json"
    done = invoke("ropespec.conformance.zoo.layout:lost_sine", "--json", str(file))
    content = json.loads(file.read_text(encoding="utf-8"))

    assert "D13 sine lost" in done.output
    assert content["diagnosis"][0]["id"] == "D13"
    assert {"name", "value", "sentence"} == set(content["facts"][0])
    assert content["headline"].startswith("no convention that is known")
    assert content["command"] == ""
    assert "ropespec check" not in done.output


RAISES = """
def apply(x, positions):
    raise ValueError("operands could not be broadcast together")
"""


def test_of_a_function_that_only_raises_nothing_is_stated(tmp_path):
    """No fact, no command, no diagnosis: one sentence with what it raises."""
    (tmp_path / "raises.py").write_text(RAISES, encoding="utf-8")
    target = f"{tmp_path}/raises.py:apply"
    with Session(load(target), Profile(layouts=(True,))) as session:
        found = identify(session)
    stream = io.StringIO()
    print_identification(Console(file=stream, width=300), found, ())

    assert [fact.name for fact in found.told] == [Name.ANSWER]
    assert found.command() == ""
    assert [fact["name"] for fact in found.as_dict()["facts"]] == ["answer"]
    assert stream.getvalue().endswith(
        ": nothing could be found out: it raises ValueError: operands could not be broadcast "
        "together\n"
    )


@pytest.mark.parametrize("target", ["no_such_module:f", "nonsense"])
def test_an_unusable_target_says_so(target):
    """Status 2 and one line."""
    done = invoke(target)

    assert done.exit_code == UNUSABLE
