"""Each claim is said once, and option, report, command and checks all know it."""

import dataclasses
import shlex

import click
import numpy as np
import pytest
from click.testing import CliRunner

from ropespec import reference
from ropespec.conformance.cli.options import claims_of, profile_options
from ropespec.conformance.compare import Side
from ropespec.conformance.identify import Identification
from ropespec.conformance.opening import open_subject
from ropespec.conformance.profile import CLAIMS, Profile, ProfileError
from ropespec.conformance.report.advice import command
from ropespec.conformance.report.summary import profile_line
from ropespec.conformance.results import Status
from ropespec.conformance.runner import Plan, run, run_check, select
from ropespec.conformance.subject.claimed import require_claimed
from ropespec.conformance.subject.layout import (
    from_subject,
    positions_for_subject,
    result_from_subject,
    result_to_subject,
    to_subject,
)
from ropespec.conformance.subject.requests import Question
from ropespec.conformance.subject.session import (
    NotClaimed,
    NotPossible,
    Session,
    TargetUnusable,
    load,
)
from ropespec.conformance.trial import Trial
from ropespec.conformance.zoo import zoo
from ropespec.spec.scaling import Yarn

ENTRIES = {entry.name: entry for entry in zoo()}
FIELDS = [field.name for field in dataclasses.fields(Profile)]
OTHER = {
    "layouts": (True,),
    "array": "torch",
    "axes": "bhsd",
    "dtypes": ("float64", "bfloat16"),
    "base": 123456.5,
    "scaling": Yarn(factor=16.0, original_length=4096, beta_fast=31.9, truncate=False),
    "sections": (2, 3, 3),
    "frequencies": ((0.5, -0.25, 1e-7), (0.0, 1.0, 0.3)),
    "rotary_dim": 6,
    "head_dims": (8, 24),
    "precision": "float32-angles",
    "max_position": 77,
    "device": "a device",
    "max_tokens": 20,
    "min_head_dim": 16,
}
"""A value of each claim that is not the default; of a flag that is the opposite."""

NEEDS = {
    "sections_in_turn": {"sections": (4, 2, 2)},
    "axial": {"sections": (2, 3, 3)},
    "trailing": {"rotary_dim": 6},
    "pairs_apart": {"layouts": (True,)},
}
"""What a claim cannot be made without."""

NOTICED = {
    "layouts": ("usual_interleaved", ("ROT-6.pairing", "ROT-7.pairing"), (False,)),
    "array": ("torch_addcmul", ("ROT-10.identity",), "numpy"),
    "axes": ("bhsd_order", ("ROT-9.rows",), "bshd"),
    "dtypes": ("products_in_bfloat16", ("JDG-3.precision",), ("float32",)),
    "base": ("power_frequencies", ("FREQ-2.read-off",), 10000.0),
    "scaling": ("scaled_as_yarn", ("ROT-7.value", "JDG-1.reference"), None),
    "sections": ("sections_of_images", ("ROT-7.value",), (3, 3, 2)),
    "sections_in_turn": ("sections_in_turn", ("ROT-7.value",), False),
    "axial": ("axial_sections", ("ROT-7.value",), False),
    "frequencies": ("mixed_rates", ("ROT-7.value",), ((0.5,) * 8,) * 2),
    "rotary_dim": ("partial_rotary", ("ROT-14.tail", "FREQ-2.read-off"), None),
    "trailing": ("last_components", ("ROT-7.value", "ROT-14.tail"), False),
    "pairs_apart": ("pairs_come_out_apart", ("ROT-10.identity", "ROT-6.value"), False),
    "head_dims": ("torch_growing_cache", ("ROT-7.value",), (8,)),
    "precision": ("usual_half", ("JDG-3.precision",), "float64-angles"),
    "max_position": ("table_that_ends", ("ROT-7.value",), 131071),
    "negative_positions": ("table_that_ends", ("ROT-7.value",), True),
    "shared_positions": ("usual_half", ("ROT-19.rows",), True),  # and nothing is left to check
    "refusals": ("usual_half", ("ROT-17.dtype", "ROT-21.refused"), True),
    "gradients": ("torch_for_inference", ("ROT-17.dtype", "ROT-20.gradient"), True),
    "strided": ("contiguous_arrays_alone", ("ROT-17.dtype", "ROT-19.strides"), True),
    "empty": ("no_empty_arrays", ("ROT-17.dtype", "ROT-18.empty"), True),
    "subnormals": ("flushed_to_zero", ("ROT-10.identity",), True),
    "max_tokens": ("at_most_64_tokens", ("ROT-19.many",), None),
    "min_head_dim": ("vectors_of_16", ("ROT-10.identity",), 2),
    "constant_tables": ("torch_tables_recorded", ("ROT-22.dtype", "ROT-22.constant"), True),
}
"""A right implementation, checks that it passes, and the claim under which it does not."""


