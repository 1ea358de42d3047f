"""What the README of the suite says of it is so."""

import re
from pathlib import Path

import pytest

from ropespec.conformance import search
from ropespec.conformance.judge.values import POSITIONS, UNLIKE, VALUES
from ropespec.conformance.results import Status
from ropespec.spec import find

FOLDER = Path(__file__).parents[1]
README = (FOLDER / "README.md").read_text(encoding="utf-8")


def test_every_room_is_named_and_exists():
    """The table lists the folders of the package, and no other."""
    package = FOLDER / "ropespec" / "conformance"
    rooms = {item.name for item in package.iterdir() if (item / "__init__.py").is_file()}

    assert (
        set(re.findall(r"^\| \[`\w+`\]\(ropespec/conformance/(\w+)\)", README, re.MULTILINE))
        == rooms
    )


def test_a_check_ends_in_these_ways():
    """The list of endings is the list of statuses."""
    assert re.findall(r"^\* \*\*(\w+)\*\*:", README, re.MULTILINE) == [str(one) for one in Status]


def test_the_numbers_of_cases_are_those_that_are_drawn():
    """24 cases, ten times as many with --full, 10 and 5 for JAX."""
    assert f"Most checks try {search.EXAMPLES} cases" in README
    assert search.FULL == 10
    assert f"a check of the rotation draws {search.EXAMPLES_COMPILED} cases" in README
    assert f"other functions draw {search.EXAMPLES_COMPILED // 2}" in README


def test_the_limits_of_the_search_are_these():
    """Seconds for one check and for all, and cases for what almost any mistake breaks."""
    assert f"{search.SHRINK_SECONDS:g} seconds at most for one check" in README
    assert f"and {search.SHRINK_TOGETHER:g} for all of a job" in README
    assert f"judge {search.SHRINK_CONSEQUENCES} cases for it together" in README


def test_every_pattern_is_described():
    """Each pattern of positions and of values has its words."""
    positions = {
        "arange": "are a run,",
        "ragged": "a run of its own for each row",
        "shuffled": "shuffled",
        "repeated": "repeated",
        "negative": "negative",
        "spread": "spread over all magnitudes",
        "gaps": "with gaps",
        "signs": "of both signs",
        "restarts": "restarting",
        "descending": "descending",
        "ends": "at the ends and powers of two",
        "first runs": "a run in the first row alone",
        "last runs": "or in the last",
    }
    values = {
        "normal": "are normal",
        "ones": "ones",
        "basis": "unit vectors",
        "null": "null probes",
        "heavy": "magnitudes up to 2^60",
        "subnormal": "subnormal",
        "signed_zero": "signed zeros",
        "huge": "as large as a pair may be",
        "special": "infinities and NaN in the tail",
        "padded": "vectors of zeros among the others",
    }

    assert tuple(positions) == (*POSITIONS, *UNLIKE)
    assert tuple(values) == VALUES
    assert all(words in README for words in (*positions.values(), *values.values()))


@pytest.mark.parametrize("clause", sorted(set(re.findall(r"\b[A-Z]{3}-\d+\b", README))))
def test_clauses_that_are_named_exist(clause):
    """Nobody is sent to a clause that is not there."""
    assert find(clause)
