import importlib
import re
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import pytest

from ropespec.conformance.named import ids_in
from ropespec.conformance.registry import all_checks
from ropespec.conformance.traceability import (
    Entry,
    Links,
    Traced,
    entries,
    holes,
    trace,
    trace_of,
)
from ropespec.conformance.zoo import zoo
from ropespec.spec.clauses import Clause


@dataclass(frozen=True)
class FakeCheck:
    """What the map reads of a check."""

    id: str
    clause: str
    names: tuple[str, ...] = ()
    general: bool = False


def clause(id_, **fields):
    """Return a clause with these fields."""
    names = {name.replace("_", " ").capitalize(): value for name, value in fields.items()}
    return Clause(id_, f"Title of {id_}", "rotation", "A rule.", "Text.", MappingProxyType(names))


LISTED = {
    "F-001": Entry("F-001", "Frequency", "000 L55"),
    "F-002": Entry("F-002", "Series", "000 L9", unchecked="no function shows it"),
    "F-163": Entry("F-163", "Background", "000 L1", "background"),
    "E-04": Entry("E-04", "Wrong sign", "000"),
    "P-10": Entry("P-10", "Position 0", "000 L5"),
}
WRITTEN = {
    "ROT-6": clause(
        "ROT-6",
        sources="F-001 (document 000 L55), F-002 (document 000 L9)",
        errata="E-04",
        functions="`rotation.apply_rotary`",
    ),
    "ROT-10": clause("ROT-10", properties="P-10"),
    "ROT-11": clause("ROT-11", not_checked="a definition"),
}
CHECKS = (
    FakeCheck("ROT-6.value", "ROT-6", ("F-001", "E-04")),
    FakeCheck("ROT-10.identity", "ROT-10", ("P-10",), general=True),
)
LINKS = Links(
    {"F-001": ("rotation.f",), "F-002": ("rotation.g",), "E-04": ("errata.E-04",)},
    {"F-001": ("t.py::a",), "F-002": ("t.py::b",), "E-04": ("t.py::c",), "P-10": ("t.py::d",)},
    CHECKS,
    {"ROT-6.value": ("swapped", "reversed")},
)
API = {"rotation": ("apply_rotary",)}


def test_the_specification_has_no_holes():
    """Everything found in the documents, every clause and every function is answered for."""
    assert holes() == ()


def test_the_list_is_complete():
    """The documents hold these formulas, errata and properties, numbered without gaps."""
    expected = (
        [f"F-{number:03d}" for number in range(1, 223)]
        + [f"E-{number:02d}" for number in range(1, 72)]
        + [f"P-{number:02d}" for number in range(1, 50)]
    )

    assert list(entries()) == expected
    assert all(entry.title and entry.where for entry in entries().values())


def test_the_counts_of_the_specification_add_up():
    """Each entry is checked, known to the reference only, or background."""
    for counts in trace().counts().values():
        assert counts["checked"] + counts["reference only"] + counts["background"] == counts["all"]


def test_planted_parts_without_a_hole():
    """The parts that the following tests damage are whole."""
    found = trace_of(LISTED, WRITTEN, LINKS, API)

    assert found.holes == ()
    assert found.counts()["formulas"] == {
        "all": 3,
        "checked": 1,
        "reference only": 1,
        "background": 1,
    }
    assert found.traced["F-001"] == Traced(
        LISTED["F-001"],
        ("ROT-6",),
        ("rotation.f",),
        ("t.py::a",),
        ("ROT-6.value",),
        ("swapped", "reversed"),
        general=False,
    )
    assert found.traced["P-10"].general
    assert [found.traced[id_].reach for id_ in ("F-001", "F-002", "F-163")] == [
        "checked",
        "reference only",
        "background",
    ]


def changed(mapping, **changes):
    """Return a mapping with some values replaced; the keys are written with `_` for `-`."""
    return mapping | {name.replace("_", "-"): value for name, value in changes.items()}


def without(mapping, id_):
    """Return a mapping without one key."""
    return {key: value for key, value in mapping.items() if key != id_}


