"""The clause index is what the chapters say."""

import re
from pathlib import Path

import pytest

from ropespec.spec import CHAPTERS, FUNCTIONS, PARTS, chapter_text, chapter_title, clauses, find
from ropespec.spec.api import RopeAPI

PREFIXES = {
    "conventions": ("CON",),
    "frequencies": ("FREQ",),
    "sinusoidal": ("SIN",),
    "complex_plane": ("CPLX",),
    "rotation": ("ROT",),
    "projection": ("PROJ",),
    "relative": ("REL",),
    "derivation": ("DER",),
    "attention": ("ATT",),
    "parallelism": ("PAR",),
    "decay": ("DEC",),
    "published": ("PUB",),
    "errata": ("ERR",),
    "disagreements": ("DIS",),
    "names": ("NAME",),
    "weights": ("WGT",),
    "scaling": ("SCAL",),
    "axes": ("AXES",),
    "contract": ("ROT", "API"),
    "judging": ("JDG",),
}
CHANGES = (Path(__file__).parents[1] / "CHANGES.md").read_text(encoding="utf-8")
RETIRED = set(re.findall(r"\b[A-Z]+-\d+\b", " ".join(re.findall(r"Given up:.*", CHANGES))))
"""Ids whose clauses are gone; they are never given to another."""


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_has_a_title_and_clauses_in_order(chapter):
    """A chapter's clauses have its prefixes, and their numbers rise."""
    ids = [clause.id for clause in clauses().values() if clause.chapter == chapter]

    assert chapter_title(chapter)
    assert ids
    assert {id_.partition("-")[0] for id_ in ids} == set(PREFIXES[chapter])
    for prefix in PREFIXES[chapter]:
        numbers = [int(id_.rpartition("-")[2]) for id_ in ids if id_.startswith(f"{prefix}-")]
        assert numbers == sorted(numbers)


def test_no_number_is_missing_and_none_is_given_twice():
    """An id stays what it is: a clause that moves keeps it, one that goes takes it along."""
    known = set(clauses())
    for prefix in {prefix for some in PREFIXES.values() for prefix in some}:
        own = {id_ for id_ in known | RETIRED if id_.startswith(f"{prefix}-")}
        assert own == {f"{prefix}-{n}" for n in range(1, len(own) + 1)}
    assert known.isdisjoint(RETIRED)


def test_the_parts_are_the_chapters():
    """What RoPE is, what an implementation promises, when it is right: each chapter once."""
    assert tuple(PARTS) == ("RoPE", "The API", "Judging")
    assert tuple(chapter for part in PARTS.values() for chapter in part) == CHAPTERS
    assert len(set(CHAPTERS)) == len(CHAPTERS)


@pytest.mark.parametrize("clause", clauses().values(), ids=lambda clause: clause.id)
def test_every_clause_has_a_rule_sources_and_a_function_or_a_reason(clause):
    """A clause says one thing, where it comes from and what implements it."""
    assert clause.rule.endswith("."), "a rule is a sentence"
    assert "Sources" in clause.fields
    assert clause.functions or clause.not_checked


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_second_level_heading_is_missed(chapter):
    """The parser sees every heading that is meant as a clause."""
    headings = re.findall(r"^## ([A-Z]+-\d+)", chapter_text(chapter), re.MULTILINE)

    assert headings == [clause.id for clause in clauses().values() if clause.chapter == chapter]


def test_find_ignores_case_and_knows_its_limits():
    """A clause is found in either case; what does not exist is None."""
    assert find("rot-6") is clauses()["ROT-6"]
    assert find("ROT-99") is None


def test_continued_fields_are_joined():
    """A field continued on an indented line is one value, and its ids are read."""
    wide = [clause for clause in clauses().values() if len(clause.documents) > 8]

    assert wide, "some clause answers for many formulas"
    assert all("\n" not in value for clause in wide for value in clause.fields.values())


def test_the_protocol_has_exactly_the_listed_functions():
    """FUNCTIONS and RopeAPI name the same functions."""
    listed = {name for names in FUNCTIONS.values() for name in names}
    declared = {name for name in dir(RopeAPI) if not name.startswith("_")}

    assert declared == listed