def with_another(name):
    """Return a profile in which one claim is not the default."""
    value = OTHER[name] if name in OTHER else not CLAIMS[name].default
    return Profile(**{"layouts": (False,), **NEEDS.get(name, {}), name: value})


def read_back(line):
    """Let click take a command apart, and return the profile it claims."""
    told = {}
    taking = profile_options(lambda **options: told.update(options))
    asked = CliRunner().invoke(click.command("check")(taking), shlex.split(line)[3:])
    assert asked.exit_code == 0, asked.output
    return Profile.from_mapping(claims_of(told))


@pytest.mark.parametrize("name", FIELDS)
def test_a_claim_has_an_option_and_is_said(name):
    """The command that is proposed makes the claim again, and the report has a word for it."""
    profile = with_another(name)
    line = command("check", "mine.py:f", profile.as_dict())

    assert read_back(line) == profile
    assert profile_line(profile.as_dict()) != profile_line(Profile((False,)).as_dict())


@pytest.mark.parametrize("name", FIELDS)
def test_a_claim_of_how_x_is_rotated_is_in_the_convention(name):
    """What `test_convention.py` sees the judge read; the other claims leave it alone."""
    usual = Profile(**{"layouts": (False,), **NEEDS.get(name, {})})
    told = with_another(name).convention != usual.convention

    of_it = {
        "layouts",
        "base",
        "scaling",
        "sections",
        "sections_in_turn",
        "axial",
        "rotary_dim",
        "frequencies",
    }
    of_it |= {"frequencies", "rotary_dim", "trailing"}
    assert told == (name in of_it)


def test_what_is_the_default_is_not_written():
    """A built-in backend needs no option, and another the layout alone."""
    assert command("check", "mine.py:f", Profile((False,)).as_dict()).endswith(":f --half")
    with open_subject("numpy", {}, 30.0) as session:
        assert command("check", "numpy", session.profile.as_dict()) == "ropespec check numpy"


def test_sizes_that_are_too_small_are_left_out_once():
    """A smallest size says all of it: no list of the others stands beside it."""
    profile = Profile((False,), min_head_dim=100)

    assert profile.head_dims == (100, 112, 120, 128, 160, 192, 256)
    line = command("check", "mine.py:f", profile.as_dict())
    assert line == "ropespec check mine.py:f --half --min-head-dim 100"


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"sections": (2, 3)}, "sections must have all the pairs that rotate, 8 of them; got 5"),
        ({"sections": (4, 0, 4)}, "sections must be in 1..2"),
        ({"sections": (1, 1, 6), "sections_in_turn": True}, "sections: sections.2. must be at"),
        ({"frequencies": ((1.0,), (1.0, 2.0))}, "frequencies must be a tuple of tuples"),
        ({"frequencies": ((1.0,),)}, "frequencies must have all the pairs .*, 8 of them; got 1"),
        ({"frequencies": ((1.0,) * 8,), "sections": (8,)}, "that are given have no sections"),
        ({"axial": True}, "axial needs sections"),
        ({"axial": True, "sections": (4, 2, 2), "sections_in_turn": True}, "one after the other"),
        ({"sections_in_turn": True}, "sections-in-turn needs sections"),
        ({"trailing": True}, "trailing needs rotary-dim"),
        ({"pairs_apart": True}, "pairs-apart is of interleaved pairs"),
    ],
)
def test_what_cannot_be_is_refused(claims, said):
    """Sections of other pairs, an order of nothing, an end of everything."""
    with pytest.raises(ProfileError, match=said):
        Profile((False,), head_dims=(16,), **claims)