@pytest.mark.parametrize(
    ("damage", "hole"),
    [
        (
            {
                "written": changed(
                    WRITTEN,
                    ROT_6=clause(
                        "ROT-6",
                        sources="F-002 (document 000 L9)",
                        errata="E-04",
                        functions="`rotation.apply_rotary`",
                    ),
                )
            },
            "F-001 has neither a clause nor a reason: Frequency",
        ),
        (
            {"listed": changed(LISTED, F_001=replace(LISTED["F-001"], reason="none needed"))},
            "F-001 has a clause, ROT-6, and a reason to have none",
        ),
        (
            {"links": replace(LINKS, reference=without(LINKS.reference, "F-001"))},
            "F-001 is named by no docstring of the reference: Frequency",
        ),
        (
            {"links": replace(LINKS, tests=without(LINKS.tests, "P-10"))},
            "P-10 is named by no test: Position 0",
        ),
        (
            {"links": replace(LINKS, checks=(CHECKS[0], replace(CHECKS[1], names=())))},
            "P-10 is named by no check, and nothing says why: Position 0",
        ),
        (
            {"listed": changed(LISTED, F_002=replace(LISTED["F-002"], unchecked=""))},
            "F-002 is named by no check, and nothing says why: Series",
        ),
        (
            {"listed": changed(LISTED, F_001=replace(LISTED["F-001"], unchecked="no use"))},
            "F-001 is checked by ROT-6.value, and a reason says why not",
        ),
        (
            {
                "written": changed(
                    WRITTEN, ROT_11=clause("ROT-11", errata="E-99", not_checked="a definition")
                )
            },
            "ROT-11 names E-99, which is not listed",
        ),
        (
            {"written": changed(WRITTEN, ROT_11=clause("ROT-11"))},
            "ROT-11 has neither a check nor a field `Not checked`: Title of ROT-11",
        ),
        (
            {
                "written": changed(
                    WRITTEN, ROT_10=clause("ROT-10", properties="P-10", not_checked="no")
                )
            },
            "ROT-10 has a check and a field `Not checked`",
        ),
        (
            {"links": replace(LINKS, checks=(*CHECKS, FakeCheck("ROT-99.value", "ROT-99")))},
            "check ROT-99.value belongs to ROT-99, which is no clause",
        ),
        (
            {"links": replace(LINKS, checks=(*CHECKS, FakeCheck("ROT-6.b", "ROT-6", ("P-99",))))},
            "check ROT-6.b names P-99, which is not listed",
        ),
        (
            {
                "written": changed(
                    WRITTEN,
                    ROT_11=clause("ROT-11", functions="`rotation.no_such`", not_checked="no"),
                )
            },
            "ROT-11 names `rotation.no_such`, which is not in ropespec.reference",
        ),
        (
            {
                "written": changed(
                    WRITTEN, ROT_11=clause("ROT-11", functions="`no_such.f`", not_checked="no")
                )
            },
            "ROT-11 names `no_such.f`, which is not in ropespec.reference",
        ),
        (
            {"api": {"rotation": ("apply_rotary", "rotation_matrix")}},
            "the API function rotation.rotation_matrix is in no clause's Functions",
        ),
    ],
)
def test_each_kind_of_hole_is_found(damage, hole):
    """One thing is taken away or added at a time; the map names it and nothing else."""
    whole = {"listed": LISTED, "written": WRITTEN, "links": LINKS, "api": API}

    assert trace_of(**(whole | damage)).holes == (hole,)


def test_an_id_has_the_links_that_name_it_and_no_others():
    """Another check of the same clause is not credited with an id it does not name."""
    checks = (*CHECKS, FakeCheck("ROT-10.other", "ROT-10"))
    found = trace_of(LISTED, WRITTEN, replace(LINKS, checks=checks), API)

    assert found.traced["P-10"].checks == ("ROT-10.identity",)
    assert found.traced["P-10"].wrong == ()


def test_reasons_not_to_be_checked_are_read_for_groups_of_ids():
    """One row gives one reason to several ids, ranges included; another table is left alone."""
    text = (
        "| id | entry | where | no clause because |\n|---|---|---|---|\n"
        "| F-001 | a | L1 | |\n| F-002 | b | L2 | |\n| F-003 | c | L3 | |\n\n"
        "| ids | not checked because |\n|---|---|\n| F-001 to F-002 | a remark |\n\n"
        "| ids | other |\n|---|---|\n| F-003 | no reason |\n"
    )

    assert [entry.unchecked for entry in entries(text).values()] == ["a remark", "a remark", ""]


def test_every_link_of_the_map_is_in_the_code():
    """Functions and tests exist, and their text names the id they are linked with."""
    root = Path(__file__).parents[2]
    known = {check.id for check in all_checks()} | {animal.name for animal in zoo()}
    for id_, item in trace().traced.items():
        for name in item.functions:
            module, _, function = name.rpartition(".")
            found = getattr(importlib.import_module(f"ropespec.reference.{module}"), function)
            assert found.__doc__, name
        for test in item.tests:
            file, _, function = test.partition("::")
            assert f"def {function}(" in (root / file).read_text(encoding="utf-8"), (id_, test)
        assert set(item.checks) | set(item.wrong) <= known, id_


def test_an_erratum_and_a_formula_have_document_and_line():
    """The lines of an erratum are those of its section."""
    listed = entries()

    assert listed["E-04"].where == "000 L15"
    assert listed["E-66"].where.startswith("001 L125; 004 L")
    for id_, entry in listed.items():
        assert (
            re.search(r"\b00\d L\d", entry.where) or id_[0] == "P" or "not printed" in entry.where
        )


def test_ids_are_read_with_their_ranges():
    """Both ways of writing a range stand for all ids in it."""
    assert ids_in("F-206 to F-208, F-139..F-140 and E-04") == (
        "F-206",
        "F-208",
        "F-139",
        "F-140",
        "E-04",
        "F-207",
    )


def test_rows_are_read_with_their_escaped_bars():
    """A bar inside a cell is no column."""
    header = "| id | entry | where | no clause because |\n|---|---|---|---|\n"
    text = header + "| F-001 | \\|z\\| | L1 | |\n"

    assert entries(text)["F-001"] == Entry("F-001", "|z|", "L1", "")


def test_an_entry_listed_twice_is_refused():
    """Two rows of one id would hide each other."""
    text = "| id | statement | source |\n| P-01 | a | b |\n| P-01 | c | d |\n"

    with pytest.raises(RuntimeError, match="P-01 is listed twice"):
        entries(text)
