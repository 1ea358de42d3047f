"""`--config config.json`: a model configuration is a claim, and its frequencies are printed."""

import json

import click
import pytest
from click.testing import CliRunner

from ropespec.conformance.cli.frequencies import frequencies
from ropespec.conformance.cli.options import claims_of, profile_options
from ropespec.conformance.cli.spec import spec_command
from ropespec.conformance.cli.status import Unusable
from ropespec.conformance.profile import Profile
from ropespec.spec.config import read
from ropespec.spec.scaling import DynamicNtk, Linear, Llama3

LLAMA = {
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "rope_parameters": {
        "rope_type": "llama3",
        "rope_theta": 500000.0,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
}
DYNAMIC = {
    "head_dim": 64,
    "partial_rotary_factor": 0.5,
    "max_position_embeddings": 4096,
    "rope_theta": 10000.0,
    "rope_scaling": {"type": "dynamic", "factor": 2.0},
}


@pytest.fixture
def written(tmp_path):
    """Return what writes a configuration to a file."""

    def write(config):
        file = tmp_path / "config.json"
        file.write_text(config if isinstance(config, str) else json.dumps(config))
        return str(file)

    return write


def claimed(*words):
    """Let click read options, and return the profile that they claim."""
    told = {}
    taking = profile_options(lambda **options: told.update(options))
    asked = CliRunner().invoke(click.command("check")(taking), ["--half", *words])
    assert asked.exit_code == 0, asked.output
    return Profile.from_mapping(claims_of(told))


def test_a_configuration_is_claimed(written):
    """Base, scheme and sizes are those it says."""
    profile = claimed("--config", written(LLAMA))
    assert (profile.base, profile.head_dims) == (500000.0, (128,))
    assert profile.scaling == Llama3(8.0, 1.0, 4.0, 8192)

    profile = claimed("--config", written(DYNAMIC))
    assert (profile.rotary_dim, profile.max_position) == (32, 4095)


@pytest.mark.parametrize("in_turn", [False, True])
def test_sections_are_claimed(written, in_turn):
    """Which number each pair follows is read as everything else is, and printed."""
    told = {"rope_theta": 1e6, "mrope_section": [4, 2, 2], "mrope_interleaved": in_turn}
    file = written({"text_config": {"head_dim": 16, "rope_parameters": told}})
    profile = claimed("--config", file)

    assert (profile.sections, profile.sections_in_turn) == ((4, 2, 2), in_turn)
    answer = CliRunner().invoke(spec_command, ["--config", file], standalone_mode=False)
    how = "in turn (AXES-3)" if in_turn else "consecutive (AXES-2)"
    assert f"sections 4 2 2, {how}" in answer.output.splitlines()


def test_options_win(written):
    """What is said beside a configuration is said of it; a length is that of its scheme."""
    file = written(DYNAMIC)
    assert claimed("--config", file, "--length", "5000").scaling == DynamicNtk(2.0, 4096, 5000)
    other = claimed("--config", file, "--scaling", "linear", "--factor", "3", "--base", "99")
    assert (other.scaling, other.base) == (Linear(3.0), 99.0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--factor", "2"], "--factor is a number of a scheme: give --scaling as well"),
        (["--layer-type", "full_attention"], "give --config as well"),
        (["--config", "nowhere.json"], "cannot read nowhere.json"),
    ],
)
def test_what_means_nothing_is_refused(words, said):
    """An option that nothing would read is one line."""
    with pytest.raises(Unusable, match=said):
        claimed(*words)


def test_a_file_that_is_none_is_refused(written):
    """The line names the file, and what is wrong in it."""
    with pytest.raises(Unusable, match=r"config\.json is no JSON"):
        claimed("--config", written("{"))
    with pytest.raises(Unusable, match=r"config\.json: it says neither rope_parameters nor"):
        claimed("--config", written({}))


def test_frequencies_are_printed_exactly(written):
    """Each with its clause: kept as they were, or scaled."""
    answer = CliRunner().invoke(spec_command, ["--config", written(LLAMA)], standalone_mode=False)
    lines = answer.output.splitlines()

    assert "scaling llama3 (SCAL-10)" in lines
    assert "gain 1.00000000000000000000000e+0 (SCAL-12)" in lines
    assert lines[-64].split() == ["0", "1.00000000000000000000000e+0", "1", "FREQ-2"]
    last = ["63", "3.06892598891451108905243e-7", "0.125", "SCAL-10"]
    assert lines[-1].split() == last


def test_a_gain_has_a_clause():
    """YaRN has one of its own; where nothing is scaled, all frequencies are those of FREQ-2."""
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
    config = {"head_dim": 8, "rope_theta": 1e4, "rope_scaling": yarn}
    lines = list(frequencies(read(config)))
    assert "gain 1.13862943611198906188345e+0 (SCAL-8)" in lines
    assert "  factor 4.0" in lines
    plain = list(frequencies(read({"head_dim": 8, "rope_theta": 1e4})))
    assert all(line.endswith("FREQ-2") for line in plain[-4:])