def test_sections_leave_the_sizes_that_have_so_many_pairs():
    """Those of a part that rotates are of heads of any size."""
    assert Profile((False,), sections=(16, 24, 24)).head_dims == (128,)
    part = Profile((False,), rotary_dim=16)
    assert dataclasses.replace(part, sections=(2, 3, 3)).head_dims == part.head_dims


def test_positions_have_a_row_for_each_number():
    """Equal ones as in text, or those that are given; one row where the batch shares it."""
    profile = Profile((False,), sections=(2, 3, 3))
    text, apart = np.arange(6).reshape(2, 3), np.arange(18).reshape(2, 3, 3)

    assert np.array_equal(positions_for_subject(text, profile), [text] * 3)
    assert np.array_equal(positions_for_subject(apart, profile)[1], apart[..., 1])
    shared = dataclasses.replace(profile, shared_positions=True)
    assert positions_for_subject(text, shared).shape == (3, 3)
    assert np.array_equal(positions_for_subject(apart, shared)[2], apart[0, :, 2])


@pytest.mark.parametrize("axes", ["bshd", "bhsd", "sbhd"])
def test_components_are_handed_over_in_the_order_of_the_subject(axes):
    """The last ones rotate, and pairs come out apart: both orders are undone."""
    x = np.arange(48.0).reshape(1, 2, 3, 8)
    profile = Profile((True,), axes=axes, rotary_dim=4, trailing=True, pairs_apart=True)

    assert to_subject(x, profile).ravel()[:8].tolist() == [4, 5, 6, 7, 0, 1, 2, 3]
    assert result_to_subject(x, profile).ravel()[:8].tolist() == [4, 5, 6, 7, 0, 2, 1, 3]
    assert np.array_equal(from_subject(to_subject(x, profile), profile), x)
    assert np.array_equal(result_from_subject(result_to_subject(x, profile), profile), x)


def test_a_size_that_a_call_could_change_is_refused_with_sections(tmp_path):
    """Which component is what would depend on the call."""
    (tmp_path / "mine.py").write_text("def f(x, positions, rotary_dim=None):\n    return x\n")

    with pytest.raises(TargetUnusable, match="takes a keyword `rotary_dim`, and --sections"):
        open_subject(f"{tmp_path / 'mine.py'}:f", {"layouts": [False], "sections": [8]}, 30.0)


def test_the_report_says_which_sizes_were_used():
    """Where these are not all that are claimed."""
    profile = Profile((False,), head_dims=(8, 64, 128)).as_dict()

    assert ", head_dim 8 64 128, " in profile_line(profile, (8, 64, 128))
    assert ", head_dim 8 128 (2 of 3 sizes were drawn), " in profile_line(profile, (8, 128))


@pytest.mark.parametrize("name", [name for name in FIELDS if name in NOTICED])
def test_a_claim_makes_the_difference(name):
    """A right implementation conforms under its claims, and not under another in one place."""
    entry, checks, other = NOTICED[name]
    entry = ENTRIES[entry]
    if entry.profile.array != "numpy":
        pytest.importorskip(entry.profile.array)
    plan, claims = Plan(only=checks), {**entry.claims}
    claims.pop("interleaved", None)
    found = []
    for value in (getattr(entry.profile, name), other):
        profile = Profile(**{"layouts": entry.profile.layouts, **claims, name: value})
        with Session(load(entry.target), profile) as session:
            trial = Trial(session)
            ended = [run_check(check, trial, plan).status for check in select(plan)]
        found.append(Status.PASS in ended and all(status.conforms for status in ended))

    assert found == [True, False]


