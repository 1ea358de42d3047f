"""The tables of the chapter `errata` are computed again, and tell printed from right (P-45)."""

import re

import numpy as np
import pytest

from ropespec.reference.errata import FORMS, PRINTED, printed, recomputed, right
from ropespec.spec.api import FUNCTIONS
from ropespec.spec.clauses import chapter_text
from ropespec.spec.errata import KINDS, errata

ROWS = [(id_, row) for id_, one in errata().items() for row in one.numbers]
SIGN = ("E-04", "E-21", "E-40", "E-41", "E-68")


@pytest.mark.parametrize(("id_", "row"), ROWS, ids=[f"{id_} {row.data}" for id_, row in ROWS])
def test_numbers_are_recomputed(id_, row):
    """The cells are what the two forms give, digit for digit, and the two differ."""
    assert recomputed(id_, row.data) == (row.printed, row.right)
    assert row.printed != row.right


def test_every_erratum_is_listed_once_and_computed_or_excused():
    """E-01 to E-71 have a section each; those with numbers are the ones with forms."""
    assert sorted(errata()) == [f"E-{number:02d}" for number in range(1, 72)]
    assert set(FORMS) == {id_ for id_, one in errata().items() if one.numbers}


def test_what_gives_wrong_results_comes_first():
    """The signs lead, then the rest of MATH and CODE, then SCOPE, LOST and NOTE, by number."""
    order = list(errata())
    rank = {kind: max(0, KINDS.index(kind) - 1) for kind in KINDS}
    rest = [id_ for id_ in order if id_ not in SIGN]

    assert tuple(order[:5]) == SIGN
    assert rest == sorted(rest, key=lambda id_: (rank[errata()[id_].kind], id_))


def test_every_changed_number_shows_in_a_function_or_has_a_reason_not_to():
    """A form has the signature of an API function, or its section says why none shows it."""
    shown = {id_ for forms in PRINTED.values() for id_ in forms}
    excused = {id_ for id_, one in errata().items() if one.in_no_function}

    assert shown | excused == set(FORMS)
    assert shown & excused == set()
    assert set(PRINTED) <= {name for names in FUNCTIONS.values() for name in names}


def test_the_list_of_the_documents_says_the_same():
    """Class and documents of every erratum are those of the chapter `documents`."""
    row = re.compile(r"^\| (E-\d\d) \| ([\d/]+) \| (\w+) \|", re.MULTILINE)
    rows = row.findall(chapter_text("documents"))
    listed = {id_: (kind, tuple(where.split("/"))) for id_, where, kind in rows}
    own = {
        id_: (one.kind, tuple(dict.fromkeys(place.document for place in one.places)))
        for id_, one in errata().items()
    }

    assert own == listed


def test_printed_and_right_take_the_symbols_of_the_table():
    """Tuples become arrays; on other data than those of the table the forms differ too."""
    data = {"q": (3, 1), "k": (2, 5), "m": -2, "n": 4}
    q, k = np.array([3.0, 1.0]), np.array([2.0, 5.0])
    by_hand = [
        float(q @ np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) @ k)
        for a in (-2.0 - 4.0, 4.0 - -2.0)
    ]

    assert [float(f("E-04", **data)) for f in (printed, right)] == pytest.approx(by_hand, rel=1e-15)


@pytest.mark.parametrize("id_", ["E-04", "E-21", "E-40", "E-41"])
def test_the_sign_on_the_standard_data(id_):
    """q = (1, 0), k = (0, 1), m = 1, n = 0: as printed -sin 1, right sin 1 (P-14)."""
    data = {"q": (1, 0), "k": (0, 1), "m": 1, "n": 0}

    assert float(printed(id_, **data)) == pytest.approx(-np.sin(1.0), rel=1e-15)
    assert float(right(id_, **data)) == pytest.approx(np.sin(1.0), rel=1e-15)
