"""A scheme is claimed by options, by a mapping and by a file, and every check judges by it."""

import numpy as np
import pytest

from ropespec import reference
from ropespec.backends import numpy as backend
from ropespec.conformance import unscaled
from ropespec.conformance.profile import Profile, ProfileError
from ropespec.conformance.registry import all_checks
from ropespec.conformance.report.advice import command
from ropespec.conformance.report.summary import profile_line
from ropespec.conformance.runner import Plan, run
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.zoo import zoo
from ropespec.spec.axes import Axial, Sections
from ropespec.spec.scaling import DynamicNtk, Linear, LongRope, NtkAware, Yarn, words

YARN = {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096}
FACTORS = tuple(1.0 + i / 4 for i in range(4))
SCHEMES = {
    "linear": {"factor": 4},
    "ntk": {"factor": 2.5},
    "dynamic": {"factor": 2, "original_max_position_embeddings": 4096, "length": 9000},
    "paper-dynamic": {"original_max_position_embeddings": 4096, "length": 9000},
    "ntk-by-parts": {"factor": 16, "original_max_position_embeddings": 4096, "beta": 30.5},
    "yarn": {**YARN, "truncate": False, "mscale": 0.707, "mscale_all_dim": 1.0},
    "longrope": {
        "short_factor": list(FACTORS),
        "long_factor": list(FACTORS[::-1]),
        "factor": 32,
        "original_max_position_embeddings": 4096,
        "length": 4097,
    },
    "llama3": {
        "factor": 8,
        "low_freq_factor": 1,
        "high_freq_factor": 4,
        "original_max_position_embeddings": 8192,
    },
    "proportional": {"partial_rotary_factor": 0.25},
}


def claimed(**more):
    """Return a profile with a scheme in its words."""
    return Profile.from_mapping({"interleaved": False, **more})


@pytest.mark.parametrize("name", SCHEMES)
def test_a_scheme_is_said_and_read(name):
    """The words of a scheme make it again, and so do the options of a command."""
    told = {"rope_type": name, **SCHEMES[name]}
    profile = claimed(scaling=told)

    assert words.read(words.say(profile.scaling)) == profile.scaling
    assert Profile.from_mapping(profile.as_dict()) == profile
    assert f"scaling {name} (" in profile_line(profile.as_dict())
    assert f"--scaling {name} " in command("check", "f.py:f", profile.as_dict())
    assert profile.convention.frequencies.scheme == words.read(told)


def test_every_scheme_has_its_words():
    """None can be claimed that is not tried here."""
    assert set(SCHEMES) == set(words.SCHEMES)
    for name, scheme in words.SCHEMES.items():
        assert type(words.read({"rope_type": name, **SCHEMES[name]})) is scheme


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({**YARN, "facter": 1}, "'facter' is no number of yarn; did you mean factor"),
        ({"rope_type": "yarn", "factor": 2}, "yarn needs original_max_position_embeddings"),
        ({"rope_type": "yarm"}, "rope_type must be one of linear, .*; got 'yarm'"),
        ({"factor": 2}, "rope_type must be one of linear, .*; got None"),
        ({**YARN, "factor": 0.5}, "of yarn: factor must be a finite number of at least 1; got 0.5"),
        (
            {**YARN, "original_max_position_embeddings": "4k"},
            "of yarn: original_max_position_embeddings must be an integer of at least 1; got '4k'",
        ),
        ("yarn", "scaling must be a table with a rope_type; got 'yarn'"),
        ({"rope_type": "linear", "factor": None}, "linear needs factor"),
    ],
)
def test_what_is_wrong_with_a_scheme_is_one_line(told, said):
    """It names the key, and the nearest right one."""
    with pytest.raises(ProfileError, match=said) as refused:
        claimed(scaling=told)
    assert "\n" not in str(refused.value)


def test_sizes_without_frequencies_are_left_out():
    """One pair has no scaled base, and factors are for one size; what fits none is refused."""
    longrope = {"rope_type": "longrope", **SCHEMES["longrope"]}

    assert 2 not in claimed(scaling=NtkAware(2.0)).head_dims
    assert claimed(scaling=longrope).head_dims == (8,)
    with pytest.raises(ProfileError, match="scaling longrope: short_factors must be of 8 numbers"):
        claimed(scaling=longrope, head_dim=16)
    assert claimed(scaling=longrope, rotary_dim=8, head_dim=16).head_dims == (16,)


def test_a_scheme_of_the_original_length_claims_no_longer_sequence():
    """Beyond it frequencies are others; where a length is said, they are those of that length."""
    told = {"rope_type": "dynamic", "factor": 2, "original_max_position_embeddings": 64}

    assert claimed(scaling=told).scaling == DynamicNtk(2, 64, 64)
    assert claimed(scaling=told).max_position == 63
    assert claimed(scaling={**told, "length": 65}).max_position == Profile((True,)).max_position
    assert claimed(scaling=told, max_position=100).max_position == 100
    assert claimed(scaling=LongRope(FACTORS, FACTORS, 2.0, 64, 64)).max_position == 63


def animal(scaling, *only):
    """Check the zoo's YaRN under a scheme."""
    entry = next(one for one in zoo() if one.name == "scaled_as_yarn")
    profile = Profile(layouts=(False,), scaling=scaling, head_dims=(16, 64))
    with Session(load(entry.target), profile) as session:
        return run(session, Plan(only=only))


@pytest.mark.parametrize(
    "other",
    [
        Yarn(16.0, 4096, attention_factor=1.0),
        Yarn(16.0, 4096, 31.0, 2.0),
        Yarn(8.0, 4096),
        Yarn(16.0, 8192),
    ],
    ids=str,
)
def test_another_number_is_another_claim(other):
    """Each number of a scheme counts."""
    assert not animal(other, "ROT-7.value").conforms


