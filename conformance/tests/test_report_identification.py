"""What was identified, in one sentence and in plain ones."""

import io

import pytest
from rich.console import Console

from ropespec.conformance.identify.facts import (
    Block,
    Fact,
    Identification,
    Name,
    Pairing,
    Source,
)
from ropespec.conformance.identify.sentences import sentence
from ropespec.conformance.report.identification import headline, print_identification
from ropespec.conformance.results import Diagnosis

USUAL = {
    Name.ANSWER: "values",
    Name.PAIRING: Pairing.HALF,
    Name.BLOCK: Block.ROTATION,
    Name.DIRECTION: "counter-clockwise",
    Name.ROTARY_DIM: 64,
    Name.ROTATED_END: "all",
    Name.ROTARY_RULE: "all",
    Name.BASE: 10000.0,
    Name.EXPONENT: "2i/rotary_dim",
    Name.SCHEME: "unscaled",
    Name.POSITION_SCALE: 1.0,
    Name.POSITION_OFFSET: 0.0,
    Name.ROWS: Source.OWN,
    Name.TOKENS: Source.OWN,
    Name.PRECISION: (("float32", "float32-angles"),),
}


def found(changes=None, certainty=0.95):
    """Return facts, as they are or changed; None takes one away."""
    values = {**USUAL, **(changes or {})}
    facts = tuple(
        Fact(name, values[name], certainty, sentence(name, values[name], values))
        for name in Name
        if values.get(name) is not None
    )
    return Identification("my.py:f", facts, 10, 1.0)


def printed(identification, mistakes=(), width=100):
    """Return what is printed."""
    stream = io.StringIO()
    print_identification(Console(file=stream, width=width), identification, mistakes)
    return stream.getvalue()


AS_USUAL = "all of head_dim, positions as given, float32-angles"
HALF = "half-split (NeoX/Llama)"
IGNORED = "the positions given are ignored; tokens are counted from 0"
NO_MINUS = "but no rotation: each pair is multiplied by [[c, s], [s, c]]: a minus is missing"
UNKNOWN = "precision not found"


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, f"{HALF}, base 10000, {AS_USUAL}"),
        (
            {Name.PAIRING: Pairing.INTERLEAVED, Name.BASE: 500000.0, Name.DIRECTION: "clockwise"},
            f"interleaved (GPT-J/Meta), clockwise, base 500000, {AS_USUAL}",
        ),
        (
            {Name.ROTARY_RULE: "fixed", Name.ROTARY_DIM: 32, Name.ROTATED_END: "first"},
            f"{HALF}, base 10000, the first 32 components, positions as given, float32-angles",
        ),
        (
            {Name.SCHEME: "YaRN, factor 8 of base 10000"},
            f"{HALF}, frequencies scaled: YaRN, factor 8 of base 10000, {AS_USUAL}",
        ),
        (
            {Name.POSITION_OFFSET: 1.0, Name.POSITION_SCALE: 0.5},
            f"{HALF}, base 10000, all of head_dim, positions times 0.5 plus 1, float32-angles",
        ),
        (
            {Name.TOKENS: Source.COUNTED, Name.PRECISION: (("float32", "none"),)},
            f"{HALF}, base 10000, all of head_dim, {IGNORED}, no precision class",
        ),
        (
            {Name.BLOCK: Block.LOST_MINUS, Name.BASE: None, Name.PRECISION: None},
            f"{HALF}, {NO_MINUS}, base not found, all of head_dim, positions as given, {UNKNOWN}",
        ),
        (
            {Name.PAIRING: Pairing.NONE},
            "no convention that is known: no two components are rotated together",
        ),
        (
            {Name.PAIRING: None, Name.ANSWER: "no array: NoneType"},
            "nothing could be found out: it answers with no array: NoneType",
        ),
    ],
)
def test_the_first_line_answers_the_question_people_have(changes, line):
    """Pairing, base, width, positions and precision; or what could not be found."""
    identification = found(changes)

    assert headline(identification) == line
    assert " ".join(printed(identification).split()).startswith(f"my.py:f: {line}")


