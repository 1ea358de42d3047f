"""Identification where tokens have several position numbers: each is asked alone."""

import numpy as np
import pytest

from ropespec.conformance.compare import compare
from ropespec.conformance.compare.result import Relation
from ropespec.conformance.compare.sides import open_side
from ropespec.conformance.identify import Name, convention, identify
from ropespec.conformance.profile import Profile
from ropespec.conformance.report.identification import headline
from ropespec.conformance.zoo import numbered, zoo
from tests.test_claims import read_back

TARGETS = {entry.name: entry.target for entry in zoo()}
CLAIMS = {"sections": (2, 3, 3), "head_dims": (16,), "max_position": 4095}
TWO = {**CLAIMS, "sections": (4, 4)}

FOUND = {
    "sections_of_images": {"sections": (2, 3, 3)},
    "sections_of_another_model": {"sections": (4, 2, 2)},
    "sections_in_turn": {"sections": (4, 2, 2), "sections_in_turn": True},
    "axial_sections": {"sections": (2, 3, 3), "axial": True},
}


@pytest.fixture
def found_of(checks):
    """Return a function that identifies a bare rotation of this process."""
    in_process = type(checks.trial({}).session)

    def find(function, **claims):
        profile = Profile.from_mapping({"interleaved": False, **CLAIMS, **claims})
        return identify(in_process({"apply_rotary": function}, profile, frozenset()))

    return find


@pytest.mark.parametrize("name", FOUND)
def test_sections_are_read_off_numbers_that_differ(name, found_of):
    """Whatever sections were claimed, the command that is proposed has those that are there."""
    found = found_of(getattr(numbered, name))
    expected = Profile((False,), **{**CLAIMS, **FOUND[name]})

    assert found.confirmed
    assert convention(found, Profile((False,), **CLAIMS)) == expected
    assert read_back(found.command("mine.py:f")) == expected
    in_turn = "sections_in_turn" in FOUND[name]
    said = f"the sections are {', '.join(map(str, expected.sections))}"
    assert f"{said}, {'in turn' if in_turn else 'consecutive'}" in headline(found)
    assert ("axial" in headline(found)) == expected.axial


def test_a_base_of_sections_is_found(found_of):
    """That of an axial rotation in vision, from the frequencies of one section."""

    def vision(x, positions):
        theta = 100.0 ** (-np.arange(4) / 4)
        angle = np.moveaxis(positions[[0, 0, 0, 0, 1, 1, 1, 1]], 0, -1) * np.tile(theta, 2)
        cos, sin = np.cos(angle)[..., None, :], np.sin(angle)[..., None, :]
        a, b = np.split(x.astype(np.float64), 2, axis=-1)
        return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)

    found = found_of(vision, **TWO)

    assert found.confirmed
    assert "--sections 4,4 --axial --base 100 " in found.command()


def test_what_no_sections_say_is_said_beside_the_claim(found_of):
    """All pairs follow one of three numbers: what is claimed stays, and the command is of that."""
    found = found_of(numbered.frequencies_of_text_alone)

    assert found.confirmed
    assert found.value(Name.BESIDE) == ("all pairs follow number 0",)
    assert "--sections 2,3,3" in found.command()


def test_pairs_that_follow_several_numbers_are_not_called_sections(found_of):
    """Mixed frequencies are seen, and no base and no sections are made up for them."""
    rows = np.random.default_rng(3).uniform(0.05, 0.5, (3, 8))

    def mixed(x, positions):
        angle = np.einsum("nbs,ni->bsi", positions.astype(np.float64), rows)[..., None, :]
        a, b = np.split(x.astype(np.float64), 2, axis=-1)
        cos, sin = np.cos(angle), np.sin(angle)
        return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)

    found = found_of(mixed)

    assert found.value(Name.NUMBERS) == "several at once"
    assert not found.confirmed


@pytest.mark.parametrize(
    ("other", "relation"),
    [
        ("sections_of_images", Relation.INTERCHANGEABLE),
        ("sections_of_another_model", Relation.DIFFER),
        ("frequencies_of_text_alone", Relation.DIFFER),
    ],
)
def test_a_comparison_asks_numbers_that_differ(other, relation):
    """Both are right for text; what differs in images is no interchangeable rotation."""
    claims = {"layouts": [False], **CLAIMS, "sections": [2, 3, 3], "head_dims": [16]}
    with (
        open_side("A", TARGETS["sections_of_images"], claims, 30.0) as a,
        open_side("B", TARGETS[other], claims, 30.0) as b,
    ):
        found = compare(a, b)

    assert found.relation is relation
    if relation is Relation.DIFFER:
        assert found.b.remarks
