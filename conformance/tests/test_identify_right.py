"""Identification reads off the conventions of every right implementation of the zoo."""

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.diagnosis import diagnose
from ropespec.conformance.identify import Name, Pairing, convention, identify
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.zoo import Right, zoo

RIGHT = [entry for entry in zoo() if isinstance(entry, Right) and entry.bare]
# Rates that are given have no base and no direction; they are read in test_identify_numbers.
LADDERS = [entry for entry in RIGHT if "frequencies" not in entry.claims]
# One torch module stands for the frameworks, whose compilers take seconds for each subject.
ELSEWHERE = [
    entry
    for entry in zoo()
    if isinstance(entry, Right) and not entry.bare
    if entry.profile.array == "numpy" or entry.name == "torch_growing_cache"
]
BARE = frozenset()


@pytest.fixture
def session_of(checks):
    """Return a function that makes a session of a function of this process."""
    in_process = type(checks.trial({}).session)

    def make(function, profile):
        return in_process({"apply_rotary": function}, profile, BARE)

    return make


@pytest.fixture
def found_of(checks):
    """Return a function that identifies an entry in this process."""
    in_process = type(checks.trial({}).session)

    def find(entry, *, try_axes=False, **claims):
        profile = Profile.from_mapping(claims) if claims else entry.profile
        session = in_process({"apply_rotary": entry.function}, profile, BARE, entry.target)
        return identify(session, try_axes=try_axes)

    return find


@pytest.mark.parametrize("entry", LADDERS, ids=lambda entry: entry.name)
def test_the_conventions_of_a_right_implementation_are_read_off(entry, found_of):
    """Pairing, axes, base, rotary_dim and precision are those it was written with."""
    found, profile = found_of(entry), entry.profile
    pairing = Pairing.INTERLEAVED if profile.layouts[0] else Pairing.HALF

    assert found.value(Name.PAIRING) is pairing
    assert found.value(Name.AXES) == profile.axes
    assert found.value(Name.BASE) == profile.base
    assert found.found.by.frequencies.scheme == profile.scheme
    assert found.value(Name.DIRECTION) == "counter-clockwise"
    assert found.value(Name.ROTARY_DIM) == profile.rotary_dim or (
        profile.rotary_dim is None and found.value(Name.ROTARY_RULE) == "all"
    )
    assert found.confirmed
    assert found.value(Name.POSITION_OFFSET) == 0
    assert found.value(Name.GAIN) == pytest.approx(
        float(profile.convention.frequencies.gain), abs=1e-3
    )
    measured = {"float32": "float32-angles"} if profile.scaling else dict(entry.measured)
    assert dict(found.value(Name.PRECISION)) == measured


@pytest.mark.parametrize("entry", RIGHT, ids=lambda entry: entry.name)
def test_nothing_is_diagnosed_in_a_right_implementation(entry, session_of):
    """No mistake is named where there is none."""
    assert diagnose(session_of(entry.function, entry.profile)) == ()


@pytest.mark.parametrize(
    "entry",
    [e for e in LADDERS if not e.claims.get("shared_positions") and e.profile.axes != "shd"],
    ids=lambda entry: entry.name,
)
def test_the_conventions_are_found_without_any_claim(entry, found_of):
    """Sizes and dtypes are said, axes may be tried; the profile found is the one claimed."""
    own = entry.profile
    names = ("dtypes", "head_dims", "max_position", "max_tokens")
    given = {name: getattr(own, name) for name in names}
    found = found_of(entry, try_axes=True, interleaved=not own.layouts[0], **given)
    profile = convention(found, Profile.from_mapping({"interleaved": True} | given), given)

    assert (profile.layouts, profile.axes, profile.base) == (own.layouts, own.axes, own.base)


@pytest.mark.parametrize("entry", ELSEWHERE, ids=lambda entry: entry.name)
def test_right_implementations_of_other_kinds_are_read_in_a_worker(entry):
    """Modules, classes and frameworks: pairing, axes, base and precision, and no mistake."""
    with Session(load(entry.target), entry.profile) as session:
        found = identify(session)
        assert diagnose(session) == ()

    if entry.measured:
        interleaved = found.value(Name.PAIRING) is Pairing.INTERLEAVED
        assert interleaved == entry.profile.layouts[0]
        assert found.value(Name.AXES) == entry.profile.axes
        assert found.value(Name.BASE) == entry.profile.base


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("usual_half", "--half"),
        ("usual_interleaved", "--interleaved"),
        ("bhsd_order", "--half --axes bhsd"),
        ("exp_log_frequencies", "--half --base 500000"),
        ("partial_rotary", "--half --rotary-dim 8 --head-dim 24"),
        ("recurrence", "--interleaved"),
        ("shared_vector", "--half --shared-positions"),
        ("growing_table", "--half"),
    ],
)
def test_the_command_line_says_what_was_found(name, words, found_of):
    """`command` gives the options that differ from the defaults, and what was stated."""
    (entry,) = (one for one in RIGHT if one.name == name)
    found = found_of(entry)

    assert found.command("my.py:f") == f"ropespec check my.py:f {words} {found.stated}".rstrip()


@pytest.mark.parametrize("interleaved", [True, False])
def test_the_reference_is_identified_with_all_its_keywords(interleaved, checks):
    """A module with keywords is read under the ones its profile claims, and obeys them."""
    functions = {"apply_rotary": reference.apply_rotary}
    profile = Profile.from_mapping({"interleaved": interleaved, "base": 5e5, "rotary_dim": 16})
    found = identify(type(checks.trial({}).session)(functions, profile))

    assert found.value(Name.PAIRING) is (Pairing.INTERLEAVED if interleaved else Pairing.HALF)
    assert (found.value(Name.BASE), found.value(Name.ROTARY_DIM)) == (5e5, 16)
    assert found.value(Name.FLAGS) == ()


def test_a_table_that_ends_is_said_with_its_length(checks, session_of):
    """What raises beyond 4096 is to be checked up to the largest position it accepted."""

    def short(x, p):
        table = np.arange(4097)
        return np.asarray(reference.apply_rotary(x, table[p], interleaved=False))

    profile = Profile.from_mapping({"interleaved": False})
    found = identify(type(checks.trial({}).session)({"apply_rotary": short}, profile, BARE))

    assert found.value(Name.LARGEST) == ("raises", 4096)
    assert " --max-position 4096" in found.command()
    named = {one.name: one for one in diagnose(session_of(short, profile))}
    assert "beyond 4096" in named["positions refused"].sentence


def test_a_table_filled_with_nan_is_read_where_it_holds_numbers(checks):
    """Positions beyond its end do not hide pairing, base and width."""

    def filled(x, p):
        y = reference.apply_rotary(x, np.minimum(p, 2047), interleaved=True, rotary_dim=16).copy()
        y[np.asarray(p) > 2047] = np.nan
        return y

    profile = Profile.from_mapping({"interleaved": True})
    found = identify(type(checks.trial({}).session)({"apply_rotary": filled}, profile, BARE))

    assert found.value(Name.PAIRING) is Pairing.INTERLEAVED
    assert (found.value(Name.BASE), found.value(Name.ROTARY_DIM)) == (10000.0, 16)
    assert found.value(Name.LARGEST) == ("filled", 2048)


def test_facts_come_in_one_order_with_sentences(found_of):
    """A fact has a name of the vocabulary, once, and a sentence."""
    found = found_of(RIGHT[0])
    names = [fact.name for fact in found]

    assert names == sorted(set(names), key=list(Name).index)
    assert all(fact.sentence.endswith(".") for fact in found)
    assert found.as_dict()["command"] == found.command()