def test_the_report_has_all_facts_in_groups():
    """The line to run comes before them, and mistakes before it, without percentages."""
    mistake = Diagnosis("F1", "wrong base", "Pass the base on.")
    text = printed(found(), (mistake,))
    order = ["Diagnosis: F1 wrong base. Pass", "ropespec check my.py:f --half", "What is rotated"]

    assert [text.find(part) for part in order] == sorted(text.find(part) for part in order)
    assert all(fact.sentence in " ".join(text.split()) for fact in found())
    assert "%" not in text


def test_what_is_not_sure_is_said_to_be_likely():
    """And nothing else is."""
    assert "likely: Components i and i+d/2" in printed(found(certainty=0.6))
    assert "likely" not in printed(found())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "--half"),
        ({Name.LARGEST: ("raises", 4095)}, "--half --max-position 4095"),
        ({Name.LARGEST: ("clamped", 4096)}, "--half --max-position 4095"),
        ({Name.LARGEST: ("right", 131071)}, "--half"),
        ({Name.NEGATIVE: "raises"}, "--half --no-negative-positions"),
        ({Name.POSITIONS: "(S,)", Name.AXES: "sbhd"}, "--half --axes sbhd --shared-positions"),
        (
            {Name.BASE: 5e5, Name.ROTARY_RULE: "share", Name.HEAD_DIM: 64},
            "--half --base 500000 --rotary-dim 64 --head-dim 64",
        ),
    ],
)
def test_the_command_keeps_all_that_can_be_claimed(changes, words):
    """Options that differ from the default, and no others."""
    assert found(changes).command() == f"ropespec check my.py:f {words}"


@pytest.mark.parametrize("pairing", [None, Pairing.NONE, Pairing.OTHER, Pairing.CROSSING_HEADS])
def test_without_a_pairing_there_is_no_command(pairing):
    """It would claim one that was not found."""
    assert found({Name.PAIRING: pairing}).command() == ""


SAID = {
    Name.AXES_TRIED: (("bshd",), ("bshd", "shd")),
    Name.POSITIONS: ("(B, S)", "(S,)"),
    Name.LAYOUTS: ((Pairing.INTERLEAVED, Pairing.HALF),),
    Name.ROTATED_END: ("all", "first", "middle", "last"),
    Name.TAIL: ("none", "kept", "zeroed", "scaled"),
    Name.ROTARY_RULE: ("all", "fixed", "share"),
    Name.HISTORY: ("none", "rotated again", "offset grows", "length of the tokens", "width 64"),
    Name.NEGATIVE: ("right", "clamped", "absolute", "raises", "zeroed", "other"),
    Name.STRIDES: ("any", "raises", "contiguous only"),
    Name.LINEAR: ("yes", "rounded", "normalised", "clipped", "no"),
    Name.CONTAINMENT: ("stays", "spreads", "raises"),
    Name.EMPTY: ("works", "batch, heads"),
    Name.GRADIENT: ("right", "wrong", "zero", "raises", "something new"),
    Name.HEADS: ("alike", "differ"),
    Name.REACH: ("own token", "other heads"),
    Name.GAIN: (1.0, 1.1386, "varies", "power of the position"),
    Name.PATHS: ((), (("S=1", "all", "other"),), (("H=1", "all", "raises"),)),
    Name.ANSWER: ("values", "raises ValueError: no", "no array: int"),
    Name.ANGLES: (("exact", ""), ("positions", "bfloat16"), ("angles", "float16", "bfloat16")),
    Name.ARITHMETIC: ((), (("float32", "bfloat16"),)),
    Name.PRECISION: ((("float32", "float64-angles"), ("bfloat16", "none")),),
    Name.FLAGS: ((), (("base", "always"),)),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in SAID.items() for value in values]
)
def test_a_fact_is_a_sentence_and_no_label(name, value):
    """It ends with a full stop, and is not a label, a colon and the value."""
    said = sentence(name, value, {})

    assert said.endswith(".")
    if isinstance(value, str) and " " not in value:
        assert not said.endswith(f": {value}.")
