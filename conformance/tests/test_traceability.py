from dataclasses import dataclass, replace
from types import MappingProxyType

import pytest

from ropespec.conformance.traceability import Entry, entries, holes, trace, trace_of
from ropespec.spec.clauses import Clause


@dataclass(frozen=True)
class FakeCheck:
    """What the map reads of a check."""

    id: str
    clause: str
    properties: tuple[str, ...] = ()


def clause(id_, **fields):
    """Return a clause with these fields."""
    names = {name.replace("_", " ").capitalize(): value for name, value in fields.items()}
    return Clause(id_, f"Title of {id_}", "rotation", "A rule.", "Text.", MappingProxyType(names))


LISTED = {
    "F-001": Entry("F-001", "Frequency", "000 L55"),
    "F-163": Entry("F-163", "Background", "000 L1", "background"),
    "E-04": Entry("E-04", "Wrong sign", "000"),
    "P-10": Entry("P-10", "Position 0", "000 L5"),
}
WRITTEN = {
    "ROT-6": clause(
        "ROT-6",
        sources="F-001 (document 000 L55)",
        errata="E-04",
        functions="`rotation.apply_rotary`",
    ),
    "ROT-10": clause("ROT-10", properties="P-10"),
    "ROT-11": clause("ROT-11", not_checked="a definition"),
}
CHECKS = (FakeCheck("ROT-6.value", "ROT-6"), FakeCheck("ROT-10.identity", "ROT-10", ("P-10",)))
API = {"rotation": ("apply_rotary",)}


def test_the_specification_has_no_holes():
    """Everything found in the documents, every clause and every function is answered for."""
    assert holes() == ()


def test_the_list_is_complete():
    """The documents hold 221 formulas, 67 errata and 48 properties, numbered without gaps."""
    expected = (
        [f"F-{number:03d}" for number in range(1, 222)]
        + [f"E-{number:02d}" for number in range(1, 68)]
        + [f"P-{number:02d}" for number in range(1, 49)]
    )

    assert list(entries()) == expected
    assert all(entry.title and entry.where for entry in entries().values())


def test_the_counts_of_the_specification_add_up():
    """Each entry has a clause or a reason, never both and never neither."""
    for total, with_clause, with_reason in trace().counts().values():
        assert with_clause + with_reason == total


def test_planted_parts_without_a_hole():
    """The parts that the following tests damage are whole."""
    found = trace_of(LISTED, WRITTEN, CHECKS, API)

    assert found.holes == ()
    assert found.counts() == {"formulas": (2, 1, 1), "errata": (1, 1, 0), "properties": (1, 1, 0)}
    assert found.traced["F-001"].clauses == ("ROT-6",)
    assert found.traced["F-001"].functions == ("rotation.apply_rotary",)
    assert found.traced["F-001"].checks == ("ROT-6.value",)
    assert found.traced["F-163"].clauses == ()


def changed(mapping, **changes):
    """Return a mapping with some values replaced; the keys are written with `_` for `-`."""
    return mapping | {name.replace("_", "-"): value for name, value in changes.items()}


@pytest.mark.parametrize(
    ("listed", "written", "checks", "api", "hole"),
    [
        (
            changed(LISTED, F_002=Entry("F-002", "One-based", "001 L72")),
            WRITTEN,
            CHECKS,
            API,
            "F-002 has neither a clause nor a reason: One-based",
        ),
        (
            changed(LISTED, F_001=replace(LISTED["F-001"], reason="none needed")),
            WRITTEN,
            CHECKS,
            API,
            "F-001 has a clause, ROT-6, and a reason to have none",
        ),
        (
            LISTED,
            changed(WRITTEN, ROT_11=clause("ROT-11", errata="E-99", not_checked="a definition")),
            CHECKS,
            API,
            "ROT-11 names E-99, which is not listed",
        ),
        (
            LISTED,
            changed(WRITTEN, ROT_11=clause("ROT-11")),
            CHECKS,
            API,
            "ROT-11 has neither a check nor a field `Not checked`: Title of ROT-11",
        ),
        (
            LISTED,
            changed(WRITTEN, ROT_10=clause("ROT-10", properties="P-10", not_checked="no")),
            CHECKS,
            API,
            "ROT-10 has a check and a field `Not checked`",
        ),
        (
            LISTED,
            WRITTEN,
            (*CHECKS, FakeCheck("ROT-99.value", "ROT-99")),
            API,
            "check ROT-99.value belongs to ROT-99, which is no clause",
        ),
        (
            LISTED,
            WRITTEN,
            (*CHECKS, FakeCheck("ROT-6.other", "ROT-6", ("P-99",))),
            API,
            "check ROT-6.other names P-99, which is not listed",
        ),
        (
            LISTED,
            WRITTEN,
            (CHECKS[0], replace(CHECKS[1], properties=())),
            API,
            "P-10 is named by no check: Position 0",
        ),
        (
            LISTED,
            changed(
                WRITTEN,
                ROT_11=clause("ROT-11", functions="`rotation.no_such`", not_checked="a definition"),
            ),
            CHECKS,
            API,
            "ROT-11 names `rotation.no_such`, which is not in ropespec.reference",
        ),
        (
            LISTED,
            changed(
                WRITTEN,
                ROT_11=clause("ROT-11", functions="`no_such.f`", not_checked="a definition"),
            ),
            CHECKS,
            API,
            "ROT-11 names `no_such.f`, which is not in ropespec.reference",
        ),
        (
            LISTED,
            WRITTEN,
            CHECKS,
            {"rotation": ("apply_rotary", "rotation_matrix")},
            "the API function rotation.rotation_matrix is in no clause's Functions",
        ),
    ],
)
def test_each_kind_of_hole_is_found(listed, written, checks, api, hole):
    """One thing is taken away or added at a time; the map names it and nothing else."""
    assert trace_of(listed, written, checks, api).holes == (hole,)


def test_a_property_is_traced_to_the_checks_that_name_it():
    """Another check of the same clause is not credited with a property it does not name."""
    checks = (*CHECKS, FakeCheck("ROT-10.other", "ROT-10"))

    assert trace_of(LISTED, WRITTEN, checks, API).traced["P-10"].checks == ("ROT-10.identity",)


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
