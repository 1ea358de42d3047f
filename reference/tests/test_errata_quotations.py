"""The quotations of the chapter `errata` are the print, and what they show can be seen in them."""

import ast
import os
import re
from pathlib import Path

import numpy as np
import pytest

from ropespec.reference.published import quarter_turn
from ropespec.spec.clauses import chapter_text
from ropespec.spec.errata import errata
from spec_reading.chapter_errata import places_problems

QUOTED = [(id_, one) for id_, erratum in errata().items() for one in erratum.quotations]


def document(number):
    """Read the lines of a document, or skip."""
    if (folder := os.environ.get("ROPESPEC_DOCUMENTS")) is None:
        pytest.skip("ROPESPEC_DOCUMENTS does not name the folder of the five documents")
    (file,) = Path(folder).glob(f"{number}_*.txt")
    return file.read_text(encoding="utf-8").split("\n")


def squeezed(text):
    """Leave out white space."""
    return "".join(text.split())


@pytest.mark.parametrize(
    ("id_", "quotation"),
    QUOTED,
    ids=[
        f"{id_} {one.place.document} L{one.place.first} {i}" for i, (id_, one) in enumerate(QUOTED)
    ],
)
def test_quotation_is_in_the_print(id_, quotation):
    """What is quoted stands in the line that it names, to the letter but for white space."""
    place = quotation.place
    lines = document(place.document)[place.first - 1 : place.last]

    assert squeezed(quotation.text) in squeezed("".join(lines)), id_


def test_quotations_stand_where_the_erratum_and_its_formulas_stand():
    """Every erratum is quoted, from lines that it names; these are lines of its formulas."""
    assert places_problems(chapter_text("errata")) == []


def test_a_wrong_line_is_noticed():
    """A quotation from another line, and an erratum on one, are both problems."""
    text = chapter_text("errata")

    assert places_problems(text.replace("Printed in 000 L17:", "Printed in 000 L18:"))
    assert places_problems(text.replace("MATH, document 000 L17 (", "MATH, document 000 L18 ("))
    assert places_problems(text.replace("SCOPE, document 004 L477, ", "SCOPE, document 004 L478, "))


def texts(id_):
    """Return what is quoted of an erratum."""
    return [one.text for one in errata()[id_].quotations]


def numbers(text):
    """Read the decimals of a text."""
    return [float(x) for x in re.findall(r"-?\d\.\d+", text)]


@pytest.mark.parametrize("text", texts("E-63"))
def test_e63_as_printed_it_is_no_python(text):
    """With its line breaks lost no block can be parsed (E-63)."""
    with pytest.raises(SyntaxError):
        ast.parse(text)


def test_e39_a_bracket_without_partner():
    """In each of the two matrices that are quoted one bracket closes what none opens (E-39)."""
    for text in texts("E-39"):
        bare = re.sub(r"\\left\(|\\right\)", "", text)

        assert bare.count(")") == bare.count("(") + 1
        assert re.search(r"-\\sin m \\theta\)", bare)


def test_e54_an_empty_item():
    """Between the dots and the last cosine of each row stand two commas (E-54)."""
    assert [re.search(r"\.\.\., ,cos", text) is not None for text in texts("E-54")] == [True] * 3


def test_e55_row_0_runs_along_the_wrong_axis():
    """Row 0 is sin 0..3 and cos 0..3: angles of pair 0 at four positions (E-55; F-214)."""
    table = np.array(numbers(texts("E-55")[2])).reshape(3, 8)
    steps = np.arange(4.0)

    np.testing.assert_allclose(
        table[0], [*np.sin(steps), *np.cos(steps)], rtol=0, atol=0.5000001e-4
    )


def test_e55_the_table_is_not_on_the_unit_circle():
    """Read in pairs, as the code reads it, no two entries of row 0 belong to one angle (P-04)."""
    table = np.array(numbers(texts("E-55")[2])).reshape(3, 4, 2)
    squares = (table**2).sum(axis=-1)

    assert np.abs(squares[0] - 1).min() > 0.1
    assert np.abs(squares[1:] - 1).max() > 0.6


def test_e57_the_inputs_are_recovered():
    """The q2 and k2 that are printed follow from the q and k that are not (E-57; F-215, F-216)."""
    q2, k2 = map(numbers, texts("E-57"))
    q, k = np.arange(1, 25).reshape(3, 8) / 10, 0.05 + 0.1 * np.arange(8)

    np.testing.assert_array_equal(quarter_turn(q).ravel(), q2)
    np.testing.assert_allclose(quarter_turn(k), k2, rtol=0, atol=1e-15)