def test_what_is_compiled_for_each_shape_is_asked_for_few():
    """Of all dtypes, those that one check alone asks for too; the report says what was left out."""
    pytest.importorskip("torch")
    plan, found = Plan(only=("ROT-7.value", "ROT-20.differences")), []
    for told in ({}, {"compiled": True}):
        dtypes = ("float32", "float64", "float16", "bfloat16")
        with open_subject("torch", {"dtypes": dtypes, **told}, 30.0) as session:
            verdict = run(session, plan)
        assert verdict.conforms, [one.message for one in verdict.failures]
        said = any("each is compiled" in one for one in verdict.coverage["left_out"])
        found.append((len(verdict.head_dims), said))

    (many, _), (few, _) = found
    assert few < many / 2
    assert [said for _, said in found] == [False, True]


def test_every_other_claim_makes_a_difference():
    """But where arrays live, which is a matter of the machine, and what is too dear."""
    assert {*FIELDS} - {*NOTICED} == {"device", "compiled"}


def test_a_device_that_is_not_there_is_noticed():
    """It is asked for before anything is checked."""
    pytest.importorskip("torch")
    with pytest.raises(TargetUnusable, match="^torch cannot use "):
        open_subject("torch", {"device": "cuda:99"}, 30.0)


QUESTIONS = {
    "strided": (("call", "apply_rotary", {"strided": True}, (1, 2, 1, 4)), {"strided": False}),
    "gaps": (("into", "apply_rotary", {"kind": "strided"}, (1, 2, 1, 4)), {"strided": False}),
    "vjp": (("vjp", "apply_rotary_cos_sin", {}, (1, 2, 1, 4)), {"gradients": False}),
    "jvp": (
        ("transform", "apply_rotary", {"kind": "jvp"}, (1, 2, 1, 4)),
        {"gradients": False},
    ),
    "tokens": (("call", "apply_rotary", {}, (3, 7, 1, 4)), {"max_tokens": 20}),
    "swapped": (("call", "apply_rotary", {}, (3, 1, 7, 4)), {"max_tokens": 20, "axes": "bhsd"}),
    "mapped": (
        ("transform", "apply_rotary", {"kind": "vmap", "axes": (1, 0)}, (3, 2, 7, 1, 4)),
        {"max_tokens": 20},
    ),
    "empty": (("call", "apply_rotary_dense", {}, (2, 0, 1, 4)), {"empty": False}),
    "width": (("refilled", "apply_rotary", {}, (1, 1, 1, 4)), {"min_head_dim": 6}),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_is_not_claimed_is_not_asked(name):
    """Whoever asks; and it is asked where the claim is not made."""
    (do, function, more, shape), claims = QUESTIONS[name]
    sent = [np.zeros(shape)]
    asked = Question(do, function, tuple(sent), **more)

    with pytest.raises(NotClaimed, match="claimed$"):
        require_claimed(Profile((False,), **claims), asked, sent)
    axes = {key: value for key, value in claims.items() if key == "axes"}
    sizes = require_claimed(Profile((False,), **axes), asked, sent)
    assert sizes["d"] == 4


def test_what_raises_under_a_transform_leaves_nothing_behind():
    """The next call runs in a fresh worker."""
    pytest.importorskip("torch")
    entry = ENTRIES["torch_guarded"]
    x, positions = np.ones((2, 3, 2, 8), np.float32), np.array([[1, 2, 3], [4, 5, 6]])
    with Session(load(entry.target), entry.profile) as session:
        before = session.rotate(x, positions).y
        with pytest.raises(NotPossible, match="vmap raises"):
            session.transform(
                "vmap", "apply_rotary", [x, np.stack([positions] * 2)], axes=(None, 0)
            )
        assert np.array_equal(session.rotate(x, positions).y, before)
        assert session.restarts > 0


def test_a_comparison_is_made_in_parts_that_are_claimed():
    """What has more tokens comes back whole, and as one dtype."""
    entry = ENTRIES["at_most_64_tokens"]
    x = np.random.default_rng(3).standard_normal((3, 70, 2, 8)).astype(np.float32)
    positions = np.arange(210).reshape(3, 70)
    with Session(load(entry.target), entry.profile) as session:
        nothing = Identification(session.target, (), 0, 0.0)
        side = Side("A", session, {}, nothing, None, entry.profile)
        answer = side.answer(x, positions, {})

    assert answer.problem == ""
    expected = reference.apply_rotary(x, positions, interleaved=False)
    assert np.allclose(answer.y, expected, atol=1e-4)
