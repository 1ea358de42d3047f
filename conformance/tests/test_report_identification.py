"""What was identified, in one sentence and in plain ones."""

import io

import pytest
from rich.console import Console

from ropespec.conformance.identify.facts import Fact, Identification, Name, Pairing
from ropespec.conformance.identify.found import Explained, Found
from ropespec.conformance.identify.sentences import sentence
from ropespec.conformance.mistakes.ends import LIMITED
from ropespec.conformance.report.identification import headline, print_identification
from ropespec.conformance.results import Diagnosis
from ropespec.spec.convention import Convention, Frequencies
from ropespec.spec.convention import Pairing as Claimed

USUAL = {
    Name.ANSWER: "values",
    Name.PAIRING: Pairing.HALF,
    Name.ROTATION: True,
    Name.DIRECTION: "counter-clockwise",
    Name.ROTARY_DIM: 64,
    Name.ROTATED_END: "all",
    Name.ROTARY_RULE: "all",
    Name.BASE: 10000.0,
    Name.SCHEME: "unscaled",
    Name.HEAD_DIM: (64, 32),
    Name.POSITION_OFFSET: 0.0,
    Name.PRECISION: (("float32", "float32-angles"),),
}


WHOLE = Explained(4096, 4096, 12)
PART = Explained(4000, 4096, 12, 3)


def found(changes=None, explained=WHOLE, rotary_dim=None):
    """Return facts, as they are or changed; None takes one away."""
    values = {**USUAL, **(changes or {})}
    facts = tuple(
        Fact(name, values[name], sentence(name, values[name]))
        for name in Name
        if values.get(name) is not None
    )
    of = Frequencies(values[Name.BASE] or 10000.0)
    by = Found(Convention(Claimed.HALF, of, rotary_dim))
    return Identification("my.py:f", facts, 10, 1.0, found=by, explained=explained)


def printed(identification, mistakes=(), width=100):
    """Return what is printed."""
    stream = io.StringIO()
    print_identification(Console(file=stream, width=width), identification, mistakes)
    return stream.getvalue()


AS_USUAL = "all of head_dim, positions as given, float32-angles"
HALF = "half-split (NeoX/Llama)"
NO_ROTATION = "but the matrix of a pair is no rotation"


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
            {Name.SCHEME: "scaling yarn (factor 8)"},
            f"{HALF}, base 10000, scaling yarn (factor 8), {AS_USUAL}",
        ),
        (
            {Name.BESIDE: ("pairs rotate clockwise",), Name.PRECISION: None},
            f"{HALF}, base 10000, pairs rotate clockwise, all of head_dim",
        ),
        (
            {Name.ROTATION: False, Name.BASE: None, Name.PRECISION: None},
            f"{HALF}, {NO_ROTATION}, base not found, all of head_dim, positions as given",
        ),
        (
            {Name.PRECISION: (("float32", "none"),)},
            f"{HALF}, base 10000, all of head_dim, positions as given, no precision class",
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


def test_what_was_run_beside_it_is_counted():
    """What explains everything is said to, and what does not is said to be unconfirmed."""
    told = "explains 4,000 of 4,096 components of 12 fresh calls; 3 more gave no numbers"

    assert str(WHOLE) == "explains 4,096 of 4,096 components of 12 fresh calls"
    assert headline(found(explained=PART)).endswith(f"float32-angles, not confirmed: it {told}")
    assert "not confirmed" not in headline(found())
    assert "likely" not in printed(found(explained=PART))


@pytest.mark.parametrize(
    "explained", [Explained(0, 0, 0), Explained(9, 10, 1), Explained(10, 10, 1, 1)]
)
def test_what_is_not_whole_confirms_nothing(explained):
    """No call, a component that is not explained, or a call without numbers."""
    assert not explained.is_whole
    assert not found(explained=explained).confirmed


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "--half"),
        ({Name.LARGEST: ("raises", 4095)}, "--half --max-position 4095"),
        ({Name.LARGEST: ("clamped", 4096)}, "--half --max-position 4095"),
        ({Name.LARGEST: ("right", 131071)}, "--half"),
        ({Name.NEGATIVE: "raises"}, "--half --no-negative-positions"),
        ({Name.POSITIONS: "(S,)", Name.AXES: "sbhd"}, "--half --axes sbhd --shared-positions"),
        ({Name.BASE: 5e5, Name.HEAD_DIM: (64,)}, "--half --base 500000 --head-dim 64"),
    ],
)
def test_the_command_keeps_all_that_can_be_claimed(changes, words):
    """Options that differ from the default, and no others."""
    assert found(changes).command() == f"ropespec check my.py:f {words}"


def test_the_command_has_the_head_dim_of_what_rotates_in_part():
    """How many components rotate at another is another question."""
    partial = found({Name.ROTARY_RULE: "share"}, rotary_dim=16)

    assert partial.command() == "ropespec check my.py:f --half --rotary-dim 16 --head-dim 64"


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
    Name.ROTARY_RULE: ("all", "fixed", "share", "alone", "still"),
    Name.NEGATIVE: ("right", "clamped", "absolute", "raises", "zeroed", "other"),
    Name.LARGEST: tuple((kind, 99) for kind in ("right", "raises", "filled", "wrong", *LIMITED)),
    Name.STRIDES: ("any", "raises", "contiguous only"),
    Name.LINEAR: ("yes", "normalised", "no"),
    Name.CONTAINMENT: ("stays", "spreads", "raises"),
    Name.EMPTY: ("works", "batch, heads"),
    Name.GRADIENT: ("right", "wrong", "zero", "raises", "none", "complex"),
    Name.REACH: ("own token", "other heads"),
    Name.GAIN: (1.0, 1.1386, None),
    Name.BESIDE: (("pairs rotate clockwise",),),
    Name.CONFIRMED: (str(PART),),
    Name.ANSWER: ("values", "raises ValueError: no", "no array: int"),
    Name.PRECISION: ((("float32", "float64-angles"), ("bfloat16", "none")),),
    Name.FLAGS: ((), (("base", "always"),)),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in SAID.items() for value in values]
)
def test_a_fact_is_a_sentence_and_no_label(name, value):
    """It ends with a full stop, and is not a label, a colon and the value."""
    said = sentence(name, value)

    assert said.endswith(".")
    if isinstance(value, str) and " " not in value:
        assert not said.endswith(f": {value}.")