OF_SOME_PAIRS = (
    *("FREQ-5.order", "FREQ-6.neighbours", "ROT-1.direction", "REL-6.anchor"),
    *("DEC-3.score-rises", "FREQ-2.read-off"),
)


@pytest.mark.parametrize("scaling", [Yarn(16.0, 4096), Linear(3.0), None], ids=str)
def test_single_pairs_are_asked_for_under_every_scheme(scaling):
    """Angles and lengths are those of the scheme, and another one is noticed."""
    entry = next(one for one in zoo() if one.name == "scaled_as_yarn")
    profile = Profile(layouts=(False,), scaling=scaling, head_dims=(16, 64))
    with Session(load(entry.target), profile) as session:
        found = run(session, Plan(only=OF_SOME_PAIRS)).checks

    asked = [one for one in found if one.id in OF_SOME_PAIRS]
    assert len(asked) == len(OF_SOME_PAIRS)
    right = isinstance(scaling, Yarn)
    assert {one.status for one in asked} == {"pass" if right else "fail"}


def test_only_what_would_be_wrong_is_left_out(monkeypatch):
    """Asked all the same, a right subject with a gain fails whatever is left out."""
    known = {one.id for one in all_checks()}
    assert known >= unscaled.PRINTED | unscaled.LENGTHS
    of_others = {"PROJ-5.tokens", "AXES-7.forms"}  # a function and a layout that it has not
    asked = sorted((unscaled.LENGTHS | unscaled.PRINTED) - of_others)
    assert all(one.status == "skip" for one in animal(Yarn(16.0, 4096), *asked).checks)

    monkeypatch.setattr("ropespec.conformance.registry.unscaled", lambda *_: None)
    found = animal(Yarn(16.0, 4096), *asked).checks
    assert {one.id for one in found if one.status == "pass"} == set()


PRINTED = (
    *("FREQ-8.forms", "CPLX-1.forms", "CPLX-4.forms", "CPLX-5.forms", "CPLX-6.halves"),
    *("ROT-1.forms", "ROT-2.forms", "ROT-12.forms", "ROT-13.forms", "ROT-14.forms"),
    *("REL-2.forms", "REL-5.forms", "REL-5.middle", "REL-6.forms"),
    *("DER-1.forms", "DER-2.forms", "DER-4.forms", "DER-5.forms"),
)
"""Checks beside printed formulas that take a frequency, of both layouts."""

OF_LAYOUT = {
    True: ("ROT-3.forms", "ROT-6.forms"),
    False: ("ROT-4.forms", "ROT-7.forms", *(f"WGT-{number}.moved" for number in range(1, 10))),
}


@pytest.mark.parametrize("scheme", [Yarn(16.0, 64), Linear(3.0)], ids=str)
@pytest.mark.parametrize("interleaved", [True, False])
def test_printed_formulas_are_asked_with_the_frequencies_of_the_scheme(checks, scheme, interleaved):
    """A right rotation has them, with a gain and with a tail, and one without the scheme not."""

    def rotation(of):
        def apply(x, positions, rotary_dim=None):
            more = {} if of is None else {"scaling": of}
            rotate = reference.apply_rotary if of is None else reference.apply_rotary_scaled
            how = {"interleaved": interleaved, "rotary_dim": rotary_dim, **more}
            return rotate(x.astype(np.float64), positions, **how).astype(x.dtype)

        return {"apply_rotary": apply}

    claims = {"layouts": (interleaved,), "scaling": scheme, "head_dims": (8, 16)}
    found = {
        which: {
            id_: checks.run(id_, rotation(of), **claims).status
            for id_ in (*PRINTED, *OF_LAYOUT[interleaved])
        }
        for which, of in (("right", scheme), ("dead", None))
    }

    assert {id_ for id_, status in found["right"].items() if status != "pass"} == set()
    assert {id_ for id_, status in found["dead"].items() if status != "fail"} == set()


AXES = {
    "sections": Sections((1, 1, 2)),
    "axial": Axial((1, 2, 1)),
    "axial, partial": Axial((1, 2, 1)),
}


# Without a gain and with one, of one size alone, and with pairs that stand still.
KINDS = ("linear", "yarn", "longrope", "proportional")


@pytest.mark.parametrize("name", [*KINDS, *AXES])
def test_a_right_rotation_of_neighbours_passes_whatever_is_claimed(name, checks):
    """No check of this layout holds what is scaled, or follows axes, against a printed number."""
    told = {"scaling": {"rope_type": name, **SCHEMES.get(name, {})}}
    if name in AXES:
        told = {"sections": AXES[name].sections, "axial": name != "sections"}
    wide = {"rotary_dim": 8} if "partial" in name else {}
    scaling = Profile.from_mapping({"interleaved": True, **told}).scaling

    def apply_rotary(x, positions):
        if name in AXES:
            how = {"interleaved": True, "axes": AXES[name], **wide}
            return backend.apply_rotary_axes(x, positions, **how)
        return backend.apply_rotary_scaled(x, positions, interleaved=True, scaling=scaling)

    claims = {"layouts": (True,), "head_dims": [20 if wide else 8], **told, **wide}
    asked = [id_ for id_ in checks.known if id_ != "ROT-17.arguments"]  # of a process of its own
    found = [checks.run(id_, {"apply_rotary": apply_rotary}, **claims) for id_ in asked]
    assert [(one.id, one.message) for one in found if not one.status.conforms] == []
