"""Identification of scaled frequencies: the command that is proposed claims them, and conforms."""

import shlex
from dataclasses import replace

import click
import pytest

from ropespec.conformance.cli import main
from ropespec.conformance.cli.options import claims_of, profile_options
from ropespec.conformance.identify import Name, convention, identify
from ropespec.conformance.profile import Profile
from ropespec.conformance.report.identification import headline
from ropespec.spec.scaling import (
    Linear,
    Llama3,
    LongRope,
    NtkAware,
    NtkByParts,
    Proportional,
    Yarn,
)
from tests.subjects import scaled

FOUND = {
    "linear": (10000.0, Linear(4.0)),
    "ntk": (500000.0, NtkAware(8.0)),
    # At one length what is dynamic is a base, and so another factor.
    "dynamic": (10000.0, NtkAware(4.0)),
    "paper_dynamic": (10000.0, NtkAware(3.0)),
    "by_parts": (10000.0, NtkByParts(8.0, 4096)),
    "yarn": (10000.0, Yarn(16.0, 4096)),
    "yarn_of_no_factor": (10000.0, Yarn(40.0, 4096, attention_factor=1.0)),
    "yarn_with_a_factor": (1000000.0, Yarn(4.0, 32768, attention_factor=1.25)),
    "yarn_between_indices": (150000.0, Yarn(32.0, 4096, truncate=False)),
    "llama3": (500000.0, Llama3(8.0, 1.0, 4.0, 8192)),
    "longrope": (
        10000.0,
        LongRope(scaled.FACTORS, scaled.FACTORS, 1.0, 1, 2, attention_factor=1.19),
    ),
    "proportional": (1000000.0, Proportional(0.25)),
}


@pytest.fixture
def found_of(checks):
    """Return a function that identifies a bare rotation of this process."""
    in_process = type(checks.trial({}).session)

    def find(function, **claims):
        profile = Profile.from_mapping({"interleaved": False, **claims})
        return identify(in_process({"apply_rotary": function}, profile, frozenset()))

    return find


@pytest.mark.parametrize("name", FOUND)
def test_the_scheme_is_found_with_its_numbers_and_confirmed(name, found_of):
    """Base, scheme and gain, in round numbers that explain every component of fresh calls."""
    found = found_of(getattr(scaled, name))
    by = found.found.by

    assert found.confirmed
    assert (by.frequencies.base, by.frequencies.scheme) == FOUND[name]
    assert found.found.is_plain
    assert f"scaling {FOUND[name][1].name} (" in headline(found)
    assert dict(found.value(Name.PRECISION)) == {"float32": "float32-angles"}


@click.command()
@click.argument("target")
@profile_options
def told(*, target, **options):
    """Take the options that claim something of a target."""
    assert target
    return claims_of(options)


def claimed(command):
    """Return the claims that a command makes."""
    _, _, *words = shlex.split(command)
    return told.main(words, standalone_mode=False)


@pytest.mark.parametrize("name", FOUND)
def test_the_command_that_is_proposed_conforms(name, found_of, checks):
    """It claims the scheme with all its numbers, and values are right under it."""
    function = getattr(scaled, name)
    claims = claimed(found_of(function).command("f"))

    assert checks.run("ROT-7.value", {"apply_rotary": function}, **claims).status.conforms


@pytest.mark.parametrize("name", ["linear", "longrope"])
def test_without_the_scheme_it_is_refused(name, found_of, checks):
    """What is claimed beside it does not make it conform."""
    function = getattr(scaled, name)
    claims = {**claimed(found_of(function).command("f")), "scaling": None, "head_dims": [64]}

    assert not checks.run("ROT-7.value", {"apply_rotary": function}, **claims).status.conforms


def test_the_command_is_one_that_can_be_typed(found_of, capsys):
    """As it is printed, it runs and conforms."""
    command = found_of(scaled.yarn_with_a_factor).command(f"{scaled.__file__}:yarn_with_a_factor")

    assert main([*shlex.split(command)[1:], "--only", "ROT-7"]) == 0, capsys.readouterr().out


def test_what_is_claimed_is_tried_first(found_of):
    """A dynamic scheme that explains everything stays the one that was claimed."""
    claims = {
        "scaling": {
            "rope_type": "dynamic",
            "factor": 2.0,
            "original_max_position_embeddings": 4096,
            "length": 10240,
        }
    }
    found = found_of(scaled.dynamic, **claims)

    assert found.confirmed
    assert found.found.by.frequencies.scheme.name == "dynamic"
    assert "--scaling dynamic --factor 2 " in found.command()


@pytest.mark.parametrize("is_confirmed", [True, False])
def test_a_scheme_is_claimed_only_if_it_was_confirmed(is_confirmed, found_of):
    """The profile that was found has it then."""
    found = found_of(scaled.yarn)
    if not is_confirmed:
        found = replace(found, explained=replace(found.explained, elements=0))
    profile = convention(found, Profile.from_mapping({"interleaved": False}))

    assert profile.scaling == (Yarn(16.0, 4096) if is_confirmed else None)


def test_frequencies_of_no_scheme_are_not_called_one(found_of):
    """Nothing is proposed for them, and so nothing is confirmed."""
    found = found_of(scaled.alternating)

    assert found.found is None
    assert not found.confirmed
    assert "base not found" in headline(found)
    assert found.fact(Name.SCHEME) is None
